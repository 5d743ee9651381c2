"""People who look at pages: each fixture is a test client that is signed in as one of them."""

from collections.abc import Callable

import pytest
from django.test import Client

from portal.actions.teams import join_team
from portal.models import SharedTask, Team, User
from tests.portal.world import EVALUATION, captain, new_team, person, set_up_second_factor


@pytest.fixture
def sign_in() -> Callable[[User], Client]:
    def sign_in(user: User) -> Client:
        client = Client()
        client.force_login(user)
        return client

    return sign_in


@pytest.fixture
def anybody() -> Client:
    """Nobody is signed in."""
    return Client()


@pytest.fixture
def sender(meltemi: Team, sign_in: Callable[[User], Client]) -> Client:
    """The captain of Meltemi."""
    return sign_in(captain(meltemi))


@pytest.fixture
def teammate(meltemi: Team, sign_in: Callable[[User], Client]) -> Client:
    """A member of Meltemi who is not its captain."""
    user = person("Teammate")
    join_team(user, meltemi.invitation_code, EVALUATION)
    return sign_in(user)


@pytest.fixture
def stranger(tiny: SharedTask, sign_in: Callable[[User], Client]) -> Client:
    """The captain of another team of the same shared task."""
    return sign_in(captain(new_team(tiny, "Notus")))


@pytest.fixture
def newcomer(tiny: SharedTask, sign_in: Callable[[User], Client]) -> Client:
    """Somebody without a team."""
    return sign_in(person("Newcomer"))


@pytest.fixture
def organizer(tiny: SharedTask, sign_in: Callable[[User], Client]) -> Client:
    user = person("Organizer")
    tiny.organizers.add(user)
    set_up_second_factor(user)
    return sign_in(user)
