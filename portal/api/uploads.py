"""Receive files, either as the raw body or as the part `file` of a form.

A file is read only after its sender has been checked.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from tempfile import SpooledTemporaryFile
from typing import IO, Any, NamedTuple

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest

from portal.actions.input import REQUIRED, InvalidInput
from portal.actions.intake import TOO_LARGE
from portal.api.problems import NOT_READABLE, WRONG_MEDIA
from portal.sealing import Sealer
from portal.web.bodies import FORM_BYTES, allow_large_file

_PIECE = 256 * 1024  # bytes
_IN_MEMORY = 1024 * 1024
_FORM = "multipart/form-data"
_FILE = {"type": "string", "contentMediaType": "application/octet-stream"}

RAW_BODY: dict[str, Any] = {"application/octet-stream": {"schema": _FILE}}
FORM_BODY: dict[str, Any] = {_FORM: {"schema": {"type": "object", "required": ["file"], "properties": {"file": _FILE}}}}
"""The two kinds of request bodies in the specification."""


class Received(NamedTuple):
    """A complete file, with the name that its sender gave it."""

    name: str
    pieces: Iterator[bytes]


@contextmanager
def received(request: HttpRequest, name: str, limit: int) -> Iterator[Received]:
    """Receive the complete file from the body. `name` is used if the body is the file itself.

    Raises:
        ActionError: TOO_LARGE, WRONG_MEDIA, or REQUIRED if a name or a file is missing.
    """
    _require_small(request, limit + FORM_BYTES, limit)
    if request.content_type == _FORM:
        yield _from_form(request, name)
        return
    _require_file_itself(request)
    if not name:
        raise _missing("file_name")
    with SpooledTemporaryFile(_IN_MEMORY) as body:
        for piece in _raw(request, limit):
            body.write(piece)
        body.seek(0)
        yield Received(name, _pieces(body))


@contextmanager
def sealed(request: HttpRequest, limit: int) -> Iterator[Iterator[bytes]]:
    """Yield the sealed body in pieces.

    Each piece is sealed as it arrives, and only sealed bytes are written.

    Raises:
        ActionError: TOO_LARGE or WRONG_MEDIA.
    """
    _require_small(request, limit, limit)
    _require_file_itself(request)
    sealer = Sealer()
    with SpooledTemporaryFile(_IN_MEMORY) as body:
        body.write(sealer.head)
        for piece in _raw(request, limit):
            body.write(sealer.add(piece))
        body.write(sealer.end())
        body.seek(0)
        yield _pieces(body)


def _missing(name: str) -> InvalidInput:
    problem: Any = REQUIRED(label=name)
    return InvalidInput({name: problem})


def _require_small(request: HttpRequest, most: int, limit: int) -> None:
    if int(request.META.get("CONTENT_LENGTH") or 0) > most:
        raise TOO_LARGE(limit=limit)


def _require_file_itself(request: HttpRequest) -> None:
    if (request.content_type or "").startswith("multipart/"):
        raise WRONG_MEDIA(expected=next(iter(RAW_BODY)))


def _from_form(request: HttpRequest, name: str) -> Received:
    allow_large_file(request)
    file = request.FILES.get("file")
    if not isinstance(file, UploadedFile):
        raise _missing("file")
    return Received(name or file.name or "", iter(file.chunks(_PIECE)))


def _raw(request: HttpRequest, limit: int) -> Iterator[bytes]:
    left = limit
    try:
        for piece in _pieces(request):
            left -= len(piece)
            if left < 0:
                raise TOO_LARGE(limit=limit)
            yield piece
    except OSError:
        raise NOT_READABLE(expected="") from None


def _pieces(source: IO[bytes] | HttpRequest) -> Iterator[bytes]:
    return iter(partial(source.read, _PIECE), b"")
