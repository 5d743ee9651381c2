"""manage.py import_task FOLDER...: import shared tasks from their folders."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from portal.actions.base.errors import ActionError
from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.management.command import PortalCommand
from portal.models.clock import database_now


class Command(PortalCommand):
    help = "Import shared tasks from folders with a task.yaml. Importing an unchanged folder again changes nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")

    def handle(self, *args: Any, folders: list[Path], **options: Any) -> None:
        for folder in folders:
            try:
                result = import_shared_task(None, folder, database_now())
            except ActionError as error:
                problems = error.message.replace("\n", "\n  ")
                raise CommandError(f"{folder}: not imported. {problems}") from None
            except OSError as error:
                raise CommandError(f"{folder}: not imported. {error}") from None
            for change in result.changes or ["nothing changed"]:
                self.stdout.write(f"{result.shared_task.slug}: {change}")
            for warning in result.shared_task.definition.warnings:
                self.stderr.write(f"task.yaml, line {warning.line}: {warning.message}")
