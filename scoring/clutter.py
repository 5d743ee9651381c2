"""Files in archives that no one meant to upload: hidden files, and what operating systems and editors add."""

import re

_CLUTTER = re.compile(
    r"(.*/)?("
    r"\.(?!\.?(/|$))[^/]*"  # hidden, such as .git, .ipynb_checkpoints and .~lock.run.csv#, but not the folders . and ..
    r"|__MACOSX|__pycache__|node_modules|@eaDir|\$RECYCLE\.BIN|System Volume Information"
    r"|Thumbs\.db|ehthumbs\.db|desktop\.ini|Icon\r|~\$[^/]*|[^/]*~|[^/]*\.py[co]"
    r")(/.*)?",
    re.IGNORECASE | re.DOTALL,
)


def is_clutter(path: str) -> bool:
    """Return whether the file with this path, or a folder on the path, is hidden or was added by a program."""
    return _CLUTTER.fullmatch(path) is not None
