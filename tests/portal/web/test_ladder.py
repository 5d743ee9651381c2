"""A phase with a ladder: scores are shown in steps, and no page, file or email is more precise."""

from collections.abc import Mapping
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from portal.actions.runs import withdraw_run
from portal.evaluation.compare import compare_board
from portal.models import Board, Evaluation, OutgoingMail, Phase, Run, SharedTask, Team
from portal.queries.mails import facts
from portal.queries.runs import official_runs_of, team_runs
from tests.portal.remembered import remembered
from tests.portal.web.conftest import Clock
from tests.portal.web.everything import answers, everything, readers
from tests.portal.world import (
    EVALUATION,
    GOOD,
    MILLISECOND,
    PERFECT,
    POOR,
    STRANGER,
    board,
    captain,
    new_team,
    rescored,
    send_run,
    work_off,
)

LATER = EVALUATION + timedelta(minutes=1)
PAGE = "/tasks/tiny/leaderboard/one/?phase=evaluation"
SENT = {"Notus": [0.7234, 0.7411, 0.7702], "Auster": [0.7009, 0.6, 0.7621], "Ostro": [0.7, 0.731]}
OTHERWISE = {"Notus": [0.701, 0.7499, 0.7501], "Auster": [0.7249, 0.1, 0.7749], "Ostro": [0.6751, 0.7402]}


def give(scores: Mapping[str, list[float]]) -> None:
    """Set the accuracies of each team's runs, in the order of the runs. Other metrics and details follow from them."""
    for team, values in scores.items():
        for number, value in enumerate(values, start=1):
            run = Run.objects.select_related("track").get(team__name=team, number=number, phase__slug="evaluation")
            rescored(run, {"accuracy": value, "f1_macro": value / 7, "f1:YES": value / 3})
            details = {"classes": [{"column": "", "lines": [{"name": "YES", "gold": 3, "run": 2, "f1": value / 9}]}]}
            Evaluation.objects.filter(run=run).update(details=details, flags=[f"flag {value}"])


@remembered
def stepped(tiny: SharedTask) -> SharedTask:
    """Three teams in a phase that shows scores in steps of 0.05.

    The phase shows 0.70 and then 0.75 for Notus and Auster, and 0.70 for Ostro.
    """
    rules = {"scores": "at-once", "official": "best", "ladder_step": 0.05, "released": None}
    tiny.phases.filter(slug="evaluation").update(**rules)
    for name, values in SENT.items():
        team = new_team(tiny, name)
        for number in range(1, len(values) + 1):
            send_run(team, [GOOD, PERFECT, POOR][number - 1], number, EVALUATION + number * MILLISECOND)
    work_off(LATER)
    compare_board(Board.objects.get(track__slug="one", phase__slug="evaluation"), LATER)
    give(SENT)
    return tiny


def rows(task: SharedTask, **choices: object) -> list[tuple[int | None, str, int | None, float | None]]:
    shown = board(task, LATER, baselines=False, **choices)
    return [(row.rank, row.team, row.number, row.scores["accuracy"]) for row in shown.rows]


@pytest.mark.slow
def test_the_board_shows_each_teams_last_step(stepped: SharedTask) -> None:
    assert rows(stepped) == [(1, "Auster", 3, 0.75), (1, "Notus", 3, 0.75), (3, "Ostro", 1, 0.7)]
    assert rows(stepped, sort="accuracy", descending=False)[0] == (3, "Ostro", 1, 0.7)
    assert rows(stepped, until=EVALUATION + MILLISECOND) == [(1, name, 1, 0.7) for name in ("Auster", "Notus", "Ostro")]
    assert [row[1:3] for row in rows(stepped, runs="all")][2:] == [("Auster", 1), ("Notus", 1), ("Ostro", 1)]
    shown = board(stepped, LATER)
    assert ([column.key for column in shown.columns], shown.ranking_column.decimals) == (["accuracy"], 2)
    assert (shown.comparison, shown.has_groups) == (None, False)


def test_no_statement_grows_with_the_steps_but_by_their_numbers(stepped: SharedTask) -> None:
    """The shown scores are sorted in memory. An SQL statement that listed them would scan the list for every row."""
    with CaptureQueriesContext(connection) as asked:
        assert len(rows(stepped, runs="all", sort="accuracy", descending=False)) == 5
    assert max(query["sql"].count("WHEN") for query in asked.captured_queries) == 0


