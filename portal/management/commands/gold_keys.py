"""manage.py gold_keys new | public | rotate: create, print and replace the keys that gold is sealed with."""

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from nacl.encoding import HexEncoder
from nacl.public import PrivateKey

from portal.evaluation.reseal import reseal_all
from portal.management.command import PortalCommand
from portal.sealing import as_text, has_private_key, new_private_key, public_key, renew_kept_key


class Command(PortalCommand):
    help = (
        "new: print a key pair for the settings. public: print the public key for the web server. rotate: on a "
        "worker, encrypt all gold again with the newest key. If the settings contain no private key, a new key is "
        "first added to the key file."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("verb", choices=("new", "public", "rotate"))

    def handle(self, *args: Any, verb: str, **options: Any) -> None:
        if verb == "new":
            private = new_private_key()
            self.stdout.write(f"AGON_GOLD_PRIVATE_KEY={private}")
            self.stdout.write(f"AGON_GOLD_PUBLIC_KEY={as_text(PrivateKey(private.encode(), HexEncoder).public_key)}")
        elif verb == "public":
            self.stdout.write(as_text(public_key()))
        else:
            self._rotate()

    def _rotate(self) -> None:
        if not has_private_key():
            raise CommandError("This process has no private key. Run this command where the worker runs.")
        if not settings.GOLD_PRIVATE_KEYS:
            renew_kept_key()
        count = reseal_all()
        self.stdout.write(
            f"Encrypted {count} files for {as_text(public_key())}. Set this public key on the web server."
        )
