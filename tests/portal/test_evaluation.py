"""How a worker processes an upload: checking, scoring, recording, and failures at each step."""

import logging
from datetime import timedelta
from uuid import uuid4

import pytest
from django.conf import settings

from portal.actions.task_folder.import_gold import add_gold_standard
from portal.evaluation.claim import claim_run, claim_submission
from portal.evaluation.errors import ChildError, HostError
from portal.evaluation.limits import ATTEMPTS, CHILD_SECONDS, HINT_SECONDS, LEASE_SECONDS, LEASES_LOST
from portal.evaluation.record import Scored, UploadFinding, record_check, record_error, record_score
from portal.evaluation.score import score_run
from portal.evaluation.sweep import Work, sweep
from portal.models import Evaluation, ExtraTime, GoldStandard, Phase, Quota, Run, Submission, Team
from tests.portal.remembered import remembered
from tests.portal.world import (
    EVALUATION,
    GOOD,
    POST,
    RELEASE,
    archive,
    captain,
    check_submission,
    gold_path,
    run_file,
    send,
    send_run,
    stored_path,
    work_off,
)

pytestmark = pytest.mark.postgres

LATER = EVALUATION + timedelta(seconds=LEASE_SECONDS)
SCORED = Scored({"accuracy": 0.5}, [], {})


def used(team, track="one"):
    return Quota.objects.get(team=team, track__slug=track, day="").used


def accepted_run(team):
    run = send_run(team, GOOD, 1, EVALUATION)
    check_submission(run.submission.pk, EVALUATION)
    run.refresh_from_db()
    return run


@remembered
def run(meltemi):
    """A run from an accepted upload that is waiting to be scored."""
    return accepted_run(meltemi)


def test_a_good_run_is_accepted_then_scored(meltemi):
    run = send_run(meltemi, GOOD, 1, EVALUATION)
    assert check_submission(run.submission.pk, EVALUATION) == [run.pk]
    run.refresh_from_db()
    assert (run.state, run.submission.state, run.items) == ("valid", "accepted", 4)
    assert run.sha256 == run.submission.sha256
    assert score_run(run.pk, EVALUATION)
    run.refresh_from_db()
    evaluation = run.evaluations.get()
    assert (run.state, run.attempts, run.token, run.lease_ends) == ("scored", 0, None, None)
    assert evaluation.scores == {"accuracy": 0.75, "f1_macro": pytest.approx(11 / 15), "f1:YES": pytest.approx(0.8)}
    assert evaluation.gold.version == 1


def test_one_invalid_run_rejects_the_archive_with_every_error(meltemi):
    files = {
        "one_Meltemi_1.json": run_file(GOOD),
        "one_Meltemi_2.json": run_file(["MAYBE", "YES"]),
        "two_Meltemi_1.json": b"not json",
    }
    submission = send(meltemi, "tiny_Meltemi.zip", archive(files), EVALUATION)
    assert used(meltemi) == 2
    assert check_submission(submission.pk, EVALUATION) == []
    submission.refresh_from_db()
    good, bad, worse = submission.runs.order_by("name")
    assert submission.state == "rejected"
    assert {run.state for run in (good, bad, worse)} == {"rejected"}
    assert (good.problems, len(bad.problems), len(worse.problems)) == ([], 2, 1)
    assert all(problem["severity"] == "error" for problem in bad.problems + worse.problems)
    assert used(meltemi) == used(meltemi, "two") == 0
    assert not Evaluation.objects.exists()


def test_checking_does_not_look_at_gold(meltemi):
    run = send_run(meltemi, GOOD, 1, EVALUATION)
    for path in settings.GOLD_ROOT.iterdir():
        path.rename(path.with_suffix(".away"))
    try:
        assert check_submission(run.submission.pk, EVALUATION) == [run.pk]
    finally:
        for path in settings.GOLD_ROOT.glob("*.away"):
            path.rename(path.with_suffix(""))


def test_run_of_an_unchecked_upload_is_not_scored(meltemi):
    run = send_run(meltemi, GOOD, 1, EVALUATION)
    assert not score_run(run.pk, EVALUATION)
    run.refresh_from_db()
    assert (run.state, run.attempts) == ("received", 0)


def test_run_without_gold_waits_and_loses_no_attempt(meltemi):
    run = send_run(meltemi, GOOD, 1, POST, "without-gold")
    assert check_submission(run.submission.pk, POST) == []
    assert not score_run(run.pk, POST)
    run.refresh_from_db()
    assert (run.state, run.attempts, run.submission.state) == ("valid", 0, "accepted")
    assert run.pk not in sweep(POST + timedelta(days=1)).runs


