"""`manage.py doctor` lists each problem with its fix, and fails if there are any."""

import errno
import os
import socket
import ssl
import subprocess
import threading
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder
from nacl.encoding import HexEncoder
from nacl.public import PrivateKey

from portal import jobs
from portal.evaluation.lanes import Lane
from portal.management import checks
from portal.management.commands import doctor
from portal.models import Heartbeat, OutgoingMail, Reading, User, WorkerHost
from portal.models.clock import database_now
from portal.objects import folder
from portal.queries import health
from portal.queries.certificate import certificate_expires
from portal.sealing import as_text, private_keys
from portal.web.static_files import StaticFiles
from scoring.receipts import new_private_key
from tests.conftest import ROOT
from tests.portal.world import EVALUATION, GOOD, send_run
from tests.services import text_of


@pytest.fixture
def beating(tiny, queue, smtp, monkeypatch):
    """A portal in which nothing is missing."""
    monkeypatch.setattr(checks, "DISK_BYTES", 0)  # so that the test machine's disk does not matter
    monkeypatch.setattr(checks, "missing_protection", list)
    for lane in Lane:
        jobs.heartbeat(lane)


@pytest.fixture
def admin():
    return User.objects.create_user("admin@agon.example", name="Ada", is_staff=True)


@pytest.mark.django_db(transaction=True)
def test_a_portal_that_lacks_nothing(beating, capsys):
    call_command("doctor")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(checks.CHECKS)
    assert all(line.startswith("ok ") for line in lines)


@pytest.mark.django_db(transaction=True)
def test_how_to_draw_figures_is_a_note_and_no_problem(beating, capsys, monkeypatch):
    monkeypatch.setattr(doctor, "CAN_DRAW", False)
    call_command("doctor")
    (note,) = [line for line in capsys.readouterr().out.splitlines() if not line.startswith("ok ")]
    assert note.startswith("note    Figures are shown as tables.")
    assert "AGON_FIGURES=1" in note


@pytest.mark.django_db(transaction=True)
def test_each_problem_comes_with_its_fix(beating, queue, smtp, settings, capsys, monkeypatch):
    MigrationRecorder(connection).record_unapplied("portal", "0016_worker_hosts")
    WorkerHost.objects.report("far", Lane.BULK, database_now(), 300.0, ["The key to gold is missing: set it."])
    settings.GOLD_PUBLIC_KEY, settings.CELERY_BROKER_URL = "0" * 64, "redis://127.0.0.1:1/0"
    smtp.stop()
    monkeypatch.setattr(checks, "DISK_BYTES", 10**18)
    try:
        with pytest.raises(CommandError, match=r"^7 problems found\.$"):
            call_command("doctor")
    finally:
        MigrationRecorder(connection).record_applied("portal", "0016_worker_hosts")
        smtp.start()
    said = capsys.readouterr().out
    for sentence in (
        "broker: not running, or at another address. Start Valkey or Redis, and check the host and port in REDIS_URL",
        "portal.0016_worker_hosts). Make a backup, then run manage.py migrate.",
        "bulk on far is not accepting work: The key to gold is missing: set it.",
        "The clock of the machine far is 300 s ahead of the database's clock. On that machine, run timedatectl "
        "set-ntp true.",
        "GB are free below AGON_STATE",
        "does not accept emails (ConnectionRefusedError",
    ):
        assert sentence in said


def said_by_doctor(capsys):
    with pytest.raises(CommandError):
        call_command("doctor")
    return capsys.readouterr().out


@pytest.mark.django_db(transaction=True)
def test_what_needs_a_database_that_is_away_is_not_ok(beating, capsys):
    def away(*_):
        raise OperationalError

    with connection.execute_wrapper(away):
        said = said_by_doctor(capsys)
    for name in ("worker machines", "clocks", "undelivered emails"):
        assert (
            f"not ok  {name}\n        Not checked, because a query failed (OperationalError). Fix the database" in said
        )


