"""Limits on rejected uploads, per person and per team, wherever the uploads are rejected. Outages do not count."""

from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from portal.actions.base.errors import ActionError, Invalid, LimitReached
from portal.actions.team_members import leave_team
from portal.actions.teams import join_team, register_team
from portal.actions.uploads import rejections
from portal.actions.uploads.rejections import REJECTED_AN_HOUR, REJECTED_IN_A_ROW, require_few_rejections
from portal.actions.uploads.submit import submit
from portal.actions.uploads.validate_only import validate_only
from portal.models import FailedAttempt, Phase, Submission, Validation
from portal.models.clock import database_now
from tests.portal.remembered import remembered
from tests.portal.world import EVALUATION, GOOD, captain, person, run_file, send_run, work_off

pytestmark = pytest.mark.postgres

SECOND = timedelta(seconds=1)
NONE = ([], [])


@remembered
def unlimited(meltemi):
    """A team in a task without run limits."""
    Phase.objects.update(runs_per_track=None, runs_per_day=None)
    return meltemi


def misnamed(user, team, at):
    phase = team.shared_task.phases.get(slug="evaluation")
    with pytest.raises(Invalid) as rejected:
        submit(user, phase, at, content=[run_file(GOOD)], file_name="no_such_name.json")
    assert rejected.value.code == "upload_rejected"


@pytest.mark.slow
def test_ten_uploads_in_a_row_that_a_worker_rejects_are_limited(unlimited):
    for number in range(REJECTED_IN_A_ROW):
        send_run(unlimited, ["MAYBE"], 1, EVALUATION + number * SECOND)
        work_off(EVALUATION)
    with pytest.raises(LimitReached, match="in the last ten minutes") as raised:
        send_run(unlimited, ["MAYBE"], 1, EVALUATION + 10 * SECOND)
    assert (raised.value.code, raised.value.http_status) == ("too_many_rejected", 429)
    assert Submission.objects.count() == REJECTED_IN_A_ROW
    send_run(unlimited, GOOD, 1, EVALUATION + timedelta(minutes=2))  # from now on, one upload per minute


def test_ten_uploads_in_a_row_with_wrong_names_are_limited(meltemi):
    user = captain(meltemi)
    for number in range(REJECTED_IN_A_ROW):
        misnamed(user, meltemi, EVALUATION + number * SECOND)
    with pytest.raises(LimitReached):
        misnamed(user, meltemi, EVALUATION + 10 * SECOND)
    with pytest.raises(LimitReached):
        send_run(meltemi, GOOD, 1, EVALUATION + 11 * SECOND)
    assert FailedAttempt.objects.count() == REJECTED_IN_A_ROW


def test_beyond_the_limit_no_names_are_read(meltemi, monkeypatch):
    monkeypatch.setattr(rejections, "REJECTED_AN_HOUR", 1)
    phase, bad = meltemi.shared_task.phases.get(slug="evaluation"), {"content": [b""], "file_name": "wrong.json"}
    with pytest.raises(Invalid):
        submit(captain(meltemi), phase, EVALUATION, **bad)
    monkeypatch.setattr("portal.actions.uploads.submit.inspect", lambda *_: pytest.fail("names were read"))
    with pytest.raises(LimitReached):
        submit(captain(meltemi), phase, EVALUATION, **bad)


@pytest.mark.slow
@pytest.mark.parametrize("page", ["submit", "validate"])
@pytest.mark.parametrize("name", ["no_such_name.json", "one_Meltemi_1.json"])
def test_ten_bad_files_in_a_row_on_a_page_are_limited(unlimited, page, name):
    client = Client()
    client.force_login(captain(unlimited))
    answers = []
    for _ in range(10):
        file = SimpleUploadedFile(name, run_file(["MAYBE"]))
        answers.append(client.post(f"/tasks/tiny/{page}/", {"file": file, "phase": "post"}).status_code)
        work_off(database_now())
    assert answers[REJECTED_IN_A_ROW:] == [429, 429]
    assert 429 not in answers[:REJECTED_IN_A_ROW]


def test_a_file_to_validate_that_kills_its_check_counts_and_one_that_waited_in_vain_does_not(meltemi):
    user, phase = captain(meltemi), Phase.objects.get(slug="evaluation")
    row = {"user": user, "team": meltemi, "phase": phase, "size": 1, "state": "failed", "received_at": EVALUATION}
    Validation.objects.create(**row)
    assert rejections.count_uploads(user, meltemi, EVALUATION) == (NONE, NONE, 0)
    Validation.objects.create(**row, killed_check=True)
    assert rejections.count_uploads(user, meltemi, EVALUATION) == (([EVALUATION], [EVALUATION]), NONE, 0)


