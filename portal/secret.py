"""Secrets of this installation. Each is created on first use, in a file that only its owner can read."""

import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path


def kept_secret(path: Path, make: Callable[[], str]) -> str:
    """Return the secret in the file.

    If the file is missing, create it. Processes that start at the same time all get the same secret.
    """
    if not path.exists():
        draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
        draft.touch(mode=0o600)
        draft.write_text(make())
        with suppress(FileExistsError):  # another process was first, so its secret is used
            os.link(draft, path)
        draft.unlink()
    return path.read_text()
