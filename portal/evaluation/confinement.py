"""Limits on a child that reads uploads, and on organizers' own scorers.

It cannot exceed its memory limit, write files, open connections, read other files or outlive its parent. Resource
limits work on every platform, except that macOS does not limit memory. On Linux, the kernel also filters system calls
(`seccomp`) and limits which files can be opened (`landlock`), even in containers and without privileges.
"""

import os
import re
import resource
import signal
import sys
import sysconfig
from collections.abc import Iterable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from portal.evaluation import file_status, landlock, seccomp
from portal.evaluation.kernel import LIBRARY, SET_NO_NEW_PRIVILEGES, checked
from portal.evaluation.limits import CHILD_FILE, CHILD_FILES_OPEN, SCORER_FILE

_SET_DEATH_SIGNAL = 1  # from linux/prctl.h

_LANDLOCK = landlock.version() if sys.platform == "linux" else 0
_HAS_SECCOMP = sys.platform == "linux" and seccomp.is_supported()


# A line of /proc/self/maps whose file is a shared library. The path comes after five other fields.
_LIBRARY = re.compile(r"^(?:[^ \n]+ +){5}(/.*)/[^/\n]+\.so(?:\.[0-9.]+)?$", re.MULTILINE)


def _folders_of_libraries(maps: Path = Path("/proc/self/maps")) -> set[Path]:
    """Return the folders of the shared libraries that this process uses. Modules find their own libraries there."""
    try:
        mapped = maps.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:  # not on Linux
        return set()
    return {Path(folder) for folder in _LIBRARY.findall(mapped)}


_DEVICES = (os.devnull, "/dev/urandom")  # that own scorers can read

# The child may read these folders, because some modules are imported only when they are first used.
_CODE = {Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
_CODE |= _folders_of_libraries()
_CODE |= {Path(folder) for folder in getattr(find_spec("scoring"), "submodule_search_locations", None) or ()}


def missing_protection() -> list[str]:
    """List the protections that this machine lacks, as sentences for administrators."""
    missing = []
    if not _HAS_SECCOMP:
        missing.append("System calls are not filtered (no seccomp): a child that evaluates could open sockets.")
    if not _LANDLOCK:
        missing.append("Files are not confined (no Landlock, Linux 5.13): a child that evaluates could read any file.")
    return missing


def confine(parent: int, keep: int, seconds: float, memory: int, readable: Iterable[Path]) -> None:
    """Confine this process (the child) before it does anything else.

    The descriptor `keep` remains open, and the files in `readable` can be opened.

    Raises:
        OSError: the kernel rejects a protection that it offers.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # handled by the parent
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _close_all_but(keep)
    _limit(seconds, memory)
    if sys.platform == "linux":
        _die_with(parent)
    if _LANDLOCK:
        landlock.allow_reading([*_CODE, *readable], _LANDLOCK)
    if _HAS_SECCOMP:
        file_status.answer_by_opening()
        seccomp.allow_only_listed_calls()


def confine_scorer(
    parent: int, seconds: float, memory: int, readable: Iterable[Path], writable: Iterable[Path]
) -> None:
    """Confine this process, which runs an organizers' own scorer next.

    It has more rights than other children: it can print, and change the files in `writable`. Because it runs unknown
    code, it needs all protections, and may have no thread that they would not cover.

    Raises:
        OSError: this machine lacks a protection, or the kernel rejects one.
    """
    checked(LIBRARY.prctl(SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    if missing := missing_protection():
        raise OSError(" ".join(missing))
    if len(os.listdir("/proc/self/task")) != 1:  # noqa: PTH208 - as below
        raise OSError("the process has several threads")
    _close_inherited(keep=2)
    _limit(seconds, memory, SCORER_FILE)
    _die_with(parent)
    landlock.allow_reading([*_CODE, *map(Path, _DEVICES), *readable], _LANDLOCK, [Path(os.devnull), *writable])
    file_status.answer_by_opening()
    seccomp.allow_only_calls_of_scorers()


def _close_all_but(keep: int) -> None:
    """Close sockets and database files. Redirect input, output and errors to /dev/null."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    _close_inherited(keep)


def _close_inherited(keep: int) -> None:
    for descriptor in map(int, os.listdir("/dev/fd")):  # noqa: PTH208 - paths would be the slowest part
        if descriptor > 2 and descriptor != keep:
            with suppress(OSError):  # the descriptor of the directory listing itself
                os.close(descriptor)


def _limit(seconds: float, memory: int, file: int = CHILD_FILE) -> None:
    """Set the limits of CPU time, and of the bytes of memory and of each file."""
    limits = {
        resource.RLIMIT_CPU: int(seconds) + 1,
        resource.RLIMIT_FSIZE: file,
        resource.RLIMIT_NOFILE: CHILD_FILES_OPEN,
        resource.RLIMIT_NPROC: 0,  # has no effect on root
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_AS: memory,
    }
    for kind, limit in limits.items():
        with suppress(ValueError, OSError):  # macOS cannot limit the address space, and a hard limit cannot be raised
            resource.setrlimit(kind, (limit, limit))


def _die_with(parent: int) -> None:
    """Make the kernel end this process when its parent dies."""
    LIBRARY.prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:  # the parent died before the call above
        os._exit(1)
