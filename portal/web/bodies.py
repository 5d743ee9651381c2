"""Request bodies: allowing large files, and measuring bodies without a length."""

from collections.abc import Callable, Iterable
from tempfile import SpooledTemporaryFile
from typing import IO, Any

from django.core.files.uploadhandler import MemoryFileUploadHandler, TemporaryFileUploadHandler
from django.http import HttpRequest

from scoring.limits import UPLOAD_BYTES

FORM_BYTES = 64 * 1024  # maximum size of a form without its file
BODY_BYTES = UPLOAD_BYTES + FORM_BYTES
_IN_MEMORY = 1024 * 1024
_PIECE = 64 * 1024

Application = Callable[[dict[str, Any], Any], Iterable[bytes]]


def allow_large_file(request: HttpRequest) -> None:
    """Allow a file of any size in this request. Call this after checking the sender and before the body is read.

    In all other requests, `FILE_UPLOAD_HANDLERS` drops files that do not fit into memory, and nothing is written to
    disk.
    """
    request.upload_handlers = [MemoryFileUploadHandler(request), TemporaryFileUploadHandler(request)]


def measured(application: Application) -> Application:
    """Wrap the application so that every body has a length.

    A body without one is first read into an unnamed file. Reading stops one byte past the limit, and the views reject
    such a body because of its length.
    """

    def answer(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        if environ.get("HTTP_TRANSFER_ENCODING") and environ.get("wsgi.input_terminated"):
            body = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - closed with the request that holds it
            length = _copy(environ["wsgi.input"], body)
            body.seek(0)
            environ |= {"wsgi.input": body, "CONTENT_LENGTH": str(length)}
        return application(environ, start_response)

    return answer


def _copy(source: IO[bytes], target: IO[bytes]) -> int:
    while target.tell() <= BODY_BYTES and (piece := source.read(min(_PIECE, BODY_BYTES + 1 - target.tell()))):
        target.write(piece)
    return target.tell()
