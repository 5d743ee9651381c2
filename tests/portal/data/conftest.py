"""People before and after they get access to data."""

import pytest

from portal.actions.approval import approve_team
from portal.actions.teams import register_team
from portal.models import Team
from tests.portal.data.gate import latest_password
from tests.portal.world import EVALUATION, organizer_of, person, sign


@pytest.fixture
def organizer(gated):
    return organizer_of(gated, "Organizer")


@pytest.fixture
def cleo(gated):
    """The captain of Bora, a team that is waiting for approval."""
    user = person("Cleo")
    register_team(user, gated, EVALUATION, name="Bora", answers={"use": "research"})
    return user


@pytest.fixture
def password(gated, cleo, organizer, smtp):
    """Bora's data password, after the team was approved and its captain signed the agreement."""
    approve_team(organizer, Team.objects.get(name="Bora"), EVALUATION)
    sign(cleo, gated)
    return latest_password(smtp)


@pytest.fixture
def reader(client, cleo):
    client.force_login(cleo)
    return client
