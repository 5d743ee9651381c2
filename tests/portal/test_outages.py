"""Internal errors during evaluation: they use no attempts, all work waits, and everything is scored afterwards."""

import errno
import gc
import os
import shutil
import signal
import socket
from datetime import timedelta
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from threading import Thread
from time import sleep

import pytest
from django.conf import settings as portal_settings
from django.db import OperationalError, connection
from django.test import Client

from portal.actions.gold import upload_gold
from portal.evaluation import child
from portal.evaluation.child import Child, ForkServer, fork_server, run_limited
from portal.evaluation.errors import HostError
from portal.evaluation.fork_server import serve
from portal.evaluation.gold import check_gold_upload
from portal.evaluation.limits import ATTEMPTS, LEASE_SECONDS, POSTPONE_SECONDS
from portal.evaluation.score import score_run
from portal.evaluation.sweep import sweep
from portal.models import OutgoingMail, Quota, Run, Submission
from portal.models.task import _definition
from portal.sealing import private_key_file
from tests.portal.attempts import Worker
from tests.portal.world import (
    EVALUATION,
    GOOD,
    POST,
    captain,
    check_submission,
    gold_path,
    organizer_of,
    person,
    run_file,
    sealed_file,
    send_run,
    stored_path,
    work_off,
)
from tests.services import children, serving

A_DAY = timedelta(days=1)


@pytest.fixture
def administrators(db):
    for name in ("Ada", "Alan"):
        user = person(name)
        user.is_staff = True
        user.save()


def alerts():
    return OutgoingMail.objects.filter(kind="alert")


def waits(work):
    """Return the work's state, how many attempts it has used, and how often it was postponed."""
    work.refresh_from_db()
    return work.state, work.attempts, work.postponed


@pytest.mark.slow
def test_storage_away_while_uploads_are_checked(meltemi, administrators):
    runs = [send_run(meltemi, GOOD, number, EVALUATION) for number in (1, 2, 3)]
    data = portal_settings.DATA_ROOT / "files"
    away = data.rename(data.with_name("away"))
    for minute in range(ATTEMPTS + 2):
        for run in runs:
            assert check_submission(run.submission.pk, EVALUATION + timedelta(minutes=minute)) == []
    assert {waits(run.submission) for run in runs} == {("received", 0, ATTEMPTS + 2)}
    assert Quota.objects.get(team=meltemi, day="").used == 3
    assert alerts().count() == 2  # one for each administrator
    away.rename(data)
    work_off(EVALUATION + timedelta(hours=1), confined=True)
    assert {waits(run)[:2] for run in runs} == {("scored", 0)}


@pytest.mark.slow
def test_the_sender_sees_that_an_upload_waits_for_us(meltemi):
    submission = send_run(meltemi, GOOD, 1, EVALUATION).submission
    client = Client()
    client.force_login(captain(meltemi))
    page = f"/tasks/tiny/submissions/{submission.pk}/"
    assert "A problem on our side" not in client.get(page).content.decode()
    file = stored_path(submission.sha256)
    away = file.rename(file.with_suffix(".away"))
    check_submission(submission.pk, EVALUATION)
    assert "A problem on our side" in client.get(page).content.decode()
    away.rename(file)
    work_off(EVALUATION, confined=True)
    assert "A problem on our side" not in client.get(page).content.decode()


@pytest.mark.slow
def test_it_is_tried_later_each_time(meltemi):
    submission = send_run(meltemi, GOOD, 1, EVALUATION).submission
    stored_path(submission.sha256).unlink()
    at, pauses = EVALUATION, []
    for _ in range(8):
        check_submission(submission.pk, at)
        submission.refresh_from_db()
        pauses.append(round((submission.lease_ends - at).total_seconds()))
        assert submission.pk not in sweep(submission.lease_ends - timedelta(seconds=1)).submissions
        at = submission.lease_ends + timedelta(seconds=1)
    assert pauses == [5, 10, 20, 40, 80, 160, POSTPONE_SECONDS, POSTPONE_SECONDS]
    assert submission.pk in sweep(at).submissions


