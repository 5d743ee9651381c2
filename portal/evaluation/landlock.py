"""Landlock: a confined process can open only the given files, and only for reading, even as root.

An own scorer can also write to some files that are there.

The kernel reports the version of its interface. Operations that an older version cannot restrict, other than reading,
are blocked by seccomp.
"""

import ctypes
import os
import struct
from collections.abc import Iterable
from pathlib import Path

from portal.evaluation.kernel import LIBRARY, SET_NO_NEW_PRIVILEGES, checked

# From linux/landlock.h. The numbers are the same on all architectures.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION, _PATH_BENEATH = 1, 1
_WRITE_FILE, _READ_FILE, _READ_DIRECTORY, _TRUNCATE = 1 << 1, 1 << 2, 1 << 3, 1 << 14
_TRUNCATE_SINCE = 3
# The file access rights that each version knows.
_FILE_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
_NETWORK_SINCE, _NETWORK_RIGHTS = 4, 0b11  # binding and connecting over TCP
_SCOPES_SINCE, _SCOPES = 6, 0b11  # abstract sockets of other processes, and signals to them


def version() -> int:
    """Return the version of the kernel's interface, or 0 if the kernel has no Landlock."""
    return max(0, LIBRARY.syscall(_CREATE_RULESET, None, 0, _ASK_VERSION))


def allow_reading(paths: Iterable[Path], known: int, writable: Iterable[Path] = ()) -> None:
    """Let this process read only these files and folders, permanently. `known` is the result of `version`.

    A path that does not exist is skipped. `writable` are files that it can also change. It can create no files.

    Raises:
        OSError: the kernel call fails.
    """
    ruleset = checked(LIBRARY.syscall(_CREATE_RULESET, *_attributes(known), 0))
    for path in paths:
        _allow(path, ruleset)
    for path in writable:
        _allow(path, ruleset, _WRITE_FILE | (_TRUNCATE if known >= _TRUNCATE_SINCE else 0))
    checked(LIBRARY.prctl(SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    checked(LIBRARY.syscall(_RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)


def _attributes(known: int) -> tuple[bytes, int]:
    """Return the struct landlock_ruleset_attr of this version and its length."""
    rights = max(rights for since, rights in _FILE_RIGHTS.items() if since <= known)
    fields = [rights]
    if known >= _NETWORK_SINCE:
        fields.append(_NETWORK_RIGHTS)
    if known >= _SCOPES_SINCE:
        fields.append(_SCOPES)
    packed = struct.pack(f"={len(fields)}Q", *fields)
    return packed, len(packed)


def _allow(path: Path, ruleset: int, more_rights: int = 0) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    rights = _READ_FILE | more_rights | (_READ_DIRECTORY if path.is_dir() else 0)
    rule = struct.pack("=Qi", rights, descriptor)
    checked(LIBRARY.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, ctypes.c_char_p(rule), 0))
    os.close(descriptor)
