"""`manage.py doctor` lists each problem with its fix, and fails if there are any."""

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

from portal import jobs
from portal.evaluation.lanes import Lane
from portal.management.commands import doctor
from portal.models import OutgoingMail, Reading, WorkerHost
from portal.models.clock import database_now
from portal.queries.certificate import certificate_expires
from tests.conftest import ROOT


@pytest.fixture
def beating(tiny, queue, smtp, monkeypatch):
    """A portal in which nothing is missing."""
    monkeypatch.setattr(doctor, "DISK_BYTES", 0)  # so that the test machine's disk does not matter
    monkeypatch.setattr(doctor, "missing_protection", list)
    for lane in Lane:
        jobs.heartbeat(lane)


@pytest.mark.django_db(transaction=True)
def test_a_portal_that_lacks_nothing(beating, capsys):
    call_command("doctor")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(doctor.CHECKS)
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
    monkeypatch.setattr(doctor, "DISK_BYTES", 10**18)
    try:
        with pytest.raises(CommandError, match=r"^6 problems found\.$"):
            call_command("doctor")
    finally:
        MigrationRecorder(connection).record_applied("portal", "0016_worker_hosts")
        smtp.start()
    said = capsys.readouterr().out
    for sentence in (
        "broker: ConnectionError. Start Valkey, and check REDIS_URL",
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
def test_regular_work_that_is_late_or_found_something(beating, settings, capsys):
    now = database_now()
    for name, days, value in (("backup", 2, 0), ("restore", 10, 0), ("reconcile", 0, 3)):
        Reading.objects.note(name, now - timedelta(days=days), value)
    Reading.objects.note(Reading.CERTIFICATE, now, (now + timedelta(days=13)).timestamp())
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
    monkeypatch.setattr(doctor, "connections", lambda: [("used", 81), ("limit", 100)])
    assert "81 of 100 connections to PostgreSQL are open. Increase max_connections" in said_by_doctor(capsys)


def test_every_limit_is_that_of_an_alert():
    alerts = (ROOT / "deploy/monitoring/alerts.yml").read_text()
    for name, days_or_hours in (("backup", "26 * 3600"), ("restore", "9 * 86400"), ("reconcile", "50 * 3600")):
        assert f'agon_work_age_seconds{{work="{name}"}} > {days_or_hours}' in alerts
        number, unit = days_or_hours.split(" * ")
        assert doctor.REGULAR_WORK[name].hours == int(number) * int(unit) / 3600
    assert f"agon_certificate_seconds < {doctor.CERTIFICATE_DAYS} * 86400" in alerts
    assert f"ignoring (kind) {doctor.CONNECTIONS_SHARE} * agon_database_connections" in alerts


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