def test_administrators_are_reminded_of_work_that_waits_for_days(meltemi, administrators):
    submission = send_run(meltemi, GOOD, 1, EVALUATION).submission
    stored_path(submission.sha256).unlink()
    check_submission(submission.pk, EVALUATION)
    check_submission(submission.pk, EVALUATION + timedelta(hours=2))
    assert alerts().count() == 2
    Submission.objects.update(postponed=288)
    check_submission(submission.pk, EVALUATION + A_DAY)
    assert alerts().count() == 4


def test_gold_key_or_definition_missing_on_a_new_worker_host(meltemi):
    run = send_run(meltemi, GOOD, 1, EVALUATION)
    definitions = portal_settings.DATA_ROOT / "definitions"
    away = definitions.rename(definitions.with_name("elsewhere"))
    _definition.cache_clear()
    check_submission(run.submission.pk, EVALUATION)
    assert waits(run.submission) == ("received", 0, 1)
    away.rename(definitions)
    assert check_submission(run.submission.pk, EVALUATION) == [run.pk]
    key = private_key_file()
    elsewhere = key.rename(key.with_name("key-away"))
    assert not score_run(run.pk, EVALUATION)
    assert waits(run) == ("valid", 0, 1)
    elsewhere.rename(key)
    assert score_run(run.pk, EVALUATION)


@pytest.mark.slow
def test_items_that_cannot_be_read_are_no_attempt(meltemi, tiny):
    run = send_run(meltemi, GOOD, 1, EVALUATION)
    assert check_submission(run.submission.pk, EVALUATION) == [run.pk]
    items = tiny.definition.track("one").items["test"]
    away = items.rename(items.with_suffix(".away"))
    assert not score_run(run.pk, EVALUATION)
    assert waits(run) == ("valid", 0, 1)
    second = send_run(meltemi, GOOD, 2, EVALUATION)
    check_submission(second.submission.pk, EVALUATION)
    assert waits(second.submission) == ("received", 0, 1)
    away.rename(items)
    work_off(EVALUATION, confined=True)
    assert waits(run)[0] == waits(second)[0] == "scored"


def test_gold_storage_away(meltemi, administrators):
    run = send_run(meltemi, GOOD, 1, EVALUATION)
    assert check_submission(run.submission.pk, EVALUATION) == [run.pk]
    shutil.move(portal_settings.GOLD_ROOT, away := portal_settings.GOLD_ROOT.with_name("gold-away"))
    for _ in range(ATTEMPTS + 1):
        assert not score_run(run.pk, EVALUATION)
    assert waits(run) == ("valid", 0, ATTEMPTS + 1)
    shutil.move(away, portal_settings.GOLD_ROOT)
    assert score_run(run.pk, EVALUATION)


def test_gold_uploads_wait_too(tiny, administrators):
    organizer = organizer_of(tiny)
    content = run_file(["NO", "YES", "NO", "NO"])
    sent = upload_gold(organizer, tiny.tracks.get(slug="one"), EVALUATION, split="test", sealed=sealed_file(content))
    file = gold_path(sent.sealed_sha256)
    away = file.rename(file.with_suffix(".away"))
    for _ in range(ATTEMPTS + 1):
        assert check_gold_upload(sent.pk, EVALUATION) == []
    assert waits(sent) == ("received", 0, ATTEMPTS + 1)
    assert alerts().count() == 2
    away.rename(file)
    check_gold_upload(sent.pk, EVALUATION)
    assert waits(sent)[0] == "previewing"


