"""Secrets of this installation. Each is created at first use, in a file that only its owner can read."""

import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path


def kept_secret(path: Path, make: Callable[[], str]) -> str:
    """Return the secret in that file.

    If it is missing, create it, the same for all processes that start simultaneously.
    """
    if not path.exists():
        draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
        draft.touch(mode=0o600)
        draft.write_text(make())
        with suppress(FileExistsError):  # another process was first; its secret is used
            os.link(draft, path)
        draft.unlink()
    return path.read_text()
