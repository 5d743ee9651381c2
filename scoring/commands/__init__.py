"""The commands, one per module, and the helpers that they share."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scoring.reports.printing import spelled_out
from scoring.reports.problems import Report

VALID, INVALID, USAGE = 0, 1, 2


class UsageError(Exception):
    """The arguments are invalid. The message says why, and the report, if there is one, lists the errors."""

    def __init__(self, message: str, report: Report | None = None) -> None:
        super().__init__(message)
        self.report = report


def print_json(content: dict[str, Any]) -> None:
    """Print an object as one line of JSON, escaping characters that control a terminal."""
    print(spelled_out(json.dumps(content, ensure_ascii=False)))


def by_name(paths: Sequence[Path]) -> dict[str, Path]:
    """Map names to files. If several files share a name, each is listed under its whole path."""
    names = Counter(path.name for path in paths)
    return {path.name if names[path.name] == 1 else str(path): path for path in paths}


def read_text(path: Path) -> str:
    """Return the text in a UTF-8 file, with or without a byte-order mark."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8.") from None
