"""manage.py doctor: check everything that the portal needs and print a fix for each problem."""

from collections.abc import Mapping
from time import sleep
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import DatabaseError

from portal.figures.figure import CAN_DRAW
from portal.management.alerts import send_alert
from portal.management.checks import CHECKS
from portal.management.command import PortalCommand
from portal.models import Tally
from portal.queries.receipts import key_id

AGAIN_SECONDS = 60  # longer than a service takes to restart
HOW_TO_DRAW = (
    "Figures are shown as tables. To draw them with Docker, add AGON_FIGURES=1 to .env, build the image again, and "
    "start the services again. Without Docker, run ./run setup --production and restart the services."
)


class Command(PortalCommand):
    help = (
        "Check everything that the portal needs, and print how to fix each problem. The exit code is 1 if there is a "
        "problem."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--mail",
            action="store_true",
            help="email administrators the problems that are still there a minute later, once a day for each check",
        )
        parser.add_argument(
            "--accept-receipt-key",
            action="store_true",
            help="first accept that receipts signed with an earlier key can't be confirmed anymore",
        )

    def handle(self, *, mail: bool, accept_receipt_key: bool, **_: Any) -> None:
        if accept_receipt_key:
            Tally.objects.filter(name=Tally.RECEIPT_KEY).exclude(label=key_id()).delete()
        found = _look()
        if mail and any(found.values()):
            sleep(AGAIN_SECONDS)
            found = {name: problems if found[name] else [] for name, problems in _look().items()}
            for name, problems in found.items():
                if problems:
                    send_alert(name, problems)
        self._print(found)
        count = sum(map(len, found.values()))
        if count and not mail:
            raise CommandError(f"{count} problem{'s' if count > 1 else ''} found.")

    def _print(self, found: Mapping[str, list[str]]) -> None:
        for name, problems in found.items():
            self.stdout.write(f"{'not ok' if problems else 'ok':<6}  {name}")
            for problem in problems:
                self.stdout.write(f"        {problem}")
        if not CAN_DRAW:
            self.stdout.write(f"{'note':<6}  {HOW_TO_DRAW}")


def _look() -> dict[str, list[str]]:
    """Return the problems that each check finds."""
    found = {}
    for name, look in CHECKS.items():
        try:
            found[name] = list(look())
        except DatabaseError as error:
            found[name] = [f"Not checked, because a query failed ({type(error).__name__}). Fix the database first."]
    return found
