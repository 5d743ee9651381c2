"""Users of pages. Most fixtures are test clients, each signed in as one of them."""

from collections.abc import Callable
from datetime import datetime
from types import SimpleNamespace

import pytest
from allauth.mfa.totp.internal import auth
from django.db import connection
from django.test import Client

from portal.actions.teams import join_team
from portal.models import SharedTask, Team, User, clock
from tests.portal.world import APP_TIME, EVALUATION, captain, new_team, organizer_of, person

Clock = Callable[[datetime], None]
CLOCK = {"postgresql": "SELECT timestamptz '{}'", "sqlite": "SELECT '{}'"}


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A function that sets the database's clock."""

    def set_clock(moment: datetime) -> None:
        text = moment.strftime("%Y-%m-%d %H:%M:%S.%f")
        zone = "+00" if connection.vendor == "postgresql" else ""
        monkeypatch.setitem(clock._QUESTIONS, connection.vendor, CLOCK[connection.vendor].format(text + zone))

    return set_clock


@pytest.fixture(autouse=True)
def time_of_apps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop the clock for authenticator codes, so that no code expires before it is entered."""
    monkeypatch.setattr(auth, "time", SimpleNamespace(time=lambda: APP_TIME))


@pytest.fixture
def sign_in() -> Callable[[User], Client]:
    def sign_in(user: User) -> Client:
        client = Client()
        client.force_login(user)
        return client

    return sign_in


@pytest.fixture
def anybody() -> Client:
    """A reader who is not signed in."""
    return Client()


@pytest.fixture
def sender(meltemi: Team, sign_in: Callable[[User], Client]) -> Client:
    """The captain of Meltemi."""
    return sign_in(captain(meltemi))


@pytest.fixture
def teammate(meltemi: Team, sign_in: Callable[[User], Client]) -> Client:
    """A member of Meltemi who is not its captain."""
    user = person("Teammate")
    join_team(user, meltemi.shared_task, EVALUATION, code=meltemi.invitation_code)
    return sign_in(user)


@pytest.fixture
def stranger(tiny: SharedTask, sign_in: Callable[[User], Client]) -> Client:
    """The captain of a different team in the same shared task."""
    return sign_in(captain(new_team(tiny, "Notus")))


@pytest.fixture
def newcomer(tiny: SharedTask, sign_in: Callable[[User], Client]) -> Client:
    """A user without a team."""
    return sign_in(person("Newcomer"))


@pytest.fixture
def organizer(tiny: SharedTask, sign_in: Callable[[User], Client]) -> Client:
    user = organizer_of(tiny, "Organizer")
    return sign_in(user)
