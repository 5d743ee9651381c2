"""The commands in docs/for-administrators.md for Docker, run in order until all services answer."""

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.services import wait_until

pytestmark = pytest.mark.slow


@pytest.fixture
def clone() -> Iterator[Path]:
    """A clone of this checkout, with stand-ins for `docker` and `editor`."""
    if os.geteuid() != 0:
        pytest.skip("the guide is typed as root")
    with tempfile.TemporaryDirectory(prefix="agon-guide-") as place:
        folder = Path(place)
        folder.chmod(0o755)  # the users of the image and of PostgreSQL need access
        subprocess.run(["git", "clone", "--quiet", ROOT, folder / "agon"], check=True)
        programs = folder / "bin"
        programs.mkdir()
        (programs / "editor").symlink_to("/bin/true")
        (programs / "docker").write_text(f'#!/bin/sh\nexec {sys.executable} "{ROOT}/tests/deploy/docker.py" "$@"\n')
        (programs / "docker").chmod(0o755)
        yield folder / "agon"
        if (started := folder / "native.pid").exists():
            end(int(started.read_text()))


def end(process: int) -> None:
    """Stop a process that the stand-in started, and wait until it has ended."""
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGTERM)
    wait_until(lambda: not Path(f"/proc/{process}/cmdline").exists() or is_zombie(process), "the services have ended")


def is_zombie(process: int) -> bool:
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"


def test_the_commands_in_order(clone: Path) -> None:
    section = (ROOT / "docs/for-administrators.md").read_text().partition("## With Docker")[2].partition("\n## ")[0]
    commands = re.findall(r"```sh\n(.*?)```", section, re.DOTALL)[0]
    path = f"{clone.parent / 'bin'}:{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-eux", "-c", commands], cwd=clone, env={"PATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    made = {file.name: file.stat() for file in (clone / "secrets").iterdir()}
    assert {"gold_private_key", "secret_key", "receipt_key", "metrics_token", "email_password"} <= made.keys()
    assert {(one.st_uid, one.st_mode & 0o777) for one in made.values()} == {(10001, 0o600)}
    (address,) = set(re.findall(r"the proxy listens on (https://\S+:8443)", done.stdout))
    ask = ["curl", "--insecure", "--fail", "--silent", "--show-error", "--header", "Host: agon.example.org"]
    ready = subprocess.run([*ask, f"{address}/readyz"], capture_output=True, text=True, check=True).stdout
    assert '"database": "ok"' in ready
    assert '"storage": "ok"' in ready
