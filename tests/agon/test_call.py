"""Calling the API's operations by name, which needs no code of its own for an action."""

import io
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agon.errors import NotAllowed, Unavailable, WrongUsage
from agon.organizing import OrganizersPortal
from portal.api.actions import ROUTES, body_of
from portal.models import Announcement, OutgoingMail, Team, User
from tests.agon.conftest import Typed


@pytest.mark.slow
def test_each_action_without_a_file_can_be_called_with_its_declared_inputs(organizer: User) -> None:
    known = OrganizersPortal().operations
    for route in ROUTES:
        operation, body = known[route.name], body_of(route)
        declared = {name: info.is_required() for name, info in body.model_fields.items()} if body else {}
        found = {one.name: one.required for one in operation.inputs.values() if one.place == "body"}
        assert found == declared, route.name
        assert {one.name for one in operation.inputs.values() if one.place == "path"} == {
            part.strip("{}").rpartition(":")[2] for part in route.path.split("/") if part.startswith("{")
        }
    assert not {"submit", "upload_gold", "export_runs_zip"} & known.keys()  # these send or return files


@pytest.mark.slow
def test_an_announcement_comes_and_goes(agon: Typed, organizer: User, tmp_path: Path) -> None:
    text = tmp_path / "news.md"
    text.write_text("The *test* data is now available.\n", encoding="utf-8")
    words = ("call", "publish_announcement", "-t", "tiny", "title=Test data: part = 1", f"text=@{text}")
    agon(*words, expect=2)
    assert "use --yes" in agon.err
    assert not Announcement.objects.exists()
    made = agon.json(*words, "--yes")
    found = Announcement.objects.get()
    assert (made["id"], found.title, found.by) == (found.pk, "Test data: part = 1", organizer)
    assert found.text.strip() == "The *test* data is now available."
    assert '"Test data: part = 1"' in agon("call", "announcements")  # reading needs no confirmation
    said = agon("call", "take_back_announcement", f"announcement={found.pk}", "-t", "tiny", "--yes")
    assert said == "take_back_announcement was successful.\n"
    assert not Announcement.objects.exists()


@pytest.mark.slow
def test_dates_numbers_and_nothing(agon: Typed, organizer: User, team: Team) -> None:
    later = "2024-05-25T00:00:00Z"
    phase = team.shared_task.phases.get(slug="evaluation")
    agon("call", "grant_extra_time", "phase=evaluation", f"until={later}", "reason=An outage", "team=null", "--yes")
    assert phase.extra_times.get().team is None
    one = phase.extra_times.get().pk
    listed = {each["slug"]: each["extra_times"] for each in agon.json("call", "phases")}
    assert listed["evaluation"] == [{"id": one, "team": None, "until": later, "reason": "An outage"}]
    agon("call", "revoke_extra_time", "phase=evaluation", f"extra_time={one}", "--yes")
    agon("call", "move_phase", "phase=evaluation", "closes=null", "note=More time", "--yes", expect=1)
    assert "Enter the closing time." in agon.err
    moved = ("call", "move_phase", "phase=evaluation", f"closes={later}", "note=More time", "--yes")
    assert agon.json(*moved) == {"ok": True, "operation": "move_phase"}
    opens = phase.opens
    phase.refresh_from_db()
    assert (phase.opens, phase.closes) == (opens, datetime(2024, 5, 25, tzinfo=UTC))
    closes = datetime(2024, 5, 26, tzinfo=UTC)
    assert OrganizersPortal().call("move_phase", task="tiny", phase="evaluation", closes=closes, note="Why") is None
    phase.refresh_from_db()
    assert phase.closes == closes


