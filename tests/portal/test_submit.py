"""Submitting an upload: window, limits, run numbers and repeated requests. All times are passed as arguments."""

from datetime import timedelta
from pathlib import Path

import pytest

from portal.actions.approval import approve_team
from portal.actions.base.errors import ActionError, Conflict, Invalid, LimitReached, NotAllowed, TooLarge
from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.actions.teams import register_team
from portal.actions.uploads import intake
from portal.actions.uploads.submit import submit
from portal.actions.uploads.validate_only import validate_only
from portal.evaluation.lanes import Lane, message_list
from portal.evaluation.limits import HINT_PRIORITY
from portal.models import (
    AuditEntry,
    FailedAttempt,
    Membership,
    Phase,
    Quota,
    Refusal,
    Run,
    Submission,
    Team,
    Validation,
)
from portal.queries.quota import remaining
from tests.portal.world import (
    EVALUATION,
    GOOD,
    PERFECT,
    POOR,
    POST,
    archive,
    captain,
    new_team,
    organizer_of,
    person,
    run_file,
    send,
    send_run,
    stored_path,
    work_off,
)

pytestmark = pytest.mark.postgres

MILLISECOND = timedelta(milliseconds=1)


def limits(team, at, phase="evaluation"):
    return {
        line.track.slug: (line.used, line.limit)
        for line in remaining(team, captain(team), team.shared_task.phases.get(slug=phase), at)
    }


def test_receipt_has_a_row_a_file_and_an_audit_entry(meltemi):
    submission = send(meltemi, "one_Meltemi_1.json", run_file(GOOD), EVALUATION)
    assert (submission.state, submission.received_at) == ("received", EVALUATION)
    assert stored_path(submission.sha256).read_bytes() == run_file(GOOD)
    run = submission.runs.get()
    assert (run.name, run.entry, run.number, run.track.slug) == ("one_Meltemi_1.json", "", 1, "one")
    assert AuditEntry.objects.get(verb="submit").actor == captain(meltemi)


def test_archive_holds_several_runs(meltemi):
    body = archive({"one_Meltemi_1.json": run_file(GOOD), "two_Meltemi_1.json": run_file(POOR)})
    submission = send(meltemi, "tiny_Meltemi.zip", body, EVALUATION)
    assert {run.track.slug for run in submission.runs.all()} == {"one", "two"}
    assert limits(meltemi, EVALUATION) == {"one": (1, 3), "two": (1, 3)}


def test_the_window_is_half_open(meltemi):
    phase = meltemi.shared_task.phases.get(slug="evaluation")
    send_run(meltemi, GOOD, 1, phase.opens)
    send_run(meltemi, GOOD, 2, phase.closes - MILLISECOND)
    for number, at in enumerate([phase.opens - MILLISECOND, phase.closes], start=3):
        with pytest.raises(NotAllowed, match="Evaluation is not accepting runs") as raised:
            send_run(meltemi, GOOD, number, at)
        assert raised.value.code == "phase_closed"
    assert limits(meltemi, EVALUATION)["one"] == (2, 3)


def test_a_deadline_that_was_moved_holds_at_once(meltemi):
    phase = meltemi.shared_task.phases.get(slug="evaluation")
    late = phase.closes + timedelta(hours=1)
    meltemi.shared_task.phases.filter(pk=phase.pk).update(closes=phase.closes + timedelta(days=1))
    assert send_run(meltemi, GOOD, 1, late).received_at == late


def test_limit_of_a_phase(meltemi):
    for number in (1, 2, 3):
        send_run(meltemi, GOOD, number, EVALUATION)
    with pytest.raises(LimitReached, match=r"in Evaluation: 0 of 3\. Runs in this upload: 1\."):
        send_run(meltemi, GOOD, 4, EVALUATION)
    assert limits(meltemi, EVALUATION)["one"] == (3, 3)
    assert Submission.objects.count() == 3


def test_the_limit_of_a_day_resets_at_midnight_utc(meltemi):
    for number in (1, 2):
        send_run(meltemi, GOOD, number, POST, "post")
    with pytest.raises(LimitReached, match=r"left today \(UTC\) for Track one: 0 of 2"):
        send_run(meltemi, GOOD, 3, POST.replace(hour=23, minute=59, second=59), "post")
    midnight = POST.replace(hour=0) + timedelta(days=1)
    send_run(meltemi, GOOD, 3, midnight, "post")
    assert limits(meltemi, midnight, "post")["one"] == (1, 2)


def test_an_archive_over_the_limit_is_rejected_whole(meltemi):
    files = {f"one_Meltemi_{number}.json": run_file(GOOD) for number in (1, 2, 3, 4)}
    files["two_Meltemi_1.json"] = run_file(GOOD)
    with pytest.raises(LimitReached, match=r"Track one in Evaluation: 3 of 3\. Runs in this upload: 4"):
        send(meltemi, "tiny_Meltemi.zip", archive(files), EVALUATION)
    assert limits(meltemi, EVALUATION) == {"one": (0, 3), "two": (0, 3)}
    assert not Run.objects.filter(team=meltemi).exists()


