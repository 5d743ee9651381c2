"""One job checks an upload and, if its scores are public, scores its runs in the child that has read them.

Remaining runs get their own jobs.
"""

from datetime import timedelta

import pytest

from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.evaluation import check, child, score
from portal.evaluation.check import checked, evaluate_submission
from portal.evaluation.confined import runs
from portal.evaluation.score import score_run
from portal.models import Run, Submission
from tests.portal.world import EVALUATION, GOOD, POST, archive, run_file, send, send_run, without_children


@pytest.fixture
def several(meltemi):
    """An upload with three runs."""
    names = ("one_Meltemi_1.json", "one_Meltemi_2.json", "two_Meltemi_1.json")
    return send(meltemi, "tiny_Meltemi.zip", archive({name: run_file(GOOD) for name in names}), POST, "post")


@pytest.fixture
def read(monkeypatch):
    """The tracks of all runs that are parsed again after the check."""
    found = []
    original = runs.read_answers

    def noted(definition, track, *arguments, **options):
        found.append(track)
        return original(definition, track, *arguments, **options)

    monkeypatch.setattr(runs, "read_answers", noted)
    return found


def states(submission: Submission) -> list[str]:
    return [run.state for run in submission.runs.order_by("name")]


def test_all_runs_are_scored_in_a_child_that_parses_them_once(several):
    server = child.fork_server()
    forked = []
    original, server.fork = server.fork, lambda theirs: forked.append(1) or original(theirs)
    try:
        assert evaluate_submission(several.pk, POST) == []
    finally:
        del server.fork
    assert (states(several), forked) == (["scored"] * 3, [1])


def test_nothing_is_parsed_again(several, read):
    with without_children():
        assert evaluate_submission(several.pk, POST) == []
    assert (states(several), read) == (["scored"] * 3, [])


def test_runs_are_left_where_the_time_of_a_score_is_not(several, read, monkeypatch):
    monkeypatch.setattr(check, "_LATEST_SCORE", timedelta(seconds=-1))
    with without_children():
        left = evaluate_submission(several.pk, POST)
        assert sorted(left) == sorted(several.runs.values_list("pk", flat=True))
        assert states(several) == ["valid"] * 3
        assert all(score_run(run, POST) for run in left)
    assert sorted(read) == ["one", "one", "two"]


def test_runs_are_left_whose_answers_are_too_many_to_keep(several, monkeypatch):
    monkeypatch.setattr(runs, "KEPT_BYTES", 2 * len(run_file(GOOD)))
    with without_children():
        (left,) = evaluate_submission(several.pk, POST)
    assert states(several) == ["scored", "scored", "valid"]
    assert several.runs.get(pk=left).state == Run.State.VALID


def test_a_run_is_left_while_its_scores_are_hidden(meltemi):
    """The next upload would wait for the score, so its waiting time would reveal how long the scoring took."""
    run = send_run(meltemi, GOOD, 1, EVALUATION)
    with without_children():
        assert evaluate_submission(run.submission.pk, EVALUATION) == [run.pk]
        assert states(run.submission) == ["valid"]
        assert score_run(run.pk, EVALUATION)
    assert states(run.submission) == ["scored"]


def test_runs_are_left_after_one_that_kills_the_child(several, monkeypatch):
    def fail(*_):
        raise MemoryError

    monkeypatch.setattr(runs, "score_answers", fail)
    with without_children():
        left = evaluate_submission(several.pk, POST)
    assert sorted(several.runs.values_list("attempts", flat=True)) == [0, 0, 1]
    assert set(left) == set(several.runs.filter(attempts=0).values_list("pk", flat=True))


def test_a_run_is_read_again_by_rules_that_an_import_has_changed(several, read, tiny_folder):
    with without_children(), checked(several.pk, POST) as found:
        rules = tiny_folder / "task.yaml"
        rules.write_text(rules.read_text().replace("metrics: [accuracy]", "metrics: [accuracy, f1_macro]"))
        import_shared_task(None, tiny_folder, POST)
        run = next(run for run in found.runs if run.track.slug == "two")
        assert score.score(run, POST, found.reader)
    assert read == ["two"]
    assert set(run.evaluations.get().scores) == {"accuracy", "f1_macro"}


def test_gold_that_cannot_be_opened_is_no_error_of_the_child(several, monkeypatch):
    def away(*_):
        raise OSError("away")

    with monkeypatch.context() as outage:
        outage.setattr(score, "opened_gold", away)
        with without_children():
            assert evaluate_submission(several.pk, POST) == []
    assert {(run.state, run.attempts, run.postponed) for run in several.runs.all()} == {("valid", 0, 1)}