def test_a_team_reads_of_its_steps_alone(stepped: SharedTask) -> None:
    team = Team.objects.get(name="Notus")
    lines = team_runs(team, captain(team), LATER)
    shown = {line.run.number: [score.value for score in line.scores] for line in lines}
    assert shown == {1: [0.7], 2: [], 3: [0.75]}
    (official,) = official_runs_of(lines, captain(team), LATER)
    assert official.run is not None
    assert official.run.number == 3


@pytest.mark.slow
def test_a_team_sees_no_times_of_scoring(stepped: SharedTask) -> None:
    team = stepped.teams.get(name="Notus")
    Run.objects.filter(team=team).update(started_at=LATER, finished_at=LATER + timedelta(seconds=6))
    lines = team_runs(team, captain(team), LATER)
    assert {line.started_at for line in lines} == {None}
    assert all(line.run.submission and line.finished_at == line.run.submission.checked_at for line in lines)


def test_organizers_see_scores_as_they_are_and_all_do_when_it_has_closed(
    stepped: SharedTask, organizer: Client, at: Clock
) -> None:
    at(LATER)
    assert "0.7702" in organizer.get(PAGE).content.decode()
    assert "0.05" in organizer.get(PAGE).content.decode()
    closes = Phase.objects.get(slug="evaluation").closes
    assert closes is not None
    assert "0.7702" not in (public := Client().get(PAGE).content.decode())
    assert "are shown in steps of 0.05" in public
    at(closes)
    assert "0.7702" in Client().get(PAGE).content.decode()


@pytest.mark.slow
def test_no_byte_depends_on_more_than_the_steps(stepped: SharedTask, at: Clock) -> None:
    at(LATER)
    people = list(readers(stepped, "Notus"))
    before = [everything(stepped, client) for client in people]
    give(OTHERWISE)
    for client, then in zip(people, before, strict=True):
        now = everything(stepped, client)
        assert [address for address in then if now[address] != then[address]] == []
    give(OTHERWISE | {"Notus": [0.701, 0.7499, 0.8001]})
    ours = Run.objects.get(team__name="Notus", number=3)
    expected = {PAGE, f"{PAGE}&format=csv", f"{PAGE}&format=json", reverse("run", args=[ours.pk])}
    now = answers(people[1], expected)
    assert {address for address in expected if now[address] != before[1][address]} == expected


def test_mails_show_steps_alone(stepped: SharedTask) -> None:
    mails = OutgoingMail.objects.filter(kind=OutgoingMail.Kind.RUNS_SCORED, team__name="Notus").order_by("pk")
    shown = {result.run.number: result.scores for mail in mails for result in facts(mail, LATER).results}
    assert shown == {1: [("Acc", "0.70")], 2: [], 3: [("Acc", "0.75")]}


def test_withdrawing_a_step_does_not_let_a_team_ask_again(stepped: SharedTask) -> None:
    team = Team.objects.get(name="Notus")
    withdraw_run(captain(team), team.runs.get(number=3), LATER, reason="spite")
    assert (2, "Notus", 1, 0.7) in rows(stepped)
    assert not any(line.scores for line in team_runs(team, STRANGER, LATER) if line.run.number == 2)


def test_a_team_that_is_shut_out_leaves_the_board(stepped: SharedTask) -> None:
    Team.objects.filter(name="Notus").update(reason="two accounts", decided_at=LATER)
    assert rows(stepped) == [(1, "Auster", 3, 0.75), (2, "Ostro", 1, 0.7)]


def test_a_run_waits_for_the_scores_of_those_before_it(stepped: SharedTask) -> None:
    Evaluation.objects.filter(run__team__name="Notus", run__number=2).delete()
    Run.objects.filter(team__name="Notus", number=2).update(state=Run.State.RECEIVED)
    assert (2, "Notus", 1, 0.7) in rows(stepped)
    Run.objects.filter(team__name="Notus", number=2).update(state=Run.State.FAILED)
    assert (1, "Notus", 3, 0.75) in rows(stepped)
