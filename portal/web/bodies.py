"""Bodies of requests: which may hold a large file, and the length of those that come without one."""

from collections.abc import Callable, Iterable
from tempfile import SpooledTemporaryFile
from typing import IO, Any

from django.core.files.uploadhandler import MemoryFileUploadHandler, TemporaryFileUploadHandler
from django.http import HttpRequest

from scoring.limits import UPLOAD_BYTES

FORM_BYTES = 64 * 1024  # what a form may add to the file it carries
BODY_BYTES = UPLOAD_BYTES + FORM_BYTES
_IN_MEMORY = 1024 * 1024
_PIECE = 64 * 1024

Application = Callable[[dict[str, Any], Any], Iterable[bytes]]


def allow_large_file(request: HttpRequest) -> None:
    """Let this request's body bring a file of any size: once its sender may, and before anything reads the body.

    For all other requests `FILE_UPLOAD_HANDLERS` drops what does not fit into memory: nothing is written to disk.
    """
    request.upload_handlers = [MemoryFileUploadHandler(request), TemporaryFileUploadHandler(request)]


def measured(application: Application) -> Application:
    """The application, which learns of every body how long it is; one that is too long is read no further.

    Its length is then one byte too many: the views refuse it for that. It was never anywhere but in an unnamed file.
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
