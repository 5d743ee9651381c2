"""Notice that a service's processes stopped responding, so that they are restarted.

A thread in the main process of each service looks at its child processes every few seconds, and kills those that were
stopped. It also reports that the main process is alive: to systemd (`WatchdogSec=`), and in a file that Docker's health
check reads. If the main process freezes, the reports end, and systemd or the health check kills it.
"""

import fcntl
import os
import select
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Thread
from time import monotonic, sleep

import structlog

LOOK_SECONDS = 5
SILENT_SECONDS = 120  # a server that owes a response for this long is restarted
START_SECONDS = 600  # time for the first response; loading the portal takes long on a slow, busy machine
CONNECT_SECONDS = RESPONSE_SECONDS = 1  # of the thread's own time; a response may arrive later
QUESTION = b"GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"

log = structlog.get_logger("portal.watchdog")


def notify(state: str) -> None:
    """Send a state, such as `READY=1`, to systemd if it started this process and waits for it."""
    address = os.environ.get("NOTIFY_SOCKET")
    if address:
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
            systemd.sendto(state.encode(), address.replace("@", "\0", 1))


class Probe:
    """One request at a time to this machine's web server, which may take long to respond while it is busy."""

    def __init__(self, host: str, port: int) -> None:
        self._place = (host, port)
        self._connection: socket.socket | None = None
        self._waiting_since: float | None = None

    def seconds_waiting(self) -> float:
        """Return for how long the server has owed a response. 0 if it has just responded."""
        if self._waiting_since is None:
            self._waiting_since = monotonic()
        try:
            has_responded = self._has_responded()
        except OSError:  # it does not listen yet, or it has just ended
            has_responded, self._connection = False, None
        if has_responded:
            self._waiting_since = None
            return 0.0
        return monotonic() - self._waiting_since

    def _has_responded(self) -> bool:
        """Send the request unless one is on its way, and return whether the response has arrived."""
        if self._connection is None:
            self._connection = socket.create_connection(self._place, CONNECT_SECONDS)
            self._connection.sendall(QUESTION)
        if not select.select([self._connection], [], [], RESPONSE_SECONDS)[0]:
            return False
        with self._connection as connection:
            self._connection = None
            return bool(connection.recv(1))


class Watchdog:
    """What the thread does. `alive` is the file for Docker's health check, which contains the main process's id.

    `seconds_waiting` says for how long the service has not responded.
    """

    def __init__(self, alive: Path, seconds_waiting: Callable[[], float] = lambda: 0.0) -> None:
        self._alive, self._seconds_waiting = alive, seconds_waiting
        self._is_ready = False
        self._stopped: set[int] = set()
        self._file = alive.open("w")
        self._file.write(str(os.getpid()))
        self._file.flush()

    def start(self) -> None:
        Thread(target=self._look_again_and_again, name="watchdog", daemon=True).start()

    def look(self) -> None:
        """Kill stopped child processes, report to systemd and Docker, or end the service if it does not respond."""
        self._kill_stopped()
        waiting = self._seconds_waiting()
        if waiting > (SILENT_SECONDS if self._is_ready else START_SECONDS):
            log.error("this server does not respond; it ends and is started again", seconds=round(waiting))
            for pid in children():
                _kill(pid)
            os._exit(1)
        self._is_ready = self._is_ready or not waiting
        notify("WATCHDOG=1\nREADY=1" if self._is_ready else "WATCHDOG=1")
        with suppress(OSError):  # the file is locked by a process that is still ending, or was deleted
            os.utime(self._alive)
            # The lock ends with this process, so the health check does not kill another process with the same id.
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _kill_stopped(self) -> None:
        """Kill child processes that are stopped for the second time in a row. Their parent replaces them, or ends.

        Grandchildren are left alone: they have time limits, and a run must not be blamed for their death.
        """
        stopped = set(filter(_is_stopped, children()))
        for pid in stopped & self._stopped:
            log.error("a process of this service was stopped (SIGSTOP); it is killed and replaced", pid=pid)
            _kill(pid)
        self._stopped = stopped

    def _look_again_and_again(self) -> None:
        while True:
            self.look()
            sleep(LOOK_SECONDS)


def children() -> list[int]:
    """Return this process's child processes. Empty on systems other than Linux."""
    found: list[int] = []
    for file in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):  # the thread has just ended
            found += map(int, file.read_text().split())
    return found


def _is_stopped(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"
    return False


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
