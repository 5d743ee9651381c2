"""Processing untrusted data in a confined child process, which answers in JSON.

Children are forked from a small program (`fork_server`), which each process starts when it first needs a child. A fork
of the worker itself would contain Django, keys and decrypted gold, and would take longer than scoring most runs.

There are two kinds of failure: the child dies on its input (`ChildError`), or storage or the machine fails
(`HostError`).
"""

import json
import os
import pickle
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from threading import Lock
from typing import Any, Self

from portal.evaluation.errors import ChildError, HostError
from portal.evaluation.fork_server import FORK, ORDER, REPLY
from portal.evaluation.limits import CHILD_ANSWER, CHILD_MEMORY, CHILD_SECONDS

_PIECE = 64 * 1024  # bytes
_BUSY_SHARE = 0.25  # minimum CPU share; a child that timed out with less was waiting for storage or a CPU
# The child cannot send signals, so these must come from outside.
_FROM_OUTSIDE = {signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM}
# Variables that contain no secrets.
ENVIRONMENT = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "LANG", "LC_ALL", "LC_CTYPE")
_SAYS = {"value", "error", "host_error"}
_CHECKOUT = Path(__file__).resolve().parents[2]


def run_limited(
    function: Callable[..., Any],
    *arguments: Any,
    readable: Iterable[Path] = (),
    seconds: float = CHILD_SECONDS,
    memory: int = CHILD_MEMORY,
) -> Any:
    """Run the function in a separate child process and return its value, which must be JSON.

    The function and its arguments are pickled; see `Child`.
    """
    with Child(function, readable, seconds, memory) as child:
        return child.ask("__call__", *arguments)


class Child:
    """A process that can open only the `readable` files and folders, and has a copy of the object `work`.

    `seconds` limits the wall-clock time until `grant` renews it. `life` limits the total CPU time in seconds, and
    `memory` is in bytes. The child ends after its first failure.

    Raises:
        OSError: no child can be started.
    """

    def __init__(
        self,
        work: object,
        readable: Iterable[Path] = (),
        seconds: float = CHILD_SECONDS,
        memory: int = CHILD_MEMORY,
        life: float | None = None,
    ) -> None:
        content = pickle.dumps((work, (life or seconds, memory, tuple(readable))), pickle.HIGHEST_PROTOCOL)
        self._used = 0.0  # CPU seconds used up to the last answer
        self.grant(seconds)
        self._socket, theirs = socket.socketpair()
        try:
            self._server = fork_server()
            self._pid: int | None = self._server.fork(theirs)
        except BaseException:
            self._socket.close()
            raise
        finally:
            theirs.close()
        self._unsent = content  # sent with the first call and covered by its time limit

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.is_alive:
            self._end()

    @property
    def is_alive(self) -> bool:
        """Whether the child can still answer calls."""
        return self._pid is not None

    def grant(self, seconds: float) -> None:
        """Allow the child this many more seconds, starting now."""
        self._seconds, self._deadline, self._used_before = seconds, time.monotonic() + seconds, self._used

    def ask(self, method: str, *arguments: Any) -> Any:
        """Call a method of the object in the child and return its value, which must be JSON.

        Raises:
            ChildError: the method fails or exceeds a limit.
            OSError: the child could not do its work. It is a `HostError` if the child reported this or it is evident.
        """
        question = self._unsent + pickle.dumps((method, arguments), pickle.HIGHEST_PROTOCOL)
        self._unsent = b""
        try:
            answer = self._answer(question)
        except TimeoutError:
            raise self._late() from None
        except (ConnectionError, EOFError):
            raise self._dead() from None
        except BaseException:
            self._end()
            raise
        self._used = answer["cpu_seconds"]
        if "value" in answer:
            return answer["value"]
        self._end()
        raise HostError(answer["host_error"]) if "host_error" in answer else ChildError(answer["error"])

    def _answer(self, question: bytes) -> dict[str, Any]:
        self._socket.settimeout(self._left())
        self._socket.sendall(question)
        line = bytearray()
        while not line.endswith(b"\n"):
            self._socket.settimeout(self._left())
            piece = self._socket.recv(_PIECE)
            if not piece:
                raise EOFError
            line += piece
            if len(line) > CHILD_ANSWER:
                raise ChildError("the answer is too long")
        return unpacked(line)

    def _left(self) -> float:
        """Return the seconds left.

        The value is always above 0, because a timeout of 0 would mean not waiting at all.
        """
        if (left := self._deadline - time.monotonic()) <= 0:
            raise TimeoutError
        return left

    def _late(self) -> Exception:
        _status, used = self._end()
        if used - self._used_before >= _BUSY_SHARE * self._seconds:
            return ChildError("timed out")
        error = HostError("timed out with almost no CPU time used: the storage or the machine is too slow")
        error.cpu_seconds = used - self._used_before
        return error

    def _dead(self) -> Exception:
        status, _used = self._end()
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) in _FROM_OUTSIDE:
            return HostError("stopped by another process")
        return ChildError("exited without an answer")

    def _end(self) -> tuple[int, float]:
        """Kill the child and return its exit status and total CPU seconds.

        Raise `HostError` if the fork server died with the child.
        """
        self._socket.close()
        pid, self._pid = self._pid, None
        assert pid is not None
        return self._server.end(pid)


