"""Retries after internal failures, with the organizers' button or the command, even after the deadline."""

from datetime import timedelta

import pytest
from django.core.management import call_command
from django.test import Client

from portal.actions.base.errors import NotAllowed
from portal.actions.gold import upload_gold
from portal.actions.retry import Retried, retry_failed
from portal.evaluation.gold import check_gold_upload, drop_unused_gold
from portal.evaluation.record import quarantine
from portal.models import AuditEntry, GoldUpload, OutgoingMail, Quota, Run, Submission, User
from tests.portal.remembered import remembered
from tests.portal.world import (
    EVALUATION,
    GOOD,
    POST,
    RELEASE,
    captain,
    check_submission,
    new_team,
    organizer_of,
    person,
    run_file,
    sealed_file,
    send_run,
    work_off,
)

pytestmark = pytest.mark.postgres

MINUTE = timedelta(minutes=1)


@remembered
def organizer(tiny):
    return organizer_of(tiny)


def given_up(run, at=POST):
    """Have the run's upload accepted, and then give up on scoring the run."""
    check_submission(run.submission.pk, at)
    assert quarantine(Run.objects.filter(pk=run.pk), at)
    return run


def used(team):
    return set(Quota.objects.filter(track__slug="one", team=team).values_list("used", flat=True))


def state(row):
    row.refresh_from_db()
    return row.state, row.attempts


@pytest.mark.slow
def test_a_run_is_scored_after_the_deadline(tiny, meltemi, organizer):
    run = given_up(send_run(meltemi, GOOD, 1, POST, "post"))
    Run.objects.filter(pk=run.pk).update(attempts=3, leases_lost=2)
    assert used(meltemi) == {0}
    assert retry_failed(organizer, tiny, RELEASE) == Retried(1, 0, [])
    assert (state(run), used(meltemi)) == (("valid", 0), {1})
    work_off(RELEASE)
    assert state(run) == ("scored", 0)
    entry = AuditEntry.objects.get(verb="retry_failed")
    assert (entry.actor, entry.detail) == (organizer, {"runs": 1, "gold": 0, "left": 0})
    assert retry_failed(organizer, tiny, RELEASE) == Retried(0, 0, [])


def test_a_run_of_extra_time_comes_back_after_that_was_revoked(tiny, meltemi, organizer):
    given_up(send_run(meltemi, GOOD, 1, POST, "post"))
    tiny.phases.filter(slug="post").update(closes=POST)
    assert retry_failed(organizer, tiny, RELEASE) == Retried(1, 0, [])


def test_administrators_hear_of_each_failure(tiny, meltemi, organizer):
    User.objects.create_user("ada@agon.example", name="Ada", is_staff=True)
    run = given_up(send_run(meltemi, GOOD, 1, POST, "post"))
    retry_failed(organizer, tiny, RELEASE)
    assert quarantine(Run.objects.filter(pk=run.pk), RELEASE)
    assert OutgoingMail.objects.filter(kind="alert").count() == 2


@pytest.mark.slow
def test_an_upload_comes_back_with_its_runs(tiny, meltemi, organizer):
    run = send_run(meltemi, GOOD, 1, EVALUATION)
    assert quarantine(Submission.objects.filter(pk=run.submission.pk), EVALUATION)
    assert retry_failed(organizer, tiny, RELEASE) == Retried(1, 0, [])
    assert state(run)[0] == state(run.submission)[0] == "received"
    work_off(RELEASE)
    assert state(run)[0] == "scored"


def test_a_run_that_failed_unseen_comes_back_with_the_quota_that_it_kept(tiny, meltemi, organizer):
    run = given_up(send_run(meltemi, GOOD, 1, EVALUATION), EVALUATION)
    assert (state(run)[0], used(meltemi)) == ("unscorable", {1})
    assert retry_failed(organizer, tiny, EVALUATION) == Retried(1, 0, [])
    assert (state(run)[0], used(meltemi)) == ("valid", {1})


def test_baselines_come_back(tiny, organizer):
    baseline = Run.objects.filter(kind="baseline").first()
    assert quarantine(Run.objects.filter(pk=baseline.pk), EVALUATION)
    assert retry_failed(organizer, tiny, EVALUATION).runs == 1
    assert state(baseline)[0] == "valid"


