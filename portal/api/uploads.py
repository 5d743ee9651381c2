"""Receive files, either as the raw body or as the part `file` of a form.

A file is read only after its sender has been checked.
"""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from tempfile import SpooledTemporaryFile
from typing import IO, Any, NamedTuple

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest

from portal.actions.base.errors import ActionError
from portal.actions.base.input import REQUIRED, InvalidInput
from portal.actions.uploads.intake import TOO_LARGE
from portal.api.problems import NO_LENGTH, NOT_READABLE, WRONG_MEDIA
from portal.sealing import SealedFile
from portal.web.bodies import FORM_BYTES, IS_CUT, allow_large_file
from scoring.limits import UPLOAD_BYTES

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
def received(
    request: HttpRequest, name: str, limit: int, too_large: Callable[..., ActionError] = TOO_LARGE
) -> Iterator[Received]:
    """Receive the complete file from the body. `name` is used if the body is the file itself.

    `too_large` creates the error for a body over the limit.

    Raises:
        ActionError: TOO_LARGE, NO_LENGTH, WRONG_MEDIA, or REQUIRED if a name or a file is missing.
    """
    is_form = request.content_type == _FORM
    _require_small(request, limit, too_large, FORM_BYTES if is_form else 0)
    if is_form:
        yield _from_form(request, name)
        return
    _require_file_itself(request)
    if not name:
        raise _missing("file_name")
    with SpooledTemporaryFile(_IN_MEMORY) as body:
        for piece in _raw(request):
            body.write(piece)
        body.seek(0)
        yield Received(name, _pieces(body))


@contextmanager
def sealed(request: HttpRequest, limit: int) -> Iterator[SealedFile]:
    """Receive the complete file from the body, and seal each piece as it arrives.

    Raises:
        ActionError: TOO_LARGE, NO_LENGTH or WRONG_MEDIA.
    """
    _require_small(request, limit, TOO_LARGE)
    _require_file_itself(request)
    with closing(SealedFile(limit)) as file:
        for piece in _raw(request):
            file.add(piece)
        file.end()
        yield file


def _missing(name: str) -> InvalidInput:
    problem: Any = REQUIRED(label=name)
    return InvalidInput({name: problem})


def _require_small(request: HttpRequest, limit: int, too_large: Callable[..., ActionError], form: int = 0) -> None:
    """Check the body's length. Nothing beyond it can be read. A form has up to `form` bytes in addition to the file."""
    if request.META.get(IS_CUT) and limit > UPLOAD_BYTES:
        raise NO_LENGTH(limit=UPLOAD_BYTES)
    if int(request.META.get("CONTENT_LENGTH") or 0) > limit + form:
        raise too_large(limit=limit)


def _require_file_itself(request: HttpRequest) -> None:
    if (request.content_type or "").startswith("multipart/"):
        raise WRONG_MEDIA(expected=next(iter(RAW_BODY)))


def _from_form(request: HttpRequest, name: str) -> Received:
    allow_large_file(request)
    file = request.FILES.get("file")
    if not isinstance(file, UploadedFile):
        raise _missing("file")
    return Received(name or file.name or "", iter(file.chunks(_PIECE)))


def _raw(request: HttpRequest) -> Iterator[bytes]:
    try:
        yield from _pieces(request)
    except OSError:
        raise NOT_READABLE(expected="") from None


def _pieces(source: IO[bytes] | HttpRequest) -> Iterator[bytes]:
    return iter(partial(source.read, _PIECE), b"")
