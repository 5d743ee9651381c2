"""Public pages of teams and runs: they show what boards show to everyone, and not a moment earlier."""

from collections.abc import Callable
from http import HTTPStatus

import pytest
from django.test import Client

from portal.actions.runs import describe_run, withdraw_run
from portal.actions.teams import join_team, register_team
from portal.models import Phase, Run, SharedTask, Team, User
from tests.portal.remembered import remembered
from tests.portal.web.conftest import Clock
from tests.portal.world import (
    EVALUATION,
    GOOD,
    MILLISECOND,
    POOR,
    POST,
    RELEASE,
    captain,
    new_team,
    organizer_of,
    person,
    queries,
    send_run,
    sign,
    work_off,
)

SignIn = Callable[[User], Client]
SCORE = "0.7500"


@remembered
def runs(tiny: SharedTask) -> dict[str, Run]:
    """Two teams with a run each in a phase whose scores are released at RELEASE."""
    tiny.phases.filter(slug="evaluation").update(released=RELEASE)
    sent = {
        name: send_run(new_team(tiny, name), values, 1, EVALUATION)
        for name, values in (("Notus", GOOD), ("Auster", POOR))
    }
    work_off(EVALUATION)
    described = {"method": "XLM-T", "description": "Three models vote."}
    describe_run(captain(sent["Notus"].team), sent["Notus"], EVALUATION, **described)
    return sent


def team_page(run: Run) -> str:
    return f"/teams/{run.team_id}/"


def run_page(run: Run) -> str:
    return f"/runs/{run.pk}/"


def status(client: Client, address: str) -> int:
    return client.get(address).status_code


