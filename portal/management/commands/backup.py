"""manage.py backup PATH: write rows, files and sealed gold to one archive. Keys are not included."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from portal.backup.backup import write_backup
from portal.management.command import PortalCommand
from portal.models import Reading
from portal.models.clock import database_now

NAME = "agon-{}.tar"  # name of a backup in a folder


class Command(PortalCommand):
    help = (
        "Back up the database, files and encrypted gold into one archive while the portal is running. Keys are not "
        "included."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "place", type=Path, help="path of the new backup file, or a folder for a file named after the current time"
        )
        words = "after a successful backup, delete older backups in the folder"
        parser.add_argument("--keep", type=int, metavar="DAYS", help=words)

    def handle(self, *, place: Path, keep: int | None, **_: Any) -> None:
        at = database_now()
        target = place / NAME.format(f"{at:%Y%m%dT%H%M%SZ}") if place.is_dir() else place
        if target.exists():
            raise CommandError(f"{target} already exists. Choose a new file name.")
        try:
            manifest = write_backup(target, at)
        except OSError as error:
            raise CommandError(f"No backup was made: {error}") from None
        Reading.objects.note(Reading.BACKUP, at, len(manifest.damaged))
        counts = f"{sum(manifest.rows.values())} rows, {len(manifest.members) - len(manifest.rows)} files"
        self.stdout.write(f"{target}: {counts}, {target.stat().st_size} bytes")
        self.stdout.write(
            "The backup contains email addresses and password hashes. Protect it as carefully as the portal "
            "itself, and store it in a different place."
        )
        self.stdout.write(
            "The backup contains no keys. Store SECRET_KEY, AGON_RECEIPT_KEY and AGON_GOLD_PRIVATE_KEY separately."
        )
        if keep is not None and place.is_dir():
            self._prune(place, at - timedelta(days=keep))
        if manifest.damaged:
            raise CommandError("\n  ".join(["These files are missing or damaged:", *manifest.damaged]))

    def _prune(self, folder: Path, before: datetime) -> None:
        """Delete old backups, judging by the time in their names. If one cannot be deleted, report it and continue."""
        for old in sorted(folder.glob(NAME.format("*"))):
            if old.name < NAME.format(f"{before:%Y%m%dT%H%M%SZ}"):
                try:
                    old.unlink()
                except OSError as error:
                    self.stderr.write(f"{old} could not be deleted: {error.strerror}")
