"""Stored files as responses. A file or a range of it is streamed, or delegated to the proxy or to S3."""

import re
import zlib
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from stat import S_IFREG
from typing import BinaryIO
from urllib.parse import quote

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.http import content_disposition_header
from django.views.decorators.debug import sensitive_variables
from stream_zip import ZIP_64, stream_zip

from portal.models.task import StoredDataset
from portal.objects.interface import data_objects
from portal.storage import stored_name

_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")
_PIECE = 256 * 1024  # bytes
_NO_DATE = datetime(1980, 1, 1, tzinfo=UTC)  # the earliest date in a zip
_not_compressed = partial(zlib.compressobj, level=0, wbits=-zlib.MAX_WBITS)


@dataclass(frozen=True, slots=True)
class ByteRange:
    """The bytes from `first` (inclusive) to `end` (exclusive) of a file with this `size`."""

    first: int
    end: int
    size: int

    @property
    def is_whole(self) -> bool:
        return (self.first, self.end) == (0, self.size)


def wanted_range(request: HttpRequest, stored: StoredDataset) -> ByteRange | None:
    """Return the requested range, or None if the file does not have it.

    The range is the whole file if none or several are requested, or if the client has a different version (If-Range).
    """
    size = stored.size
    whole = ByteRange(0, size, size)
    asked = _RANGE.fullmatch(request.headers.get("Range", "").replace(" ", ""))
    if asked is None or asked.groups() == ("", ""):
        return whole
    if request.headers.get("If-Range", _etag(stored)) != _etag(stored):
        return whole
    first, last = asked.groups()
    if first:
        found = ByteRange(int(first), min(int(last) + 1 if last else size, size), size)
    else:
        found = ByteRange(max(0, size - int(last)), size, size)
    return found if found.first < found.end else None


def file_response(
    request: HttpRequest, stored: StoredDataset, part: ByteRange, name: str, address: str | None = None
) -> HttpResponseBase:
    """Return `part` of the file as a download called `name`. HEAD requests get no body.

    `address` is the name under which the file is stored. It defaults to that of a dataset.
    """
    address = address or stored_name(stored.sha256)
    link = data_objects().link(address, name, request.method or "GET")
    response: HttpResponseBase
    if link is not None:  # the browser requests the range from there
        response = HttpResponseRedirect(link)
    elif settings.ACCEL:
        response = HttpResponse(headers={"X-Accel-Redirect": f"{settings.ACCEL.rstrip('/')}/{quote(address)}"})
        _say_what_it_is(response, name)
    else:
        response = _own_response(request, stored, part, address)
        _say_what_it_is(response, name)
    response["Cache-Control"] = "private, no-store"
    return response


@sensitive_variables("password")
def encrypted_response(stored: StoredDataset, name: str, password: str) -> StreamingHttpResponse:
    """Return the file in an encrypted zip with one entry. It is streamed, so it has no length and no ranges."""
    file = data_objects().open(stored_name(stored.sha256))
    response = StreamingHttpResponse(encrypted_zip(file, name.removesuffix(".zip"), password))
    _say_what_it_is(response, name)
    response["Accept-Ranges"] = "none"
    response["Cache-Control"] = "private, no-store"
    return response


@sensitive_variables("password")
def encrypted_zip(file: BinaryIO, name: str, password: str) -> Iterator[bytes]:
    """Yield a zip with the file as its only entry, piece by piece (AES-256, in the format of WinZip and 7-Zip).

    The entry is not compressed, because large datasets usually are already.
    """
    with closing(file):
        pieces = iter(partial(file.read, _PIECE), b"")
        entry = (name, _NO_DATE, S_IFREG | 0o644, ZIP_64, pieces)
        yield from stream_zip([entry], get_compressobj=_not_compressed, password=password)


def no_such_bytes(stored: StoredDataset) -> HttpResponse:
    headers = {"Content-Range": f"bytes */{stored.size}"}
    return HttpResponse(status=HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE, headers=headers)


def _own_response(request: HttpRequest, stored: StoredDataset, part: ByteRange, address: str) -> HttpResponseBase:
    response: HttpResponseBase
    if request.method == "HEAD":
        response = HttpResponse()
    else:
        response = StreamingHttpResponse(_bytes(data_objects().open(address), part))
    response["Content-Length"] = str(part.end - part.first)
    response["ETag"] = _etag(stored)
    if not part.is_whole:
        response.status_code = HTTPStatus.PARTIAL_CONTENT
        response["Content-Range"] = f"bytes {part.first}-{part.end - 1}/{part.size}"
    return response


def _say_what_it_is(response: HttpResponseBase, name: str) -> None:
    response["Accept-Ranges"] = "bytes"
    response["Content-Type"] = "application/octet-stream"
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=name) or ""


def _bytes(file: BinaryIO, part: ByteRange) -> Iterator[bytes]:
    left = part.end - part.first
    with closing(file):
        file.seek(part.first)
        while left > 0 and (piece := file.read(min(_PIECE, left))):
            left -= len(piece)
            yield piece


def _etag(stored: StoredDataset) -> str:
    return f'"{stored.sha256}"'
