"""Rescoring: boards and workers use the same scorer version, and nothing remains pending forever."""

import io
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command

from portal import jobs
from portal.actions import scores
from portal.actions.task_folder.import_gold import add_gold_standard
from portal.evaluation import claim, rescore, score
from portal.evaluation.lanes import Lane, message_list
from portal.evaluation.limits import HINT_PRIORITY
from portal.evaluation.rescore import adopt_scorer
from portal.evaluation.score import score_run
from portal.evaluation.sweep import Work, sweep
from portal.models import AuditEntry, Evaluation, GoldStandard, Run
from tests.portal.remembered import remembered
from tests.portal.world import (
    EVALUATION,
    GOOD,
    POOR,
    POST,
    RELEASE,
    board,
    check_submission,
    gold_path,
    send_run,
    work_off,
)

pytestmark = pytest.mark.postgres


@remembered
def run(meltemi):
    """A team's scored run."""
    found = send_run(meltemi, GOOD, 1, EVALUATION)
    work_off(EVALUATION)
    return found


def become(monkeypatch, version):
    """Make this process a worker with this scorer version."""
    for module in (claim, rescore):
        monkeypatch.setattr(module, "scorer_version", version)


def states():
    return set(Run.objects.filter(phase__split="test").values_list("state", flat=True))


@pytest.mark.slow
def test_a_newer_scorer_scores_everything_again_and_boards_go_by_it(run, tiny, monkeypatch):
    before = board(tiny, POST, "post")
    become(monkeypatch, "0.10.0")  # newer than 0.9
    assert adopt_scorer(RELEASE) == [tiny]
    assert adopt_scorer(RELEASE) == []
    assert states() == {"valid"}
    tiny.refresh_from_db()
    waiting = board(tiny, POST, "post")
    assert (waiting.scorer, waiting.rows, waiting.rescored) == (before.scorer, before.rows, (0, len(before.rows)))
    work_off(POST)
    after = board(tiny, POST, "post")
    assert (after.scorer, after.rescored, after.pending) == ("0.10.0", None, 0)
    assert [row.scores for row in after.rows] == [row.scores for row in before.rows]
    assert run.evaluations.count() == 2


def test_an_older_worker_claims_nothing_and_uses_no_attempt(meltemi, tiny, monkeypatch):
    run = send_run(meltemi, GOOD, 1, EVALUATION)
    become(monkeypatch, "0.0.9")
    assert adopt_scorer(EVALUATION) == []
    assert check_submission(run.submission.pk, EVALUATION) == []
    baseline = Run.objects.filter(kind="baseline").first()
    assert not score_run(baseline.pk, EVALUATION)
    run.refresh_from_db()
    assert (run.state, run.attempts) == ("received", 0)
    assert set(Run.objects.filter(team=None).values_list("state", "attempts")) == {("valid", 0)}
    run.submission.refresh_from_db()
    assert (run.submission.state, run.submission.attempts) == ("received", 0)


@pytest.mark.slow
def test_a_worker_that_claimed_as_the_scorer_changed_writes_nothing(run, tiny, monkeypatch):
    really = score.claim_run

    def claim_too_late(run_id, at):
        type(tiny).objects.update(scorer="9.0.0")
        return really(run_id, at)

    Run.objects.filter(pk=run.pk).update(state="valid")
    monkeypatch.setattr(score, "claim_run", claim_too_late)
    assert not score_run(run.pk, EVALUATION)
    assert run.evaluations.count() == 1


def test_the_command_asks_for_one_task_and_keeps_the_reason(run, tiny):
    output = io.StringIO()
    call_command("rescore", "tiny", reason="the metric was fixed", stdout=output)
    assert "runs are waiting to be rescored" in output.getvalue()
    assert states() == {"valid"}
    entry = AuditEntry.objects.get(verb="rescore")
    assert entry.detail["reason"] == "the metric was fixed"
    work_off(EVALUATION)
    assert states() == {"scored"}
    assert run.evaluations.count() == 1  # one evaluation per run, gold version and scorer version
    with pytest.raises(CommandError, match="Available tasks: tiny"):
        call_command("rescore", "tinny")
    with pytest.raises(CommandError, match="Use at most 300"):
        call_command("rescore", "tiny", reason="x" * 301)


def test_scores_that_differ_are_reported_and_not_written(run, caplog):
    evaluation = run.evaluations.get()
    Evaluation.objects.filter(pk=evaluation.pk).update(scores=evaluation.scores | {"accuracy": 0.5})
    Run.objects.filter(pk=run.pk).update(state="valid", attempts=0)
    score_run(run.pk, EVALUATION)
    assert "recomputed scores differ" in caplog.text
    assert run.evaluations.get().scores["accuracy"] == 0.5


def test_rejected_runs_stay_rejected_and_failed_baselines_get_another_chance(run, meltemi, tiny, tiny_folder):
    rejected = send_run(meltemi, ["MAYBE"], 2, EVALUATION)
    work_off(EVALUATION)
    Run.objects.filter(kind="baseline").update(state="failed")
    Run.objects.filter(pk=run.pk).update(state="failed")
    scores.rescore(None, tiny, EVALUATION, reason="again")
    rejected.refresh_from_db()
    run.refresh_from_db()
    assert (rejected.state, run.state) == ("rejected", "failed")
    assert not Run.objects.filter(kind="baseline", state="failed").exists()


def test_what_no_one_waits_for_goes_into_the_bulk_lane(run, meltemi, tiny):
    fresh = send_run(meltemi, POOR, 2, EVALUATION)
    check_submission(fresh.submission.pk, EVALUATION)
    scores.rescore(None, tiny, EVALUATION, reason="again")
    later = EVALUATION + timedelta(hours=1)
    assert sweep(later, [Lane.SCORING]) == Work()
    assert sweep(later, [Lane.HIDDEN]) == Work(hidden=[fresh.pk])
    work = sweep(later, [Lane.BULK])
    assert (work.submissions, work.runs) == ([], [])
    assert run.pk in work.others
    assert set(work.others) == set(Run.objects.scorable().exclude(pk=fresh.pk).values_list("pk", flat=True))


@pytest.mark.django_db(transaction=True)
def test_the_sweep_adds_nothing_to_a_lane_in_which_messages_wait(run, tiny, queue):
    scores.rescore(None, tiny, EVALUATION, reason="again")
    jobs.sweep()
    waiting = queue.llen(message_list(Lane.BULK, HINT_PRIORITY))
    assert waiting == Run.objects.scorable().count()
    Run.objects.update(lease_ends=None)
    jobs.sweep()
    assert queue.llen(message_list(Lane.BULK, HINT_PRIORITY)) == waiting
    queue.flushall()
    jobs.sweep()
    assert queue.llen(message_list(Lane.BULK, HINT_PRIORITY)) == waiting


@pytest.mark.slow
def test_gold_swapped_under_load_names_its_version_each_time(run, tiny_folder):
    first = run.evaluations.get()
    for version in (2, 3):
        name = "two" if version == 2 else "one"
        file = tiny_folder / f"gold/{name}.json"
        file.write_text(file.read_text() + "\n" * version)
        add_gold_standard(run.track, "test", file, EVALUATION)
        work_off(EVALUATION)
    assert [evaluation.gold.version for evaluation in run.evaluations.order_by("gold__version")] == [1, 2, 3]
    first.refresh_from_db()
    assert first.gold.version == 1
    hashes = GoldStandard.objects.filter(track=run.track).values_list("sealed_sha256", flat=True)
    assert all(gold_path(sha256).is_file() for sha256 in hashes)
