"""Shared tasks and their data on the command line: resumed, verified, with a password where one is needed."""

import hashlib
import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.hashers import make_password

from portal.models import Download, Team
from tests.agon.conftest import SAMPLE, Typed
from tests.portal.script import token_of
from tests.portal.world import person

SHA256 = hashlib.sha256(SAMPLE.encode()).hexdigest()
PART = Path(f".tiny-sample.tsv.{SHA256[:12]}.part")


def test_the_tasks_in_columns_and_as_json(agon: Typed) -> None:
    assert agon("tasks") == "task  year  title\ntiny  2024  Tiny\n"
    assert agon.json("tasks")[0]["slug"] == "tiny"
    assert agon("tasks", "--json=slug,year") == '[{"slug": "tiny", "year": 2024}]\n'
    agon("tasks", "--json=slag", expect=2)
    assert "There is no field slag" in agon.err


def test_files_say_what_has_to_be_done_first(agon: Typed) -> None:
    found = {one["slug"]: one for one in agon.json("files", "tiny")}
    assert (found["sample"]["sha256"], found["sample"]["obstacles"]) == (SHA256, [])
    assert [one["code"] for one in found["test"]["obstacles"]] == ["password"]
    assert "data password" in agon("files") or "team's password" in agon.out


def test_rules_and_data_are_downloaded(agon: Typed) -> None:
    assert agon("download", "tiny", "-f", "sample").splitlines() == ["tiny-sample.tsv"]
    assert Path("tiny-sample.tsv").read_text() == SAMPLE
    assert not PART.exists()
    assert agon("download", "tiny", "-f", "rules", "-p", "there").splitlines() == ["there/tiny"]
    assert Path("there/tiny/task.yaml").is_file()
    assert not Path("there/tiny/gold").exists()


def test_a_file_that_is_there_is_not_downloaded_again(agon: Typed) -> None:
    for _ in range(2):
        agon("download", "-f", "sample")
    assert Download.objects.count() == 1
    Path("tiny-sample.tsv").write_text("mine")
    agon("download", "-f", "sample", expect=1)
    assert Path("tiny-sample.tsv").read_text() == "mine"
    agon("download", "-f", "tiny-sample.tsv", "-o")
    assert Path("tiny-sample.tsv").read_text() == SAMPLE


def test_a_download_goes_on_where_an_earlier_one_broke_off(agon: Typed) -> None:
    PART.write_text(SAMPLE[:100_000])
    agon("download", "-f", "sample")
    assert Path("tiny-sample.tsv").read_text() == SAMPLE
    assert Download.objects.get().first_byte == 100_000


def test_a_line_that_breaks_is_made_good(agon: Typed, bad_line: Callable[[dict[int, int]], Any]) -> None:
    with bad_line({1: 30_000, 2: 30_000}) as line:
        agon("download", "-f", "sample")
    assert line.connections == 3
    assert Path("tiny-sample.tsv").read_text() == SAMPLE


def test_another_content_is_noticed(agon: Typed) -> None:
    PART.write_text("x" * 100_000)
    agon("download", "-f", "sample", expect=1)
    assert "SHA-256" in agon.err
    assert not list(Path().iterdir())
    agon("download", "-f", "sample")


def test_the_password_is_asked_where_it_is_needed(agon: Typed, team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    Team.objects.update(data_password=make_password("k7h2-mm9q"))
    for typed, expected in (("wrong\n", 5), ("k7h2-mm9q\n", 0)):
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        agon("download", "-f", "test", expect=expected)
    assert Path("tiny-test.tsv").read_text() == SAMPLE
    assert "k7h2" not in agon.out + agon.err


def test_who_may_not_have_a_file_is_told_why(agon: Typed, monkeypatch: pytest.MonkeyPatch) -> None:
    agon("download", "-f", "later", expect=5)
    assert "released" in agon.err
    monkeypatch.setenv("AGON_TOKEN", token_of(person("Eve")))
    agon("download", "-f", "test", expect=5)
    assert "team" in agon.err
    agon("download")  # all that she may have
    assert {path.name for path in Path().iterdir()} == {"tiny", "tiny-sample.tsv"}
    agon("download", "-f", "nothing", expect=2)
    assert "the files are rules, sample" in agon.err
