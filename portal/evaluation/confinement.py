"""What a child process may not do while it reads what a stranger sent: outlive its parent, grow, write, talk, start.

Resource limits hold on every platform (macOS knows none for memory). On Linux a system call filter (seccomp) refuses
sockets and programs as well, inside containers and without privileges; elsewhere a child could still open a socket.
"""

import ctypes
import errno
import os
import platform
import resource
import signal
import struct
import sys
from contextlib import suppress
from pathlib import Path

from portal.evaluation.limits import CHILD_FILE, CHILD_FILES_OPEN, CHILD_NICENESS

# linux/prctl.h
_SET_DEATH_SIGNAL, _SET_SECCOMP, _SET_NO_NEW_PRIVILEGES = 1, 22, 38
_SECCOMP_FILTER = 2

# linux/bpf_common.h, linux/seccomp.h: instructions of the filter, and its answers
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000
_NOT_PERMITTED = _REFUSE | errno.EPERM
_UNKNOWN = _REFUSE | errno.ENOSYS  # the C library falls back to clone
_THREAD = 0x00010000  # CLONE_THREAD
_OTHER_NUMBERS = 0x40000000  # x86-64's second set of numbers, x32

# Machine → its name for seccomp, and the numbers of: clone, and of socket, socketpair, connect, fork, vfork, execve,
# execveat, ptrace, io_uring_setup, where the machine has them.
_MACHINES = {
    "x86_64": (0xC000003E, 56, (41, 53, 42, 57, 58, 59, 322, 101, 425)),
    "aarch64": (0xC00000B7, 220, (198, 199, 203, 221, 281, 117, 425)),
}
_CLONE3 = 435

_LIBRARY = ctypes.CDLL(None)


class _Program(ctypes.Structure):
    """struct sock_fprog"""

    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p)]


def confine(parent: int, keep: int, seconds: float, memory: int) -> None:
    """To be called in the child first of all; the descriptor `keep` stays open, beside input, output and errors."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # for the parent to act on
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _close_all_but(keep)
    _limit(seconds, memory)
    if sys.platform == "linux":
        _die_with(parent)
        _refuse_system_calls()


def _close_all_but(keep: int) -> None:
    """Sockets and database files go."""
    for descriptor in [int(path.name) for path in Path("/dev/fd").iterdir()]:
        if descriptor > 2 and descriptor != keep:
            with suppress(OSError):  # the listing's own
                os.close(descriptor)


def _limit(seconds: float, memory: int) -> None:
    os.nice(CHILD_NICENESS)
    limits = {
        resource.RLIMIT_CPU: int(seconds) + 1,
        resource.RLIMIT_FSIZE: CHILD_FILE,
        resource.RLIMIT_NOFILE: CHILD_FILES_OPEN,
        resource.RLIMIT_NPROC: 0,  # root is above this one
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_AS: memory,
    }
    for kind, limit in limits.items():
        with suppress(ValueError, OSError):  # macOS does not limit the address space; nobody may raise a hard limit
            resource.setrlimit(kind, (limit, limit))


def _die_with(parent: int) -> None:
    """The parent's death is the end of the child as well."""
    _LIBRARY.prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:  # it died before the line above
        os._exit(1)


def _refuse_system_calls() -> None:
    """No network, no other program, no other process; threads are allowed. Nothing happens on other machines."""
    if platform.machine() not in _MACHINES:
        return
    program = _filter(*_MACHINES[platform.machine()])
    buffer = ctypes.create_string_buffer(b"".join(program))
    _LIBRARY.prctl(_SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    _LIBRARY.prctl(_SET_SECCOMP, _SECCOMP_FILTER, ctypes.byref(_Program(len(program), ctypes.addressof(buffer))))


def _filter(architecture: int, clone: int, refused: tuple[int, ...]) -> list[bytes]:
    """The filter's instructions; a jump counts those that are left out when its condition holds, or when not."""
    program = [
        _instruction(_LOAD, _ARCHITECTURE),
        _instruction(_IF_EQUAL, architecture, if_true=1),
        _instruction(_RETURN, _NOT_PERMITTED),
        _instruction(_LOAD, _NUMBER),
        _instruction(_IF_AT_LEAST, _OTHER_NUMBERS, if_false=1),
        _instruction(_RETURN, _NOT_PERMITTED),
        _instruction(_IF_EQUAL, _CLONE3, if_false=1),
        _instruction(_RETURN, _UNKNOWN),
    ]
    for number in refused:
        program += [_instruction(_IF_EQUAL, number, if_false=1), _instruction(_RETURN, _NOT_PERMITTED)]
    return [
        *program,
        _instruction(_IF_EQUAL, clone, if_false=3),
        _instruction(_LOAD, _FIRST_ARGUMENT),
        _instruction(_IF_BIT, _THREAD, if_true=1),
        _instruction(_RETURN, _NOT_PERMITTED),
        _instruction(_RETURN, _ALLOW),
    ]


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)