def test_number_that_is_used_is_rejected_and_the_free_ones_named(meltemi):
    send_run(meltemi, GOOD, 2, EVALUATION)
    with pytest.raises(Conflict, match=r"Available numbers: 1, 3, 4, 5\.") as raised:
        send_run(meltemi, POOR, 2, EVALUATION)
    assert raised.value.http_status == 409
    assert limits(meltemi, EVALUATION)["one"] == (1, 3)


def test_numbers_belong_to_one_phase(meltemi):
    send_run(meltemi, GOOD, 1, EVALUATION)
    assert send_run(meltemi, GOOD, 1, POST, "post").number == 1


def test_where_numbers_are_free_one_may_come_again(tiny_folder, meltemi):
    path = tiny_folder / "task.yaml"
    path.write_text(path.read_text().replace("official: best}", "official: best, run_numbers: free}"))
    changes = import_shared_task(None, tiny_folder, EVALUATION).changes
    assert "phase post: run_numbers once → free" in changes
    assert [send_run(meltemi, GOOD, 1, POST, "post").number for _ in range(2)] == [1, 1]
    send_run(meltemi, GOOD, 1, EVALUATION)
    with pytest.raises(Conflict):
        send_run(meltemi, GOOD, 1, EVALUATION)


def test_numbers_of_before_are_no_obstacle_where_a_phase_comes_to_count_them(meltemi):
    phases = meltemi.shared_task.phases.filter(slug="post")
    phases.update(run_numbers="free")
    for _ in range(2):
        send_run(meltemi, GOOD, 1, POST, "post")
    phases.update(run_numbers="once")
    tomorrow = POST + timedelta(days=1)
    assert send_run(meltemi, GOOD, 2, tomorrow, "post").number == 2
    with pytest.raises(Conflict):
        send_run(meltemi, GOOD, 1, tomorrow, "post")


@pytest.mark.slow
def test_rejection_frees_number_and_quota(meltemi):
    send_run(meltemi, GOOD[:2], 1, EVALUATION)
    assert limits(meltemi, EVALUATION)["one"] == (1, 3)
    work_off(EVALUATION)
    assert limits(meltemi, EVALUATION)["one"] == (0, 3)
    assert send_run(meltemi, GOOD, 1, EVALUATION).number == 1


def test_same_key_same_receipt(meltemi):
    first = send(meltemi, "one_Meltemi_1.json", run_file(GOOD), EVALUATION, key="click")
    again = send(meltemi, "one_Meltemi_1.json", run_file(GOOD), EVALUATION, key="click")
    assert first == again
    assert limits(meltemi, EVALUATION)["one"] == (1, 3)


def test_same_key_is_answered_after_the_deadline_too(meltemi):
    first = send(meltemi, "one_Meltemi_1.json", run_file(GOOD), EVALUATION, key="click")
    assert send(meltemi, "one_Meltemi_1.json", run_file(GOOD), POST, key="click") == first


def test_same_key_other_body_is_rejected(meltemi):
    send(meltemi, "one_Meltemi_1.json", run_file(GOOD), EVALUATION, key="click")
    with pytest.raises(Invalid) as raised:
        send(meltemi, "one_Meltemi_1.json", run_file(POOR), EVALUATION, key="click")
    assert (raised.value.code, raised.value.http_status) == ("key_reused", 422)


@pytest.mark.parametrize("other", [{"phase": "without-gold"}, {"slot": "contrastive"}])
def test_same_key_other_phase_or_slot_is_rejected(meltemi, other):
    body = {"name": "one_Meltemi_1.json", "body": run_file(GOOD), "at": POST, "phase": "post", "key": "click"}
    first = send(meltemi, **body)
    assert send(meltemi, **body) == first
    with pytest.raises(Invalid, match="a different file, phase or slot") as raised:
        send(meltemi, **{**body, **other})
    assert (raised.value.code, raised.value.http_status) == ("key_reused", 422)


def test_invalid_names_are_listed_and_counted_and_the_content_is_checked_all_the_same(meltemi):
    with pytest.raises(Invalid) as error:
        send(meltemi, " one_Sirocco_1.json", run_file(PERFECT), EVALUATION)
    found = error.value.params
    assert (error.value.code, found["file"]) == ("upload_rejected", " one_Sirocco_1.json")
    assert {problem["suggestion"] for problem in found["problems"]} == {"one_Meltemi_1.json"}
    assert [run["track"] for run in found["runs"]] == ["one"]
    assert found["validation"] == str(Validation.objects.get().pk)
    assert set(Refusal.objects.values_list("code", "uploads")) == {(one["code"], 1) for one in found["problems"]}
    assert FailedAttempt.objects.count() == 1
    assert not Submission.objects.exists()


def test_after_the_deadline_names_are_not_judged(meltemi):
    closes = meltemi.shared_task.phases.get(slug="evaluation").closes
    with pytest.raises(NotAllowed) as error:
        send(meltemi, "one_Sirocco_1.json", run_file(PERFECT), closes)
    assert error.value.code == "phase_closed"
    assert not FailedAttempt.objects.exists()
    assert not Validation.objects.exists()
    assert list(Refusal.objects.values_list("code", "uploads")) == [("phase_closed", 1)]


