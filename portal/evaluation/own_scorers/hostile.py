"""A hostile scorer: it tries to escape, and reports what succeeded.

Workers run it, confined as any scorer, before they run the first own scorer. It must find nothing. It is also the list
of what the confinement promises; each name says what is tried.
"""

import ctypes
import errno
import json
import os
import platform
import socket
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

_BLOCKED = {errno.EPERM, errno.EACCES, errno.ENOSYS}
_LIBRARY = ctypes.CDLL(None, use_errno=True)
_NO_PROCESS = 2**30  # no process has this id
# System calls: their numbers on x86-64 and aarch64, and arguments that would do no harm even if they were allowed. An
# error other than “not permitted” shows that the call has reached the kernel.
_CALLS: dict[str, tuple[int, int, tuple[Any, ...]]] = {
    "key rings (keyctl)": (250, 219, (0, -3, 0)),
    "key rings (add_key)": (248, 217, (b"user", b"agon", b"x", 1, -3)),
    "io_uring": (425, 425, (8, ctypes.create_string_buffer(120))),
    "signals through a pidfd": (434, 434, (1, 0)),
    "userfaultfd": (323, 282, (0,)),
    "BPF": (321, 280, (0, ctypes.create_string_buffer(128), 128)),
    "performance counters": (298, 241, (ctypes.create_string_buffer(128), 0, -1, -1, 0)),
    "System V queues": (68, 186, (12345, 0)),
    "System V shared memory": (29, 194, (12345, 0, 0)),
    "System V semaphores": (64, 190, (12345, 0, 0)),
    "POSIX queues": (240, 180, (b"agon", 0, 0, None)),
    "the memory of another process": (310, 270, (1, None, 0, None, 0, 0)),
    "ptrace": (101, 117, (16, _NO_PROCESS, 0, 0)),
    "a new namespace": (272, 97, (0x10000000,)),
    "mounts": (165, 40, (b"none", b"/agon-nowhere", b"tmpfs", 0, None)),
    "another root": (161, 51, (b"/agon-nowhere",)),
    "files by handle": (304, 265, (-100, ctypes.create_string_buffer(16), 0)),
    "openat2": (437, 437, (-100, b"/etc/passwd", ctypes.create_string_buffer(24), 24)),
    "notifications about files": (294, 26, (0,)),
    "personality": (135, 92, (0xFFFFFFFF,)),
    "limits of other processes": (302, 261, (os.getppid(), 7, None, ctypes.create_string_buffer(16))),
    "other limits": (302, 261, (0, 7, ctypes.create_string_buffer(16), None)),
    "a descriptor of another process": (438, 438, (1, 0, 0)),
    "Landlock's rules": (444, 444, (None, 0, 1)),
}


def score(_gold: str, run: str) -> dict[str, int]:
    """Try everything and return the number of escapes. Their names are printed, one per line."""
    targets = json.loads(Path(run, "targets.json").read_text())
    found = [name for name, attempt in _attempts(targets).items() if _succeeds(attempt)]
    found += [name for name, call in _CALLS.items() if _reaches_the_kernel(*call)]
    print("\n".join(found))  # noqa: T201 - the worker reads it
    return {"escapes": len(found)}


def _succeeds(attempt: Callable[[], object]) -> bool:
    """Return whether the attempt succeeds. Only errors that say that it is not allowed count as failures."""
    try:
        attempt()
    except OSError as error:
        return error.errno not in _BLOCKED
    except (RuntimeError, MemoryError):  # Python's errors when it can start no thread
        return False
    return True


def _reaches_the_kernel(x86_64: int, aarch64: int, arguments: tuple[Any, ...]) -> bool:
    number = x86_64 if platform.machine() == "x86_64" else aarch64
    ctypes.set_errno(0)
    answer = _LIBRARY.syscall(number, *arguments)
    return answer >= 0 or ctypes.get_errno() not in _BLOCKED


