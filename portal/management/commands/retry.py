"""manage.py retry TASK: retry all evaluations that failed because of internal errors."""

from typing import Any

from django.core.management.base import CommandParser

from portal.actions.retry import retry_failed
from portal.management.command import PortalCommand
from portal.management.tasks import named_task
from portal.models.clock import database_now


class Command(PortalCommand):
    help = (
        "Retry the runs and gold files of a shared task that failed on our side. The retry is recorded in the audit "
        "log."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("task", metavar="TASK", help="slug of the shared task")

    def handle(self, *args: Any, task: str, **options: Any) -> None:
        shared_task = named_task(task)
        retried = retry_failed(None, shared_task, database_now())
        self.stdout.write(f"{task}: retried runs: {retried.runs}, retried gold files: {retried.gold}")
        for name, error in retried.left:
            self.stdout.write(f"not retried: {name}: {error.message}")
