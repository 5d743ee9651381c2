"""Leaderboards: who is ranked in which order, and who may see them and when."""

import json
from datetime import timedelta

import pytest

from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.models import Evaluation, GoldStandard, Phase, Run
from portal.queries.boards.choices import Choices
from portal.queries.boards.leaderboard import board_state, default_phase
from tests.portal.remembered import remembered
from tests.portal.world import (
    EVALUATION,
    GOOD,
    MILLISECOND,
    PERFECT,
    POOR,
    POST,
    RELEASE,
    board,
    captain,
    copy_of,
    new_team,
    organizer_of,
    person,
    queries,
    ranked,
    rescored,
    scored,
    send_run,
    set_up_second_factor,
    with_teams,
    work_off,
)

pytestmark = pytest.mark.postgres


def rows(board, key="accuracy"):
    return [(row.rank, row.team or row.name, row.scores[key]) for row in board.rows]


def set_official(shared_task, official, phase="evaluation"):
    shared_task.phases.filter(slug=phase).update(official=official)


@remembered
def field(tiny):
    """Three teams with one run each, two of which share the best score."""
    return with_teams(tiny, {"Ostro": GOOD, "Meltemi": GOOD, "Sirocco": POOR})


@pytest.mark.slow
def test_ties_share_a_rank_and_references_are_placed_by_score(field):
    assert rows(board(field, RELEASE)) == [
        (None, "Gold Standard", 1.0),
        (None, "All yes", 0.75),
        (1, "Meltemi", 0.75),
        (1, "Ostro", 0.75),
        (3, "Sirocco", 0.25),
    ]
    kinds = [row.kind for row in board(field, RELEASE).rows]
    assert kinds == ["gold", "baseline", "team", "team", "team"]


def test_hidden_until_the_release_and_shown_from_then_on(field):
    for at in (EVALUATION, RELEASE - MILLISECOND):
        hidden = board(field, at)
        assert (hidden.visible, hidden.rows) == (False, [])
        assert "until the organizers release them" in hidden.hidden_reason
    assert board(field, RELEASE).visible


def test_organizers_and_administrators_see_it_before(field):
    organizer, rival = organizer_of(field), person("Rival")
    administrator = person("Admin")
    administrator.is_staff = True
    administrator.save()
    set_up_second_factor(administrator)
    member = captain(field.teams.get(name="Meltemi"))
    seen = {
        user.name: board(field, EVALUATION, viewer=user).visible for user in (organizer, administrator, member, rival)
    }
    assert seen == {"Oana": True, "Admin": True, "Meltemi": False, "Rival": False}
    organizer.is_active = False
    organizer.save()
    assert not board(field, EVALUATION, viewer=organizer).visible


def test_phase_that_never_shows_scores(field):
    field.phases.update(scores=Phase.Scores.NEVER)
    assert "do not publish" in board(field, POST).hidden_reason


def test_unscored_runs_are_counted_not_ranked(field):
    send_run(new_team(field, "Levante"), PERFECT, 1, EVALUATION)
    shown = board(field, RELEASE)
    assert "Levante" not in {row.team for row in shown.rows}
    assert shown.pending == 1


DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("expected", "given"),
    [
        ("final", {}),
        ("closed", {"released": None}),
        ("open", {"closes": RELEASE + DAY, "scores": "at-once"}),
        ("stays-open", {"closes": None, "scores": "at-once"}),
        ("coming", {"opens": RELEASE + DAY, "scores": "at-once", "closes": None}),
        ("final", {"scores": "never"}),
    ],
)
def test_the_word_for_the_state_of_a_board(field, expected, given):
    field.phases.filter(slug="evaluation").update(**given)
    assert board_state(board(field, RELEASE), Choices(), RELEASE) == expected


@pytest.mark.slow
def test_no_board_is_final_while_a_score_is_to_come(field, client):
    address = "/tasks/tiny/leaderboard/one/?phase=evaluation"
    send_run(new_team(field, "Levante"), PERFECT, 1, EVALUATION)
    assert board_state(board(field, RELEASE), Choices(), RELEASE) == "scoring"
    page = client.get(address).content.decode()
    assert "one run is waiting to be scored" in page
    assert "Final" not in page
    work_off(EVALUATION)
    assert "Final" in client.get(address).content.decode()
    assert board_state(board(field, RELEASE), Choices(until=EVALUATION), RELEASE) == "earlier"
    phase = field.phases.get(slug="evaluation")
    extra_time = phase.extra_times.create(
        until=RELEASE + DAY, reason="an outage", granted_by=person("Org"), granted_at=RELEASE
    )
    assert board_state(board(field, RELEASE), Choices(), RELEASE) == "open"
    extra_time.delete()
    field.scorer = "0.10.0"
    field.save()
    assert board_state(board(field, POST, "post"), Choices(), POST) == "rescoring"
    assert board_state(board(field, RELEASE), Choices(), RELEASE) == "final"  # until organizers apply new scores


def test_rejected_and_failed_runs_are_neither(field):
    send_run(new_team(field, "Levante"), PERFECT[:1], 1, EVALUATION)
    work_off(EVALUATION)
    Run.objects.filter(team__name="Sirocco").update(state=Run.State.FAILED)
    Evaluation.objects.filter(run__team__name="Sirocco").delete()
    shown = board(field, RELEASE)
    assert {row.team for row in shown.rows if row.team} == {"Meltemi", "Ostro"}
    assert shown.pending == 0


def test_only_one_gold_and_scorer_pair_is_shown(field):
    gold = GoldStandard.objects.get(track__slug="one")
    Evaluation.objects.filter(run__team__name="Meltemi").update(scorer="0.0.1")
    shown = board(field, RELEASE)
    assert "Meltemi" not in {row.team for row in shown.rows}
    assert shown.gold_version == gold.version


