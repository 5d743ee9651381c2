"""One file in a zip that a password opens (AES-256, as WinZip and 7-Zip write it), made while it is read."""

import zlib
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from stat import S_IFREG
from typing import BinaryIO

from django.views.decorators.debug import sensitive_variables
from stream_zip import ZIP_64, stream_zip

_PIECE = 256 * 1024  # bytes
_NO_DATE = datetime(1980, 1, 1, tzinfo=UTC)  # the least that a zip can say
_not_compressed = partial(zlib.compressobj, level=0, wbits=-zlib.MAX_WBITS)


@sensitive_variables("password")
def encrypted_zip(file: BinaryIO, name: str, password: str) -> Iterator[bytes]:
    """The zip, piece by piece; not compressed, since who hands out large files has packed them."""
    with closing(file):
        pieces = iter(partial(file.read, _PIECE), b"")
        entry = (name, _NO_DATE, S_IFREG | 0o644, ZIP_64, pieces)
        yield from stream_zip([entry], get_compressobj=_not_compressed, password=password)
