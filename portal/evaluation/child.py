"""Runs a function on hostile data in a child process with limits; its answer comes back as JSON over a pipe.

A plain fork: Celery's pool processes are daemonic, so multiprocessing may not have children there, and a new
interpreter would cost more than most scorings. The child inherits open connections; it closes their descriptors, never
collects their objects and leaves by `os._exit`, so that nothing of the parent's is flushed, closed or said good-bye to
twice.
"""

import gc
import json
import os
import selectors
import signal
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from portal.evaluation.confinement import confine
from portal.evaluation.limits import CHILD_ANSWER, CHILD_MEMORY, CHILD_SECONDS

_PIECE = 64 * 1024  # bytes


class ChildError(Exception):
    """The child gave no answer: too slow, too large, killed, or an exception, which the message describes to us."""


def run_limited(function: Callable[[], Any], seconds: float = CHILD_SECONDS, memory: int = CHILD_MEMORY) -> Any:
    """The function's value, which must be JSON; `ChildError` when it fails or exceeds seconds or bytes of memory."""
    reading, writing = os.pipe()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        _be_child(function, writing, parent, seconds, memory)
    os.close(writing)
    try:
        answer = _read(reading, time.monotonic() + seconds)
    finally:
        os.close(reading)
        os.kill(pid, signal.SIGKILL)  # it has answered, or it will not; until it is waited for, the id is its own
        os.waitpid(pid, 0)
    return _unpack(answer)


def _be_child(function: Callable[[], Any], writing: int, parent: int, seconds: float, memory: int) -> NoReturn:
    try:
        gc.freeze()
        confine(parent, writing, seconds, memory)
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(_answer(function))
    finally:
        os._exit(0)


def _answer(function: Callable[[], Any]) -> bytes:
    try:
        return json.dumps({"value": function()}, allow_nan=False).encode()
    except BaseException as error:
        return json.dumps({"error": description(error)}).encode()


def description(error: BaseException) -> str:
    """What failed and where, e.g. `KeyError at icm.py:42`; not the error's words, which may quote the gold standard."""
    places = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)]
    return f"{type(error).__name__} at {' < '.join(reversed(places[-3:]))}"


def _read(reading: int, deadline: float) -> bytes:
    """All that the child says until the deadline."""
    answer = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(reading, selectors.EVENT_READ)
        while (left := deadline - time.monotonic()) > 0 and len(answer) <= CHILD_ANSWER:
            if selector.select(left):
                piece = os.read(reading, _PIECE)
                if not piece:
                    return bytes(answer)
                answer += piece
    raise ChildError("no answer in time" if len(answer) <= CHILD_ANSWER else "too long an answer")


def _unpack(answer: bytes) -> Any:
    try:
        content = json.loads(answer)
    except ValueError:
        raise ChildError("died before it had answered") from None
    if "error" in content:
        raise ChildError(content["error"])
    return content["value"]
