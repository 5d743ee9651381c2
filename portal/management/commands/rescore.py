"""manage.py rescore TASK: score all runs again with the newest gold standard and the installed scorer version."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from portal.actions.base.errors import ActionError
from portal.actions.scores import rescore
from portal.management.command import PortalCommand
from portal.management.tasks import named_task
from portal.models.clock import database_now


class Command(PortalCommand):
    help = "Rescore all runs of a shared task in the worker's bulk lane. The reason is recorded in the audit log."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("task", metavar="TASK", help="slug of the shared task")
        parser.add_argument("--reason", default="requested on the command line", metavar="TEXT")

    def handle(self, *args: Any, task: str, reason: str, **options: Any) -> None:
        shared_task = named_task(task)
        try:
            runs = rescore(None, shared_task, database_now(), reason=reason)
        except ActionError as error:
            raise CommandError(error.message) from None
        self.stdout.write(f"{task}: {runs} runs are waiting to be rescored")