def text(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == HTTPStatus.OK
    return answer.content.decode()


@pytest.mark.slow
def test_nothing_is_shown_before_the_release_and_the_same_to_everyone_after_it(
    runs: dict[str, Run], at: Clock, sign_in: SignIn
) -> None:
    notus, tiny = runs["Notus"], runs["Notus"].phase.shared_task
    people = [Client(), sign_in(person("Reader")), sign_in(captain(runs["Auster"].team)), sign_in(organizer_of(tiny))]
    own = sign_in(captain(notus.team))
    board = "/tasks/tiny/leaderboard/one/?phase=evaluation"
    for moment in (EVALUATION, RELEASE - MILLISECOND):
        at(moment)
        for client in people[:3]:
            assert status(client, run_page(notus)) == HTTPStatus.NOT_FOUND
            assert f"teams/{notus.team_id}/" not in text(client, board)
        assert {status(client, team_page(notus)) for client in (*people, own)} == {HTTPStatus.NOT_FOUND}
    at(RELEASE)
    for client in (*people, own):
        shown = text(client, team_page(notus))
        assert "XLM-T" in shown
        assert SCORE in shown
        assert f'href="{run_page(notus)}"' in shown
        assert f'href="{team_page(notus)}"' in text(client, board)
        assert f'href="{run_page(notus)}"' in text(client, board)
    for client in people[:3]:
        shown = text(client, run_page(notus))
        notus.refresh_from_db()
        assert "Three models vote." in shown
        assert SCORE in shown
        assert notus.sha256[:8] in shown
        assert str(notus.submission_id) not in shown
        assert "/file/" not in shown
        assert status(client, f"{run_page(notus)}choose/") in (HTTPStatus.FOUND, HTTPStatus.METHOD_NOT_ALLOWED)
    assert status(people[1], f"{run_page(notus)}file/") == HTTPStatus.NOT_FOUND
    assert "/file/" in text(own, run_page(notus))


def test_a_description_that_was_saved_for_team_and_organizers_stays_theirs(runs: dict[str, Run], at: Clock) -> None:
    at(RELEASE)
    assert "Three models vote." in text(Client(), run_page(runs["Notus"]))
    Run.objects.filter(pk=runs["Notus"].pk).update(description_is_public=False, link="https://example.org/code")
    shown = text(Client(), run_page(runs["Notus"]))
    assert "XLM-T" in shown
    assert "Three models vote." not in shown
    assert "example.org/code" not in shown


def test_what_boards_leave_out_has_no_page(runs: dict[str, Run], at: Clock) -> None:
    notus, auster = runs["Notus"], runs["Auster"]
    reader, phases = Client(), Phase.objects.filter(pk=notus.phase_id)
    withdraw_run(captain(notus.team), notus, RELEASE - MILLISECOND, reason="Wrong file")
    at(RELEASE)
    assert status(reader, team_page(notus)) == status(reader, run_page(notus)) == HTTPStatus.NOT_FOUND
    assert status(reader, team_page(auster)) == HTTPStatus.OK
    hidden = [
        {"scores": "never"},
        {"scores": "at-once", "released": None, "team_names": "hidden-until-release"},
        {"scores": "at-once", "released": None, "ladder_step": 0.05, "closes": POST},
        {"released": None},
    ]
    for rules in hidden:
        kept = phases.values(*rules).get()
        phases.update(**rules)
        assert status(reader, team_page(auster)) == status(reader, run_page(auster)) == HTTPStatus.NOT_FOUND, rules
        assert team_page(auster) not in text(reader, "/tasks/tiny/leaderboard/one/?phase=evaluation"), rules
        phases.update(**kept)
    Team.objects.filter(pk=auster.team_id).update(reason="No.", decided_at=EVALUATION)
    assert status(reader, team_page(auster)) == HTTPStatus.NOT_FOUND
    Team.objects.filter(pk=auster.team_id).update(reason="", decided_at=None)
    SharedTask.objects.filter(slug="tiny").update(state=SharedTask.State.HIDDEN)
    assert status(reader, team_page(auster)) == HTTPStatus.NOT_FOUND


def test_only_members_who_agreed_are_named(runs: dict[str, Run], at: Clock) -> None:
    team = runs["Notus"].team
    assert team is not None
    Team.objects.filter(pk=team.pk).update(affiliation="Institute of Winds")
    join_team(person("Zephyra"), team.shared_task, EVALUATION, code=team.invitation_code)
    at(RELEASE)
    shown = text(Client(), team_page(runs["Notus"]))
    assert "Zephyra" not in shown
    assert "Institute of Winds" not in shown
    User.objects.filter(name="Zephyra").update(named_on_team_pages=True, country="GR")
    shown = text(Client(), team_page(runs["Notus"]))
    assert "Zephyra" in shown
    assert "Institute of Winds" in shown
    assert "Greece" in shown
    User.objects.filter(name="Zephyra").update(is_active=False)
    assert "Zephyra" not in text(Client(), team_page(runs["Notus"]))


def test_the_same_team_in_another_task_is_recognized_by_name_and_member(
    runs: dict[str, Run], gated: SharedTask, at: Clock
) -> None:
    own = captain(runs["Notus"].team)
    sign(own, gated)
    elsewhere = register_team(own, gated, EVALUATION, name="Notus", answers={"use": "research"})
    Team.objects.filter(pk=elsewhere.pk).update(state=Team.State.APPROVED)
    gated.phases.filter(slug="evaluation").update(released=RELEASE)
    later = send_run(elsewhere, GOOD, 1, EVALUATION)
    work_off(EVALUATION)
    at(RELEASE)
    shown = text(Client(), team_page(runs["Notus"]))
    assert run_page(later) in shown
    assert f'href="{team_page(later)}"' in shown
    elsewhere.memberships.update(user=person("Someone"))
    assert run_page(later) not in text(Client(), team_page(runs["Notus"]))


def test_more_runs_take_no_more_statements(runs: dict[str, Run], at: Clock) -> None:
    at(RELEASE)
    before = queries(lambda: Client().get(team_page(runs["Notus"])))
    send_run(runs["Notus"].team, POOR, 2, EVALUATION)
    work_off(EVALUATION)
    assert queries(lambda: Client().get(team_page(runs["Notus"]))) == before
