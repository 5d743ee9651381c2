"""Checks of an installation, for `manage.py doctor`. Each yields sentences about what is wrong, with the fix."""

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from email.utils import parseaddr
from pathlib import Path
from smtplib import SMTP, SMTPException

from django.conf import settings
from django.core.mail import get_connection
from django.db import connection

from portal.evaluation.confinement import missing_protection
from portal.evaluation.lanes import Lane
from portal.evaluation.own_scorers.confined import why_not_run
from portal.evaluation.probe import missing_for
from portal.models import GoldStandard, OutgoingMail, Reading, Tally, User, WorkerHost
from portal.models.clock import clock_offset, database_now
from portal.models.worker_host import running_version
from portal.objects.interface import data_objects, gold_objects
from portal.queries.health import CLOCK_SECONDS, SILENCE, WEB, health
from portal.queries.metrics import certificate_seconds, connections, regular_work
from portal.queries.public_address import address_problems
from portal.queries.receipts import key_id
from portal.sealing import has_private_key
from portal.storage import is_for_another_key, try_storage

DISK_BYTES = 5_000_000_000  # the same limit as in the alert AgonDiskFull
OWN_SETTINGS = Path("/etc/agon/agon.env")  # where the guide puts them
_OTHERS = 0o007  # permissions of people who are neither the owner nor in the group

# Part of /readyz, and the beginning of what is said about it → fix. The first that matches counts.
FIXES = {
    ("database", "wrong user or password"): (
        "Compare DATABASE_URL and DATABASE_PASSWORD_FILE with PostgreSQL's user: ALTER USER agon PASSWORD '…'."
    ),
    ("database", "there is no such"): "Create the user and the database as in the guide, or correct DATABASE_URL.",
    ("database", "too many connections"): "Increase max_connections, or use PgBouncer (AGON_PGBOUNCER).",
    ("database", "the host name is unknown"): "Correct the host name in DATABASE_URL.",
    ("database", "not accepting writes"): (
        "PostgreSQL is read-only: a standby, or its disk is full. Its log says which. With SQLite, check the rights of "
        "the file and its folder."
    ),
    ("database", ""): "Start PostgreSQL, and check the host and port in DATABASE_URL.",
    ("storage", ""): "Free space, or make AGON_STATE/data or the bucket AGON_S3_BUCKET writable.",
    ("gold storage", ""): "Free space, or make AGON_STATE/gold or the bucket AGON_S3_GOLD_BUCKET writable.",
    ("static files", ""): "Run manage.py collectstatic, then restart the web services.",
    ("broker", "wrong password"): "Make REDIS_PASSWORD_FILE contain the broker's `requirepass`.",
    ("broker", "out of memory"): (
        "Increase `maxmemory` of Valkey or Redis, or empty it with FLUSHDB: the queue's content may be lost."
    ),
    ("broker", "read-only"): "REDIS_URL is that of a replica. Use the primary server's.",
    ("broker", "does not accept"): "Read the log of Valkey or Redis. MISCONF means that its disk is full.",
    ("broker", ""): "Start Valkey or Redis, and check the host and port in REDIS_URL.",
    ("worker", ""): "Start the lane's worker. Its log says why it stopped (journalctl -u, or docker compose logs).",
    ("queue", "the oldest email"): "Check the mail server and the log of the mail worker (agon-mail, mailer).",
    ("queue", ""): "Increase SCORERS if the machine has idle cores. Restart workers that are stuck.",
}
NO_BEAT = "No lane has a heartbeat. Start beat (agon-beat), which schedules them, then look at the workers."


def _parts() -> Iterator[str]:
    """Check the parts of /readyz. Later checks add details about schema, workers and clocks."""
    parts = health().parts
    lanes = {f"worker {lane}" for lane in Lane}
    if parts.get("broker") == "ok" and all("heartbeat" in parts.get(lane, "") for lane in lanes):
        yield NO_BEAT
        parts = {part: words for part, words in parts.items() if part not in lanes}
    for part, words in parts.items():
        if words != "ok" and not words.startswith("not accepting work"):
            fix = _fix(part.partition(" ")[0] if part in lanes else part, words)
            if fix:
                yield f"{part}: {words}. {fix}"


def _fix(part: str, words: str) -> str | None:
    return next((fix for (name, begin), fix in FIXES.items() if name == part and words.startswith(begin)), None)


