"""File downloads that resume after interruptions and are verified against a SHA-256."""

import hashlib
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from urllib3 import BaseHTTPResponse
from urllib3.exceptions import HTTPError

from agon.connection import Connection
from agon.errors import AgonError

Progress = Callable[[int, int | None], None]
"""Called with the number of bytes received so far and, if known, the total number."""

_PIECE = 256 * 1024  # bytes
_BREAKS = 5  # a download fails after this many interruptions in a row without any new bytes


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def fetch(
    connection: Connection,
    path: str,
    target: Path,
    *,
    size: int | None = None,
    sha256: str = "",
    headers: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> None:
    """Save the response for `path` as `target`. The file appears only when it is complete.

    If `sha256` is given, interrupted downloads are resumed, including those of earlier calls.

    Raises:
        AgonError: the portal reported a problem, or the file has a different checksum.
    """
    part = target.with_name(f".{target.name}.{sha256[:12] or 'new'}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if not sha256:
            part.unlink(missing_ok=True)
        _fill(connection, path, part, size if sha256 else None, dict(headers or {}), progress)
        if sha256 and sha256_of(part) != sha256:
            part.unlink()
            raise AgonError(f"{target.name} does not have the SHA-256 that the portal reports. Download it again.")
        part.replace(target)
    except OSError as error:
        raise AgonError(f"{error.filename or target}: {error.strerror}.") from None


def _fill(
    connection: Connection, path: str, part: Path, size: int | None, headers: dict[str, str], progress: Progress | None
) -> None:
    """Read until the file is complete. If the `size` is unknown, read once from the beginning."""
    breaks, here = 0, part.stat().st_size if part.exists() else 0
    while size is None or here != size or not part.exists():
        asked = {"Range": f"bytes={here}-"} if 0 < here < (size or 0) else {}
        answer = connection.ask("GET", path, headers={**headers, **asked}, stream=True, redirect=True)
        reason = "the connection was closed"
        try:
            _write(answer, part, size, progress)
            if size is None:
                return
        except HTTPError as error:
            reason = str(error)
        finally:
            answer.close()
        before, here = here, part.stat().st_size
        if here > (size or here):
            return  # larger than announced, so the checksum will not match
        breaks = 0 if here > before else breaks + 1
        if size is None or breaks == _BREAKS:
            raise AgonError(f"The download was interrupted: {reason}. Start it again.")


def _write(answer: BaseHTTPResponse, part: Path, size: int | None, progress: Progress | None) -> None:
    first = re.match(r"bytes (\d+)-", answer.headers.get("Content-Range", "")) if answer.status == 206 else None
    with part.open("r+b" if first else "wb") as file:
        if first:
            file.seek(int(first[1]))
            file.truncate()
        while piece := answer.read1(_PIECE):  # unlike read, read1 loses no received bytes when the connection breaks
            file.write(piece)
            if progress:
                progress(file.tell(), size)
