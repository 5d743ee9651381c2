"""Importing a different ranking metric: boards change immediately, except released boards."""

from uuid import uuid4

import pytest

from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.evaluation.compare import compare_board, is_to_be_kept
from portal.evaluation.record import Scored, record_score
from portal.models import Board, Evaluation, GoldStandard, Run
from portal.queries.boards.releases import keep_release
from portal.queries.boards.table import released_table
from tests.portal.remembered import remembered
from tests.portal.world import (
    EVALUATION,
    GOOD,
    POOR,
    POST,
    RELEASE,
    board,
    new_team,
    ranked,
    rescored,
    send_run,
    work_off,
)

SCORES = {  # the team with the higher accuracy has the lower macro-F1
    "Ostro": {"accuracy": 0.9, "f1_macro": 0.2, "f1:YES": 0.5},
    "Bora": {"accuracy": 0.8, "f1_macro": 0.7, "f1:YES": None},
}


@remembered
def field(tiny):
    """Two teams with scored runs, ranked by accuracy."""
    for name, scores in SCORES.items():
        run = send_run(new_team(tiny, name), GOOD, 1, EVALUATION)
        work_off(EVALUATION)
        rescored(run, scores)
    return tiny


def the_board():
    return Board.objects.select_related("track__shared_task", "phase__shared_task", "gold").get(
        track__slug="one", phase__slug="evaluation"
    )


def ranked_by(folder, metric, metrics="accuracy, f1_macro"):
    path = folder / "task.yaml"
    text = path.read_text().replace("metrics: [accuracy, f1_macro", f"metrics: [{metrics}", 1)
    path.write_text(text.replace("rank_by: accuracy", f"rank_by: {metric}", 1))
    result = import_shared_task(None, folder, POST)
    return result.shared_task, result.changes


@pytest.mark.slow
def test_the_board_follows_and_the_release_stays(field, tiny_folder):
    compare_board(the_board(), RELEASE)
    first = keep_release(the_board(), RELEASE)
    first.refresh_from_db()
    content, revision = first.content, the_board().revision
    after, changes = ranked_by(tiny_folder, "f1_macro")
    assert "track one: ranked by accuracy → f1_macro" in changes
    shown = board(after, POST)
    assert ranked(shown) == [(1, "Bora"), (2, "Ostro")]
    assert (shown.rank_by, shown.comparison, shown.has_groups) == ("f1_macro", None, False)
    assert the_board().revision > revision
    compare_board(the_board(), POST)
    assert is_to_be_kept(the_board(), POST)
    assert keep_release(the_board(), POST).number == 2
    assert not is_to_be_kept(the_board(), POST)
    first.refresh_from_db()
    assert (first.content, ranked(released_table(first))) == (content, [(1, "Ostro"), (2, "Bora")])


def test_a_metric_that_low_values_win_turns_the_keys(field, tiny_folder):
    metrics = "accuracy, f1_macro, hamming_loss"
    Evaluation.objects.filter(run__team__name="Ostro").update(scores=SCORES["Ostro"] | {"hamming_loss": 0.1})
    Evaluation.objects.filter(run__team__name="Bora").update(scores=SCORES["Bora"] | {"hamming_loss": 0.2})
    after, _changes = ranked_by(tiny_folder, "hamming_loss", metrics)
    assert ranked(board(after, POST)) == [(1, "Ostro"), (2, "Bora")]


@pytest.mark.slow
def test_what_was_scored_without_the_metric_waits_and_is_scored_again(field, tiny_folder):
    after, changes = ranked_by(tiny_folder, "f1:NO", 'accuracy, f1_macro, "f1:NO"')
    assert "track one: ranked by accuracy → f1:NO, 6 runs will be rescored" in changes
    shown = board(after, POST)
    assert (shown.rows, shown.pending) == ([], 4)
    work_off(POST)
    shown = board(after, POST)
    assert (ranked(shown), shown.pending) == ([(1, "Bora"), (1, "Ostro")], 0)
    assert {set(row.scores) >= {"f1:NO"} for row in shown.rows} == {True}


def test_a_run_that_was_being_scored_meanwhile_ranks_by_the_new_rules(field, tiny_folder):
    def claimed(number):
        run = send_run(field.teams.get(name="Bora"), POOR, number, EVALUATION)
        Run.objects.filter(pk=run.pk).update(token=uuid4(), state=Run.State.VALID)
        run.refresh_from_db()
        assert run.track.definition.rank_by == "accuracy"
        return run

    late, lacking = claimed(2), claimed(3)
    gold = GoldStandard.objects.newest(late.track, "test")
    ranked_by(tiny_folder, "f1_macro")
    found = {"accuracy": 0.5, "f1_macro": 0.3}
    assert record_score(late, late.token, gold, field.scorer, Scored(found, [], {}), POST)
    assert late.evaluations.get().rank_key == -0.3
    assert not record_score(lacking, lacking.token, gold, field.scorer, Scored({"accuracy": 0.5}, [], {}), POST)
    assert not lacking.evaluations.exists()


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_worker_keeps_a_release_and_says_that_the_board_has_changed(field):
    """PostgreSQL locks rows only within a transaction, and jobs start outside of one."""
    compare_board(the_board(), RELEASE)
    revision = the_board().revision
    keep_release(the_board(), RELEASE)
    assert the_board().revision > revision
