"""manage.py backup PLACE: one archive with rows, files and sealed gold. Keys are not included."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from portal.actions.backup import write_backup
from portal.models.clock import database_now


class Command(BaseCommand):
    help = "Write database, files and sealed gold into one archive, while the portal works. Keys are not in it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("place", type=Path, help="a new file, or a folder, where it is named by the time")

    def handle(self, *, place: Path, **_: Any) -> None:
        at = database_now()
        target = place / f"agon-{at:%Y%m%dT%H%M%SZ}.tar" if place.is_dir() else place
        if target.exists():
            raise CommandError(f"{target} is there already; name a new file.")
        try:
            manifest = write_backup(target, at)
        except OSError as error:
            raise CommandError(f"No backup was made: {error}") from None
        counts = f"{sum(manifest.rows.values())} rows, {len(manifest.members) - len(manifest.rows)} files"
        self.stdout.write(f"{target}: {counts}, {target.stat().st_size} bytes")
        self.stdout.write(
            "It holds mail addresses and password hashes: keep it as safe as the portal, and apart from it."
        )
        self.stdout.write("It holds no keys. Keep SECRET_KEY, AGON_RECEIPT_KEY and AGON_GOLD_PRIVATE_KEY elsewhere.")
        if manifest.damaged:
            raise CommandError("\n  ".join(["These files are missing or damaged:", *manifest.damaged]))
