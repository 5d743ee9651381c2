"""Request bodies: allowing large files, measuring bodies without a length, and discarding bodies that no view reads."""

import re
from collections.abc import Callable, Iterable
from tempfile import SpooledTemporaryFile
from typing import IO, Any

from django.conf import settings
from django.core.files.uploadhandler import MemoryFileUploadHandler, TemporaryFileUploadHandler
from django.core.handlers.wsgi import LimitedStream
from django.http import HttpRequest

from scoring.limits import UPLOAD_BYTES

FORM_BYTES = settings.DATA_UPLOAD_MAX_MEMORY_SIZE  # maximum size of a form without its file
BODY_BYTES = UPLOAD_BYTES + FORM_BYTES
# Sizes of the largest bodies that the proxy forwards, as in `deploy/proxy/nginx.conf`.
FORWARDED_BYTES = 80 * 1024**2
FORWARDED_ORGANIZER_BYTES = 1100 * 1024**2
_ORGANIZERS_PAGES = r"/tasks/[^/]+/organize/(data|datasets|gold)/"
ORGANIZERS_FILES = rf"^(/api/v1)?{_ORGANIZERS_PAGES}"
IS_CUT = "agon.is_cut"  # key in the WSGI environment: the body was not read to its end
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

    A body without one is first read into an unnamed file. Reading stops one byte past `BODY_BYTES`, and most views
    reject such a body because of its length. For organizers' pages, which accept more, the response is 411. The API
    checks `IS_CUT`.
    """

    def answer(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        if environ.get("HTTP_TRANSFER_ENCODING") and environ.get("wsgi.input_terminated"):
            body = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - closed with the request that holds it
            length = _copy(environ["wsgi.input"], body)
            body.seek(0)
            environ |= {"wsgi.input": body, "CONTENT_LENGTH": str(length), IS_CUT: length > BODY_BYTES}
            if environ[IS_CUT] and re.match(_ORGANIZERS_PAGES, environ["PATH_INFO"]):
                start_response("411 Length Required", [("Content-Type", "text/plain")])
                return [b"Send the length of the body as Content-Length."]
        return application(environ, start_response)

    return answer


def discarding(application: Application) -> Application:
    """Wrap the application so that it reads and discards what is left of a body before it responds.

    If a web server closes a connection with unread data, the kernel resets it. A proxy or client that is still sending
    then loses the response: nginx answers 502. Bodies that are larger than the proxy forwards are not read.

    Use this only behind a proxy, which has received the whole body before it forwards the request. Otherwise, a client
    could announce a body, send nothing, and so occupy a thread.
    """

    def answer(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        length = int(environ.get("CONTENT_LENGTH") or 0)
        most = FORWARDED_ORGANIZER_BYTES if re.match(ORGANIZERS_FILES, environ["PATH_INFO"]) else FORWARDED_BYTES
        if not 0 < length <= most:
            return application(environ, start_response)
        body = LimitedStream(environ["wsgi.input"], length)
        response = application(environ | {"wsgi.input": body}, start_response)
        while body.read(_PIECE):
            pass
        return response

    return answer


def _copy(source: IO[bytes], target: IO[bytes]) -> int:
    while target.tell() <= BODY_BYTES and (piece := source.read(min(_PIECE, BODY_BYTES + 1 - target.tell()))):
        target.write(piece)
    return target.tell()
