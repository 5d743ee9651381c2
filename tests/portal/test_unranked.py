"""Teams of organizers: they have no rank, because organizers see hidden scores."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse

from portal.actions.approval import approve_team
from portal.actions.base.errors import Conflict, NotAllowed
from portal.actions.organizers import add_organizer, remove_organizer
from portal.actions.teams import join_team, register_team
from portal.evaluation.compare import compare_board
from portal.export import board_csv, board_json
from portal.models import AuditEntry, Board, Membership, Phase, Team, User
from portal.queries.boards.choices import Choices
from portal.queries.boards.leaderboard import leaderboard
from portal.queries.boards.overall import overall
from tests.portal.remembered import remembered
from tests.portal.world import (
    EVALUATION,
    GOOD,
    PERFECT,
    POOR,
    RELEASE,
    captain,
    new_team,
    organizer_of,
    person,
    send_run,
    set_up_second_factor,
    work_off,
)

pytestmark = pytest.mark.postgres


@remembered
def teams(meltemi: Team) -> list[Team]:
    """Three teams with a scored run each, best first."""
    found = [meltemi, new_team(meltemi.shared_task, "Notus"), new_team(meltemi.shared_task, "Ostro")]
    for team, answers in zip(found, (PERFECT, GOOD, POOR), strict=True):
        send_run(team, answers, 1, EVALUATION)
    work_off(EVALUATION)
    return found


@pytest.fixture
def organizer(teams: list[Team]) -> User:
    return organizer_of(teams[0].shared_task, "Organizer")


def table(team: Team, **choices: object):
    phase = Phase.objects.select_related("shared_task").get(shared_task=team.shared_task, slug="evaluation")
    return leaderboard(team.shared_task.tracks.get(slug="one"), phase, captain(team), RELEASE, Choices(**choices))


def ranks(team: Team, **choices: object) -> dict[str, int | None]:
    return {row.team: row.rank for row in table(team, **choices).teams}


def make_organizer(team: Team, organizer: User, **confirmed: bool) -> None:
    add_organizer(organizer, team.shared_task, EVALUATION, address=captain(team).email, **confirmed)


def test_a_member_becomes_an_organizer_only_after_a_confirmation(teams: list[Team], organizer: User) -> None:
    with pytest.raises(Conflict, match="would have no rank from now on") as raised:
        make_organizer(teams[0], organizer)
    assert raised.value.code == "competes"
    assert not captain(teams[0]).organized_tasks.exists()
    assert ranks(teams[0]) == {"Meltemi": 1, "Notus": 2, "Ostro": 3}
    make_organizer(teams[0], organizer, is_sure=True)
    assert captain(teams[0]).organized_tasks.exists()
    entry = AuditEntry.objects.get(verb="add_organizer")
    assert entry.detail == {"account": captain(teams[0]).pk, "unranked": "Meltemi"}


def test_a_declined_team_that_is_approved_later_has_no_rank_either(teams: list[Team], organizer: User) -> None:
    Team.objects.filter(pk=teams[0].pk).update(state=Team.State.DECLINED)
    with pytest.raises(Conflict, match="would have no rank from now on"):
        make_organizer(teams[0], organizer)
    make_organizer(teams[0], organizer, is_sure=True)
    approve_team(organizer, Team.objects.get(pk=teams[0].pk), EVALUATION)
    assert ranks(teams[0]) == {"Meltemi": None, "Notus": 1, "Ostro": 2}


@pytest.mark.parametrize("runs", ["official", "all"])
def test_the_team_is_on_the_board_without_a_rank(teams: list[Team], organizer: User, runs: str) -> None:
    make_organizer(teams[0], organizer, is_sure=True)
    board = table(teams[0], runs=runs)
    assert {row.team: row.rank for row in board.teams} == {"Meltemi": None, "Notus": 1, "Ostro": 2}
    flags = {row.team: row.flags for row in board.teams}
    assert flags["Meltemi"][-1] == "not ranked: a member is or was an organizer of the task"
    assert "not ranked: a member is or was an organizer of the task" not in flags["Notus"]
    assert b"not ranked" in board_csv(board)
    assert b"not ranked" in board_json(board)


def test_an_earlier_leaderboard_keeps_its_ranks(teams: list[Team], organizer: User) -> None:
    make_organizer(teams[0], organizer, is_sure=True)
    Team.objects.filter(pk=teams[0].pk).update(unranked_at=RELEASE)
    before = RELEASE - timedelta(days=1)
    assert ranks(teams[0], until=before) == {"Meltemi": 1, "Notus": 2, "Ostro": 3}
    assert ranks(teams[0], until=RELEASE) == {"Meltemi": None, "Notus": 1, "Ostro": 2}


def test_all_tracks_have_no_rank_of_the_team_either(teams: list[Team], organizer: User) -> None:
    make_organizer(teams[0], organizer, is_sure=True)
    phase = Phase.objects.select_related("shared_task").get(shared_task=teams[0].shared_task, slug="evaluation")
    found = overall(list(teams[0].shared_task.tracks.all()), phase, captain(teams[0]), RELEASE)
    cells = {row.team: [cell and cell.rank for cell in row.cells] for row in found.rows}
    assert cells["Meltemi"] == [None, None]
    assert cells["Notus"][0] == 1


@pytest.mark.slow
def test_tie_groups_are_those_of_the_ranked_teams(teams: list[Team], organizer: User) -> None:
    make_organizer(teams[0], organizer, is_sure=True)
    board = Board.objects.get(track__slug="one", phase__slug="evaluation", phase__shared_task=teams[0].shared_task)
    compare_board(board, RELEASE)
    groups = {row.team: row.group for row in table(teams[0]).teams}
    assert groups["Meltemi"] == ""
    assert groups["Notus"] != ""


def test_the_rank_does_not_come_back(teams: list[Team], organizer: User) -> None:
    make_organizer(teams[0], organizer, is_sure=True)
    remove_organizer(organizer, teams[0].shared_task, RELEASE, address=captain(teams[0]).email)
    assert ranks(teams[1]) == {"Meltemi": None, "Notus": 1, "Ostro": 2}


def test_someone_without_a_team_needs_no_confirmation(teams: list[Team], organizer: User) -> None:
    add_organizer(organizer, teams[0].shared_task, EVALUATION, address=person("Otto").email)
    assert not Team.objects.exclude(unranked_at=None).exists()


def test_an_organizers_own_team_has_no_rank_and_others_cannot_be_joined(teams: list[Team], organizer: User) -> None:
    task = teams[0].shared_task
    with pytest.raises(NotAllowed, match="which is ranked") as raised:
        join_team(organizer, task, EVALUATION, code=teams[0].invitation_code)
    assert raised.value.code == "organizes"
    own = register_team(organizer, task, EVALUATION, name="Bora")
    assert own.unranked_at == EVALUATION
    second = organizer_of(task, "Second")
    assert join_team(second, task, EVALUATION, code=own.invitation_code).team == own


def test_a_former_organizers_team_has_no_rank_either(teams: list[Team], organizer: User) -> None:
    task, former = teams[0].shared_task, organizer_of(teams[0].shared_task, "Former")
    remove_organizer(former, task, EVALUATION, address=former.email)
    with pytest.raises(NotAllowed, match="which is ranked"):
        join_team(former, task, EVALUATION, code=teams[0].invitation_code)
    assert register_team(former, task, EVALUATION, name="Bora").unranked_at == EVALUATION
    assert register_team(person("Zoe"), task, EVALUATION, name="Zephyr").unranked_at is None


def test_the_page_asks_for_the_confirmation(teams: list[Team], organizer: User) -> None:
    client = Client()
    client.force_login(organizer)
    page = reverse("organize_organizers", args=[teams[0].shared_task.slug])
    assert "is_sure" not in client.get(page).text
    given = {"address": captain(teams[0]).email}
    asked = client.post(page, given)
    assert (asked.status_code, "is_sure" in asked.text, "no rank from now on" in asked.text) == (409, True, True)
    assert client.post(page, given | {"is_sure": "on"}).status_code == 302
    assert "The team has no rank" in client.get(reverse("organize_teams", args=[teams[0].shared_task.slug])).text
    member = Client()
    member.force_login(captain(teams[0]))
    assert "Your team has no rank" in member.get(reverse("team", args=[teams[0].shared_task.slug])).text
    assert client.post(page, given | {"remove": ""}).status_code == 302


def test_an_administrators_change_has_the_same_effect(teams: list[Team], organizer: User) -> None:
    admin = person("Admin")
    admin.is_staff = admin.is_superuser = True
    admin.save()
    set_up_second_factor(admin)
    client = Client()
    client.force_login(admin)
    page = reverse("admin:portal_sharedtask_change", args=[teams[0].shared_task.pk])
    given = {"organizers": [organizer.pk, captain(teams[0]).pk]}
    assert client.post(page, given).status_code == 302
    unranked = dict(Team.objects.values_list("name", "unranked_at"))
    assert [name for name, since in unranked.items() if since] == ["Meltemi"]
    assert client.post(page, {"organizers": [organizer.pk]}).status_code == 302
    former = captain(teams[0])
    Membership.objects.filter(user=former).delete()
    own = register_team(former, teams[0].shared_task, EVALUATION, name="Levante")
    assert own.unranked_at == EVALUATION
