"""Answers a confined child's questions about files by opening them, so that Landlock decides about these, too.

Landlock limits which files can be opened, but not whose size and times can be read, and seccomp cannot read a path in
memory. So the filter (`seccomp`) lets none of these calls into the kernel, except for files that are open. It raises
SIGSYS instead, and the handler here opens the file, reads the status of the open file and returns it. A child that
replaces the handler only ends itself.
"""

import ctypes
import errno
import os
import platform
import signal
from typing import Any, NamedTuple

from portal.evaluation.kernel import LIBRARY

_HERE, _EMPTY_PATH, _NO_FOLLOW = -100, 0x1000, 0x100  # AT_FDCWD, AT_EMPTY_PATH and AT_SYMLINK_NOFOLLOW
_WITH_CONTEXT, _REPEATABLE = 0x4, 0x40000000  # SA_SIGINFO and SA_NODEFER
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY


class _Registers(NamedTuple):
    """Where a signal's context has the registers: their offset in bytes, and the places of those that matter."""

    offset: int
    number: int
    result: int
    arguments: tuple[int, ...]


class _Calls(NamedTuple):
    """The numbers of the system calls. aarch64 has no calls of the older kinds."""

    fstat: int
    newfstatat: int
    stat: int = -1
    lstat: int = -1


# From sys/ucontext.h and asm/unistd.h.
_MACHINES = {
    "x86_64": (_Registers(40, 13, 13, (8, 9, 12, 2)), _Calls(fstat=5, newfstatat=262, stat=4, lstat=6)),
    "aarch64": (_Registers(184, 8, 0, (0, 1, 2, 3)), _Calls(fstat=80, newfstatat=79)),
}
_REGISTERS, _CALLS = _MACHINES.get(platform.machine(), _MACHINES["x86_64"])


class _Action(ctypes.Structure):
    """The struct sigaction of the C library."""

    _fields_ = [
        ("handler", ctypes.c_void_p),
        ("mask", ctypes.c_ubyte * 128),
        ("flags", ctypes.c_int),
        ("restorer", ctypes.c_void_p),
    ]


def answer_by_opening() -> None:
    """Install the handler in this process. Raise OSError if that fails."""
    action = _Action(handler=ctypes.cast(_HANDLER, ctypes.c_void_p), flags=_WITH_CONTEXT | _REPEATABLE)
    if LIBRARY.sigaction(signal.SIGSYS, ctypes.byref(action), None) != 0:
        raise OSError(ctypes.get_errno(), "sigaction")


def _handle(_signal: int, _information: int, context: int) -> None:
    registers = (ctypes.c_longlong * 31).from_address(context + _REGISTERS.offset)
    number = registers[_REGISTERS.number]
    first, second, third, fourth = (registers[place] for place in _REGISTERS.arguments)
    if number == _CALLS.newfstatat:
        result = _status(ctypes.c_int(first).value, second, third, fourth)
    elif number in (_CALLS.stat, _CALLS.lstat):
        result = _status(_HERE, first, second, _NO_FOLLOW if number == _CALLS.lstat else 0)
    else:
        result = -errno.EPERM
    registers[_REGISTERS.result] = result


def _status(folder: int, path: int, target: int, flags: int) -> int:
    """Write the status of a file to the address `target`. Return 0 or, as the kernel does, a negative error number."""
    if not path:
        return -errno.EFAULT
    name = ctypes.string_at(path)
    if not name and flags & _EMPTY_PATH:
        return _of_open(folder, target)
    opened = LIBRARY.openat(folder, name, _FLAGS | (os.O_NOFOLLOW if flags & _NO_FOLLOW else 0))
    if opened < 0:
        return -ctypes.get_errno()
    result = _of_open(opened, target)
    LIBRARY.close(opened)
    return result


def _of_open(descriptor: int, target: int) -> int:
    done = LIBRARY.syscall(_CALLS.fstat, descriptor, ctypes.c_void_p(target))
    return 0 if done == 0 else -ctypes.get_errno()


_HANDLER: Any = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(_handle)