def test_a_number_that_was_used_again_stays_with_its_new_run(tiny, meltemi, organizer):
    run = given_up(send_run(meltemi, GOOD, 1, POST, "post"))
    again = send_run(meltemi, GOOD, 1, POST + MINUTE, "post")
    retried = retry_failed(organizer, tiny, RELEASE)
    assert (retried.runs, len(retried.left)) == (0, 1)
    assert retried.left[0][1].code == "run_number_taken"
    assert (state(run)[0], state(again)[0], used(meltemi)) == ("failed", "received", {1})


def test_a_limit_used_since_then_applies(tiny, meltemi, organizer):
    run = given_up(send_run(meltemi, GOOD, 1, POST, "post"))
    limit = run.phase.runs_per_day
    for number in range(2, limit + 2):
        send_run(meltemi, GOOD, number, POST + number * MINUTE, "post")
    retried = retry_failed(organizer, tiny, RELEASE)
    assert (retried.runs, retried.left[0][1].code, state(run)[0]) == (0, "no_runs_left", "failed")
    assert max(used(meltemi)) == limit


@pytest.mark.slow
def test_one_team_s_used_limit_costs_another_nothing(tiny, meltemi, organizer):
    given_up(send_run(meltemi, GOOD, 1, POST, "post"))
    send_run(meltemi, GOOD, 1, POST + MINUTE, "post")
    other = given_up(send_run(new_team(tiny, "Bora"), GOOD, 1, POST, "post"))
    retried = retry_failed(organizer, tiny, RELEASE)
    assert (retried.runs, len(retried.left), state(other)[0]) == (1, 1, "valid")


def test_gold_comes_back_unless_newer_gold_is_there(tiny, organizer):
    track = tiny.tracks.get(slug="one")
    contents = [run_file([answer, "YES", "NO", "NO"]) for answer in ("NO", "YES")]
    first = upload_gold(organizer, track, EVALUATION, split="test", sealed=sealed_file(contents[0]))
    assert quarantine(GoldUpload.objects.filter(pk=first.pk), EVALUATION)
    drop_unused_gold()
    assert retry_failed(organizer, tiny, EVALUATION) == Retried(0, 1, [])
    check_gold_upload(first.pk, EVALUATION)
    assert state(first)[0] == "previewing"
    second = upload_gold(organizer, track, EVALUATION + MINUTE, split="test", sealed=sealed_file(contents[1]))
    assert quarantine(GoldUpload.objects.filter(pk=second.pk), EVALUATION + MINUTE)
    upload_gold(organizer, track, EVALUATION + 2 * MINUTE, split="test", sealed=sealed_file(contents[0]))
    retried = retry_failed(organizer, tiny, EVALUATION + 3 * MINUTE)
    assert (retried.gold, retried.left[0][1].code, state(second)[0]) == (0, "newer_gold", "failed")


def test_only_organizers_may(tiny, meltemi):
    for user in (captain(meltemi), person("Zeno")):
        with pytest.raises(NotAllowed):
            retry_failed(user, tiny, EVALUATION)


def test_the_command(tiny, meltemi, capsys):
    run = given_up(send_run(meltemi, GOOD, 1, POST, "post"))
    call_command("retry", "tiny")
    assert capsys.readouterr().out.splitlines() == ["tiny: retried runs: 1, retried gold files: 0"]
    assert state(run)[0] == "valid"
    assert AuditEntry.objects.get(verb="retry_failed").actor is None


@pytest.mark.slow
def test_the_button(tiny, meltemi, organizer):
    client = Client()
    client.force_login(organizer)
    page = "/tasks/tiny/organize/runs/"
    assert "Retry" not in client.get(page).content.decode()
    run = given_up(send_run(meltemi, GOOD, 1, POST, "post"))
    assert "Retry failed runs" in client.get(page).content.decode()
    answer = client.post("/tasks/tiny/organize/retry/", follow=True).content.decode()
    assert "1 evaluation is being retried." in answer
    assert "Retry" not in answer
    assert state(run)[0] == "valid"
