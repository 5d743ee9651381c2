"""Failures of a confined child: because of its input, or because of storage and machine."""

import traceback
from pathlib import Path


class ChildError(Exception):
    """The child died on its input: too slow, too large, killed, or an exception, which the message describes for us."""


class HostError(OSError):
    """The child could not work, whatever its input: storage or machine failed, or it was stopped."""


def description(error: BaseException) -> str:
    """The type and place of an exception, e.g. `KeyError at icm.py:42`. Not its message, which may quote gold."""
    places = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)]
    return f"{type(error).__name__} at {' < '.join(reversed(places[-3:]))}"