@pytest.mark.slow
def test_what_waits_for_its_check_counts_so_that_no_more_than_the_limit_can_be_rejected(unlimited, monkeypatch):
    monkeypatch.setattr(rejections, "REJECTED_AN_HOUR", 4)
    user, phase = captain(unlimited), Phase.objects.get(slug="evaluation")
    maybe = {"content": [run_file(["MAYBE"])], "file_name": "one_Meltemi_1.json"}
    validate_only(user, phase, EVALUATION + SECOND, **maybe)
    misnamed(user, unlimited, EVALUATION)
    for number in (1, 2):
        send_run(unlimited, ["MAYBE"], number, EVALUATION)
    with pytest.raises(LimitReached, match="3 files from you or your team are waiting") as raised:
        send_run(unlimited, ["MAYBE"], 3, EVALUATION)
    assert raised.value.code == "too_many_unchecked"
    work_off(EVALUATION)
    with pytest.raises(LimitReached, match="were rejected in the last hour"):
        send_run(unlimited, GOOD, 3, EVALUATION)


def test_an_upload_whose_content_is_validated_after_its_names_were_rejected_counts_once(meltemi):
    user, phase = captain(meltemi), Phase.objects.get(slug="evaluation")
    maybe = {"content": [run_file(["MAYBE"])], "file_name": "one_Meltem_1.json"}
    with pytest.raises(Invalid) as error:
        submit(user, phase, EVALUATION, **maybe)
    assert error.value.params["validation"]
    assert rejections.count_uploads(user, meltemi, EVALUATION) == (([EVALUATION], [EVALUATION]), NONE, 0)
    work_off(EVALUATION)
    assert Validation.objects.get().report["ok"] is False
    assert rejections.count_uploads(user, meltemi, EVALUATION) == (([EVALUATION], [EVALUATION]), NONE, 0)


@pytest.mark.slow
def test_valid_uploads_count_no_more_once_they_are_checked(unlimited, monkeypatch):
    monkeypatch.setattr(rejections, "REJECTED_AN_HOUR", 1)
    for number in (1, 2, 3):
        send_run(unlimited, GOOD, number, EVALUATION)
        work_off(EVALUATION)


def test_an_outage_blocks_a_team_for_at_most_an_hour(unlimited, monkeypatch):
    monkeypatch.setattr(rejections, "REJECTED_AN_HOUR", 1)
    send_run(unlimited, GOOD, 1, EVALUATION)
    Submission.objects.update(postponed=9)
    with pytest.raises(LimitReached):
        send_run(unlimited, GOOD, 2, EVALUATION + timedelta(minutes=59))
    send_run(unlimited, GOOD, 2, EVALUATION + timedelta(hours=1))


def test_an_upload_that_kills_its_check_counts_once_and_an_outage_does_not(meltemi):
    user = captain(meltemi)
    fatal, postponed = (send_run(meltemi, GOOD, number, EVALUATION).submission for number in (1, 2))
    Submission.objects.filter(pk=fatal.pk).update(attempts=3, state=Submission.State.FAILED)
    Submission.objects.filter(pk=postponed.pk).update(postponed=9)
    rejected, waiting, _unchecked = rejections.count_uploads(user, meltemi, EVALUATION)
    assert (rejected, waiting) == (([EVALUATION],) * 2, ([EVALUATION],) * 2)


def test_changing_teams_keeps_the_count_of_rejections(meltemi):
    user = captain(meltemi)
    for number in range(REJECTED_IN_A_ROW):
        misnamed(user, meltemi, EVALUATION + number * SECOND)
    leave_team(user, meltemi, EVALUATION)
    sirocco = register_team(user, meltemi.shared_task, EVALUATION, name="Sirocco")
    with pytest.raises(LimitReached):
        require_few_rejections(user, sirocco, EVALUATION + 9 * SECOND)


def test_a_team_has_a_limit_of_its_own_and_its_members_theirs(meltemi):
    friend = person("Friend")
    join_team(friend, meltemi.shared_task, EVALUATION, code=meltemi.invitation_code)
    kind = FailedAttempt.Kind.UPLOAD
    spread = [EVALUATION + minute * timedelta(minutes=1) for minute in range(REJECTED_AN_HOUR)]
    for at in spread[:-1]:
        FailedAttempt.objects.add(captain(meltemi), meltemi, kind, at)
    now = spread[-1] + timedelta(minutes=1)
    require_few_rejections(friend, meltemi, now)
    FailedAttempt.objects.add(friend, meltemi, kind, now)
    with pytest.raises(LimitReached, match="in the last hour"):
        require_few_rejections(captain(meltemi), meltemi, now)
    require_few_rejections(friend, meltemi, now + timedelta(hours=1))


@pytest.mark.slow
def test_uploads_that_wait_for_their_check_are_bounded(unlimited, monkeypatch):
    monkeypatch.setattr(rejections, "UNCHECKED", 2)
    for number in (1, 2):
        send_run(unlimited, GOOD, number, EVALUATION)
    with pytest.raises(ActionError, match="are waiting to be checked") as raised:
        send_run(unlimited, GOOD, 3, EVALUATION)
    assert raised.value.code == "too_many_unchecked"
    work_off(EVALUATION)
    send_run(unlimited, GOOD, 3, EVALUATION)
