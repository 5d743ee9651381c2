"""Linux system calls for which Python has no function."""

import ctypes
import os

SET_NO_NEW_PRIVILEGES = 38  # linux/prctl.h
LIBRARY = ctypes.CDLL(None, use_errno=True)


def checked(answer: int) -> int:
    """The result of a system call; `OSError` if it is negative."""
    if answer < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return answer
