"""manage.py report_failure UNIT: tell administrators by email that a systemd unit or a service has failed."""

from socket import gethostname
from typing import Any

from django.core.management.base import CommandParser

from portal.evaluation.notices import alert
from portal.management.command import PortalCommand
from portal.models.clock import database_now


class Command(PortalCommand):
    help = "Email the administrators that scheduled work has failed, at most once a day per unit."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("unit", help="e.g. agon-backup")

    def handle(self, *, unit: str, **_: Any) -> None:
        at, host = database_now(), gethostname()
        line = (
            f"{unit} has failed on {host}. See its log for the reason: journalctl -u {unit}, or docker compose logs "
            f"{unit}."
        )
        alert(None, f"{unit} on {host} {at:%Y-%m-%d}"[:120], [line], at)