def _attempts(targets: dict[str, str]) -> dict[str, Callable[[], object]]:
    secret, folder, parent = targets["secret"], targets["folder"], os.getppid()
    output, own = targets["output"], targets["own"]
    return {
        "reading the files of others": lambda: Path(secret).read_bytes(),
        "listing the folders of others": lambda: list(Path(folder).iterdir()),
        "the size of others' files": lambda: Path(secret).stat(),
        "the size of others' files (lstat)": lambda: Path(secret).lstat(),
        "a path without Landlock's check": lambda: os.open(secret, os.O_PATH),
        "access mode 3": lambda: os.open(secret, 3),
        "truncating while reading": lambda: os.open(own, os.O_RDONLY | os.O_TRUNC),
        "accounts": lambda: Path("/etc/passwd").read_bytes(),
        "/proc of the worker": lambda: Path(f"/proc/{parent}/environ").read_bytes(),
        "/proc of itself": lambda: Path("/proc/self/environ").read_bytes(),
        "devices": lambda: list(Path("/dev").iterdir()),
        "writing outside": lambda: Path(folder, "left").write_text("x"),
        "changing others' files": lambda: os.open(secret, os.O_WRONLY),
        "changing the input": lambda: os.open(own, os.O_WRONLY),
        "a file in /dev/shm": lambda: Path("/dev/shm/agon-escape").write_text("x"),
        "a file in /tmp": lambda: Path("/tmp/agon-escape").write_text("x"),
        "more files in the output": lambda: Path(output, "more.txt").write_text("x"),
        "a folder in the output": lambda: Path(output, "more").mkdir(),
        "a symbolic link": lambda: Path(output, "link").symlink_to(secret),
        "a hard link": lambda: os.link(Path(output, "scores.txt"), Path(output, "link")),
        "a FIFO": lambda: os.mkfifo(Path(output, "fifo")),
        "an unnamed file": lambda: os.open(output, os.O_TMPFILE | os.O_RDWR),
        "removing files": lambda: Path(output, "scores.txt").unlink(),
        "renaming files": lambda: Path(output, "scores.txt").rename(Path(output, "other.txt")),
        "rights of files": lambda: Path(output, "scores.txt").chmod(0o777),
        "owners of files": lambda: os.chown(Path(output, "scores.txt"), 0, 0),
        "times of files": lambda: os.utime(own),
        "attributes of files": lambda: os.setxattr(own, "user.agon", b"x"),
        "truncating files": lambda: os.truncate(secret, 0),
        "memory files": lambda: os.memfd_create("agon"),
        "signals to the worker": lambda: os.kill(parent, 0),
        "signals to every process": lambda: os.kill(-1, 0),
        "another process": _fork,
        "another program (subprocess)": lambda: subprocess.run(["/bin/true"], check=True),
        "a thread": lambda: threading.Thread(target=int).start(),
        "the network": lambda: socket.socket(socket.AF_INET),
        "the network (IPv6)": lambda: socket.socket(socket.AF_INET6, socket.SOCK_DGRAM),
        "local sockets": lambda: socket.socket(socket.AF_UNIX),
        "sockets to the host": lambda: socket.socket(40, socket.SOCK_STREAM),  # AF_VSOCK
        "the kernel's sockets": lambda: socket.socket(16, socket.SOCK_RAW),  # AF_NETLINK
        "pairs of sockets": socket.socketpair,
        "inherited descriptors": _inherited,
        "variables of the worker": _variables,
        "other priorities": lambda: os.setpriority(os.PRIO_PROCESS, 0, 19),
        "another user": lambda: os.setuid(12345),
        "another program": lambda: os.execv("/bin/true", ["true"]),  # last, because it would replace this one
    }


def _fork() -> None:
    if os.fork() == 0:
        os._exit(0)


def _inherited() -> None:
    """Fail as if it were blocked unless a descriptor other than those of input and output is open."""
    for descriptor in range(3, 256):
        try:
            os.fstat(descriptor)
        except OSError:
            continue
        return
    raise PermissionError(errno.EPERM, "none is open")


def _variables() -> None:
    """Fail as if it were blocked unless there are variables that may hold settings or secrets."""
    if not any(
        name.startswith(("AGON_", "DJANGO_", "DATABASE", "EMAIL")) for name in os.environ if name != "AGON_TRACK"
    ):
        raise PermissionError(errno.EPERM, "there are none")
