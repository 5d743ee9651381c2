"""The portal's wheel, installed as participants install it, and a client that is older than the portal."""

import json
import os
import subprocess
import sys
import venv
import warnings
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

import agon as client
from agon.version import OldClient, version
from portal import __version__
from portal.web.client import wheel
from tests.agon.conftest import Typed, server


@pytest.mark.slow
def test_the_wheel_installs_from_the_portal_and_speaks_with_it(portal: str, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", symlinks=True)  # without a pip of its own, which takes seconds to install
    programs = tmp_path / "venv/bin"
    pip = (sys.executable, "-m", "pip", "--python", str(programs / "python"))

    def run(*words: str) -> str:
        found = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert found.returncode == 0, found.stderr
        return found.stdout

    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    address = f"{portal}/client/{wheel().name}"
    wrong = subprocess.run(
        [*pip, "install", f"{address}#sha256={'0' * 64}"], capture_output=True, text=True, check=False
    )
    assert "DO NOT MATCH" in wrong.stderr
    run(*pip, "install", "--quiet", f"{address}#sha256={wheel().sha256}")
    assert run(str(programs / "agon"), "--version") == f"agon {__version__}\n"
    assert [task["slug"] for task in json.loads(run(str(programs / "agon"), "tasks", "--json"))] == ["tiny"]


@pytest.mark.parametrize(
    ("own", "portal", "is_old"),
    [
        ("0.2.0", "0.10.0", True),
        ("0.2.0.dev0", "0.2.0", True),
        ("0.2.0", "0.2.0", False),
        ("0.3.0", "0.2.0", False),
        ("", "0.2.0", False),
        ("0.2.0", "", False),
        ("0.2.0", "new", False),
    ],
)
def test_an_old_client_says_so_once(
    agon: Typed, monkeypatch: pytest.MonkeyPatch, own: str, portal: str, is_old: bool
) -> None:
    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Agon-Version", portal)
        request.end_headers()
        request.wfile.write(b'{"items": []}')

    monkeypatch.setattr("agon.version.version", lambda: own)
    with server(answer) as address:
        agon("tasks", "--portal", address)
        said = f"The portal runs agon {portal}, but you have {own}. Install the matching version: {address}/client/"
        assert (said in agon.err) is is_old
        assert agon.json("tasks", "--portal", address) == []
        assert agon("tasks", "--portal", address, "--quiet") is not None
        assert said not in agon.err
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            reached = client.Portal(address)
            assert [list(reached.tasks()), list(reached.tasks())] == [[], []]
        assert [one.category for one in caught] == [OldClient] * is_old


def test_a_portal_says_its_version(portal: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agon.version.version", lambda: "0.0.1")
    with pytest.warns(OldClient, match=__version__):
        list(client.Portal(portal).tasks())


def test_a_checkout_has_no_version_to_compare() -> None:
    assert version() in ("", __version__)
