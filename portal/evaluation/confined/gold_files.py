"""Gold for runs with several files: an upload may contain only some of the files, and the others stay unchanged."""

from base64 import b64encode
from pathlib import PurePosixPath

from scoring.definition.files import Files
from scoring.formats.several import packed, packed_name, unpacked
from scoring.reports.problems import Report

PIECE = 8 * 1024**2  # bytes in one answer


class CompletedGold:
    """An uploaded gold standard in a child, completed with files from the one in use, if any."""

    def __init__(self, files: Files, content: bytes, known: bytes | None) -> None:
        self._files, self._content, self._known = files, content, known

    def size(self) -> int:
        """Return the size of the completed gold in bytes, or 0 if the upload cannot be completed."""
        report = Report()
        found = unpacked(self._content, self._files, report)
        if not found or not report.ok:
            return 0
        if self._known is not None:
            found = unpacked(self._known, self._files, report) | found
        self._whole = packed(
            {packed_name(value, PurePosixPath(name)): content for value, (name, content) in found.items()}
        )
        return len(self._whole)

    def piece(self, start: int) -> str:
        """Return a piece of the completed gold in Base64."""
        return b64encode(self._whole[start : start + PIECE]).decode()
