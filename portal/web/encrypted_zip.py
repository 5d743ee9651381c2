"""One file in a zip that a password opens (AES-256, as WinZip and 7-Zip write it), made while it is read."""

from collections.abc import Iterator
from contextlib import closing
from typing import BinaryIO

from django.views.decorators.debug import sensitive_variables
from pyzipper import WZ_AES, ZIP_STORED, AESZipFile

_PIECE = 256 * 1024  # bytes


@sensitive_variables("password")
def encrypted_zip(file: BinaryIO, name: str, password: str) -> Iterator[bytes]:
    """The zip, piece by piece; not compressed, since who hands out large files has packed them."""
    out = _Pieces()
    with closing(file), AESZipFile(out, "w", compression=ZIP_STORED, encryption=WZ_AES) as archive:
        archive.setpassword(password.encode())
        with archive.open(name, "w", force_zip64=True) as entry:
            while piece := file.read(_PIECE):
                entry.write(piece)
                yield out.taken()
    yield out.taken()


class _Pieces:
    """Keeps what is written until it is taken; without `seek`, so that nothing is written twice."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, piece: bytes) -> int:
        self._pieces.append(bytes(piece))
        return len(piece)

    def flush(self) -> None:
        pass

    def taken(self) -> bytes:
        taken, self._pieces = b"".join(self._pieces), []
        return taken
