"""The watchdog: stopped child processes are killed, and a server that does not respond is ended."""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from portal import watchdog
from portal.watchdog import Probe, Watchdog
from tests.services import serving, wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other processes are looked for in /proc")


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["sleep", "300"])
    yield process
    process.kill()
    process.wait()


def is_stopped(process: subprocess.Popen[bytes]) -> bool:
    return Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def test_a_child_that_stays_stopped_is_killed(child: subprocess.Popen[bytes], tmp_path: Path) -> None:
    own = Watchdog(tmp_path / "alive")
    child.send_signal(signal.SIGSTOP)
    wait_until(lambda: is_stopped(child), "it is stopped")
    own.look()
    assert child.poll() is None  # someone may have stopped it for a moment
    own.look()
    assert child.wait() == -signal.SIGKILL


def test_a_child_that_was_stopped_for_a_moment_goes_on(child: subprocess.Popen[bytes], tmp_path: Path) -> None:
    own = Watchdog(tmp_path / "alive")
    child.send_signal(signal.SIGSTOP)
    wait_until(lambda: is_stopped(child), "it is stopped")
    own.look()
    child.send_signal(signal.SIGCONT)
    wait_until(lambda: not is_stopped(child), "it goes on")
    own.look()
    own.look()
    assert child.poll() is None


def test_systemd_and_docker_get_signs_of_life(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alive, address = tmp_path / "alive", tmp_path / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(address))
        monkeypatch.setenv("NOTIFY_SOCKET", str(address))
        waiting = [3.0, 0.0, 3.0]
        own = Watchdog(alive, iter(waiting).__next__)
        for ready in (False, True, True):  # ready after the first response, from then on
            os.utime(alive, (0, 0))
            own.look()
            assert alive.stat().st_mtime > 0
            assert (b"READY=1" in systemd.recv(100)) is ready
    assert alive.read_text() == str(os.getpid())
    assert subprocess.run(["flock", "--nonblock", alive, "true"], check=False).returncode == 1  # locked


def test_a_service_without_systemd_needs_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    Watchdog(tmp_path / "alive").look()


@pytest.mark.parametrize(
    "waiting",
    [
        pytest.param([0, watchdog.SILENT_SECONDS, watchdog.SILENT_SECONDS + 1], id="running"),
        pytest.param([watchdog.SILENT_SECONDS + 1, watchdog.START_SECONDS, watchdog.START_SECONDS + 1], id="starting"),
    ],
)
def test_a_service_that_does_not_respond_ends(tmp_path: Path, waiting: list[int]) -> None:
    program = """if True:
        import subprocess, sys
        from pathlib import Path
        from portal.watchdog import Watchdog
        child = subprocess.Popen(["sleep", "300"])
        own = Watchdog(Path(sys.argv[1]), map(int, sys.argv[2:]).__next__)
        own.look()
        own.look()
        print(child.pid, flush=True)
        own.look()
    """
    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path / "alive", *map(str, waiting)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "does not respond" in done.stdout + done.stderr
    child = int(done.stdout.split()[0])
    wait_until(lambda: not Path(f"/proc/{child}").exists(), "its child has ended, too")


def test_a_probe_waits_for_one_response_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watchdog, "RESPONSE_SECONDS", 0.01)
    may_respond, requests = threading.Event(), []

    class Busy(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            requests.append(self.path)
            may_respond.wait()
            self.send_response(503)  # any response will do
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    with serving(Busy) as place:
        host, _, port = place.partition(":")
        probe = Probe(host, int(port))
        first, second = probe.seconds_waiting(), probe.seconds_waiting()
        assert 0 < first < second
        may_respond.set()
        wait_until(lambda: probe.seconds_waiting() == 0, "the response is noticed")
        assert requests == ["/livez"]
    probe = Probe(host, int(port))  # nothing listens there anymore
    assert 0 < probe.seconds_waiting() < probe.seconds_waiting()
