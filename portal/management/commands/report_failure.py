"""manage.py report_failure UNIT: tell administrators by email that a systemd unit or a service has failed."""

from socket import gethostname
from typing import Any

from django.core.management.base import CommandParser

from portal.management.alerts import send_alert
from portal.management.command import PortalCommand


class Command(PortalCommand):
    help = "Email the administrators that a service has failed, at most once a day per unit."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("unit", help="e.g. agon-backup")

    def handle(self, *, unit: str, **_: Any) -> None:
        host = gethostname()
        line = (
            f"{unit} has failed on {host}. See its log for the reason: journalctl -u {unit}, or docker compose logs "
            f"{unit}."
        )
        send_alert(f"{unit} on {host}", [line])
