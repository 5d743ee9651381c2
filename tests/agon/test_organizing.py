"""Organizing on the command line: a folder from a template, teams, gold with a preview, release and exports."""

import csv
import hashlib
import io
import json
import os
import subprocess
import sys
import zipfile
from datetime import timedelta
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from agon.__main__ import main
from agon.errors import AgonError, WaitTimedOut
from agon.organizing import EXPORTS as CLIENT_EXPORTS
from agon.organizing import OrganizersPortal
from agon.task_folder import TEMPLATE_NAMES, packed_folder, templates
from portal.actions.base.errors import ActionError
from portal.actions.teams import register_team
from portal.models import Board, SharedTask, Team, User
from portal.queries.boards.waiting_scores import show_announced
from portal.task_exports import EXPORTS, MANIFEST
from portal.web.client import wheel
from scoring.task_folder.secret_files import public_files
from tests.agon.conftest import Typed, server
from tests.portal.web.conftest import Clock
from tests.portal.world import (
    EVALUATION,
    GOOD,
    NOTE,
    PERFECT,
    RELEASE,
    captain,
    person,
    run_file,
    send,
    send_run,
    work_off,
)


@pytest.mark.slow
@pytest.mark.parametrize("template", TEMPLATE_NAMES)
def test_each_template_makes_a_valid_folder(agon: Typed, template: str) -> None:
    assert agon.json("task", "new", "my-task", "--like", template)["task"] == "my-task"
    assert agon.json("task", "check", "my-task") == {"ok": True, "task": "my-task", "problems": []}


def test_the_help_names_each_template(capsys: pytest.CaptureFixture[str]) -> None:
    assert set(templates().TEMPLATES) == set(TEMPLATE_NAMES)
    with pytest.raises(SystemExit, match=r"^0$"):
        main(["task", "new", "--help"])
    assert ", ".join(TEMPLATE_NAMES) in " ".join(capsys.readouterr().out.split())


