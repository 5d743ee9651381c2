"""From a token to the leaderboard and a verified receipt, by `agon` alone, and the same from Python."""

import io
import os
import re
import shlex
import sys
from html import unescape
from pathlib import Path

import pytest
from django.test import Client

import agon as client
from agon.answers import Run as AnyRun
from agon.errors import AgonError, NotAllowed, NotSignedIn, RunInvalid, WaitTimedOut
from portal.models import Download, Team
from tests.agon.conftest import Typed
from tests.portal.web.conftest import Clock
from tests.portal.world import EVALUATION, GOOD, PERFECT, RELEASE, archive, captain, run_file, send_run, work_off

NAME = "one_Meltemi_1.json"


def test_the_whole_journey(agon: Typed, portal: str, worker: None, at: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(os.environ["AGON_TOKEN"]))
    for name in ("AGON_TOKEN", "AGON_URL", "AGON_TASK"):
        monkeypatch.delenv(name)
    agon("login", portal)
    assert "tiny  Meltemi  approved" in agon("whoami")
    agon("download", "tiny", "-f", "rules")
    Path(NAME).write_bytes(run_file(GOOD))
    Path("one_Meltemi_2.json").write_bytes(run_file(PERFECT))
    assert agon("check", "--task", "tiny", "--team", "Meltemi", NAME) == f"{NAME}: valid.\n"
    for name in (NAME, "one_Meltemi_2.json"):
        assert f"{name}: scored." in agon("submit", name, "-t", "tiny", "--wait=60", "--yes")
    agon("runs", "select", NAME, "-t", "tiny")
    agon("leaderboard", "tiny/one")
    assert "Meltemi" not in agon.out
    at(RELEASE)
    (own,) = [
        line.split()
        for line in agon("leaderboard", "tiny/one", "--phase", "evaluation").splitlines()
        if "Meltemi" in line
    ]
    assert own[:4] == ["1", "Meltemi", NAME, "0.7500"]
    assert "0.75" in agon("runs", "view", NAME, "-t", "tiny")
    receipt, key = agon("runs", "receipt", NAME, "-t", "tiny").split()
    assert agon.json("receipt", "verify", "--key", key, receipt, NAME)["ok"]
    agon("receipt", "verify", "--key", key, receipt, "one_Meltemi_2.json", expect=1)
    agon("leaderboard", "tiny", expect=2)
    assert "agon leaderboard tiny/one" in agon.err


def test_the_commands_on_the_page_submit_are_right(agon: Typed, team: Team, worker: None) -> None:
    browser = Client()
    browser.force_login(captain(team))
    page = browser.get("/tasks/tiny/submit/").content.decode()
    (shown,) = re.findall(r"<pre[^>]*><code>(agon download.*?)</code>", page, re.DOTALL)
    shown = re.sub("</?span[^>]*>", "", shown)
    assert f'data-copy="{shown}"' in page
    commands = [shlex.split(line)[1:] for line in unescape(shown).splitlines()]
    assert [words[0] for words in commands] == ["download", "check", "submit"]
    assert commands[2][-3:] == ["--phase", "evaluation", "--wait"]
    Path("tiny_Meltemi.zip").write_bytes(archive({NAME: run_file(GOOD)}))
    for words in commands:
        agon(*words, *(["--yes"] if words[0] == "submit" else []))
    assert f"{NAME}: scored." in agon.out


def test_leaderboards_as_csv_and_json(agon: Typed, team: Team, at: Clock) -> None:
    send_run(team, GOOD, 1, EVALUATION)
    work_off(EVALUATION)
    at(RELEASE)
    rows = agon("leaderboard", "tiny/one", "--phase", "evaluation", "--csv").splitlines()
    assert rows[0].startswith("rank,kind,team,run,number")
    board = agon.json("leaderboard", "tiny/one", "--phase", "evaluation")
    assert [row["run"] for row in board["rows"] if row["kind"] == "team"] == [NAME]
    assert agon("leaderboard", "tiny/one", "--phase", "evaluation", "--json=rank_by") == '{"rank_by": "accuracy"}\n'


def test_the_same_from_python(agon: Typed, portal: str, worker: None, at: Clock) -> None:
    Path(NAME).write_bytes(run_file(GOOD))
    sent = client.submit(NAME, wait=60)
    assert (sent.state, sent.runs[0].state) == ("accepted", "scored")
    frame = client.load("tiny", "sample")
    assert (len(frame), list(frame.columns)) == (20_000, ["id", "text"])
    client.load("tiny", "sample")
    assert Download.objects.count() == 1  # the second time it came from the cache
    at(RELEASE)
    board = client.leaderboard("tiny", "one", phase="evaluation").to_pandas()
    own = board[board["team"] == "Meltemi"].iloc[0]
    assert (own["rank"], own["accuracy"], own["run"]) == (1, 0.75, NAME)
    assert [one.slug for one in client.Portal().tasks()] == ["tiny"]


def test_errors_from_python_are_of_their_kind(agon: Typed, portal: str, team: Team) -> None:
    Path("one_Meltemi_9.json").write_bytes(run_file(GOOD))
    with pytest.raises(RunInvalid) as invalid:
        client.submit("one_Meltemi_9.json")
    assert invalid.value.problems[0]["code"].startswith("name-")
    Path(NAME).write_bytes(run_file(GOOD))
    with pytest.raises(WaitTimedOut):
        client.submit(NAME, wait=0)
    with pytest.raises(NotAllowed) as early:
        client.load("tiny", "later")
    assert early.value.code == "not-released"
    with pytest.raises(NotSignedIn):
        client.Portal(portal, "agon_nonsense").me()
    with pytest.raises(AgonError) as nothing:
        client.Portal(portal).task("nothing")
    assert nothing.value.code == "not_found"


def test_lists_have_no_pages(agon: Typed, team: Team, at: Clock) -> None:
    for number in (1, 2, 3):
        send_run(team, GOOD, number, EVALUATION)
    work_off(EVALUATION)
    at(RELEASE)
    portal = client.Portal()
    in_pages = list(portal._connection.items(AnyRun, "/tasks/tiny/runs", limit=2))
    assert {one.number for one in in_pages} == {1, 2, 3}
    pages = list(portal._connection.pages("/tasks/tiny/leaderboards/one", limit=1, runs="all", phase="evaluation"))
    assert len(pages) == len({page["rows"][0]["run_id"] for page in pages}) > 1
