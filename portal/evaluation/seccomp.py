"""Allow-lists of system calls (seccomp) for the confined child, which can only compute, read, answer and exit.

Everything else fails with EPERM: sockets, programs, processes, signals, ptrace, namespaces, mounts, keys, BPF,
io_uring, and all calls that create, change, rename or remove a file. Some calls are allowed only with certain
arguments. An organizers' own scorer may also write to files that Landlock lets it open, but it may not start threads.
"""

import ctypes
import errno
import platform
import struct
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from portal.evaluation.kernel import LIBRARY, SET_NO_NEW_PRIVILEGES, checked

# From linux/prctl.h.
_GET_SECCOMP, _SET_SECCOMP, _SECCOMP_FILTER = 21, 22, 2

# From linux/bpf_common.h and linux/seccomp.h: the filter's instructions and its results.
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data
_ALLOW, _ERROR, _SIGNAL = 0x7FFF0000, 0x00050000, 0x00030000
_NOT_PERMITTED = _ERROR | errno.EPERM
_UNKNOWN = _ERROR | errno.ENOSYS  # makes the C library use an older call
_OTHER_NUMBERS = 0x40000000  # x86-64's second range of numbers, x32

# Calls about a file at a path. Those that raise a signal are answered by `file_status`, and the others by an error
# that says nothing about the file.
_ANSWERS = {
    **dict.fromkeys(("stat", "lstat", "newfstatat"), _SIGNAL),
    **dict.fromkeys(("access", "faccessat", "statfs"), _ERROR | errno.EACCES),
    **dict.fromkeys(("readlink", "readlinkat"), _ERROR | errno.EINVAL),  # no symbolic link
    **dict.fromkeys(("statx", "faccessat2", "clone3"), _UNKNOWN),
}

# Flags that both architectures share: to open a file for writing or without Landlock's check, start a thread, or enter
# a namespace.
_TO_WRITE = 0o1 | 0o2 | 0o100 | 0o1000 | 0o2000 | 0o20000000  # WRONLY, RDWR, CREAT, TRUNC, APPEND, TMPFILE
_PATH_ONLY = 0o10000000  # O_PATH
_WRITE_ONLY, _READ_WRITE, _TRUNCATE, _UNNAMED = 0o1, 0o2, 0o1000, 0o20000000  # WRONLY, RDWR, TRUNC, TMPFILE
_THREAD, _NAMESPACES = 0x00010000, 0x7E020000
_FCNTL = (0, 1, 2, 3, 4, 1030)  # copying descriptors, reading and setting their flags; no locks, no signal owners
_IOCTL = (0x5401, 0x5413, 0x541B, 0x5450, 0x5451)  # terminal check and width, number of bytes to read, close on exec