def test_database_away_when_scores_are_recorded(meltemi):
    """The worker cannot even record the failure. Once its lease has expired, another worker scores the run."""
    run = send_run(meltemi, GOOD, 1, EVALUATION)
    check_submission(run.submission.pk, EVALUATION)
    updates = []

    def lose(execute, sql, params, many, context):
        if sql.startswith("UPDATE"):
            updates.append(sql)
            if len(updates) > 1:  # the first update was the claim
                raise OperationalError("the server closed the connection")
        return execute(sql, params, many, context)

    with connection.execute_wrapper(lose), pytest.raises(OperationalError):
        score_run(run.pk, EVALUATION)
    assert waits(run) == ("valid", 0, 0)
    assert score_run(run.pk, EVALUATION + timedelta(seconds=LEASE_SECONDS))
    assert (waits(run), run.leases_lost, run.evaluations.count()) == (("scored", 0, 0), 1, 1)


class Unavailable(BaseHTTPRequestHandler):
    """A stand-in for S3 during an outage."""

    def do_GET(self):
        self.send_response(503)
        self.end_headers()

    do_HEAD = do_GET  # noqa: N815

    def log_message(self, *_):
        pass


def test_bucket_that_answers_503(bucket, meltemi, settings, administrators):
    run = send_run(meltemi, GOOD, 1, EVALUATION)
    working = settings.STORAGES
    with serving(Unavailable) as address:
        place = working["data"]["OPTIONS"] | {"endpoint": f"http://{address}"}
        settings.STORAGES = {**working, "data": working["data"] | {"OPTIONS": place}}
        for _ in range(2):
            assert check_submission(run.submission.pk, EVALUATION) == []
    assert waits(run.submission) == ("received", 0, 2)
    assert alerts().count() == 2
    settings.STORAGES = working
    work_off(EVALUATION, confined=True)
    assert waits(run)[:2] == ("scored", 0)


def test_a_child_that_waits_for_something_else_than_its_content():
    with pytest.raises(HostError, match="timed out"):
        run_limited(sleep, 60, seconds=0.3)


def test_a_child_that_is_stopped_from_outside():
    with Child(Worker()) as child:
        child.ask("work", 0)
        (pid,) = children(fork_server().pid)
        # The tests themselves may already have the lowest priority, 19.
        assert os.getpriority(os.PRIO_PROCESS, pid) == os.getpriority(os.PRIO_PROCESS, 0)
        os.kill(pid, signal.SIGTERM)
        with pytest.raises(HostError, match="stopped by another process"):
            child.ask("wait")


@pytest.mark.slow
def test_no_child_can_be_started(monkeypatch):
    """The fork server runs in a thread of this process, where forking fails."""

    def none(*_):
        raise BlockingIOError(errno.EAGAIN, "no more processes")

    ours, theirs = socket.socketpair()
    Thread(target=serve, args=[theirs], daemon=True).start()
    monkeypatch.setattr(child, "_kept", [ForkServer(ours)])
    monkeypatch.setattr(os, "fork", none)
    gc.collect()  # otherwise, earlier tests' files could be closed between the two counts
    before = len(list(Path("/dev/fd").iterdir()))
    with pytest.raises(BlockingIOError):
        run_limited(os.getpid)
    assert len(list(Path("/dev/fd").iterdir())) <= before


@pytest.mark.slow
def test_rows_say_whose_content_killed_the_child(meltemi, poison):
    meltemi.shared_task.phases.filter(slug="post").update(runs_per_day=3)
    fine, fatal, waiting = (send_run(meltemi, GOOD, number, POST, "post") for number in (1, 2, 3))
    for run in (fine, fatal, waiting):
        check_submission(run.submission.pk, POST)
    assert not Submission.objects.rejected_or_fatal().exists()
    Run.objects.filter(pk=waiting.pk).update(file_sha256="0" * 64)
    poison(fatal)
    for run in (fine, fatal, waiting):
        score_run(run.pk, POST)
    assert [waits(run)[:2] for run in (fine, fatal, waiting)] == [("scored", 0), ("valid", 1), ("valid", 0)]
    assert [*Submission.objects.rejected_or_fatal()] == [fatal.submission]