def test_undefined_values_are_last_and_unranked(field):
    rescored(Run.objects.get(team__name="Ostro"), {"accuracy": None, "f1_macro": 1.0, "f1:YES": 0.5})
    assert rows(board(field, RELEASE))[-1] == (None, "Ostro", None)
    assert ranked(board(field, RELEASE)) == [(1, "Meltemi"), (2, "Sirocco"), (None, "Ostro")]
    by_f1 = board(field, RELEASE, sort="f1_macro", descending=False)
    assert rows(by_f1)[-1][:2] in {(None, "Gold Standard"), (None, "Ostro")}


def test_sorting_changes_the_order_not_the_ranks(field):
    worst_first = board(field, RELEASE, baselines=False, descending=False)
    assert [rank for rank, _team in ranked(worst_first)] == [3, 1, 1]
    assert ranked(board(field, RELEASE, sort="no such column")) == ranked(board(field, RELEASE))


def test_filters_change_no_rank(field):
    only = board(field, RELEASE, search="sir", baselines=False)
    assert ranked(only) == [(3, "Sirocco")]
    assert {row.kind for row in board(field, RELEASE, baselines=False).rows} == {"team"}


@pytest.mark.slow
def test_lower_is_better_ranks_upwards(tiny_folder, db):
    path = tiny_folder / "task.yaml"
    text = path.read_text().replace("kind: json-labels", "kind: json-soft", 1)
    path.write_text(
        text.replace(
            'metrics: [accuracy, f1_macro, "f1:YES"]\n    rank_by: accuracy', "metrics: [mae]\n    rank_by: mae"
        )
    )
    for name, weight in (("gold/one.json", 1.0), ("baselines/one_yes.json", 0.9)):
        soft = [{"id": item, "value": {"YES": weight, "NO": round(1 - weight, 1)}} for item in "abcd"]
        (tiny_folder / name).write_text(json.dumps(soft))
    tiny = import_shared_task(None, tiny_folder, EVALUATION).shared_task
    for name, error in {"Meltemi": 0.5, "Ostro": 0.25}.items():
        scored(new_team(tiny, name), {"mae": error}, EVALUATION)
    shown = board(tiny, RELEASE)
    assert not shown.columns[0].higher_is_better
    assert ranked(shown) == [(1, "Ostro"), (2, "Meltemi")]
    assert ranked(board(tiny, RELEASE, sort="mae", descending=True)) == [(2, "Meltemi"), (1, "Ostro")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("official", "expected"), [("best", {0.75}), ("last", {0.25}), ("chosen", {0.25}), ("all", {0.25, 0.5, 0.75})]
)
def test_official_run(tiny, official, expected):
    team = new_team(tiny, "Meltemi")
    for number, values in enumerate([["YES", "NO", "NO", "NO"], GOOD, POOR], start=1):
        send_run(team, values, number, EVALUATION + timedelta(hours=number))
    work_off(EVALUATION)
    set_official(tiny, official)
    shown = board(tiny, RELEASE, baselines=False)
    assert {row.scores["accuracy"] for row in shown.rows} == expected
    assert {row.scores["accuracy"] for row in board(tiny, RELEASE, runs="all", baselines=False).rows} == {
        0.25,
        0.5,
        0.75,
    }


@pytest.mark.slow
def test_the_chosen_run_is_official(tiny):
    team = new_team(tiny, "Meltemi")
    first = send_run(team, GOOD, 1, EVALUATION)
    send_run(team, POOR, 2, EVALUATION + timedelta(hours=1))
    work_off(EVALUATION)
    Run.objects.filter(pk=first.pk).update(chosen_at=EVALUATION)
    assert [row.run_id for row in board(tiny, RELEASE, baselines=False).rows] == [first.pk]


@pytest.mark.slow
def test_withdrawn_runs_are_not_shown(field):
    Run.objects.filter(team__name="Meltemi").update(withdrawn_at=EVALUATION)
    shown = board(field, RELEASE)
    assert ranked(shown) == [(1, "Ostro"), (2, "Sirocco")]
    assert shown.pending == 0


def test_own_rows_are_marked(field):
    viewer = captain(field.teams.get(name="Ostro"))
    shown = board(field, RELEASE, viewer=viewer)
    assert {row.team for row in shown.rows if row.is_own} == {"Ostro"}


def test_columns_explain_themselves(field):
    first, second, third = board(field, RELEASE).columns
    assert (first.key, second.key, third.key) == ("accuracy", "f1_macro", "f1:YES")
    assert first.higher_is_better
    assert all(column.title and column.short and column.formula for column in (first, second, third))


def test_board_opens_with_the_last_result(field):
    phases = list(field.phases.all())
    assert default_phase(phases, EVALUATION).slug == "evaluation"
    assert default_phase(phases, RELEASE).slug == "evaluation"
    assert default_phase(phases, POST).slug == "evaluation"  # a phase with results comes before later phases


@pytest.mark.slow
@pytest.mark.parametrize("runs", ["official", "all"])
def test_a_hundred_runs_ask_as_much_as_one(tiny, runs):
    team = new_team(tiny, "Meltemi")
    tiny.phases.update(runs_per_track=None)
    run = scored(team, {"accuracy": 0.5}, EVALUATION)
    asked = [queries(lambda: board(tiny, RELEASE, runs=runs))]
    for place in range(99):
        other = team if place % 2 else new_team(tiny, f"Team-{place}")
        copy_of(run, other, {"accuracy": place / 100})
    asked.append(queries(lambda: board(tiny, RELEASE, runs=runs)))
    assert len(board(tiny, RELEASE, runs=runs, baselines=False).rows) == (100 if runs == "all" else 51)
    assert asked[0] == asked[1] < 11
