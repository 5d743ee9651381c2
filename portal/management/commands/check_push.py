"""Check a pushed task folder. The job of the same name runs this command."""

from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from portal.actions.task_folder.pushed_folder import check_push
from portal.management.command import PortalCommand
from portal.models.clock import database_now


class Command(PortalCommand):
    help = "Check the pushed task folder with this id, unless a worker is already checking a folder."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("push", type=UUID)

    def handle(self, *, push: UUID, **_: Any) -> None:
        check_push(push, database_now())