@pytest.mark.django_db(transaction=True)
def test_regular_work_that_is_late_or_found_something(beating, settings, capsys, monkeypatch):
    now = database_now()
    for name, days, value in (("backup", 2, 0), ("restore", 10, 0), ("reconcile", 0, 3)):
        Reading.objects.note(name, now - timedelta(days=days), value)
    Reading.objects.note(Reading.CERTIFICATE, now, (now + timedelta(days=13)).timestamp())
    monkeypatch.setattr(checks, "address_problems", lambda url: iter([]))
    OutgoingMail.objects.create(kind="account", address="a@example.org", queued_at=now, state="failed")
    settings.PUBLIC = True
    said = said_by_doctor(capsys)
    for sentence in (
        "backup: last completed 48 hours ago, or never. Check that agon-backup.timer",
        "restore: last completed 240 hours ago, or never. Check that agon-rehearse.timer",
        "reconcile: found 3 problems. To list each difference, run manage.py reconcile.",
        "expires in 13 days. To see why it was not renewed, run certbot renew --dry-run",
        "1 email could not be sent. Fix the cause, then run manage.py resend_mails.",
    ):
        assert sentence in said


@pytest.mark.django_db(transaction=True)
def test_connections_and_archive(beating, capsys, monkeypatch):
    monkeypatch.setattr(checks, "connections", lambda: [("used", 81), ("limit", 100)])
    assert "81 of 100 connections to PostgreSQL are open. Increase max_connections" in said_by_doctor(capsys)


@pytest.mark.django_db(transaction=True)
def test_static_files_that_were_not_collected_make_the_portal_unready(
    beating, settings, client, capsys, tmp_path, monkeypatch
):
    monkeypatch.setattr(StaticFiles, "compress_files", lambda _storage, _paths: iter(()))  # takes 10 s of CPU time
    settings.STATIC_ROOT = tmp_path
    settings.STORAGES = settings.STORAGES | {"staticfiles": {"BACKEND": "portal.web.static_files.StaticFiles"}}
    said = said_by_doctor(capsys)
    assert "static files: not collected: account/js/" in said
    assert "Run manage.py collectstatic, then restart the web services." in said
    ready = client.get("/readyz")
    assert (ready.status_code, ready.json()["status"]) == (503, "unready")
    call_command("collectstatic", interactive=False, verbosity=0)
    assert client.get("/readyz").json()["status"] == "ready"
    next(tmp_path.glob("agon.*.css")).unlink()  # still in the list of collected files
    assert "static files: not collected: agon.css" in said_by_doctor(capsys)


@pytest.mark.django_db(transaction=True)
def test_a_full_gold_folder(beating, settings, client, capsys, tmp_path, monkeypatch):
    place = tmp_path / "gold"
    monkeypatch.setattr(folder, "require_space", full_if(place))
    settings.STORAGES = settings.STORAGES | {
        "gold": {"BACKEND": "portal.objects.folder.Folder", "OPTIONS": {"location": place}}
    }
    said = said_by_doctor(capsys)
    assert "gold storage: No space left on device. Free space, or make AGON_STATE/gold" in said
    ready = client.get("/readyz")
    assert (ready.status_code, ready.json()["status"]) == (200, "degraded")  # uploads are still accepted


def full_if(place):
    def require_space(path):
        if place in path.parents:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    return require_space


@pytest.mark.django_db(transaction=True)
def test_a_bucket_whose_files_can_only_be_listed(beating, capsys, monkeypatch):
    def put(*_):
        raise OSError("AccessDenied")

    monkeypatch.setattr(folder.Folder, "put", put)
    assert "Data can't be stored, found and deleted again (AccessDenied). Check the rights of" in said_by_doctor(capsys)


@pytest.mark.django_db(transaction=True)
def test_a_broker_that_answers_but_accepts_nothing(beating, queue, settings, client, capsys):
    queue.config_set("maxmemory", 1)
    try:
        said = said_by_doctor(capsys)
        assert client.get("/readyz").json()["parts"]["broker"] == "out of memory"
    finally:
        queue.config_set("maxmemory", 0)
    assert "broker: out of memory. Increase `maxmemory` of Valkey or Redis, or empty it with FLUSHDB" in said
    queue.config_set("requirepass", "s3cret")
    try:
        said = said_by_doctor(capsys)
    finally:
        queue.execute_command("AUTH", "s3cret")
        queue.config_set("requirepass", "")
    assert "broker: wrong password. Make REDIS_PASSWORD_FILE contain" in said


