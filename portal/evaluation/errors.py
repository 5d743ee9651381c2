"""Who is to blame when a confined child has no answer: its input, or storage and machine."""

import traceback
from pathlib import Path


class ChildError(Exception):
    """The child died on its input: too slow, too large, killed, or an exception, which the message describes to us."""


class HostError(OSError):
    """The child could not do its work, whatever its input is: storage or machine failed, or it was stopped."""


def description(error: BaseException) -> str:
    """What failed and where, e.g. `KeyError at icm.py:42`; not the error's words, which may quote the gold standard."""
    places = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)]
    return f"{type(error).__name__} at {' < '.join(reversed(places[-3:]))}"