def unread():
    pytest.fail("the body was read")
    yield b""


@pytest.mark.parametrize("send_to", [submit, validate_only])
def test_no_body_is_read_for_a_phase_that_is_closed(meltemi, send_to):
    phase = meltemi.shared_task.phases.get(slug="evaluation")
    with pytest.raises(NotAllowed) as error:
        send_to(captain(meltemi), phase, phase.closes, content=unread(), file_name="one_Meltemi_1.json")
    assert error.value.code == "phase_closed"


@pytest.mark.parametrize("send_to", [submit, validate_only])
def test_no_body_is_read_without_a_signature(gated, send_to):
    team = register_team(person("Bora"), gated, EVALUATION, name="Bora", answers={"use": "research"})
    approve_team(organizer_of(gated), team, EVALUATION)
    phase = gated.phases.get(slug="evaluation")
    with pytest.raises(NotAllowed) as error:
        send_to(captain(team), phase, EVALUATION, content=unread(), file_name="one_Bora_1.json")
    assert error.value.code == "unsigned"


def test_a_deadline_that_moves_while_a_body_comes_in_counts(meltemi):
    phase = meltemi.shared_task.phases.get(slug="evaluation")
    Phase.objects.filter(pk=phase.pk).update(closes=phase.closes + timedelta(days=1))
    given = {"content": [run_file(GOOD)], "file_name": "one_Meltemi_1.json"}
    assert submit(captain(meltemi), phase, phase.closes, **given).phase == phase


def test_a_body_over_the_limit_is_counted_once_and_leaves_nothing(meltemi, monkeypatch, settings):
    monkeypatch.setattr(intake, "UPLOAD_BYTES", 9)
    with pytest.raises(TooLarge) as error:
        send(meltemi, "one_Meltemi_1.json", run_file(PERFECT), EVALUATION)
    assert (error.value.code, error.value.http_status, error.value.params) == ("too_large", 413, {"limit": 9})
    assert list(Refusal.objects.values_list("code", "uploads")) == [("too_large", 1)]
    assert not list((Path(settings.DATA_ROOT) / "incoming").iterdir())


def test_no_rows_without_an_audit_entry(meltemi, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("no entry")

    monkeypatch.setattr(type(AuditEntry.objects), "record", fail)
    with pytest.raises(RuntimeError):
        send_run(meltemi, GOOD, 1, EVALUATION)
    assert not Submission.objects.exists()
    assert limits(meltemi, EVALUATION)["one"] == (0, 3)


def test_only_members_of_an_approved_team_submit(meltemi):
    Team.objects.update(state=Team.State.PENDING)
    with pytest.raises(NotAllowed, match="isn’t approved yet"):
        send_run(meltemi, GOOD, 1, EVALUATION)
    Team.objects.update(state=Team.State.APPROVED)
    user = captain(meltemi)
    user.is_active = False
    user.save()
    with pytest.raises(ActionError):
        send_run(meltemi, GOOD, 1, EVALUATION)
    assert not Submission.objects.exists()


def test_a_rival_is_no_obstacle(meltemi):
    rival = new_team(meltemi.shared_task, "Sirocco")
    for team in (meltemi, rival):
        send_run(team, GOOD, 1, EVALUATION)
    assert Membership.objects.count() == 2
    assert limits(rival, EVALUATION)["one"] == (1, 3)


def test_names_without_numbers_are_counted_by_the_portal(tiny_folder, meltemi):
    path = tiny_folder / "task.yaml"
    text = path.read_text().replace("{track}_{team}_{number}.json", "{track}_{team}.json")
    path.write_text(text.replace("  number: [1, 2, 3, 4, 5]\n", ""))
    import_shared_task(None, tiny_folder, EVALUATION)
    meltemi.refresh_from_db()
    numbers = [send(meltemi, "one_Meltemi.json", run_file(GOOD), EVALUATION).runs.get().number for _ in range(2)]
    assert numbers == [1, 2]
    assert Quota.objects.get(team=meltemi, track__slug="one").used == 2


@pytest.mark.django_db(transaction=True)
def test_broker_down_at_commit(meltemi):
    submission = send(meltemi, "one_Meltemi_1.json", run_file(GOOD), EVALUATION)
    assert Submission.objects.get() == submission


@pytest.mark.django_db(transaction=True)
def test_hint_follows_the_commit(meltemi, queue):
    send(meltemi, "one_Meltemi_1.json", run_file(GOOD), EVALUATION)
    assert queue.llen(message_list(Lane.SCORING, HINT_PRIORITY)) == 1


@pytest.mark.django_db(transaction=True)
def test_refusal_publishes_nothing(meltemi, queue):
    with pytest.raises(NotAllowed):
        send(meltemi, "one_Meltemi_1.json", run_file(GOOD), POST)
    assert queue.llen(message_list(Lane.SCORING, HINT_PRIORITY)) == 0
