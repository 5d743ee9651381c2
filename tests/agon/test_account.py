"""Signing in: where the token is stored, who can read it, and which token is used. Also: unexpected responses."""

import errno
import io
import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from django.db import connections

import agon as client
from agon import credentials
from agon.__main__ import main
from agon.device_login import sign_in
from agon.errors import AgonError, NotSignedIn
from portal.actions.device_login import allow_device_login, deny_device_login
from portal.models import AccessToken, DeviceLogin, User
from tests.agon.conftest import Typed, server
from tests.conftest import ROOT
from tests.portal.web.conftest import Clock
from tests.portal.world import EVALUATION

KEYRING = """
import json, os, pathlib
_file = pathlib.Path(os.environ["KEYRING_FILE"])
def _read(): return json.loads(_file.read_text()) if _file.exists() else {}
def get_password(service, name): return _read().get(f"{service} {name}")
def set_password(service, name, text): _file.write_text(json.dumps(_read() | {f"{service} {name}": text}))
def delete_password(service, name):
    kept = _read()
    if kept.pop(f"{service} {name}", None) is None: raise errors.PasswordDeleteError
    _file.write_text(json.dumps(kept))
from keyring import errors
"""
CODES = json.dumps(
    {"device_code": "d", "user_code": "BBBB-BBBB", "verification_uri": "http://x/", "expires_in": 600, "interval": 2}
).encode()
GIVEN = b'{"access_token": "agon_x", "token_type": "Bearer"}'
ERRORS = "class KeyringError(Exception): ...\nclass PasswordDeleteError(KeyringError): ...\n"


@pytest.fixture
def token(portal: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The captain's token, before signing in."""
    token = os.environ["AGON_TOKEN"]
    monkeypatch.delenv("AGON_TOKEN")
    return token


def type_in(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))


def test_a_token_is_kept_for_its_owner_alone(
    token: str, portal: str, agon: Typed, monkeypatch: pytest.MonkeyPatch
) -> None:
    agon("whoami", expect=4)
    type_in(monkeypatch, f"{token}\n")
    agon("login", portal)
    assert token not in agon.out + agon.err
    monkeypatch.delenv("AGON_URL")  # no longer needed, because the login has stored the address
    assert agon.json("whoami")["name"] == "Meltemi"
    kept = credentials.config_folder() / "credentials.json"
    assert kept.stat().st_mode & 0o777 == 0o600
    assert kept.parent.stat().st_mode & 0o777 == 0o700
    agon("logout")
    assert token not in kept.read_text()
    agon("whoami", expect=4)