@pytest.mark.django_db(transaction=True)
def test_only_emails_wait(beating, capsys):
    at = database_now() - timedelta(minutes=20)
    OutgoingMail.objects.create(kind="account", address="a@example.org", queued_at=at)
    said = said_by_doctor(capsys)
    assert "the oldest email has been waiting for 12" in said
    assert "Check the mail server and the log of the mail worker" in said
    assert "SCORERS" not in said


@pytest.mark.django_db(transaction=True)
def test_no_beat(beating, capsys):
    Heartbeat.objects.update(at=database_now() - timedelta(minutes=3))
    said = said_by_doctor(capsys)
    assert "No lane has a heartbeat. Start beat (agon-beat)" in said
    assert "1 problem" not in said
    assert "worker mail" not in said


@pytest.mark.django_db(transaction=True)
def test_keys_of_another_portal(beating, meltemi, settings, capsys, monkeypatch):
    monkeypatch.setattr(health, "LATE", timedelta.max)  # the runs are from the past
    call_command("doctor")
    send_run(meltemi, GOOD, 1, EVALUATION)
    call_command("doctor")
    capsys.readouterr()
    own, settings.RECEIPT_KEY = settings.RECEIPT_KEY, new_private_key()
    assert "Receipts were signed with another key" in said_by_doctor(capsys)
    send_run(meltemi, GOOD, 2, EVALUATION)  # does not make the key right
    assert "Put the earlier key back and restart all services." in said_by_doctor(capsys)
    call_command("doctor", "--accept-receipt-key")
    settings.RECEIPT_KEY = own
    assert "Receipts were signed with another key" in said_by_doctor(capsys)


@pytest.mark.django_db(transaction=True)
def test_a_public_gold_key_of_another_pair(beating, settings, capsys):
    (own,) = private_keys()
    settings.GOLD_PUBLIC_KEY = as_text(PrivateKey.generate().public_key)
    assert "The newest gold standard was not encrypted with the key in AGON_GOLD_PUBLIC_KEY" in said_by_doctor(capsys)
    settings.GOLD_PRIVATE_KEYS = [own.encode(HexEncoder).decode()]  # as on a worker's machine
    assert "AGON_GOLD_PUBLIC_KEY_FILE does not belong to AGON_GOLD_PRIVATE_KEY_FILE" in said_by_doctor(capsys)
    settings.GOLD_PUBLIC_KEY = as_text(own.public_key)
    call_command("doctor")


@pytest.mark.django_db(transaction=True)
def test_secrets_that_everyone_can_read(beating, capsys, monkeypatch, tmp_path):
    secret, own = tmp_path / "secret", tmp_path / "agon.env"
    for path in (secret, own):
        path.touch(0o640)
    monkeypatch.setenv("DATABASE_PASSWORD_FILE", str(secret))
    monkeypatch.setattr(checks, "OWN_SETTINGS", own)
    call_command("doctor")
    for path in (secret, own):
        path.chmod(0o644)
    said = said_by_doctor(capsys)
    assert f"Everyone on this machine can read {secret}. Run: chmod o-rwx {secret}" in said
    assert f"Everyone on this machine can read {own}." in said


@pytest.mark.django_db(transaction=True)
def test_a_worker_of_another_version(beating, settings, capsys):
    settings.REVISION = "abcdef"
    WorkerHost.objects.report("far", Lane.BULK, database_now(), 0)
    settings.REVISION = "123456"
    assert "bulk on far runs version" in said_by_doctor(capsys)


@pytest.mark.django_db(transaction=True)
def test_a_mail_server_that_rejects_the_portals_address(beating, smtp, capsys):
    smtp.answers["MAIL"] = "550 not yours"
    said = said_by_doctor(capsys)
    assert "does not accept emails from agon@localhost (550 not yours). Check EMAIL_FROM" in said
    assert smtp.mails == []


