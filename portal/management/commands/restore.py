"""manage.py restore ARCHIVE: fill an empty portal from a backup."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import connection

from portal.actions.base.errors import ActionError
from portal.backup.restore import require_empty_database, restore_backup
from portal.management.command import PortalCommand
from portal.management.schema import migrate
from portal.models.schema import schema_problems
from portal.queries.receipts import public_key as receipt_key
from portal.sealing import as_text, public_key


class Command(PortalCommand):
    help = (
        "Restore a backup into an empty database and empty storage. The whole backup is checked before any file or "
        "row is written."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("archive", type=Path)

    def handle(self, *, archive: Path, **_: Any) -> None:
        try:
            require_empty_database()  # before the tables are created, so that an older portal is not migrated
            migrate()
            if problems := schema_problems():
                raise CommandError(" ".join(problems))
            manifest = restore_backup(archive)
        except ActionError as error:
            raise CommandError(f"{archive}: not restored: {error.message}") from None
        except OSError as error:
            raise CommandError(f"{archive}: not restored: {error}") from None
        counts = f"{sum(manifest.rows.values())} rows, {len(manifest.members) - len(manifest.rows)} files"
        target = f"{connection.display_name} {connection.settings_dict['NAME']}"
        self.stdout.write(f"{archive} from {manifest.made_at}: restored {counts} into {target}.")
        if manifest.receipt_key != receipt_key():
            self.stderr.write(
                "The receipt key has changed. Old receipts can't be verified until you restore the old key."
            )
        if manifest.gold_key != as_text(public_key()):
            self.stderr.write("The gold key has changed. Nothing can be scored without the old AGON_GOLD_PRIVATE_KEY.")