def unpacked(line: bytes | bytearray) -> dict[str, Any]:
    """Return the child's answer: `cpu_seconds`, and `value`, `error` or `host_error`.

    Raises:
        ChildError: the answer has an unexpected form, so the child has been compromised.
    """
    try:
        match json.loads(line):
            case {"cpu_seconds": float(), **said} as answer if len(said) == 1 and _SAYS.issuperset(said):
                return answer
    except (ValueError, RecursionError):
        pass
    raise ChildError("unexpected answer")


class ForkServer:
    """The worker's end of a fork server. If the fork server is lost or broken, the worker starts a new one."""

    def __init__(self, connection: socket.socket, process: subprocess.Popen[bytes] | None = None) -> None:
        self._owner = os.getpid()
        self._is_broken = False
        self._connection, self._process = connection, process
        self._lock = Lock()

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def is_there(self) -> bool:
        """Whether this process can use the fork server. Forked processes start their own."""
        has_died = self._process is not None and self._process.poll() is not None
        return not (self._is_broken or has_died) and self._owner == os.getpid()

    @classmethod
    def start(cls) -> Self:
        ours, theirs = socket.socketpair()
        environment = {name: os.environ[name] for name in ENVIRONMENT if name in os.environ}
        environment["OMP_NUM_THREADS"] = "1"  # otherwise numerical libraries start a thread per core
        command = [sys.executable, "-m", "portal.evaluation.fork_server", str(theirs.fileno())]
        with theirs:
            process = subprocess.Popen(
                command, cwd=_CHECKOUT, env=environment, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()]
            )
        return cls(ours, process)

    def fork(self, descriptor: socket.socket) -> int:
        """Fork a child that inherits the socket, and return its id."""
        child, _status, _used = self._order(FORK, [descriptor.fileno()])
        if child < 0:
            raise OSError(-child, os.strerror(-child))
        return child

    def end(self, child: int) -> tuple[int, float]:
        """Kill the child and return its exit status and CPU seconds."""
        _child, status, used = self._order(child)
        return status, used

    def _order(self, order: int, descriptors: Iterable[int] = ()) -> Any:
        with self._lock:
            try:
                socket.send_fds(self._connection, [ORDER.pack(order)], list(descriptors))
                reply = self._connection.recv(REPLY.size, socket.MSG_WAITALL)
                return REPLY.unpack(reply)
            except BaseException as error:  # a late reply must not be mistaken for the reply to a later order
                self.stop()
                if isinstance(error, OSError | struct.error):
                    raise HostError("the fork server died") from None
                raise

    def stop(self) -> None:
        """Stop the fork server and its children."""
        self._is_broken = True
        self._connection.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()


_kept: list[ForkServer] = []  # this process's fork server, if one was started
_starting = Lock()


def fork_server() -> ForkServer:
    """Return the fork server of this process. If there is none, start one."""
    with _starting:
        if not _kept or not _kept[0].is_there:
            _kept[:] = [ForkServer.start()]
        return _kept[0]
