"""manage.py reconcile: list all differences between receipts, rows, files, definitions and evaluations.

The command fails if any are found.
"""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from portal.evaluation.reconcile import reconcile
from portal.management.command import PortalCommand
from portal.models import SharedTask
from portal.models.clock import database_now


class Command(PortalCommand):
    help = (
        "Print each difference between receipts, rows, files and evaluations. The exit code is 1 if there is a "
        "difference."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--sample", type=int, default=20, metavar="N", help="number of scores per task to recompute (default: 20)"
        )
        parser.add_argument("--seed", type=int, default=0, help="seed for choosing the scores")

    def handle(self, *args: Any, sample: int, seed: int, **options: Any) -> None:
        count = 0
        for shared_task in SharedTask.objects.all():
            for difference in reconcile(shared_task, database_now(), sample, seed):
                self.stdout.write(f"{shared_task.slug}: {difference}")
                count += 1
        if count:
            raise CommandError(f"{count} {'difference' if count == 1 else 'differences'}.")
        self.stdout.write("No differences.")
