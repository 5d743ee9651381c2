"""The `run` script, the demo and the test runner: error messages, and cleanup of suites that are stopped."""

import os
import shutil
import socket
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from portal.management.valkey import HOST
from tests.__main__ import LOWEST_PRIORITY, PytestRun, Suite, running_checks
from tests.conftest import ROOT
from tests.services import PATIENCE, wait_until


def demo(state: Path, *arguments: str, **environment: str) -> str:
    """Return the error message of a demo that cannot start."""
    command = [sys.executable, "manage.py", "demo", *arguments]
    variables = os.environ | {"DJANGO_SETTINGS_MODULE": "portal.settings", "AGON_STATE": str(state)} | environment
    done = subprocess.run(
        command, cwd=ROOT, env=variables, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 1
    return done.stderr


def test_a_port_in_use(tmp_path: Path) -> None:
    with socket.create_server((HOST, 0)) as server:
        port = server.getsockname()[1]
        error = demo(tmp_path, PORT=str(port))
    assert (
        error == f"CommandError: Port {port} is already in use. Choose another port, "
        f"for example: AGON_STATE={tmp_path} PORT=8001 ./run demo\n"
    )


def test_a_port_that_is_no_number(tmp_path: Path) -> None:
    assert "must be a number from 1 to 65535" in demo(tmp_path, PORT="eighty")


def test_fresh_leaves_a_folder_alone_that_the_demo_did_not_make(tmp_path: Path) -> None:
    mine = tmp_path / "thesis.txt"
    mine.write_text("mine")
    assert "was not created by the demo" in demo(tmp_path, "--fresh", PORT="0008")
    assert mine.read_text() == "mine"


def test_no_broker_at_redis_url(tmp_path: Path) -> None:
    with socket.socket() as unused:
        unused.bind((HOST, 0))
        url = f"redis://{HOST}:{unused.getsockname()[1]}/0"
        assert f"No Redis or Valkey responds at {url}" in demo(tmp_path, REDIS_URL=url)


def test_an_old_python(tmp_path: Path) -> None:
    shutil.copy(ROOT / "run", tmp_path)
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("dirname", "tr", "awk", "cmp", "sh"):
        (programs / name).symlink_to(Path(shutil.which(name) or name).resolve())
    old = programs / "python3"
    old.write_text('#!/bin/sh\n[ "$1" = --version ] && echo Python 3.9.2 && exit\nexit 1\n')
    old.chmod(0o755)
    command = [tmp_path / "run", "demo"]
    done = subprocess.run(command, env={"PATH": str(programs)}, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Agon needs Python 3.11 or newer, but found Python 3.9.2." in done.stderr


def test_a_state_folder_that_cannot_be_written(tmp_path: Path) -> None:
    shutil.copy(ROOT / "run", tmp_path)
    environment = tmp_path / ".venv/bin"
    environment.mkdir(parents=True)
    (environment / "python").symlink_to(sys.executable)
    for nothing in ("requirements.txt", ".venv/installed-requirements.txt", "file"):
        (tmp_path / nothing).touch()
    variables = os.environ | {"AGON_STATE": "file/state"}
    done = subprocess.run([tmp_path / "run", "demo"], env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "The demo cannot write to file/state. Set AGON_STATE to a writable folder.\n"


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ([], "Ready. Next: ./run demo. For the agon command: . .venv/bin/activate\n"),
        (["--production"], "Ready for production. Next: docs/for-administrators.md."),
        (["--small"], "Ready for a small portal. Next: docs/for-administrators.md."),
        (["--parquet"], "Ready for runs in Parquet files. Restart the workers.\n"),
    ],
)
def test_setup_says_what_can_be_started(tmp_path: Path, option: list[str], said: str) -> None:
    shutil.copy(ROOT / "run", tmp_path)
    environment = tmp_path / ".venv/bin"
    environment.mkdir(parents=True)
    (environment / "python").symlink_to(sys.executable)
    for kind in ("", "-production", "-small", "-parquet"):
        name = f"requirements{kind}.txt"
        (tmp_path / name).touch()
        (tmp_path / f".venv/installed-{name}").touch()
    done = subprocess.run([tmp_path / "run", "setup", *option], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(said)
    for package in ("agon", "scoring"):
        (tmp_path / package).symlink_to(ROOT / package)
    packages = os.environ | {"PYTHONPATH": sysconfig.get_path("purelib")}
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "agon").mkdir(parents=True)  # a folder of this name is not mistaken for the package
    agon = subprocess.run(
        [tmp_path / ".venv/bin/agon", "--version"],
        cwd=elsewhere,
        env=packages,
        capture_output=True,
        text=True,
        check=True,
    )
    assert agon.stdout.startswith("agon ")


def test_an_unknown_target_shows_the_targets() -> None:
    done = subprocess.run(["./run", "dmeo"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "./run demo" in done.stderr


def test_an_unknown_option_of_setup_is_not_passed_over() -> None:
    done = subprocess.run(["./run", "setup", "--smal"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "Unknown option. ./run setup accepts only --production, --small and --parquet.\n"


WAITING = """
import pathlib, pytest, time

here = pathlib.Path(__file__).parent

@pytest.fixture
def server():
    (here / "server").touch()
    yield
    (here / "server").unlink()

def test_that_waits(server):
    (here / "waiting").touch()
    time.sleep(600)
"""


@pytest.mark.parametrize("options", [(), ("-n", "1")])
def test_a_suite_that_is_ended_ends_what_it_has_started(tmp_path: Path, options: tuple[str, ...]) -> None:
    (tmp_path / "test_waiting.py").write_text(WAITING)
    server = tmp_path / "server"
    arguments = ("-p", "no:django", f"--rootdir={tmp_path}", *options, str(tmp_path))
    run = PytestRun(Suite("waiting", arguments), tmp_path, is_live=False)
    try:
        wait_until((tmp_path / "waiting").exists, "the suite has started its server")
        assert server.exists()
    finally:
        run.end()
    assert not server.exists()


def test_a_live_suite_leaves_the_cores_to_the_programs_of_the_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The suite is a program that only waits, because a real one would get no CPU time on a busy machine."""
    waiting = tmp_path / "waiting"
    waiting.write_text("#!/bin/sh\nexec sleep 600\n")
    waiting.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(waiting))
    unchanged = {os.nice(0), *([0] if Path("/proc/self/autogroup").exists() else [])}  # a new session begins with 0
    for is_live, expected in ((True, {LOWEST_PRIORITY}), (False, unchanged)):
        run = PytestRun(Suite("looking", ()), tmp_path, is_live)
        try:
            assert priorities_of(run._process.pid) == expected
        finally:
            run.end()


def priorities_of(leader: int) -> set[int]:
    """Return the priorities of a process and, where there are autogroups, of its session."""
    group = Path(f"/proc/{leader}/autogroup")
    of_session = [int(group.read_text().split()[-1])] if group.exists() else []
    return {os.getpriority(os.PRIO_PROCESS, leader), *of_session}


def test_when_the_suites_are_ended_no_further_check_begins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    begun, go_on = tmp_path / "begun", tmp_path / "go-on"
    wait = f"n=0; until [ -e {go_on} ] || [ $n = 1000 ]; do n=$((n + 1)); sleep 0.01; done; [ -e {go_on} ]"
    first = ["sh", "-c", f"touch {begun}; {wait}"]
    monkeypatch.setattr("tests.__main__.CHECKS", {"first": first, "second": ["touch", tmp_path / "second"]})
    with running_checks() as checks:
        wait_until(begun.exists, "the first check has begun")
        checks["second"].add_done_callback(lambda _cancelled: go_on.touch())
    assert checks["first"].result()
    assert not (tmp_path / "second").exists()