# From asm/unistd_64.h. Calls such as open and stat exist only on x86-64.
_X86_64 = {
    "read": 0, "write": 1, "open": 2, "close": 3, "stat": 4, "fstat": 5, "lstat": 6, "poll": 7, "lseek": 8,
    "mmap": 9, "mprotect": 10, "munmap": 11, "brk": 12, "rt_sigaction": 13, "rt_sigprocmask": 14,
    "rt_sigreturn": 15, "ioctl": 16, "pread64": 17, "pwrite64": 18, "readv": 19, "writev": 20, "access": 21,
    "select": 23, "sched_yield": 24, "mremap": 25, "mincore": 27, "madvise": 28, "dup": 32, "dup2": 33,
    "nanosleep": 35, "getpid": 39, "clone": 56, "exit": 60, "uname": 63, "fcntl": 72, "getcwd": 79,
    "readlink": 89, "gettimeofday": 96, "getrlimit": 97, "getrusage": 98, "sysinfo": 99, "times": 100,
    "getuid": 102, "getgid": 104, "geteuid": 107, "getegid": 108, "getppid": 110, "sigaltstack": 131,
    "statfs": 137, "fstatfs": 138, "getpriority": 140, "arch_prctl": 158, "gettid": 186, "time": 201, "futex": 202,
    "sched_getaffinity": 204, "getdents64": 217, "set_tid_address": 218, "restart_syscall": 219,
    "clock_gettime": 228, "clock_getres": 229, "clock_nanosleep": 230, "exit_group": 231, "openat": 257,
    "newfstatat": 262, "readlinkat": 267, "faccessat": 269, "pselect6": 270, "ppoll": 271, "set_robust_list": 273,
    "dup3": 292, "prlimit64": 302, "getcpu": 309, "getrandom": 318, "membarrier": 324, "statx": 332, "rseq": 334,
    "clone3": 435, "close_range": 436, "faccessat2": 439,
}  # fmt: skip
# From asm-generic/unistd.h.
_AARCH64 = {
    "getcwd": 17, "dup": 23, "dup3": 24, "fcntl": 25, "ioctl": 29, "statfs": 43, "fstatfs": 44, "faccessat": 48,
    "openat": 56, "close": 57, "getdents64": 61, "lseek": 62, "read": 63, "write": 64, "readv": 65, "writev": 66,
    "pread64": 67, "pwrite64": 68, "pselect6": 72, "ppoll": 73, "readlinkat": 78, "newfstatat": 79, "fstat": 80,
    "exit": 93, "exit_group": 94, "set_tid_address": 96, "futex": 98, "set_robust_list": 99, "nanosleep": 101,
    "clock_gettime": 113, "clock_getres": 114, "clock_nanosleep": 115, "sched_getaffinity": 123, "sched_yield": 124,
    "restart_syscall": 128, "sigaltstack": 132, "rt_sigaction": 134, "rt_sigprocmask": 135, "rt_sigreturn": 139,
    "getpriority": 141, "times": 153, "uname": 160, "getrlimit": 163, "getrusage": 165, "getcpu": 168,
    "gettimeofday": 169, "getpid": 172, "getppid": 173, "getuid": 174, "geteuid": 175, "getgid": 176,
    "getegid": 177, "gettid": 178, "sysinfo": 179, "brk": 214, "munmap": 215, "mremap": 216, "clone": 220,
    "mmap": 222, "mprotect": 226, "mincore": 232, "madvise": 233, "prlimit64": 261, "getrandom": 278,
    "membarrier": 283, "statx": 291, "rseq": 293, "clone3": 435, "close_range": 436, "faccessat2": 439,
}  # fmt: skip
# Calls that own scorers may make, too. They change only files that are open for writing, and the process itself.
_CALLS_OF_SCORERS = {
    "x86_64": {"fsync": 74, "fdatasync": 75, "ftruncate": 77, "chdir": 80},
    "aarch64": {"ftruncate": 46, "chdir": 49, "fsync": 82, "fdatasync": 83},
}
# Architecture identifiers for seccomp, and call numbers.
MACHINES = {"x86_64": (0xC000003E, _X86_64), "aarch64": (0xC00000B7, _AARCH64)}


class _Program(ctypes.Structure):
    """The struct sock_fprog."""

    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p)]


def is_supported() -> bool:
    """Return whether this kernel can filter system calls and the architecture's call numbers are known."""
    return platform.machine() in MACHINES and LIBRARY.prctl(_GET_SECCOMP) >= 0


def allow_only_listed_calls() -> None:
    """Install the filter of children that read uploads in this process, permanently.

    Raises:
        OSError: the kernel call fails.
    """
    _install(_PROGRAM)


def allow_only_calls_of_scorers() -> None:
    """Install the filter of own scorers in this process, which must have a single thread, permanently.

    Raises:
        OSError: the kernel call fails.
    """
    _install(_SCORERS_PROGRAM)