@pytest.mark.slow
def test_what_is_wrong_is_said_before_anything_is_sent(agon: Typed, organizer: User, tmp_path: Path) -> None:
    agon("call", "publish_anouncement", "title=A", expect=2)
    assert "publish_anouncement can be called. Did you mean publish_announcement? “agon call” lists" in agon.err
    agon("call", "publish_announcement", "title=A", "--yes", expect=2)
    assert "publish_announcement also needs: text." in agon.err
    agon("call", "publish_announcement", "titel=A", expect=2)
    assert "publish_announcement has no input titel. Available: task, title, text." in agon.err
    agon("call", "publish_announcement", "title", expect=2)
    assert "Use the form KEY=TEXT." in agon.err
    agon("call", "hand_over", "member=Ana", expect=2)
    assert "member must be a whole number. Found: Ana" in agon.err
    (tmp_path / "latin.md").write_bytes("señal".encode("latin-1"))
    for name, problem in {"missing.md": "No such file or directory.", "latin.md": "is not encoded in UTF-8."}.items():
        agon("call", "publish_announcement", "title=A", f"text=@{tmp_path / name}", expect=2)
        assert name in agon.err
        assert problem in agon.err
    agon("call", "publish_announcement", "title=A", "title=B", "text=C", expect=2)
    assert "An input is given twice." in agon.err
    with pytest.raises(WrongUsage, match="also needs: text"):
        OrganizersPortal().call("publish_announcement", task="tiny", title="A")


@pytest.mark.slow
def test_the_portal_s_errors_are_those_of_every_command(agon: Typed, portal: str, team: Team) -> None:
    agon("call", "publish_announcement", "title=A", "text=B", "--yes", expect=5)
    with pytest.raises(NotAllowed):
        OrganizersPortal().call("publish_announcement", task="tiny", title="A", text="B")


@pytest.mark.slow
def test_all_operations_are_listed(agon: Typed, organizer: User) -> None:
    reading, changing = agon("call").split("Operations that change something:")
    assert "\n  phases task=\n      The phases in order" in reading
    assert "\n  grant_extra_time task= phase= [team=] until= reason=\n      Accept runs" in changing
    listed = {one["operation"]: one for one in agon.json("call")}
    assert listed["publish_announcement"]["inputs"] == ["task", "title", "text"]
    assert listed.keys() == OrganizersPortal().operations.keys()


@pytest.mark.slow
def test_the_task_is_an_input_like_any_other(agon: Typed, organizer: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AGON_TASK")
    agon("call", "phases", expect=2)
    assert "No task given" in agon.err
    for words in (["task=tiny"], ["-t", "tiny"]):
        assert agon.json("call", "phases", *words)


@pytest.mark.slow
def test_the_question_names_every_input(agon: Typed, organizer: User, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.TextIOWrapper(io.BytesIO(b"n\n"))
    terminal.isatty = lambda: True  # type: ignore[method-assign]
    monkeypatch.setattr("sys.stdin", terminal)
    agon("call", "publish_announcement", "title=@@all", "text=Two\nlines", expect=1)
    assert agon.err.startswith(
        "Publish an announcement immediately. “text” is Markdown:\n  title: @all\n  text: Two lin"
    )
    assert "\n  task: tiny\nContinue? [y/N]" in agon.err
    assert not Announcement.objects.exists()


@pytest.mark.slow
def test_a_text_is_read_from_standard_input(agon: Typed, organizer: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO("Über uns".encode())))
    agon("call", "publish_announcement", "title=A", "text=@-", "--yes")
    assert Announcement.objects.get().text == "Über uns"


@pytest.mark.slow
def test_a_change_is_sent_only_once_if_its_response_is_lost(
    organizer: User, bad_line: Callable[[dict[int, int]], Any]
) -> None:
    known = OrganizersPortal().operations
    with bad_line({1: 0}) as line:
        portal = OrganizersPortal()
        portal.operations = known
        with pytest.raises(Unavailable, match="check whether it was carried out"):
            portal.call("publish_announcement", task="tiny", title="A", text="B")
    assert (Announcement.objects.count(), line.connections) == (1, 1)


@pytest.mark.slow
def test_an_invitation_is_sent_only_once_if_its_response_is_lost(
    portal: str, bad_line: Callable[[dict[int, int]], Any]
) -> None:
    with bad_line({1: 0}), pytest.raises(Unavailable):
        OrganizersPortal().invite("tiny", "ana@uni.example")
    assert OutgoingMail.objects.filter(address="ana@uni.example").count() == 1
