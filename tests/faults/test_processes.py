"""The demo's programs end with it, no matter how it ends. Other programs do not."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.services import PATIENCE, wait_until

# A group leader with a child in its group, like the worker and the web server.
PROGRAM = "echo $$ >leader; sleep 300 & echo $! >child; wait"
DEMO = f"""
import sys, time
from portal.management.processes import Processes
try:
    with Processes({{}}) as processes:
        processes.start("one", ["sh", "-c", {PROGRAM!r}])
        processes.start("two", ["sh", "-c", "echo said; echo $$ >two; exec sleep 300"])
        while not processes.ended():
            time.sleep(0.05)
        sys.stdout.write(f"ended: {{processes.ended()}}\\n")
except KeyboardInterrupt:
    pass
"""


ONCE = """
import sys, time
from portal.management.processes import Processes
with Processes({}) as processes:
    processes.start_once("once", ["sh", "-c", sys.argv[1]])
    while not processes.has_succeeded("once") and not processes.ended():
        time.sleep(0.01)
    sys.stdout.write(f"ended: {processes.ended()}\\n")  # at once, because a thread also writes lines
"""


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def pid_in(file: Path) -> int:
    wait_until(lambda: file.exists() and file.read_text().endswith("\n"), f"{file.name} is written")
    return int(file.read_text())


@pytest.fixture
def bystander() -> Iterator[int]:
    process = subprocess.Popen(["sleep", "300"])
    yield process.pid
    process.kill()
    process.wait()


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", DEMO]
    process = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True)
    yield process
    process.kill()
    process.wait()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_all_programs_end_with_the_demo_and_no_other(
    demo: subprocess.Popen[str], bystander: int, tmp_path: Path, how: signal.Signals
) -> None:
    leader, child = pid_in(tmp_path / "leader"), pid_in(tmp_path / "child")
    pid_in(tmp_path / "two")  # once it has started, the first program is guarded
    assert is_running(leader)
    assert is_running(child)
    demo.send_signal(how)
    demo.wait(timeout=PATIENCE)
    wait_until(lambda: not is_running(leader) and not is_running(child), "leader and child are gone")
    assert is_running(bystander)


def test_a_program_that_dies_is_named(demo: subprocess.Popen[str], tmp_path: Path) -> None:
    leader, child = pid_in(tmp_path / "leader"), pid_in(tmp_path / "child")
    pid_in(tmp_path / "two")  # wait until the other program has started
    os.kill(leader, signal.SIGKILL)
    output, _ = demo.communicate(timeout=PATIENCE)
    assert "ended: one" in output
    assert "two    │ said" in output
    assert not is_running(child)


@pytest.mark.parametrize(("script", "ended"), [("echo said", None), ("echo said; exit 3", "once")])
def test_a_program_may_end_by_itself_but_not_with_an_error(tmp_path: Path, script: str, ended: str | None) -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", ONCE, script]
    done = subprocess.run(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    assert sorted(done.stdout.splitlines()) == [f"ended: {ended}", "once   │ said"]
