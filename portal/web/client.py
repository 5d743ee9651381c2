"""The wheel of `agon`, built by the portal from its own files so that participants install the matching version."""

from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from django.conf import settings
from django.urls import reverse


class Wheel(NamedTuple):
    """A Python wheel. The same source files always produce the same bytes."""

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
        """The command that installs the wheel. pip verifies the hash."""
        return f"pip install '{self.address}#sha256={self.sha256}'"


@cache
def wheel() -> Wheel:
    """Return the wheel. Each process builds it when it is first needed, which takes 0.4 seconds."""
    from hatchling.builders.wheel import WheelBuilder  # noqa: PLC0415 - so that web servers start sooner

    builder = WheelBuilder(str(settings.BASE_DIR))
    with TemporaryDirectory() as folder:
        built = Path(next(iter(builder.build(directory=folder, versions=["standard"]))))
        return Wheel(built.name, built.read_bytes())