@pytest.mark.django_db(transaction=True)
def test_alerts_that_reach_no_one(beating, settings, capsys, monkeypatch):
    monkeypatch.setattr(checks, "address_problems", lambda url: iter([f"{url} does not respond."]))
    settings.PUBLIC, settings.PUBLIC_URL = True, "https://agon.example"
    said = said_by_doctor(capsys)
    assert "not ok  public address\n        https://agon.example does not respond." in said
    assert "not ok  someone gets alerts\n        No one gets alerts" in said


@pytest.mark.parametrize(
    ("text", "words", "fix"),
    [
        ('FATAL:  password authentication failed for user "agon"', "wrong user or password", "ALTER USER"),
        ("Connection refused", "not running, or at another address", "Start PostgreSQL"),
        ('FATAL:  database "agon" does not exist', "there is no such database or user", "Create the user"),
        ("FATAL:  sorry, too many clients already", "too many connections", "max_connections"),
        ("failed to resolve host 'db'", "the host name is unknown", "Correct the host name"),
    ],
)
@pytest.mark.django_db(transaction=True)
def test_why_the_database_is_away(beating, capsys, text, words, fix):
    def away(*_):
        raise OperationalError(f'connection to server at "10.0.0.1", port 5432 failed: {text}')

    with connection.execute_wrapper(away):
        said = said_by_doctor(capsys)
    (line,) = [line for line in said.splitlines() if "database: " in line]
    assert f"database: {words}. " in line
    assert fix in line
    assert "10.0.0.1" not in line


@pytest.mark.django_db(transaction=True)
def test_problems_that_stay_are_mailed_once_a_day(beating, smtp, admin, queue, monkeypatch, capsys):
    looks = iter([["gone soon"], [], ["it stays"], ["it stays"], ["it stays"], ["it stays"]])
    monkeypatch.setattr(doctor, "AGAIN_SECONDS", 0)
    monkeypatch.setattr(doctor, "CHECKS", {"disk": lambda: iter(next(looks))})
    for sent in (0, 1, 1):  # no worker and no broker is needed
        call_command("doctor", "--mail")
        assert len(smtp.to(admin.email)) == sent
    assert "it stays" in text_of(smtp.mails[0])


@pytest.mark.django_db(transaction=True)
def test_without_a_database_alerts_go_to_the_address_in_the_settings(beating, smtp, settings, tmp_path, capsys):
    def away(*_):
        raise OperationalError("Connection refused")

    settings.ALERTS_TO, settings.CACHE_ROOT = ["on-call@example.org"], tmp_path
    with connection.execute_wrapper(away):
        for _ in range(2):
            call_command("report_failure", "agon-worker")
    (mail,) = smtp.to("on-call@example.org")
    assert "agon-worker has failed on" in text_of(mail)


def test_every_limit_is_that_of_an_alert():
    alerts = (ROOT / "deploy/monitoring/alerts.yml").read_text()
    for name, days_or_hours in (("backup", "26 * 3600"), ("restore", "9 * 86400"), ("reconcile", "50 * 3600")):
        assert f'agon_work_age_seconds{{work="{name}"}} > {days_or_hours}' in alerts
        number, unit = days_or_hours.split(" * ")
        assert checks.REGULAR_WORK[name].hours == int(number) * int(unit) / 3600
    assert f"agon_certificate_seconds < {checks.CERTIFICATE_DAYS} * 86400" in alerts
    assert f"ignoring (kind) {checks.CONNECTIONS_SHARE} * agon_database_connections" in alerts


def test_the_certificate_that_browsers_see_is_read(tmp_path):
    """A self-signed certificate is read, too."""
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj /CN=localhost"
    key, chain = tmp_path / "key.pem", tmp_path / "chain.pem"
    subprocess.run([*command.split(), "-keyout", key, "-out", chain], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain, key)
    server = socket.create_server(("127.0.0.1", 0))
    url = f"https://127.0.0.1:{server.getsockname()[1]}"

    def answer():
        with suppress(OSError), context.wrap_socket(server.accept()[0], server_side=True):
            pass

    thread = threading.Thread(target=answer)
    thread.start()
    expires = certificate_expires(url)
    thread.join()
    server.close()
    assert timedelta(days=29) < expires - datetime.now(UTC) < timedelta(days=31)
    assert certificate_expires(url) is None  # nothing listens there anymore
    assert certificate_expires("http://127.0.0.1:8000") is None
