"""manage.py resend_mails [TASK]: resend the emails that could not be delivered."""

from typing import Any

from django.core.management.base import CommandParser

from portal import jobs
from portal.actions.retry import resend_mails
from portal.management.command import PortalCommand
from portal.management.tasks import named_task
from portal.models import OutgoingMail, SharedTask
from portal.models.clock import database_now


class Command(PortalCommand):
    help = "Resend the emails that could not be sent, for one shared task or for all tasks and accounts."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("task", metavar="TASK", nargs="?", help="slug of the shared task")

    def handle(self, *args: Any, task: str | None, **options: Any) -> None:
        for shared_task in [named_task(task)] if task else SharedTask.objects.all():
            count = resend_mails(None, shared_task, database_now())
            self.stdout.write(f"{shared_task.slug}: emails to resend: {count}")
        if not task:
            waiting = OutgoingMail.objects.filter(shared_task=None).resend()
            jobs.publish_mails(waiting)
            self.stdout.write(f"accounts: emails to resend: {len(waiting)}")
