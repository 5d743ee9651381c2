"""The task's folder for local checks: its files, and the commands that pages show for it."""

import html
import io
import re
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from django.test import Client

from portal.models import Run, SharedTask, Team
from tests.conftest import ROOT
from tests.portal.world import GOOD, POST, run_file, send_run, work_off

ADDRESS = "/tasks/tiny/folder.zip"


@pytest.fixture
def home(anybody: Client, tiny: SharedTask, tmp_path: Path) -> Path:
    """A participant's folder with the unpacked zip."""
    home = tmp_path / "home"
    zipfile.ZipFile(io.BytesIO(anybody.get(ADDRESS).content)).extractall(home)
    return home


def printed(text: str) -> list[str]:
    commands = re.findall(r"<code>(agon .*?)</code>", text)
    return [html.unescape(re.sub("</?span[^>]*>", "", command)) for command in commands]


def run(printed_command: str, folder: Path) -> int:
    agon, *words = shlex.split(printed_command)
    assert agon == "agon"
    done = subprocess.run(
        [sys.executable, "-m", "scoring", *words], cwd=folder, env={"PYTHONPATH": str(ROOT)}, check=False
    )
    return done.returncode


def test_it_holds_the_rules_and_the_ids_alone(anybody: Client, tiny: SharedTask) -> None:
    response = anybody.get(ADDRESS)
    names = zipfile.ZipFile(io.BytesIO(response.content)).namelist()
    assert names == ["tiny/.downloaded", "tiny/data/items.txt", "tiny/pages/overview.md", "tiny/task.yaml"]
    assert response["Content-Disposition"] == 'attachment; filename="tiny.zip"'


def test_no_dataset_is_in_it(anybody: Client, gated: SharedTask) -> None:
    names = zipfile.ZipFile(io.BytesIO(anybody.get("/tasks/gated/folder.zip").content)).namelist()
    assert names == ["gated/.downloaded", "gated/data/items.txt", "gated/pages/overview.md", "gated/task.yaml"]


def test_it_is_the_same_each_time_and_sent_once(anybody: Client, tiny: SharedTask) -> None:
    first, again = anybody.get(ADDRESS), anybody.get(ADDRESS)
    assert first.content == again.content
    assert first["ETag"] == f'"{tiny.definition_sha256}"'
    assert anybody.get(ADDRESS, headers={"If-None-Match": first["ETag"]}).status_code == 304
    assert anybody.head(ADDRESS).status_code == 200
    assert anybody.get("/tasks/none/folder.zip").status_code == 404


@pytest.mark.slow
def test_a_run_can_be_checked_and_scored_as_its_page_says(sender: Client, meltemi: Team, home: Path) -> None:
    sent = send_run(meltemi, GOOD, 1, POST, "post")
    work_off(POST)
    check, score = printed(sender.get(f"/runs/{sent.pk}/").content.decode())
    (home / sent.name).write_bytes(sender.get(f"/runs/{sent.pk}/file/").getvalue())  # type: ignore[attr-defined]
    (home / "GOLD").write_bytes((ROOT / "tests/portal/tiny_task/gold/one.json").read_bytes())
    assert (run(check, home), run(score, home)) == (0, 0)


@pytest.mark.slow
def test_another_split_is_named(sender: Client, meltemi: Team, home: Path) -> None:
    sent = send_run(meltemi, GOOD, 1, POST, "without-gold")
    assert Run.objects.get(pk=sent.pk).phase.split == "later"
    (command,) = printed(sender.get(f"/runs/{sent.pk}/").content.decode())
    assert "--split later" in command
    (home / sent.name).write_bytes(run_file(GOOD))
    assert run(command, home) == 0


def test_the_data_page_leads_to_it(anybody: Client, tiny: SharedTask) -> None:
    assert ADDRESS in anybody.get("/tasks/tiny/data/").content.decode()