@pytest.mark.slow
def test_messages_that_come_again_change_nothing(run):
    for _ in range(10):
        check_submission(run.submission.pk, EVALUATION)
        score_run(run.pk, EVALUATION)
    run.refresh_from_db()
    assert (run.state, run.leases_lost, run.evaluations.count()) == ("scored", 0, 1)
    assert Submission.objects.get().leases_lost == 0


def test_message_about_nothing_changes_nothing(db):
    assert check_submission(uuid4(), EVALUATION) == []
    assert not score_run(uuid4(), EVALUATION)


def test_claim_holds_until_its_lease_ends(run):
    assert claim_run(run.pk, EVALUATION)
    assert claim_run(run.pk, LATER - timedelta(milliseconds=1)) is None
    assert claim_run(run.pk, LATER)


def test_stale_holder_writes_nothing(run):
    gold = GoldStandard.objects.get(track__slug="one")
    stale = claim_run(run.pk, EVALUATION)
    fresh = claim_run(run.pk, LATER)
    assert not record_score(run, stale, gold, "0.0.1", SCORED, LATER)
    assert not record_error(run, stale, ChildError("died"), LATER)
    assert not record_error(run, stale, OSError("storage"), LATER)
    run.refresh_from_db()
    assert (run.state, run.token, run.leases_lost) == ("valid", fresh, 1)
    assert (run.attempts, run.postponed) == (0, 0)
    assert not Evaluation.objects.exists()
    assert record_score(run, fresh, gold, "0.0.1", SCORED, LATER)


def test_stale_checker_writes_nothing(meltemi):
    submission = send_run(meltemi, GOOD, 1, EVALUATION).submission
    stale = claim_submission(submission.pk, EVALUATION)
    fresh = claim_submission(submission.pk, LATER)
    assert not record_check(submission, stale, UploadFinding(ok=False, problems=[]), LATER)
    submission.refresh_from_db()
    assert (submission.state, submission.token) == ("checking", fresh)
    assert used(meltemi) == 1
    assert set(submission.runs.values_list("state", flat=True)) == {"received"}


def test_new_gold_ends_the_claim(run, tiny_folder):
    gold = GoldStandard.objects.get(track__slug="one")
    token = claim_run(run.pk, EVALUATION)
    add_gold_standard(run.track, "test", tiny_folder / "gold" / "two.json", EVALUATION)
    assert not record_score(run, token, gold, "0.0.1", SCORED, EVALUATION)
    assert score_run(run.pk, EVALUATION)
    assert run.evaluations.get().gold.version == 2


def test_content_that_kills_the_child_is_tried_again_then_quarantined(meltemi, poison):
    run = send_run(meltemi, GOOD, 1, POST, "post")
    check_submission(run.submission.pk, POST)
    poison(run)
    at = POST
    for attempt in range(1, ATTEMPTS + 1):
        assert not score_run(run.pk, at)
        run.refresh_from_db()
        assert (run.state, run.attempts) == ("valid" if attempt < ATTEMPTS else "failed", attempt)
        at += timedelta(hours=1)
    assert run.problems == []  # the team does not see the internal error
    assert used(meltemi) == 0
    assert not score_run(run.pk, at)
    assert sweep(at).runs.count(run.pk) == 0


def test_a_run_that_cannot_be_scored_fails_when_the_scores_are_released(run, meltemi, poison):
    poison(run)
    for hour in range(ATTEMPTS):
        score_run(run.pk, EVALUATION + timedelta(hours=hour))
    run.refresh_from_db()
    assert (run.state, used(meltemi)) == ("unscorable", 1)
    assert [mail.kind for mail in run.submission.mails.all()] == ["runs_accepted"]
    sweep(RELEASE - timedelta(seconds=1))
    run.refresh_from_db()
    assert run.state == "unscorable"
    for _ in range(2):
        sweep(RELEASE)
    run.refresh_from_db()
    assert (run.state, run.finished_at, used(meltemi)) == ("failed", RELEASE, 0)
    assert [mail.kind for mail in run.submission.mails.all()] == ["runs_failed"]


def test_a_child_that_never_ends_is_given_up_on_a_busy_machine_too(meltemi):
    upload = send_run(meltemi, GOOD, 1, EVALUATION).submission
    error = HostError("timed out with almost no CPU time used")
    error.cpu_seconds = CHILD_SECONDS / 5
    attempts = []
    for hour in range(5 * ATTEMPTS):
        token = claim_submission(upload.pk, at := EVALUATION + timedelta(hours=hour))
        assert record_error(upload, token, error, at)
        upload.refresh_from_db()
        attempts.append(upload.attempts)
    assert attempts == [0] * 4 + [1] * 5 + [2] * 5 + [3]
    assert upload.state == "failed"


