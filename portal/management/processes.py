"""Running several programs as one. They share a log, and all of them end when this process ends, however it ends."""

import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

STOP_SECONDS = 10  # seconds that a program has to end by itself before it is killed
COLOURS = (36, 35, 33, 32)  # terminal colors: cyan, magenta, yellow, green

# A watcher that reads process groups from its standard input. The input ends when this process ends, even if it was
# killed. The watcher then kills the groups.
GUARD = f"""
while read -r group; do groups="$groups -$group"; done
[ -z "$groups" ] && exit
kill -s TERM -- $groups 2>/dev/null
sleep {STOP_SECONDS}
kill -s KILL -- $groups 2>/dev/null
"""


class Processes:
    """Several programs in separate process groups, so that Ctrl-C in the terminal reaches only this process.

    As a context manager, it turns SIGTERM and SIGHUP into exceptions and stops all running programs at the end.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = dict(environment)
        self._running: dict[str, subprocess.Popen[str]] = {}
        self._once: set[str] = set()
        self._readers: dict[str, threading.Thread] = {}
        self._colours = itertools.cycle(COLOURS)
        self._guard = subprocess.Popen(["sh", "-c", GUARD], stdin=subprocess.PIPE, text=True, start_new_session=True)

    def __enter__(self) -> "Processes":
        # A script may have started this process in the background, where SIGINT is ignored.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda number, _: sys.exit(128 + number))
        return self

    def __exit__(self, *_: object) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        self._stop()
        self._guard.kill()
        self._guard.wait()

    def start(self, name: str, command: Sequence[str], **variables: str) -> subprocess.Popen[str]:
        """Start a program with additional environment variables.

        Its output appears line by line, prefixed with its name.
        """
        process = subprocess.Popen(
            command,
            env={**self._environment, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        self._running[name] = process
        if self._guard.stdin:
            print(process.pid, file=self._guard.stdin, flush=True)
        reader = threading.Thread(target=_show, args=(name, process, next(self._colours)), daemon=True)
        reader.start()
        self._readers[name] = reader
        return process

    def start_once(self, name: str, command: Sequence[str]) -> None:
        """Start a program that ends by itself, with exit code 0."""
        self.start(name, command)
        self._once.add(name)

    def has_succeeded(self, name: str) -> bool:
        """Return whether a program from `start_once` has exited with 0 and all its output is shown."""
        return self._ended_well(name) and not self._readers[name].is_alive()

    def ended(self) -> str | None:
        """Return the name of a program that has exited but should not have, or None. The others cannot work then."""
        exited = (name for name, process in self._running.items() if process.poll() is not None)
        return next((name for name in exited if not self._ended_well(name)), None)

    def _ended_well(self, name: str) -> bool:
        return name in self._once and self._running[name].poll() == 0

    def _stop(self) -> None:
        """Ask every program to end, starting with the last one. Kill the process groups of those that do not end."""
        running = [process for name, process in self._running.items() if not self._ended_well(name)]
        for process in reversed(running):
            process.terminate()
        end = time.monotonic() + STOP_SECONDS
        for process in running:
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, end - time.monotonic()))
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # including the program's child processes
        for reader in self._readers.values():
            reader.join()


def _show(name: str, process: subprocess.Popen[str], colour: int) -> None:
    label = f"{name:<6} │"
    if sys.stdout.isatty():
        label = f"\033[{colour}m{label}\033[0m"
    for line in process.stdout or ():
        sys.stdout.write(f"{label} {line}")
        sys.stdout.flush()
