"""manage.py rehearse FOLDER: restore the newest backup as a trial, into a separate database and folder."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from portal.management.command import PortalCommand
from portal.management.commands.backup import NAME
from portal.models import Reading
from portal.models.clock import database_now

# Prefixes of variables for the real portal's databases and folders.
_OF_THE_PORTAL = ("AGON_S3_", "AGON_PGBOUNCER", "DATABASE_")


class Command(PortalCommand):
    help = "Test-restore the newest backup in a folder, compare its files by SHA-256, and discard the result."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, help="folder with backups, with free space for the restored files")

    def handle(self, *, folder: Path, **_: Any) -> None:
        archives = sorted(folder.glob(NAME.format("*")))
        if not archives:
            raise CommandError(f"{folder} contains no backup. To make one, run manage.py backup {folder}")
        with tempfile.TemporaryDirectory(dir=folder, prefix=".trial-") as state:
            done = self._restored(archives[-1], state)
        if done.returncode:
            Reading.objects.note(Reading.RESTORE, database_now(), 1)
            raise CommandError(f"{archives[-1]} cannot be restored: {done.stdout}{done.stderr}")
        Reading.objects.note(Reading.RESTORE, database_now())
        self.stdout.write(f"{done.stdout}Test passed: {archives[-1]} can be restored.")

    def _restored(self, archive: Path, state: str) -> subprocess.CompletedProcess[str]:
        own = {"AGON_STATE": state, "AGON_CACHE": state, "DATABASE_URL": f"sqlite:///{state}/trial.sqlite3"}
        kept = {name: value for name, value in os.environ.items() if not name.startswith(_OF_THE_PORTAL)}
        command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "restore", str(archive)]
        return subprocess.run(command, env=kept | own, capture_output=True, text=True, check=False)
