"""The wheel of `agon`, which the portal builds of its own files: participants install the version that fits it."""

from functools import cache
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from django.conf import settings
from django.urls import reverse


class Wheel(NamedTuple):
    """A file to install; the same files make the same bytes."""

    name: str
    content: bytes

    @property
    def sha256(self) -> str:
        return sha256(self.content).hexdigest()

    @property
    def address(self) -> str:
        return f"{settings.PUBLIC_URL}{reverse('client_wheel', args=[self.name])}"

    @property
    def command(self) -> str:
        """What installs it; pip compares the hash."""
        return f"pip install '{self.address}#sha256={self.sha256}'"


@cache
def wheel() -> Wheel:
    """Once a process, when a page first shows it: 0.4 seconds, of which half load the builder."""
    builder = import_module("hatchling.builders.wheel").WheelBuilder(str(settings.BASE_DIR))
    with TemporaryDirectory() as folder:
        built = Path(next(iter(builder.build(directory=folder, versions=["standard"]))))
        return Wheel(built.name, built.read_bytes())
