"""How Linux is called where Python has no function for it."""

import ctypes
import os

SET_NO_NEW_PRIVILEGES = 38  # linux/prctl.h
LIBRARY = ctypes.CDLL(None, use_errno=True)


def checked(answer: int) -> int:
    """The answer of a system call; `OSError` where it is negative."""
    if answer < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return answer