def _install(program: _Program) -> None:
    checked(LIBRARY.prctl(SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    checked(LIBRARY.prctl(_SET_SECCOMP, _SECCOMP_FILTER, ctypes.byref(program)))


def _conditions_of_scorers() -> dict[str, list[bytes]]:
    """Return what own scorers may do otherwise than children: open files for writing, but start no threads.

    A file that is opened only for reading must not be truncated, because before Linux 6.2, Landlock allows that.
    """
    return {
        "clone": [_instruction(_RETURN, _NOT_PERMITTED)],
        "open": [*_no_bits(1, _UNNAMED | _PATH_ONLY), *_reads_or_writes(1)],
        "openat": [*_no_bits(2, _UNNAMED | _PATH_ONLY), *_reads_or_writes(2)],
    }


def _reads_or_writes(argument: int) -> list[bytes]:
    """Forbid to truncate without writing, and access mode 3, for which Landlock asks for no rights."""
    return [
        _load(argument),
        _instruction(_IF_BIT, _WRITE_ONLY, if_false=2),
        _instruction(_IF_BIT, _READ_WRITE, if_false=1),
        _instruction(_RETURN, _NOT_PERMITTED),
        _instruction(_IF_BIT, _TRUNCATE, if_false=2),
        _instruction(_IF_BIT, _WRITE_ONLY | _READ_WRITE, if_true=1),
        _instruction(_RETURN, _NOT_PERMITTED),
    ]


def _filter(
    architecture: int, numbers: Mapping[str, int], others: Mapping[str, list[bytes]] = MappingProxyType({})
) -> list[bytes]:
    """Return the filter's instructions. `others` replace the conditions of some calls.

    A jump has two counts of instructions to skip: one for when its condition holds, one for when it does not.
    """
    conditions = {
        "clone": [*_all_bits(0, _THREAD), *_no_bits(0, _NAMESPACES)],
        "open": _no_bits(1, _TO_WRITE | _PATH_ONLY),
        "openat": _no_bits(2, _TO_WRITE | _PATH_ONLY),
        "fcntl": _one_of(1, _FCNTL),
        "ioctl": _one_of(1, _IOCTL),
        # Only to read the process's own limits.
        "prlimit64": [*_one_of(0, (0,)), *_one_of(2, (0,)), *_one_of(2, (0,), half=1)],
        **others,
    }
    program = [
        _instruction(_LOAD, _ARCHITECTURE),
        _instruction(_IF_EQUAL, architecture, if_true=1),
        _instruction(_RETURN, _NOT_PERMITTED),
        _instruction(_LOAD, _NUMBER),
        _instruction(_IF_AT_LEAST, _OTHER_NUMBERS, if_false=1),
        _instruction(_RETURN, _NOT_PERMITTED),
    ]
    for name, number in numbers.items():
        body = [*conditions.get(name, ()), _instruction(_RETURN, _ANSWERS.get(name, _ALLOW))]
        program += [_instruction(_IF_EQUAL, number, if_false=len(body)), *body]
    return [*program, _instruction(_RETURN, _NOT_PERMITTED)]


def _all_bits(argument: int, bit: int) -> list[bytes]:
    return [_load(argument), _instruction(_IF_BIT, bit, if_true=1), _instruction(_RETURN, _NOT_PERMITTED)]


def _no_bits(argument: int, bits: int) -> list[bytes]:
    return [_load(argument), _instruction(_IF_BIT, bits, if_false=1), _instruction(_RETURN, _NOT_PERMITTED)]


def _one_of(argument: int, values: Sequence[int], half: int = 0) -> list[bytes]:
    # A match skips the remaining tests and the error.
    tests = [_instruction(_IF_EQUAL, value, if_true=len(values) - place) for place, value in enumerate(values)]
    return [_load(argument, half), *tests, _instruction(_RETURN, _NOT_PERMITTED)]


def _load(argument: int, half: int = 0) -> bytes:
    """Load the lower or upper half of a 64-bit argument. Both architectures are little-endian."""
    return _instruction(_LOAD, _ARGUMENTS + 8 * argument + 4 * half)


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _program(instructions: list[bytes]) -> tuple[_Program, Any]:
    """Return the struct sock_fprog, and the memory that it points to."""
    buffer = ctypes.create_string_buffer(b"".join(instructions))
    return _Program(len(instructions), ctypes.addressof(buffer)), buffer


def _instructions(more: Mapping[str, int], others: Mapping[str, list[bytes]]) -> list[bytes]:
    if platform.machine() not in MACHINES:
        return []
    architecture, numbers = MACHINES[platform.machine()]
    return _filter(architecture, {**numbers, **more}, others)


_PROGRAM, _MEMORY = _program(_instructions({}, {}))
_SCORERS_PROGRAM, _SCORERS_MEMORY = _program(
    _instructions(_CALLS_OF_SCORERS.get(platform.machine(), {}), _conditions_of_scorers())
)
