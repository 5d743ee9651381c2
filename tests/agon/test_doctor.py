"""`agon doctor`: every finding, and how to fix each problem."""

import os
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from agon import credentials
from agon.answers import Agreement
from portal.actions.teams import join_team
from portal.api.schemas.tasks import TaskAnswer
from portal.models import AccessToken, SharedTask, Team
from tests.agon.conftest import Typed, server
from tests.portal.script import token_of
from tests.portal.world import EVALUATION, person


@pytest.fixture
def findings(agon: Typed) -> Any:
    def findings(*words: str, expect: int = 0) -> dict[str, dict[str, Any]]:
        return {one["check"]: one for one in agon.json("doctor", *words, expect=expect)}

    return findings


@pytest.fixture
def token(portal: str) -> AccessToken:
    """The environment's token, valid for a month."""
    AccessToken.objects.update(expires_at=datetime.now(UTC) + timedelta(days=30))
    return AccessToken.objects.get()


def test_all_is_well(findings: Any, agon: Typed, token: AccessToken, portal: str) -> None:
    found = findings()
    assert list(found) == ["version", "portal", "clock", "token", "default task"]
    assert all(one["ok"] for one in found.values())
    assert portal in found["portal"]["detail"]
    token = "Stored in AGON_TOKEN. It belongs to Meltemi, has the submit scope and is valid until"
    assert token in found["token"]["detail"]
    assert found["default task"]["detail"] == "tiny. Your team is Meltemi."
    lines = agon("doctor").splitlines()
    assert [line[:5] for line in lines] == ["ok   "] * 5
    assert os.environ["AGON_TOKEN"] not in agon.out


def test_no_portal(findings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agon.connection.ATTEMPTS", 1)
    found = findings("--portal", "http://127.0.0.1:9", expect=1)
    assert "is not responding" in found["portal"]["detail"]
    monkeypatch.delenv("AGON_URL")
    assert "agon login" in findings(expect=1)["portal"]["detail"]


def test_no_token_a_revoked_one_and_one_that_ends_soon(
    findings: Any, token: AccessToken, monkeypatch: pytest.MonkeyPatch
) -> None:
    AccessToken.objects.update(expires_at=datetime.now(UTC) + timedelta(days=6))
    assert "Renew it with “agon login”" in findings(expect=1)["token"]["detail"]
    AccessToken.objects.update(revoked_at=datetime.now(UTC) - timedelta(days=9999))
    assert "is invalid, expired or revoked" in findings(expect=1)["token"]["detail"]
    monkeypatch.delenv("AGON_TOKEN")
    assert "Sign in with “agon login”" in findings(expect=1)["token"]["detail"]


def test_a_file_that_others_can_read(
    findings: Any, token: AccessToken, portal: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = credentials.keep(portal, os.environ["AGON_TOKEN"])
    monkeypatch.delenv("AGON_TOKEN")
    assert f"Stored in {place}." in findings()["token"]["detail"]
    Path(place).chmod(0o644)
    assert f"chmod 600 {place}" in findings(expect=1)["token"]["detail"]


def test_a_default_task_that_is_not_there(
    findings: Any, token: AccessToken, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGON_TASK", "tinny")
    found = findings(expect=1)["default task"]
    assert "AGON_TASK is tinny." in found["detail"]
    monkeypatch.delenv("AGON_TASK")
    assert findings()["default task"]["ok"]


@pytest.mark.parametrize(("seconds", "said"), [(0, "agree"), (-600, "seconds ahead of"), (600, "seconds behind")])
def test_a_clock_that_is_off(findings: Any, seconds: int, said: str) -> None:
    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response_only(200)
        date = datetime.now(UTC) + timedelta(seconds=seconds)
        request.send_header("Date", format_datetime(date, usegmt=True))
        request.end_headers()
        request.wfile.write(b"{}")

    with server(answer) as address:
        found = findings("--portal", address, expect=1)["clock"]  # the other checks fail
    assert said in found["detail"]
    assert found["ok"] is (seconds == 0)


def test_an_old_client(findings: Any, token: AccessToken, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agon.version.version", lambda: "0.0.1")
    assert "/client/" in findings(expect=1)["portal"]["detail"]


@pytest.mark.parametrize(("token_name", "said"), [("teamless", "Create a team or join one"), ("unsigned", "Sign the")])
def test_no_team_and_no_signature(
    findings: Any, task: SharedTask, monkeypatch: pytest.MonkeyPatch, token_name: str, said: str
) -> None:
    user = person(token_name)
    if token_name == "unsigned":
        join_team(user, task, EVALUATION, code=Team.objects.get().invitation_code)
        unsigned = Agreement(version="1", text="", sha256="", is_signed=False)
        monkeypatch.setattr("agon.portal.Portal.agreement", lambda _portal, _task: unsigned)
        monkeypatch.setattr("portal.api.schemas.tasks.TaskAnswer.seen", _with_agreement(TaskAnswer.seen))
    monkeypatch.setenv("AGON_TOKEN", token_of(user))
    AccessToken.objects.update(expires_at=datetime.now(UTC) + timedelta(days=30))
    assert said in findings(expect=1)["default task"]["detail"]


def _with_agreement(seen: Any) -> Any:
    return lambda page, at: seen(page, at).model_copy(update={"has_agreement": True})