def _stored_objects() -> Iterator[str]:
    """Store, find and delete a file. A bucket's account may have the right to list its files and no other."""
    for name, objects, where in (
        ("Data", data_objects(), "AGON_STATE/data or AGON_S3_…"),
        ("Gold", gold_objects(), "AGON_STATE/gold or AGON_S3_GOLD_…"),
    ):
        try:
            try_storage(objects)
        except OSError as error:
            yield f"{name} can't be stored, found and deleted again ({error}). Check the rights of {where}."


def _keys() -> Iterator[str]:
    """Check that the keys are those with which earlier receipts were signed, and with which gold was encrypted."""
    signed_with = list(Tally.objects.filter(name=Tally.RECEIPT_KEY).order_by("pk").values_list("label", flat=True))
    others = [key for key in signed_with if key != key_id()]
    if others:
        yield (
            f"Receipts were signed with another key ({', '.join(others)}) than the one in AGON_RECEIPT_KEY_FILE "
            f"({key_id()}), so the portal can't confirm them. Put the earlier key back and restart all services. If "
            "you changed it on purpose, run manage.py doctor --accept-receipt-key."
        )
    newest = GoldStandard.objects.order_by("-pk").values_list("sealed_sha256", flat=True)[:1]
    for sealed in newest:
        try:
            is_other = is_for_another_key(sealed)
        except OSError as error:
            yield f"The newest gold standard can't be read ({error}). Check AGON_STATE/gold or AGON_S3_GOLD_…"
            continue
        if is_other:
            yield (
                "The newest gold standard was not encrypted with the key in AGON_GOLD_PUBLIC_KEY_FILE. Use the public "
                "key that belongs to the workers' AGON_GOLD_PRIVATE_KEY_FILE. If you changed both keys, run manage.py "
                "gold_keys rotate."
            )


def _secret_files() -> Iterator[str]:
    """Check that only the services' users can read the settings and secrets."""
    named = {value for name, value in os.environ.items() if _is_secret(name)}
    for path in sorted({Path(value) for value in named} | {OWN_SETTINGS}):
        try:
            mode = path.stat().st_mode
        except OSError:
            continue  # settings that can't be read are reported when the program starts
        if mode & _OTHERS:
            yield f"Everyone on this machine can read {path}. Run: chmod o-rwx {path}"


def _is_secret(variable: str) -> bool:
    return "PUBLIC" not in variable and variable.endswith(("KEY_FILE", "PASSWORD_FILE", "SECRET_FILE", "TOKEN_FILE"))


def _alerts() -> Iterator[str]:
    if settings.PUBLIC and not User.objects.filter(is_staff=True, is_active=True).exists():
        yield "No one gets alerts, because there is no administrator. Run manage.py createsuperuser."


def _versions() -> Iterator[str]:
    running = WorkerHost.objects.filter(at__gte=database_now() - SILENCE).exclude(version__in=("", running_version()))
    for worker in running.exclude(lane=WEB):
        yield f"{worker} runs version {worker.version}, but {running_version()} is installed. Restart this worker."


def _public_address() -> Iterator[str]:
    if settings.PUBLIC:
        yield from address_problems(settings.PUBLIC_URL)


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
    """Sign in to the mail server, and announce an email from the portal's address without sending one."""
    try:
        with get_connection() as backend:
            server = getattr(backend, "connection", None)
            if isinstance(server, SMTP):
                sender = parseaddr(settings.DEFAULT_FROM_EMAIL)[1]
                server.ehlo_or_helo_if_needed()
                status, reply = server.mail(sender)
                server.rset()
                if status >= SMTP_ERRORS:
                    yield (
                        f"The mail server does not accept emails from {sender} ({status} "
                        f"{reply.decode(errors='replace')}). Check EMAIL_FROM, EMAIL_HOST_USER and "
                        "EMAIL_HOST_PASSWORD_FILE."
                    )
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
SMTP_ERRORS = 400  # SMTP replies from here on are errors


CHECKS: dict[str, Callable[[], Iterator[str]]] = {
    "database, storage, static files, broker, workers": _parts,
    "this machine's schema, data and keys": _this_machine,
    "files can be stored": _stored_objects,
    "receipt and gold keys": _keys,
    "secrets": _secret_files,
    "worker machines": _workers,
    "worker versions": _versions,
    "clocks": _clocks,
    "disk": _disk,
    "mail server": _mail,
    "someone gets alerts": _alerts,
    "undelivered emails": _mails_given_up,
    "backup, trial restore, reconciliation": _regular_work,
    "public address": _public_address,
    "certificate": _certificate,
    "database connections": _connections,
    "point-in-time archive": _wal_archive,
    "upload sandbox": lambda: iter(missing_protection()),
    "own scorers": lambda: filter(None, [why_not_run()]),
}
