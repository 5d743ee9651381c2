"""Linux system calls that Python has no function for."""

import ctypes
import os

SET_NO_NEW_PRIVILEGES = 38  # from linux/prctl.h
LIBRARY = ctypes.CDLL(None, use_errno=True)


def checked(answer: int) -> int:
    """Return the result of a system call. Raise `OSError` if the result is negative."""
    if answer < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return answer