def test_content_that_kills_the_check_quarantines_the_whole_upload(meltemi):
    run = send_run(meltemi, GOOD, 1, EVALUATION)
    for hour in range(ATTEMPTS):
        token = claim_submission(run.submission.pk, at := EVALUATION + timedelta(hours=hour))
        assert record_error(run.submission, token, ChildError("died"), at)
    run.refresh_from_db()
    assert (run.submission.state, run.state, run.submission.attempts) == ("failed", "failed", ATTEMPTS)
    assert used(meltemi) == 0


def test_a_run_that_cannot_be_scored_fails_when_a_phase_that_never_shows_scores_has_closed(run, meltemi, poison):
    Phase.objects.filter(pk=run.phase_id).update(scores="never", released=None)
    poison(run)
    for hour in range(ATTEMPTS):
        score_run(run.pk, EVALUATION + timedelta(hours=hour))
    closes = run.phase.closes
    ExtraTime.objects.create(
        phase=run.phase, until=closes + timedelta(hours=1), granted_at=EVALUATION, granted_by=captain(meltemi)
    )
    for at in (closes, closes + timedelta(minutes=59)):
        sweep(at)
        run.refresh_from_db()
        assert (run.state, used(meltemi)) == ("unscorable", 1)
    sweep(closes + timedelta(hours=1))
    run.refresh_from_db()
    assert (run.state, used(meltemi)) == ("failed", 0)
    assert [mail.kind for mail in run.submission.mails.all()] == ["runs_failed"]


@pytest.mark.slow
def test_worker_that_dies_every_time_is_quarantined_by_the_sweep(run, meltemi):
    at = EVALUATION
    for _ in range(LEASES_LOST + 1):
        assert claim_run(run.pk, at)
        sweep(at)
        at += timedelta(seconds=LEASE_SECONDS)
    assert claim_run(run.pk, at) is None
    sweep(at)
    run.refresh_from_db()
    assert (run.state, run.attempts, used(meltemi)) == ("unscorable", 0, 1)


@pytest.mark.slow
def test_failed_baseline_harms_no_one(tiny, poison):
    of_test = Run.objects.filter(phase__split="test")
    poison(of_test.filter(kind="baseline").first())
    for hour in range(ATTEMPTS):
        work_off(EVALUATION + timedelta(hours=hour), confined=True)
    states = of_test.values_list("kind", "state").distinct()
    assert set(states.order_by()) == {("baseline", "unscorable"), ("baseline", "scored"), ("gold", "scored")}


@pytest.mark.slow
def test_sweep_trusts_a_fresh_hint_and_then_finds_the_work(meltemi):
    work_off(EVALUATION)  # scores the baselines
    submission = send_run(meltemi, GOOD, 1, EVALUATION).submission
    assert sweep(EVALUATION) == Work()
    lost = EVALUATION + timedelta(seconds=HINT_SECONDS)
    assert sweep(lost) == Work([submission.pk])
    assert sweep(lost) == Work()  # the second sweep trusts the hint of the first
    (run_id,) = check_submission(submission.pk, lost)
    assert sweep(lost) == Work()
    assert sweep(lost + timedelta(seconds=2 * HINT_SECONDS)).hidden == [run_id]


def test_sweep_finds_what_a_dead_worker_held(run):
    Run.objects.exclude(kind="team").update(state="scored")
    claim_run(run.pk, EVALUATION)
    assert sweep(LATER - timedelta(seconds=1)).hidden == []
    assert sweep(LATER).hidden == [run.pk]
    assert score_run(run.pk, LATER)


@pytest.mark.slow
def test_evaluation_names_the_hash_that_was_scored(run):
    work_off(EVALUATION)
    run.refresh_from_db()
    evaluation = Evaluation.objects.get(run=run)
    assert stored_path(run.sha256).read_bytes() == run_file(GOOD)
    assert gold_path(evaluation.gold.sealed_sha256).is_file()


def test_logs_quote_no_run(meltemi: Team, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    run = send_run(meltemi, ["YES", "Sirocco-Label", "NO", "NO"], 1, EVALUATION)
    work_off(EVALUATION)
    run.refresh_from_db()
    assert "Sirocco-Label" in run.problems[0]["excerpt"]["text"]
    assert "Sirocco-Label" not in caplog.text
