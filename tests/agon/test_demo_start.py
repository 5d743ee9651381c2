"""Starting the demo: pages answer while sample tasks are still loading, and a second start loads what is missing."""

import os
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from http import HTTPStatus
from pathlib import Path

import pytest

from tests.agon.demo import Demo
from tests.services import PATIENCE, children, wait_until

pytestmark = pytest.mark.slow

LOADING = "The demo’s sample tasks are still loading"


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Demo]:
    demo = Demo(tmp_path)
    yield demo
    demo.stop()


def command_of(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text()


def pause_loader(demo: Demo) -> int:
    """Pause the program that loads the sample tasks once the first one is loaded, and return its process id."""
    demo.wait_for("is loaded (1 of 2")
    (loader,) = (pid for pid in children(demo.pid) if "load_demo" in command_of(pid))
    os.kill(loader, signal.SIGSTOP)
    return loader


def kept_folders(demo: Demo) -> dict[str, int]:
    """Return the kept task folders by name, with a number that changes when a folder is created again."""
    return {path.parent.name: path.stat().st_ino for path in (demo.state / "demo-tasks").glob("*/*")}


def counts(demo: Demo) -> dict[str, int]:
    with closing(sqlite3.connect(demo.state / "agon.sqlite3", timeout=PATIENCE)) as database:
        tables = ("sharedtask", "team", "announcement")
        return {name: database.execute(f"SELECT count(*) FROM portal_{name}").fetchone()[0] for name in tables}


def test_pages_answer_while_tasks_are_loading_and_a_second_start_continues(demo: Demo, task_folders: Path) -> None:
    """Only the smallest tasks are loaded. `tests/bare/test_bare.py` loads all of them."""
    demo.start("You can open", "--small")
    loader = pause_loader(demo)
    home = demo.get("/")
    assert LOADING in home.text
    assert "/tasks/tryagon/" in home.text
    assert demo.get("/tasks/tryagon/").status == HTTPStatus.OK
    assert demo.get("/tasks/ssa2023/").status == HTTPStatus.NOT_FOUND
    programs = children(demo.pid)

    os.kill(loader, signal.SIGCONT)
    demo.press_ctrl_c("--small")
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in programs), "all programs are gone")
    assert not list(demo.state.glob("demo-tasks/*/tmp*"))
    assert not list(demo.state.glob("demo-tasks/*/*/runs/tmp*"))

    demo.add_task_folders(task_folders)  # unless this demo has already generated both
    demo.start("Agon is ready", "--small")
    demo.keep_task_folders(task_folders)
    assert "is loaded (1 of 2" not in demo.log
    assert "is loaded (2 of 2" in demo.log
    assert LOADING not in demo.get("/").text
    assert demo.get("/tasks/ssa2023/").status == HTTPStatus.OK
    assert counts(demo) == {"sharedtask": 2, "team": 14, "announcement": 2}

    kept = kept_folders(demo)
    demo.press_ctrl_c("--small")
    demo.start("Agon is ready", "--fresh", "--small")
    assert counts(demo) == {"sharedtask": 2, "team": 14, "announcement": 2}
    assert kept_folders(demo) == kept
