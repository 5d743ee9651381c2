"""Run a function on untrusted data in a child process with limits; its answer comes back as JSON over a pipe.

A plain fork: Celery's pool processes are daemonic, so multiprocessing may not have children there, and a new
interpreter would cost more than most scorings. The child inherits open connections; it closes their descriptors, never
collects their objects and leaves by `os._exit`, so that nothing of the parent's is flushed, closed or ended twice.

Two kinds of failure are kept apart: the child dies on its input (`ChildError`), storage or machine fail (`HostError`).
"""

import errno
import gc
import json
import os
import selectors
import signal
import time
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NoReturn

from portal.evaluation.confinement import confine
from portal.evaluation.limits import CHILD_ANSWER, CHILD_MEMORY, CHILD_SECONDS

_PIECE = 64 * 1024  # bytes
_BUSY_SHARE = 0.25  # of its time on a CPU: a child that ran out of time with less was waiting for something of ours
_FROM_OUTSIDE = {signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM}  # the child may send no signals: someone stopped it
_STORAGE_ERRORS = {
    errno.EACCES,
    errno.EHOSTDOWN,
    errno.EIO,
    errno.ENODEV,
    errno.ENOENT,
    errno.ENOTCONN,
    errno.ENOTDIR,
    errno.ENXIO,
    errno.ESTALE,
    errno.ETIMEDOUT,
}


class ChildError(Exception):
    """The child died on its input: too slow, too large, killed, or an exception, which the message describes to us."""


class HostError(OSError):
    """The child could not do its work, whatever its input is: storage or machine failed, or someone stopped it."""


def run_limited(
    function: Callable[[], Any],
    readable: Iterable[Path] = (),
    seconds: float = CHILD_SECONDS,
    memory: int = CHILD_MEMORY,
) -> Any:
    """The function's value, which must be JSON, from a child that opens only the `readable` files and folders.

    `seconds` limit wall clock and CPU, `memory` is in bytes. Gold is opened and read before: the child gets no key.

    Raises:
        ChildError: the function fails or exceeds a limit.
        OSError: there was no child, or it could not work; `HostError` where the child says so or shows it.
    """
    reading, writing = os.pipe()
    parent = os.getpid()
    try:
        pid = os.fork()
    except OSError:
        os.close(reading)
        os.close(writing)
        raise
    if pid == 0:
        _be_child(function, lambda: confine(parent, writing, seconds, memory, readable), writing)
    os.close(writing)
    try:
        answer = _read(reading, time.monotonic() + seconds)
    finally:
        os.close(reading)
        os.kill(pid, signal.SIGKILL)  # it has answered, or it will not; until it is waited for, the id is its own
        _pid, status, usage = os.wait4(pid, 0)
    if answer is None and usage.ru_utime + usage.ru_stime < _BUSY_SHARE * seconds:
        raise HostError("no answer in time, and hardly any work: storage or machine are too slow")
    return _unpack(answer, status)


def _be_child(function: Callable[[], Any], confine_it: Callable[[], None], writing: int) -> NoReturn:
    try:
        gc.freeze()
        answer = _confined(confine_it) or _answer(function)
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(answer)
    finally:
        os._exit(0)


def _confined(confine_it: Callable[[], None]) -> bytes | None:
    """None, or what to answer where the limits cannot be set: a child without them reads nothing."""
    try:
        confine_it()
    except Exception as error:
        return json.dumps({"host_error": description(error)}).encode()
    return None


def _answer(function: Callable[[], Any]) -> bytes:
    try:
        return json.dumps({"value": function()}, allow_nan=False).encode()
    except BaseException as error:
        if isinstance(error, HostError):
            return json.dumps({"host_error": str(error)}).encode()
        is_storage = isinstance(error, OSError) and error.errno in _STORAGE_ERRORS
        return json.dumps({"host_error" if is_storage else "error": description(error)}).encode()


def description(error: BaseException) -> str:
    """What failed and where, e.g. `KeyError at icm.py:42`; not the error's words, which may quote the gold standard."""
    places = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)]
    return f"{type(error).__name__} at {' < '.join(reversed(places[-3:]))}"


def _read(reading: int, deadline: float) -> bytes | None:
    """All that the child writes; None when the deadline passes first."""
    answer = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(reading, selectors.EVENT_READ)
        while (left := deadline - time.monotonic()) > 0:
            if selector.select(left):
                piece = os.read(reading, _PIECE)
                if not piece:
                    return bytes(answer)
                answer += piece
                if len(answer) > CHILD_ANSWER:
                    raise ChildError("too long an answer")
    return None


def _unpack(answer: bytes | None, status: int) -> Any:
    if answer is None:
        raise ChildError("no answer in time")
    try:
        content = json.loads(answer)
    except ValueError:
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) in _FROM_OUTSIDE:
            raise HostError("stopped from outside") from None
        raise ChildError("died before it had answered") from None
    if "host_error" in content:
        raise HostError(content["host_error"])
    if "error" in content:
        raise ChildError(content["error"])
    return content["value"]
