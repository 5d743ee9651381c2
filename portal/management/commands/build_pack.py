"""Build a paper pack. The job of the same name runs this command."""

from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from portal.management.command import PortalCommand
from portal.models.clock import database_now
from portal.paper.build import build_pack


class Command(PortalCommand):
    help = "Create the paper files with this id, unless other paper files are being created."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pack", type=UUID)

    def handle(self, *, pack: UUID, **_: Any) -> None:
        build_pack(pack, database_now())