def test_a_token_that_is_not_valid_is_not_kept(agon: Typed, token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    type_in(monkeypatch, "agon_nonsense\n")
    agon("login", expect=4)
    assert "is invalid, expired or revoked. Create a new token. To sign in again, use “agon login”." in agon.err
    assert not credentials.config_folder().exists()


@pytest.mark.parametrize("words", [("login",), ("login", "--with-token")])
def test_a_login_without_a_token_says_how_to_pass_one(
    agon: Typed, portal: str, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    type_in(monkeypatch, "\n")
    agon(*words, expect=4)
    assert f"Create a token at {portal}/settings/tokens/" in agon.err
    assert 'echo "$TOKEN" | agon login --with-token' in agon.err
    assert "AGON_TOKEN" in agon.err
    assert "Without a terminal, “agon login” reads an access token from standard input, which was empty." in agon.err


def test_a_revoked_token_is_rejected(agon: Typed) -> None:
    agon("whoami")
    AccessToken.objects.get().revoke(EVALUATION)
    found = agon.json("whoami", expect=4)
    assert (found["ok"], found["code"]) == (False, "token_invalid")
    assert agon.err.endswith("To sign in again, correct AGON_TOKEN, or unset it and use “agon login”.\n")


@pytest.mark.slow
def test_the_token_is_not_shown_at_a_terminal(token: str, portal: str) -> None:
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "agon", "login", portal, "--with-token"]
    program = subprocess.Popen(
        command, cwd=ROOT, stdin=follower, stdout=follower, stderr=follower, start_new_session=True
    )
    os.close(follower)
    shown = b""
    while b"hidden" not in shown:
        shown += os.read(leader, 1024)
    os.write(leader, f"{token}\n".encode())
    while b"Signed in" not in shown:
        shown += os.read(leader, 1024)
    assert program.wait() == 0
    os.close(leader)
    assert token.encode() not in shown


class Browser:
    """A person with a browser and a clock, who approves or denies the login between two polls of the command line."""

    def __init__(self, decide: Callable[[DeviceLogin], object], at: Clock) -> None:
        self._decide, self._at = decide, at
        self.now = EVALUATION
        at(self.now)
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += timedelta(seconds=seconds)
        self._at(self.now)
        if len(self.slept) == 2:
            self._decide(DeviceLogin.objects.latest("pk"))
        connections.close_all()

    def clock(self) -> float:
        return (self.now - EVALUATION).total_seconds()


def decided(action: Any) -> Callable[[DeviceLogin], None]:
    def decide(login: DeviceLogin) -> None:
        user = User.objects.get(memberships__team__name="Meltemi")
        action(user, user, login.created_at, code=login.code)

    return decide


def test_a_login_that_is_allowed_in_the_browser(token: str, portal: str, at: Clock) -> None:
    browser, shown = Browser(decided(allow_device_login), at), []
    given = sign_in(portal, "read", "", shown.append, browser.sleep, browser.clock)
    assert browser.slept == [5, 5]
    assert shown[0].verification_uri_complete.endswith(f"/device/?code={shown[0].user_code}")
    me = client.Portal(portal, given).me()
    assert (me.name, me.token.scope) == ("Meltemi", "read")
    assert me.token.name.startswith("agon login, ")


def test_a_login_for_one_task(token: str, portal: str, at: Clock) -> None:
    given = sign_in(portal, "submit", "tiny", str, Browser(decided(allow_device_login), at).sleep, lambda: 0)
    assert client.Portal(portal, given).me().token.task == "tiny"


@pytest.mark.slow
def test_a_login_that_is_denied_or_forgotten(
    token: str, portal: str, at: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("portal.actions.device_login.LIFETIME", timedelta(minutes=1))
    browser = Browser(decided(deny_device_login), at)
    with pytest.raises(NotSignedIn, match="denied"):
        sign_in(portal, "read", "", str, browser.sleep, browser.clock)
    browser = Browser(str, at)
    with pytest.raises(NotSignedIn, match="Run “agon login” again"):
        sign_in(portal, "read", "", str, browser.sleep, browser.clock)
    assert len(browser.slept) == 12
    assert not AccessToken.objects.exclude(name="CI").exists()


def test_a_portal_that_wants_fewer_polls() -> None:
    asked = []

    def answer(request: BaseHTTPRequestHandler) -> None:
        is_start = request.path == "/device/code/"
        asked.append(request.path)
        request.send_response(200 if is_start or len(asked) == 4 else 400)
        request.end_headers()
        request.wfile.write(CODES if is_start else GIVEN if len(asked) == 4 else b'{"error": "slow_down"}')

    slept: list[float] = []
    with server(answer) as address:
        assert sign_in(address, "read", "", str, slept.append, lambda: 0) == "agon_x"
    assert slept == [2, 7, 12]


def test_a_portal_without_this_login(agon: Typed) -> None:
    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(404)
        request.end_headers()

    with server(answer) as address, pytest.raises(AgonError, match="status 404"):
        sign_in(address, "read", "", str)


@pytest.mark.slow
def test_the_terminal_shows_code_and_link_and_no_token(
    token: str, portal: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DeviceLogin._meta.get_field("interval"), "default", 1)
    leader, follower = pty.openpty()
    program = subprocess.Popen(
        [sys.executable, "-m", "agon", "login", portal, "--no-browser"],
        cwd=ROOT, stdin=follower, stdout=follower, stderr=follower, start_new_session=True,
    )  # fmt: skip
    os.close(follower)
    shown = b""
    while b"?code=" not in shown:
        shown += os.read(leader, 1024)
    decided(allow_device_login)(DeviceLogin.objects.get())
    while b"Signed in" not in shown:
        shown += os.read(leader, 1024)
    assert program.wait() == 0
    os.close(leader)
    kept = json.loads((credentials.config_folder() / "credentials.json").read_text())
    assert kept["tokens"][portal].encode() not in shown


@pytest.mark.slow
def test_a_token_is_kept_in_the_keyring_if_there_is_one(token: str, portal: str, tmp_path: Path) -> None:
    package = tmp_path / "packages/keyring"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(KEYRING)
    (package / "errors.py").write_text(ERRORS)
    paths = os.pathsep.join([str(package.parent), str(ROOT)])
    environment = os.environ | {"PYTHONPATH": paths, "KEYRING_FILE": str(tmp_path / "keys")}

    def run(*words: str, text: str = "") -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "agon", *words]
        return subprocess.run(command, input=text, env=environment, capture_output=True, text=True, check=False)

    assert "the keyring" in run("login", portal, text=f"{token}\n").stderr
    assert token in (tmp_path / "keys").read_text()
    assert token not in (credentials.config_folder() / "credentials.json").read_text()
    assert run("whoami").returncode == 0
    assert run("logout").returncode == 0
    assert run("whoami").returncode == 4


@pytest.mark.parametrize("address", ["http://agon.example.org", "agon.example.org", "ftp://localhost"])
def test_a_token_goes_to_no_address_that_others_can_listen_to(agon: Typed, address: str) -> None:
    agon("whoami", "--portal", address, expect=2)
    assert "must begin with https://" in agon.err


@pytest.mark.parametrize(
    "address", ["https://[", "https://p:x", "https://p/?a=b", "https://p/#a", "https://a@p", "https://", "https://a b"]
)
def test_what_is_no_address_of_a_portal(agon: Typed, address: str) -> None:
    agon("tasks", "--portal", address, expect=2)
    assert "https://YOUR-PORTAL" in agon.err


def test_the_token_of_the_environment_goes_to_its_portal_alone(agon: Typed, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def answer(request: BaseHTTPRequestHandler) -> None:
        seen.append(request.headers["Authorization"])
        request.send_response(200)
        request.end_headers()
        request.wfile.write(b'{"items": []}')

    with server(answer) as elsewhere:
        agon("tasks", "--portal", elsewhere)
        monkeypatch.setenv("AGON_URL", f"{elsewhere}/")
        agon("tasks", "--portal", elsewhere)
        monkeypatch.delenv("AGON_URL")
        agon("tasks", "--portal", elsewhere)
    assert seen == [None, *[f"Bearer {os.environ['AGON_TOKEN']}"] * 2]


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert re.fullmatch(r"agon 0\.\d+\.\S+\n", capsys.readouterr().out)


@pytest.mark.parametrize(
    "body",
    [
        b'{"rows": 5}',
        b'{"next": 5}',
        b'{"next": "http://["}',
        b"[]",
        b"\xff",
    ],
)
def test_a_leaderboard_that_is_not_as_expected(agon: Typed, body: bytes) -> None:
    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.end_headers()
        request.wfile.write(b"{}" if "?" in request.path and "limit" not in request.path else body)

    with server(answer) as address, pytest.raises(AgonError, match="Update agon"):
        client.Portal(address).leaderboard("tiny", "one")


@pytest.mark.parametrize("problems", ["[5]", '"none"', '[{"code": "new"}]', '[{"severity": "hint", "message": "No."}]'])
def test_an_error_that_is_not_as_expected(agon: Typed, problems: str) -> None:
    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(422)
        request.end_headers()
        request.wfile.write(b'{"detail": "Not so.", "code": "x", "errors": [], "problems": %s}' % problems.encode())

    with server(answer) as address:
        assert main(["tasks", "--portal", address]) in (1, 3)


@pytest.mark.parametrize("text", ["agon_…", "agon_a\nX-Other: b", "two words"])
def test_what_can_be_no_token_is_not_sent(agon: Typed, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("AGON_TOKEN", text)
    agon("whoami", expect=4)
    assert "not allowed in tokens" in agon.err


def test_a_server_that_is_no_portal(agon: Typed) -> None:
    def answer(request: BaseHTTPRequestHandler) -> None:
        is_list = request.path.startswith("/api/v1/tasks?") or request.path == "/api/v1/tasks"
        request.send_response(200 if is_list or "zip" in request.path or "boards" in request.path else 404)
        request.end_headers()
        request.wfile.write(b'{"things": 1}')

    with server(answer) as address:
        for words, said in {
            ("tasks",): "Update agon",
            ("leaderboard", "tiny/one", "--phase", "post"): "Update agon",
            ("download", "tiny", "-f", "rules"): "is damaged",
            ("files", "tiny"): f"{address} is not an Agon portal: it responded with status 404 (no content type)",
        }.items():
            agon(*words, "--portal", address, expect=1)
            assert said in agon.err
    agon("files", "tiny?x=1#y", expect=1)
    assert "There is no task tiny?x=1#y, or you don’t have access to it." in agon.err


@pytest.mark.parametrize(("status", "words"), [(200, ("tasks",)), (404, ("files", "tiny")), (405, ("tasks",))])
def test_a_web_site_that_is_no_portal(agon: Typed, status: int, words: tuple[str, ...]) -> None:
    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        request.send_header("Content-Type", "text/html; charset=utf-8")
        request.end_headers()
        request.wfile.write(b"<!doctype html>")

    with server(answer) as address:
        found = agon.json(*words, "--portal", address, expect=1)
        assert found["code"] == "no_portal"
        assert f"{address} is not an Agon portal: it responded with status {status} (text/html)" in agon.err
        assert "“agon login URL”, --portal or AGON_URL" in agon.err


def test_the_address_of_a_page_is_not_that_of_the_portal(agon: Typed, portal: str) -> None:
    agon("files", "tiny", "--portal", f"{portal}/tasks", expect=1)
    assert f"{portal}/tasks is not an Agon portal" in agon.err
    assert "It has no path, as in https://YOUR-PORTAL." in agon.err


def test_no_portal_no_server_no_task(agon: Typed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AGON_TASK")
    agon("files", expect=2)
    assert "AGON_TASK" in agon.err
    monkeypatch.setattr("agon.connection.ATTEMPTS", 1)
    agon("tasks", "--portal", "http://127.0.0.1:9", expect=1)
    assert f"is not responding: {os.strerror(errno.ECONNREFUSED)}. Check the URL, or try again later." in agon.err
    monkeypatch.delenv("AGON_URL")
    assert agon.json("tasks", expect=2)["code"] == "usage"
    assert "agon login" in agon.err
