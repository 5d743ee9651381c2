"""Failures of a confined child, caused by its input or by storage and the machine."""

import traceback
from pathlib import Path


class ChildError(Exception):
    """The child died on its input: too slow, too large, killed, or an exception. The message is for administrators."""


class HostError(OSError):
    """The child could not work, whatever its input: storage or the machine failed, or the child was stopped."""


def description(error: BaseException) -> str:
    """Return the type and place of an exception, e.g. `KeyError at icm.py:42`.

    Its message is left out: it may quote gold.
    """
    places = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)]
    return f"{type(error).__name__} at {' < '.join(reversed(places[-3:]))}"
