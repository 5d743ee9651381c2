"""Failures of a confined child, caused either by its input or by storage and the machine."""

import traceback
from pathlib import Path


class ChildError(Exception):
    """The child failed because of its input: it exceeded a time or memory limit, crashed, or raised an exception.

    The message is for administrators.
    """


class HostError(OSError):
    """The child could not work, regardless of its input: storage or the machine failed, or the child was stopped.

    If the child timed out while it waited for storage or a CPU, `cpu_seconds` is what it used nevertheless.
    """

    cpu_seconds = 0.0


def description(error: BaseException) -> str:
    """Return the type and place of an exception, such as `KeyError at icm.py:42`.

    The message of the exception is left out because it may quote gold.
    """
    places = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)]
    return f"{type(error).__name__} at {' < '.join(reversed(places[-3:]))}"
