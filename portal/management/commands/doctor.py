"""manage.py doctor: check everything that the portal needs, with a fix for each problem."""

import shutil
from collections.abc import Callable, Iterator
from smtplib import SMTPException
from typing import Any

from django.conf import settings
from django.core.mail import get_connection
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from portal.evaluation.confinement import missing_protection
from portal.evaluation.lanes import Lane
from portal.evaluation.probe import missing_for
from portal.models import WorkerHost
from portal.models.clock import clock_offset, database_now
from portal.queries.health import CLOCK_SECONDS, SILENCE, health
from portal.storage import can_open_gold

DISK_BYTES = 5_000_000_000  # the same as in the alert AgonDiskFull
FIXES = {
    "database": "Start PostgreSQL; check DATABASE_URL and DATABASE_PASSWORD_FILE.",
    "storage": "Free space, or make AGON_STATE/data or the bucket AGON_S3_BUCKET writable.",
    "broker": "Start Valkey; check REDIS_URL and REDIS_PASSWORD_FILE.",
    "worker": "Start the lane's worker and beat; their logs say why they ended.",
    "queue": "Raise SCORERS, or restart a worker that is stuck.",
}


class Command(BaseCommand):
    help = "Look at everything that the portal needs, and print how to fix each problem. Ends with 1 if there is one."
    requires_system_checks: list[str] = []

    def handle(self, **_: Any) -> None:
        problems = 0
        for name, look in CHECKS.items():
            found = list(look())
            self.stdout.write(f"{'not ok' if found else 'ok':<6}  {name}")
            for problem in found:
                self.stdout.write(f"        {problem}")
            problems += len(found)
        if problems:
            raise CommandError(f"{problems} problem{'s' if problems > 1 else ''} found.")


def _parts() -> Iterator[str]:
    """The parts of /readyz; the checks that follow have more on schema, workers and clocks."""
    for part, words in health().parts.items():
        fix = FIXES.get(part.partition(" ")[0])
        if words != "ok" and fix and not words.startswith("accepts no work"):
            yield f"{part}: {words}. {fix}"


def _this_machine() -> Iterator[str]:
    """Check this machine; without a key to gold it is no scoring worker."""
    yield from missing_for(Lane.SCORING if can_open_gold() else Lane.MAIL)


def _workers() -> Iterator[str]:
    try:
        for worker in WorkerHost.objects.filter(at__gte=database_now() - SILENCE).exclude(missing=[]):
            yield f"{worker} accepts no work: {' '.join(worker.missing)}"
    except DatabaseError:
        return


def _clocks() -> Iterator[str]:
    try:
        clocks = {"This machine": clock_offset()}
        workers = WorkerHost.objects.filter(at__gte=database_now() - SILENCE)
        clocks |= {f"The machine {worker.host}": worker.clock_offset for worker in workers}
    except DatabaseError:
        return
    for machine, offset in clocks.items():
        if abs(offset) > CLOCK_SECONDS:
            side = "ahead of" if offset > 0 else "behind"
            yield f"{machine} is {abs(offset):.0f} s {side} the database's clock. Run there: timedatectl set-ntp true."


def _disk() -> Iterator[str]:
    free = shutil.disk_usage(settings.STATE_ROOT).free
    if free < DISK_BYTES:
        yield f"{free / 1e9:.1f} GB are free below AGON_STATE. Enlarge the volume or move backups away."


def _mail() -> Iterator[str]:
    try:
        with get_connection():
            pass
    except (OSError, SMTPException) as error:
        where = f"{settings.EMAIL_HOST}:{settings.EMAIL_PORT}"
        yield (
            f"The mail server {where} does not accept mails ({type(error).__name__}: {error})."
            " Check EMAIL_HOST, EMAIL_PORT, EMAIL_USE_TLS, EMAIL_HOST_USER and EMAIL_HOST_PASSWORD_FILE."
        )


CHECKS: dict[str, Callable[[], Iterator[str]]] = {
    "database, storage, broker, workers": _parts,
    "schema, data and keys of this machine": _this_machine,
    "machines of the workers": _workers,
    "clocks": _clocks,
    "disk": _disk,
    "mail server": _mail,
    "confinement of uploads": lambda: iter(missing_protection()),
}
