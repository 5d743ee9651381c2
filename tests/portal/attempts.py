"""Code that tests run in confined children, in addition to functions of the standard library."""

import ctypes
import os
import resource
import signal
import sys
import time
from pathlib import Path
from threading import Thread
from typing import Any, NoReturn

from portal.evaluation.kernel import LIBRARY
from scoring import check, load_definition


def same(value: Any) -> Any:
    return value


def spin() -> NoReturn:
    while True:
        pass


def look_up(key: str) -> Any:
    return {"other": 1}[key]


def answer_of_a_thread() -> list[int]:
    found: list[int] = []
    thread = Thread(target=lambda: found.append(1))
    thread.start()
    thread.join()
    return found


def open_many() -> None:
    for _ in range(100):
        os.dup(0)


def contents(path: Path) -> list[str] | str:
    if path.is_dir():
        return [entry.name for entry in path.iterdir()]
    with path.open("rb") as file:
        return file.read(1).hex()


def device(descriptor: int) -> int:
    return os.fstat(descriptor).st_rdev


def size(path: Path, way: str) -> int:
    """Return the size of a file, asked for in one of several ways."""
    match way:
        case "stat":
            return path.stat().st_size
        case "lstat":
            return path.lstat().st_size
        case "relative":
            return os.stat(f"{'../' * 20}{path}", dir_fd=os.open(Path(os.__file__).parent, os.O_RDONLY)).st_size
        case "entry":
            return next(entry for entry in os.scandir(path.parent) if entry.name == path.name).stat().st_size
    return os.fstat(os.open(path, os.O_PATH)).st_size


def status_without_handler(path: Path) -> int:
    """Ask for a file's status as a child that has replaced the handler of its system calls."""
    signal.signal(signal.SIGSYS, signal.SIG_IGN)
    return path.stat().st_size


def sizes_of_open_files(path: Path) -> list[int]:
    """Return sizes in ways that a child needs: those of open files and of files that it may open."""
    with path.open("rb") as file:
        return [os.fstat(file.fileno()).st_size, path.stat().st_size, path.lstat().st_size, len(file.read())]


def errno_of(*arguments: Any) -> str:
    """Make a system call and return the message of its error, or an empty string if it succeeds."""
    ctypes.set_errno(0)
    return "" if LIBRARY.syscall(*arguments) >= 0 else os.strerror(ctypes.get_errno())


def modules() -> list[str]:
    return sorted(sys.modules)


def say(line: bytes) -> None:
    """Write the line to every open descriptor, as a compromised child might."""
    for descriptor in range(64):
        try:
            os.write(descriptor, line)
        except OSError:
            continue


class Counter:
    """An object that counts calls in a child."""

    def __init__(self) -> None:
        self._count = 0

    def add(self, number: int) -> int:
        self._count += number
        return self._count

    def fail(self) -> NoReturn:
        raise ValueError


class Worker:
    """An object that uses CPU time or waits."""

    def work(self, seconds: float) -> None:
        while time.process_time() < seconds:
            pass

    def wait(self) -> None:
        time.sleep(60)


def check_run(folder: Path, track: str, run: bytes) -> dict[str, Any]:
    """Check a run, and return the codes of its problems and the peak memory of this process in MB."""
    codes = [problem.code for problem in check(load_definition(folder), track, run)]
    return {"codes": codes, "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}
