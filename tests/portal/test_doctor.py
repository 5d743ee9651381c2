"""`manage.py doctor` names each problem with its fix, and ends with 1 if there is one."""

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from portal import jobs
from portal.evaluation.lanes import Lane
from portal.management.commands import doctor
from portal.models import WorkerHost
from portal.models.clock import database_now


@pytest.fixture
def beating(tiny, queue, smtp, monkeypatch):
    """A portal that lacks nothing."""
    monkeypatch.setattr(doctor, "DISK_BYTES", 0)  # the machine of the tests is another's affair
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
        "broker: ConnectionError. Start Valkey; check REDIS_URL",
        "portal.0016_worker_hosts): run manage.py migrate.",
        "bulk on far accepts no work: The key to gold is missing: set it.",
        "The machine far is 300 s ahead of the database's clock. Run there: timedatectl set-ntp true.",
        "GB are free below AGON_STATE",
        "does not accept mails (ConnectionRefusedError",
    ):
        assert sentence in said
