"""Functions that tests run in confined children, in addition to those of the standard library."""

import ctypes
import os
import sys
import time
from pathlib import Path
from threading import Thread
from typing import Any, NoReturn

from portal.evaluation.kernel import LIBRARY


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


def target(link: Path) -> str:
    return str(link.readlink())


def errno_of(*arguments: Any) -> str:
    """Return the name of a system call's error, or an empty name if it works."""
    ctypes.set_errno(0)
    return "" if LIBRARY.syscall(*arguments) >= 0 else os.strerror(ctypes.get_errno())


def modules() -> list[str]:
    return sorted(sys.modules)


def say(line: bytes) -> None:
    """Write to every descriptor, like a child that was taken over."""
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
