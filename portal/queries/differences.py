"""Differences between two versions of a text."""

import difflib

_LINES = 400  # lines of a difference that are shown
_COMPARED = 3000  # lines; the time for comparing longer texts grows with the square of their length


def difference(path: str, before: str, after: str) -> str:
    """Return the changes to the file at `path` as a unified diff. A long one is cut off, which its end says."""
    lines = before.splitlines(), after.splitlines()
    if max(map(len, lines)) > _COMPARED:
        return f"… {path} has more than {_COMPARED} lines, so its changes are not shown"
    found = list(difflib.unified_diff(*lines, path, path, n=1, lineterm=""))
    more = [f"… {len(found) - _LINES} more lines"] if len(found) > _LINES else []
    return "\n".join(found[:_LINES] + more)
