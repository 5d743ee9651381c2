"""Creating a team, joining a team, and the organizers' page."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client

from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.models import Membership, SharedTask, Team, User
from tests.portal.test_import import edit
from tests.portal.world import EVALUATION, person

PAGE = "/tasks/tiny/team/"


def test_a_newcomer_creates_a_team_and_is_its_captain(newcomer: Client) -> None:
    response = newcomer.post(PAGE, {"name": "Bora", "affiliation": ""})
    assert response["Location"] == PAGE
    assert Membership.objects.get(team__name="Bora").is_captain
    text = newcomer.get(PAGE).content.decode()
    assert "captain" in text
    assert Team.objects.get(name="Bora").invitation_code in text


def test_the_rule_for_names_is_shown_as_text(
    tiny: SharedTask, tiny_folder: Path, sign_in: Callable[[User], Client]
) -> None:
    edit(tiny_folder, "[A-Za-z0-9_-]{2,30}", "[a-z]+(?#<button formaction=/device/>)")
    import_shared_task(None, tiny_folder, EVALUATION)
    text = sign_in(person("Newcomer")).get(PAGE).content.decode()
    assert "<button formaction" not in text
    assert "[a-z]+(?#&lt;button formaction=/device/&gt;)" in text


@pytest.mark.parametrize(("name", "status"), [("no spaces, please", 422), ("MELTEMI", 409), ("", 422)])
def test_an_invalid_name_is_rejected_next_to_its_field(newcomer: Client, meltemi: Team, name: str, status: int) -> None:
    response = newcomer.post(PAGE, {"name": name})
    assert response.status_code == status
    text = response.content.decode()
    assert 'id="id_name_error"' in text
    assert "Use 2 to 30 characters: letters (A–Z, a–z), digits, _ and -." in text
    assert not Membership.objects.filter(user__name="Newcomer").exists()


def test_a_second_team_in_the_same_task_is_rejected(sender: Client) -> None:
    assert sender.post(PAGE, {"name": "Another"}).status_code == 409
    assert not Team.objects.filter(name="Another").exists()


def test_anonymous_people_are_asked_in(anybody: Client, tiny: SharedTask) -> None:
    assert "Create an account" in anybody.get(PAGE).content.decode()
    assert anybody.post(PAGE, {"name": "Bora"})["Location"].startswith("/accounts/login/")


def test_an_invitation_is_shown_before_it_is_accepted(newcomer: Client, meltemi: Team) -> None:
    address = f"{PAGE}join/{meltemi.invitation_code}/"
    assert "Join Meltemi" in newcomer.get(address).content.decode()
    assert meltemi.members.count() == 1
    assert newcomer.post(address)["Location"] == PAGE
    assert meltemi.members.count() == 2


def test_members_of_another_team_cannot_accept_it(stranger: Client, meltemi: Team) -> None:
    response = stranger.post(f"{PAGE}join/{meltemi.invitation_code}/")
    assert response.status_code == 409
    assert "already" in response.content.decode()


def test_a_made_up_invitation_is_not_found(newcomer: Client, anybody: Client) -> None:
    response = newcomer.get(f"{PAGE}join/made-up/")
    assert response.status_code == 404
    assert "Ask the team captain" in response.content.decode()
    assert anybody.get(f"{PAGE}join/made-up/").status_code == 302


def test_the_code_is_shown_to_members_alone(
    sender: Client, teammate: Client, stranger: Client, anybody: Client, meltemi: Team
) -> None:
    shown = [meltemi.invitation_code in reader.get(PAGE).content.decode() for reader in (sender, teammate)]
    hidden = [meltemi.invitation_code in reader.get(PAGE).content.decode() for reader in (stranger, anybody)]
    assert (shown, hidden) == ([True, True], [False, False])


def test_only_organizers_see_the_states_of_all_runs(organizer: Client, sender: Client, anybody: Client) -> None:
    page = "/tasks/tiny/organize/runs/"
    assert "Without gold" in organizer.get(page).content.decode()
    assert sender.get(page).status_code == 404
    assert anybody.get(page).status_code == 302
    assert organizer.post(page).status_code == 405
