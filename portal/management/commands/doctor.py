"""manage.py doctor: check everything that the portal needs and print a fix for each problem."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from smtplib import SMTPException
from typing import Any

from django.conf import settings
from django.core.mail import get_connection
from django.core.management.base import CommandError
from django.db import DatabaseError, connection

from portal.evaluation.confinement import missing_protection
from portal.evaluation.lanes import Lane
from portal.evaluation.probe import missing_for
from portal.figures.figure import CAN_DRAW
from portal.management.command import PortalCommand
from portal.models import OutgoingMail, Reading, WorkerHost
from portal.models.clock import clock_offset, database_now
from portal.queries.health import CLOCK_SECONDS, SILENCE, health
from portal.queries.metrics import certificate_seconds, connections, regular_work
from portal.sealing import has_private_key

DISK_BYTES = 5_000_000_000  # the same limit as in the alert AgonDiskFull
FIXES = {
    "database": "Start PostgreSQL, and check DATABASE_URL and DATABASE_PASSWORD_FILE.",
    "storage": "Free space, or make AGON_STATE/data or the bucket AGON_S3_BUCKET writable.",
    "broker": "Start Valkey, and check REDIS_URL and REDIS_PASSWORD_FILE.",
    "worker": "Start the lane's worker and beat. Their logs show why they stopped.",
    "queue": "Increase SCORERS, or restart any worker that is stuck.",
}
HOW_TO_DRAW = (
    "Figures are shown as tables. To draw them with Docker, add AGON_FIGURES=1 to .env, build the image again, and "
    "start the services again. Without Docker, run ./run setup --production and restart the services."
)


class Command(PortalCommand):
    help = (
        "Check everything that the portal needs, and print how to fix each problem. The exit code is 1 if there is a "
        "problem."
    )

    def handle(self, **_: Any) -> None:
        problems = 0
        for name, look in CHECKS.items():
            try:
                found = list(look())
            except DatabaseError as error:
                found = [f"Not checked, because a query failed ({type(error).__name__}). Fix the database first."]
            self.stdout.write(f"{'not ok' if found else 'ok':<6}  {name}")
            for problem in found:
                self.stdout.write(f"        {problem}")
            problems += len(found)
        if not CAN_DRAW:
            self.stdout.write(f"{'note':<6}  {HOW_TO_DRAW}")
        if problems:
            raise CommandError(f"{problems} problem{'s' if problems > 1 else ''} found.")


def _parts() -> Iterator[str]:
    """Check the parts of /readyz. Later checks add details about schema, workers and clocks."""
    for part, words in health().parts.items():
        fix = FIXES.get(part.partition(" ")[0])
        if words != "ok" and fix and not words.startswith("not accepting work"):
            yield f"{part}: {words}. {fix}"


def _this_machine() -> Iterator[str]:
    """Check this machine. If it has no gold key, it is not a scoring worker and needs less."""
    yield from missing_for(Lane.SCORING if has_private_key() else Lane.MAIL)


def _workers() -> Iterator[str]:
    for worker in WorkerHost.objects.filter(at__gte=database_now() - SILENCE).exclude(missing=[]):
        yield f"{worker} is not accepting work: {' '.join(worker.missing)}"


def _clocks() -> Iterator[str]:
    clocks = {"this machine": clock_offset()}
    workers = WorkerHost.objects.filter(at__gte=database_now() - SILENCE)
    clocks |= {f"the machine {worker.host}": worker.clock_offset for worker in workers}
    for machine, offset in clocks.items():
        if abs(offset) > CLOCK_SECONDS:
            side = "ahead of" if offset > 0 else "behind"
            yield (
                f"The clock of {machine} is {abs(offset):.0f} s {side} the database's clock. On that machine, run "
                "timedatectl "
                f"set-ntp true."
            )


def _disk() -> Iterator[str]:
    free = shutil.disk_usage(settings.STATE_ROOT).free
    if free < DISK_BYTES:
        yield f"{free / 1e9:.1f} GB are free below AGON_STATE. Enlarge the volume or move backups elsewhere."


def _mail() -> Iterator[str]:
    try:
        with get_connection():
            pass
    except (OSError, SMTPException) as error:
        where = f"{settings.EMAIL_HOST}:{settings.EMAIL_PORT}"
        yield (
            f"The mail server {where} does not accept emails ({type(error).__name__}: {error})."
            " Check EMAIL_HOST, EMAIL_PORT, EMAIL_USE_TLS, EMAIL_HOST_USER and EMAIL_HOST_PASSWORD_FILE."
        )


def _mails_given_up() -> Iterator[str]:
    count = OutgoingMail.objects.filter(state=OutgoingMail.State.FAILED).count()
    if count:
        emails = "1 email" if count == 1 else f"{count} emails"
        yield f"{emails} could not be sent. Fix the cause, then run manage.py resend_mails."


def _regular_work() -> Iterator[str]:
    """Check regular work with the same limits as the alerts. Only a public portal needs backups."""
    if not settings.PUBLIC:
        return
    for name, (age, found) in regular_work(database_now()).items():
        work = REGULAR_WORK[name]
        if age > work.hours * 3600:
            yield f"{name}: last completed {age / 3600:.0f} hours ago, or never. {work.fix_age}"
        if found:
            yield f"{name}: found {found:.0f} problems. {work.fix_problems}"


def _certificate() -> Iterator[str]:
    left = certificate_seconds(database_now())
    if left is not None and left < CERTIFICATE_DAYS * 86400:
        yield (
            f"The certificate of {settings.PUBLIC_URL} expires in {left / 86400:.0f} days. To see why it was not "
            f"renewed, run certbot renew --dry-run. After you renew it, copy it to the proxy's folder and restart the "
            f"proxy."
        )


def _connections() -> Iterator[str]:
    used, limit = dict(connections()).values()
    if used > CONNECTIONS_SHARE * limit:
        yield (
            f"{used} of {limit} connections to PostgreSQL are open."
            " Increase max_connections, or use PgBouncer (AGON_PGBOUNCER)."
        )


def _wal_archive() -> Iterator[str]:
    """Check PostgreSQL's archive for point-in-time recovery, if archiving is on."""
    if connection.vendor != "postgresql":
        return
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT last_failed_wal FROM pg_stat_archiver WHERE current_setting('archive_mode') <> 'off'"
            " AND last_failed_time > coalesce(last_archived_time, '-infinity')"
        )
        for (file,) in cursor.fetchall():
            yield (
                f"PostgreSQL could not archive {file}. See its log for the reason, and check that the archive's disk "
                f"is mounted and not full."
            )