@pytest.mark.slow
def test_the_wheel_makes_a_folder_without_a_network(tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(wheel().content)) as packed:
        packed.extractall(tmp_path / "installed")
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "installed")}
    for words in (["new", "mine", "--like", "ssa2023"], ["check", "mine"]):
        done = subprocess.run(
            [sys.executable, "-P", "-m", "agon", "task", *words],
            cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    assert "mine is valid." in done.stdout
    assert (tmp_path / "installed/agon/templates/ssa2023/task.yaml").is_file()


@pytest.mark.slow
def test_all_problems_of_a_folder_are_listed_each_with_its_file(agon: Typed) -> None:
    agon("task", "new", "mine", "--like", "ssa2023")
    text = Path("mine/task.yaml").read_text()
    Path("mine/task.yaml").write_text(text.replace("slug: en\n", "slug: en\n    colour: red\n", 1))
    found = agon.json("task", "check", "mine", expect=3)
    assert (found["ok"], found["code"]) == (False, "folder_invalid")
    Path("mine/task.yaml").write_text(text)
    (gold, *_) = sorted(Path("mine/gold").rglob("*.*"))
    gold.unlink()
    found = agon.json("task", "check", "mine", expect=3)
    assert [problem["file"] for problem in found["problems"]]
    agon("task", "check", "mine", expect=3)
    assert gold.name in agon.err


def test_what_cannot_be_made_or_checked_says_why(agon: Typed) -> None:
    agon("task", "new", "mine", "--like", "nothing", expect=2)
    assert "Available templates: exist2024" in agon.err
    agon("task", "new", "Not a slug", expect=2)
    Path("full").mkdir()
    Path("full/file").write_text("mine")
    agon("task", "new", "full", expect=2)
    assert Path("full/file").read_text() == "mine"
    agon("task", "check", "full", expect=2)
    assert "has no task.yaml" in agon.err


def test_hidden_files_and_caches_are_not_packed(tmp_path: Path) -> None:
    for name in ("task.yaml", ".env", ".git/config", "__pycache__/x.pyc", "data/items.txt"):
        (tmp_path / "folder" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "folder" / name).write_text("x")
    assert packed_folder(tmp_path / "folder", tmp_path / "task.zip") == 2
    with zipfile.ZipFile(tmp_path / "task.zip") as packed:
        assert sorted(packed.namelist()) == ["data/items.txt", "task.yaml"]


@pytest.mark.slow
def test_uploads_are_listed_reported_and_saved(agon: Typed, organizer: User, task: SharedTask, team: Team) -> None:
    body = run_file(["YES", "Yes", "NO", "NO"])
    bad = send(team, "one_Meltemi_1.json", body, EVALUATION)
    with pytest.raises(ActionError):
        send(team, "three_Meltemi_1.json", body, EVALUATION)
    work_off(EVALUATION)
    listed = agon.json("uploads", "list", "-t", "tiny")
    assert {(one["file_name"], one["is_stored"]) for one in listed} == {
        ("one_Meltemi_1.json", True),
        ("three_Meltemi_1.json", False),
    }
    assert "label-outside-domain" in agon("uploads", "list", "-t", "tiny", "--state", "rejected", "--track", "one")
    assert "item b" in agon("uploads", "report", "-t", "tiny", str(bad.pk)[:8], expect=3)
    (saved,) = agon.json("uploads", "download", "-t", "tiny", str(bad.pk))
    assert Path(saved["path"]).read_bytes() == body
    (unstored,) = [one["id"] for one in listed if not one["is_stored"]]
    agon("uploads", "download", "-t", "tiny", unstored, expect=2)
    agon("uploads", "report", "-t", "tiny", "00000000", expect=2)


@pytest.mark.slow
def test_teams_are_listed_and_decided(agon: Typed, organizer: User, task: SharedTask, team: Team) -> None:
    register_team(person("Nora"), task, EVALUATION, name="Notus")
    Team.objects.filter(name="Notus").update(state="pending")
    assert [line.split()[:2] for line in agon("teams", "tiny").splitlines()[1:]] == [
        ["Notus", "pending"],
        ["Meltemi", "approved"],
    ]
    assert "Notus" not in agon("teams", "tiny", "--state", "approved", "--uploaded", "no")
    rows = list(csv.DictReader(io.StringIO(agon("teams", "tiny", "--csv"))))
    assert {row["address"] for row in rows} == {"nora@example.org", captain(team).email}
    agon("teams", "tiny", "--approve", "No such team", "--yes", expect=2)
    agon("teams", "tiny", "--decline", "Notus", "--yes", expect=2)
    agon("teams", "tiny", "--approve", "Notus", expect=2)  # there is no terminal to prompt on
    assert Team.objects.get(name="Notus").state == "pending"
    assert agon.json("teams", "tiny", "--approve", "Notus", "--yes") == {"ok": True, "task": "tiny", "team": "Notus"}
    assert Team.objects.get(name="Notus").state == "approved"


@pytest.fixture
def scored(team: Team, at: Clock) -> Team:
    """A team with a perfect run on a released board."""
    send_run(team, PERFECT, 1, EVALUATION)
    work_off(EVALUATION)
    at(RELEASE)
    return team


def rank_and_value(agon: Typed) -> list[str]:
    (own,) = [
        line.split()
        for line in agon("leaderboard", "tiny/one", "--phase", "evaluation").splitlines()
        if "Meltemi" in line
    ]
    return [own[0], own[3]]


@pytest.mark.slow
def test_a_gold_fix_is_previewed_applied_and_taken_back(
    agon: Typed, organizer: User, scored: Team, worker: None
) -> None:
    Path("gold.json").write_bytes(run_file(GOOD))
    fix = ("task", "gold", "tiny", "one", "gold.json", "--timeout", "60")
    agon(*fix, expect=2)
    assert "-m REASON" in agon.err
    found = agon.json(*fix, "--dry-run")
    assert (found["state"], found["changes"]["changed"]["count"]) == ("ready", 1)
    assert "1.0000" in agon.err
    assert "0.7500" in agon.err
    assert "Nothing was changed." in agon.err
    assert rank_and_value(agon) == ["1", "1.0000"]
    assert "has gold version 2" in agon(*fix, "-m", NOTE, "--yes")
    work_off(RELEASE)
    shown()
    assert rank_and_value(agon) == ["1", "0.7500"]
    assert agon.json("leaderboard", "tiny/one", "--phase", "evaluation")["gold_version"] == 2
    assert agon("task", "gold", "tiny", "one").splitlines()[1].split()[:3] == ["one", "test", "2"]
    agon("task", "gold", "tiny", "one", "--return-to", "9", "-m", "Back.", "--yes", expect=2)
    back = ("task", "gold", "tiny", "one", "--return-to", "1", "--timeout", "60")
    agon(*back, expect=2)
    assert "-m REASON" in agon.err
    assert agon.json(*back, "--dry-run")["state"] == "ready"
    assert "0.7500" in agon.err
    assert "1.0000" in agon.err
    assert rank_and_value(agon) == ["1", "0.7500"]
    assert "has gold version 3" in agon(*back, "-m", "Back.", "--yes")
    work_off(RELEASE)
    shown()
    assert rank_and_value(agon) == ["1", "1.0000"]
    Path("gold.json").write_bytes(b'[{"id": "a", "value": "PERHAPS"}]')
    found = agon.json(*fix, "-m", NOTE, "--yes", expect=3)
    assert [problem["code"] for problem in found["problems"]] == ["label-outside-domain"]
    assert "PERHAPS" not in agon.out + agon.err


def test_a_preview_of_an_earlier_gold_standard_that_takes_long_sends_no_file() -> None:
    pending = {
        "id": "upload-1",
        "track": "one",
        "split": "test",
        "state": "previewing",
        "version": 1,
        "problems": [],
        "is_finished": False,
        "is_stale": False,
        "listed_items": None,
        "split_items": None,
        "changes": {},
        "boards": [],
    }

    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.end_headers()
        request.wfile.write(json.dumps(pending).encode())

    with server(answer) as address, pytest.raises(WaitTimedOut) as late:
        OrganizersPortal(address, "agon_token").preview_former_gold("tiny", 1, wait=0)
    assert str(late.value) == (
        "No result for upload-1 after 0 seconds. It is still being processed. The portal continues to compute the "
        "preview."
    )


def shown() -> None:
    """Show announced scores, as a worker does when it next checks the boards."""
    for one in Board.objects.to_announce(RELEASE):
        show_announced(one.pk, RELEASE)


@pytest.mark.slow
def test_scores_are_released_and_taken_back(agon: Typed, organizer: User, team: Team, at: Clock) -> None:
    send_run(team, PERFECT, 1, EVALUATION)
    work_off(EVALUATION)
    task = team.shared_task
    task.phases.filter(slug="evaluation").update(released=None)
    at(RELEASE)
    agon("task", "release", "tiny", "evaluation", expect=2)  # there is no terminal to prompt on
    agon("task", "release", "tiny", "nothing", "--yes", expect=2)
    agon("task", "release", "tiny", "", "--yes", expect=2)
    assert task.phases.get(slug="evaluation").released is None
    assert agon("task", "release", "tiny", "evaluation", "--yes") == "The scores of evaluation are now public.\n"
    assert task.phases.get(slug="evaluation").released == RELEASE
    assert agon.json("task", "release", "tiny", "evaluation", "--take-back", "--yes")["ok"]
    assert task.phases.get(slug="evaluation").released is None
    later = "2024-06-20T12:00:00+00:00"
    agon("task", "release", "tiny", "evaluation", "--at", later, "--yes")
    released = task.phases.get(slug="evaluation").released
    assert released is not None
    assert released.isoformat() == later
    (phase,) = [one for one in OrganizersPortal().phases("tiny") if one.slug == "evaluation"]
    assert phase.released == released
    earlier = released - timedelta(days=1)
    with pytest.raises(AgonError, match="has changed since you saw it") as changed:
        OrganizersPortal().take_back_release("tiny", "evaluation", earlier)
    assert changed.value.code == "release_changed"
    agon("task", "release", "tiny", "evaluation", "--take-back", "--yes")
    assert task.phases.get(slug="evaluation").released is None


@pytest.mark.slow
def test_all_exports_are_saved(agon: Typed, organizer: User, scored: Team) -> None:
    assert set(CLIENT_EXPORTS) == set(EXPORTS)
    assert agon("task", "export", "tiny").split() == [f"tiny_{name}" for name in CLIENT_EXPORTS]
    with zipfile.ZipFile("tiny_runs.zip") as packed:
        manifest = json.loads(packed.read(MANIFEST))
        for one in manifest["runs"]:
            assert hashlib.sha256(packed.read(one["path"])).hexdigest() == one["sha256"]
    agon("task", "export", "tiny", "teams.csv", expect=1)
    assert "already exists" in agon.err
    assert agon.json("task", "export", "tiny", "teams.csv", "-o", "-p", "there") == [{"path": "there/tiny_teams.csv"}]
    agon("task", "export", "tiny", "gold.json", expect=2)


@pytest.mark.slow
def test_a_folder_is_pulled_and_edits_are_not_overwritten(agon: Typed, organizer: User, scored: Team) -> None:
    assert agon("task", "pull", "tiny") == "tiny\n"
    pulled = {path.relative_to("tiny").as_posix() for path in Path("tiny").rglob("*") if path.is_file()}
    definition = scored.shared_task.definition
    assert pulled == {path.relative_to(definition.folder).as_posix() for path in public_files(definition)}
    rules = Path("tiny/task.yaml")
    before = rules.read_bytes()
    rules.write_bytes(before + b"# Changed.\n")
    agon("task", "pull", "tiny", expect=1)
    assert "already exists and differs" in agon.err
    agon("task", "pull", "tiny", "-o")
    assert rules.read_bytes() == before


def test_who_does_not_organize_is_not_let_in(agon: Typed, team: Team) -> None:
    Path("gold.json").write_bytes(run_file(GOOD))
    for words in (
        ("teams", "tiny"),
        ("task", "gold", "tiny"),
        ("task", "export", "tiny", "audit.json"),
        ("task", "pull", "tiny"),
        ("task", "release", "tiny", "evaluation", "--yes"),
    ):
        agon(*words, expect=5)
