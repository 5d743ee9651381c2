"""manage.py make_secrets FOLDER: create a file for each secret of a public portal."""

import secrets
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from nacl.encoding import HexEncoder
from nacl.public import PrivateKey

from portal.management.command import PortalCommand
from portal.sealing import as_text, new_private_key
from scoring.receipts import new_private_key as new_receipt_key


class Command(PortalCommand):
    help = (
        "Create the secrets for a public portal, each in a file that only its owner can read. Existing secrets "
        "are kept."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path)

    def handle(self, *args: Any, folder: Path, **options: Any) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name, text in _secrets(folder).items():
            path = folder / name
            if not path.exists():
                path.touch(mode=0o600)
                path.write_text(text)
                self.stdout.write(f"{path}")


def _secrets(folder: Path) -> dict[str, str]:
    """Create the secrets. If the folder has a private key for gold, derive the public key from it."""
    kept = folder / "gold_private_key"
    private = kept.read_text().split()[0] if kept.exists() else new_private_key()
    return {
        "secret_key": secrets.token_urlsafe(48),
        "receipt_key": new_receipt_key(),
        "gold_private_key": private,
        "gold_public_key": as_text(PrivateKey(private.encode(), HexEncoder).public_key),
        "database_password": secrets.token_urlsafe(24),
        "redis_password": secrets.token_urlsafe(24),
        "metrics_token": secrets.token_urlsafe(24),
        "email_password": "",
        **dict.fromkeys(("s3_key", "s3_secret", "s3_gold_key", "s3_gold_secret"), ""),
    }