@dataclass(frozen=True, slots=True)
class Work:
    """The maximum age of regular work in hours, and how to fix it if it is too old or finds problems."""

    hours: int
    fix_age: str
    fix_problems: str


REGULAR_WORK = {
    Reading.BACKUP: Work(
        26,
        "Check that agon-backup.timer or the backup service is running. To make a backup manually, run manage.py "
        "backup FOLDER.",
        "To list the files, run journalctl -u agon-backup. Restore them from an older backup, or import the task "
        "again.",
    ),
    Reading.RESTORE: Work(
        9 * 24,
        "Check that agon-rehearse.timer or the backup service is running. To test a restore manually, run manage.py "
        "rehearse FOLDER.",
        "The newest backup cannot be restored. Make a new one, then run manage.py rehearse FOLDER.",
    ),
    Reading.RECONCILE: Work(
        50, "Start beat and the worker for the bulk lane.", "To list each difference, run manage.py reconcile."
    ),
}
CERTIFICATE_DAYS = 14
CONNECTIONS_SHARE = 0.8


CHECKS: dict[str, Callable[[], Iterator[str]]] = {
    "database, storage, broker, workers": _parts,
    "this machine's schema, data and keys": _this_machine,
    "worker machines": _workers,
    "clocks": _clocks,
    "disk": _disk,
    "mail server": _mail,
    "undelivered emails": _mails_given_up,
    "backup, trial restore, reconciliation": _regular_work,
    "certificate": _certificate,
    "database connections": _connections,
    "point-in-time archive": _wal_archive,
    "upload sandbox": lambda: iter(missing_protection()),
}
