"""From a token to the leaderboard and a verified receipt, on the command line and from Python."""

import io
import json
import os
import re
import shlex
import sys
import zipfile
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path

import pytest
from django.test import Client

import agon as client
from agon.answers import Run as AnyRun
from agon.errors import AgonError, NotAllowed, NotSignedIn, RunInvalid, WaitTimedOut
from portal.models import Download, Run, SharedTask, Team, User
from scoring import load_definition
from scoring.formats import write_run
from scoring.score import load_gold
from tests.agon.conftest import Typed
from tests.portal.script import token_of
from tests.portal.web.conftest import Clock
from tests.portal.world import (
    EVALUATION,
    GOOD,
    PERFECT,
    POST,
    RELEASE,
    archive,
    captain,
    new_team,
    person,
    run_file,
    send_run,
    set_up_second_factor,
    work_off,
)
from tests.services import wait_until

NAME = "one_Meltemi_1.json"


@pytest.mark.slow
def test_the_whole_journey(agon: Typed, portal: str, worker: None, at: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(os.environ["AGON_TOKEN"]))
    for name in ("AGON_TOKEN", "AGON_URL", "AGON_TASK"):
        monkeypatch.delenv(name)
    agon("login", portal)
    assert "tiny  Meltemi  approved" in agon("whoami")
    agon("download", "tiny", "-f", "rules")
    Path(NAME).write_bytes(run_file(GOOD))
    Path("one_Meltemi_2.json").write_bytes(run_file(PERFECT))
    assert agon("check", "--task", "tiny", "--team", "Meltemi", NAME) == f"{NAME}: valid. Track: one.\n"
    for name in (NAME, "one_Meltemi_2.json"):
        assert f"{name}: valid." in agon("submit", name, "-t", "tiny", "--wait=60", "--yes")
    assert "0.7500" not in agon("runs", "list", "-t", "tiny")
    assert "The scores are hidden until they are released." in agon.err
    agon("runs", "select", NAME, "-t", "tiny")
    agon("leaderboard", "tiny/one")
    assert "Meltemi" not in agon.out
    wait_until(lambda: Run.objects.filter(kind="team", state="scored").count() == 2, "both runs are scored")
    at(RELEASE)
    (own,) = [
        line.split()
        for line in agon("leaderboard", "tiny/one", "--phase", "evaluation").splitlines()
        if "Meltemi" in line
    ]
    assert own[:4] == ["1", "Meltemi", NAME, "0.7500"]
    assert "0.75" in agon("runs", "view", NAME, "-t", "tiny")
    (listed,) = [line for line in agon("runs", "list", "-t", "tiny").splitlines() if NAME in line]
    assert listed.split()[-2:] == ["accuracy", "0.7500"]
    receipt, key = agon("runs", "receipt", NAME, "-t", "tiny").split()
    assert agon.json("receipt", "verify", "--key", key, receipt, NAME)["ok"]
    agon("receipt", "verify", "--key", key, receipt, "one_Meltemi_2.json", expect=1)
    agon("leaderboard", "tiny", expect=2)
    assert "agon leaderboard tiny/one" in agon.err


@pytest.mark.slow
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
    assert f"{NAME}: valid." in agon.out


@pytest.mark.slow
def test_the_leaderboard_names_its_phase_and_the_others(agon: Typed, team: Team, at: Clock) -> None:
    send_run(team, GOOD, 1, EVALUATION)
    work_off(EVALUATION)
    agon("leaderboard", "tiny/one")
    assert agon.out.startswith("Phase: evaluation. For another phase, use --phase: post, without-gold.\n\nrank")
    assert "hidden" in agon.err
    at(POST)
    late = "one_Meltemi_2.json"
    send_run(team, GOOD, 2, POST, phase="post")
    work_off(POST)
    assert agon("leaderboard", "tiny/one").startswith("Phase: evaluation. For another phase, use --phase: post,")
    assert NAME in agon.out
    assert late not in agon.out
    assert agon("leaderboard", "tiny/one", "--phase", "post").startswith("Phase: post.")
    assert late in agon.out


@pytest.mark.slow
def test_a_leaderboard_of_an_earlier_date(agon: Typed, team: Team, at: Clock) -> None:
    send_run(team, GOOD, 1, EVALUATION)
    work_off(EVALUATION)
    at(RELEASE)
    board = ("leaderboard", "tiny/one", "--phase", "evaluation", "--as-of")
    for day, is_listed in ((EVALUATION - timedelta(days=2), False), (EVALUATION, True)):
        for options in ((), ("--csv",)):
            assert (NAME in agon(*board, f"{day:%Y-%m-%d}", *options)) == is_listed
    with pytest.raises(SystemExit, match=r"^2$"):
        agon(*board, "20.5.2027")
    agon("whoami")  # to get the output
    assert "20.5.2027 is not a date. Use a date such as 2027-05-20." in agon.err


@pytest.mark.slow
def test_leaderboards_as_csv_and_json(agon: Typed, team: Team, at: Clock) -> None:
    send_run(team, GOOD, 1, EVALUATION)
    work_off(EVALUATION)
    at(RELEASE)
    rows = agon("leaderboard", "tiny/one", "--phase", "evaluation", "--csv").splitlines()
    assert rows[0].startswith("rank,kind,team,run,number")
    board = agon.json("leaderboard", "tiny/one", "--phase", "evaluation")
    assert [row["run"] for row in board["rows"] if row["kind"] == "team"] == [NAME]
    assert agon("leaderboard", "tiny/one", "--phase", "evaluation", "--json=rank_by") == '{"rank_by": "accuracy"}\n'


@pytest.mark.slow
def test_the_same_from_python(agon: Typed, portal: str, worker: None, at: Clock) -> None:
    Path(NAME).write_bytes(run_file(GOOD))
    sent = client.submit(NAME, wait=60)
    assert (sent.state, sent.runs[0].state) == ("accepted", "valid")
    frame = client.load("tiny", "sample")
    assert (len(frame), list(frame.columns)) == (20_000, ["id", "text"])
    client.load("tiny", "sample")
    assert Download.objects.count() == 1  # the second time, the file came from the cache
    wait_until(lambda: Run.objects.get(kind="team").state == "scored", "the run is scored")
    at(RELEASE)
    board = client.leaderboard("tiny", "one", phase="evaluation").to_pandas()
    own = board[board["team"] == "Meltemi"].iloc[0]
    assert (own["rank"], own["accuracy"], own["run"]) == (1, 0.75, NAME)
    assert [one.slug for one in client.Portal().tasks()] == ["tiny"]


@pytest.mark.slow
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


@pytest.mark.slow
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


OPEN = datetime(2019, 1, 20, 12, tzinfo=UTC)  # while the template's phase `evaluation` is open
CLOSED = datetime(2019, 2, 3, 12, tzinfo=UTC)


@pytest.mark.slow
def test_the_whole_journey_of_an_organizer(
    agon: Typed, portal: str, worker: None, at: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(OPEN)
    organizer, colleague = creator("Olga"), person("Carla")
    monkeypatch.setenv("AGON_TOKEN", token_of(organizer, "organize"))
    monkeypatch.setenv("AGON_TASK", "mine")

    agon("task", "new", "mine", "--like", "hateval2019")
    definition, page = Path("mine/task.yaml"), Path("mine/pages/overview.md")
    definition.write_text(definition.read_text().replace('    released: "2019-02-05 00:00 UTC"\n', ""))
    overview = page.read_bytes()
    page.write_bytes(b"\xff")
    report = agon.json("task", "push", "mine", expect=3)
    assert [problem["file"] for problem in report["problems"]] == ["pages/overview.md"]
    assert not SharedTask.objects.filter(slug="mine").exists()
    page.write_bytes(overview)
    assert "mine is a draft" in agon("task", "push", "mine")
    assert Client().get("/tasks/mine/").status_code == 404

    agon("task", "open", "mine", expect=2)  # there is no terminal to prompt on
    agon("task", "open", "mine", "--yes")
    assert Client().get("/tasks/mine/").status_code == 200
    definition.write_text(definition.read_text().replace("title: Evaluation", "title: Final evaluation"))
    assert "Final evaluation" in agon("task", "diff", "mine")
    assert Client().get("/tasks/mine/").content.decode().count("Final evaluation") == 0
    agon("task", "push", "mine", "--yes")
    assert "Final evaluation" in agon.err
    assert "Final evaluation" in Client().get("/tasks/mine/").content.decode()
    assert agon("task", "push", "mine", "--yes") == "There are no changes.\n"

    agon("organizers", "add", "mine", colleague.email, "--yes")
    assert [one["address"] for one in agon.json("organizers", "list", "mine")] == [colleague.email, organizer.email]
    agon("organizers", "remove", "mine", colleague.email, "--yes")
    agon("organizers", "remove", "mine", organizer.email, "--yes", expect=1)

    team = new_team(SharedTask.objects.get(slug="mine"), "Levante")
    submitted(agon, team, monkeypatch)
    monkeypatch.setenv("AGON_TOKEN", token_of(organizer, "organize"))
    assert "Levante" in agon("teams", "mine")

    gold = Path("mine/gold/test/en.tsv").read_text().splitlines()
    Path("fixed.tsv").write_text("\n".join([_flipped(gold[0]), *gold[1:]]) + "\n")
    fix = ("task", "gold", "mine", "en-a", "fixed.tsv", "-m", "The first label was wrong.")
    found = agon.json(*fix, "--dry-run")
    assert (found["state"], found["changes"]["changed"]["count"]) == ("ready", 1)
    assert "Levante" in agon.err
    agon(*fix, "--yes")
    work_off(OPEN)

    at(CLOSED)
    agon("task", "release", "mine", "evaluation", "--yes")
    board = agon.json("leaderboard", "mine/en-a", "--phase", "evaluation")
    (own,) = [row for row in board["rows"] if row["team"] == "Levante"]
    assert (board["gold_version"], own["rank"]) == (2, 1)
    after = {one["run"]: one["after"]["scores"] for one in found["boards"][0]["runs"] if one["team"] == "Levante"}
    assert after == {own["run"]: own["scores"]}

    agon("task", "export", "mine", "-p", "exports")
    assert "levante@example.org" in Path("exports/mine_teams.csv").read_text()
    with zipfile.ZipFile("exports/mine_runs.zip") as packed:
        listed = json.loads(packed.read("manifest.json"))["runs"]
        (path,) = [one["path"] for one in listed if one["team"] == "Levante"]
        assert packed.read(path) == Path("en_a.tsv").read_bytes()
    verbs = {entry["verb"] for entry in json.loads(Path("exports/mine_audit.json").read_text())}
    assert {"create_draft", "open_task", "apply_push", "upload_gold", "release_scores"} <= verbs
    agon("task", "delete", "mine", "--yes", expect=1)
    assert agon("task", "hide", "mine", "--yes") == "mine is hidden.\n"
    assert Client().get("/tasks/mine/").status_code == 404
    agon("task", "show", "mine", "--yes")
    assert Client().get("/tasks/mine/").status_code == 200


def creator(name: str) -> User:
    """Return a new account that may create tasks."""
    user = person(name)
    user.may_create_tasks = True
    user.save()
    set_up_second_factor(user)
    return user


def submitted(agon: Typed, team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the captain, submit the gold answers to the first track."""
    monkeypatch.setenv("AGON_TOKEN", token_of(captain(team)))
    definition = load_definition(Path("mine"))
    track, gold = definition.track("en-a"), Path("mine/gold/test/en.tsv")
    write_run(track, load_gold(definition, "en-a", gold, "test").matrix, Path("en_a.tsv"))
    assert "en_a.tsv: valid." in agon("submit", "en_a.tsv", "-t", "mine", "--wait=60", "--yes")


def _flipped(line: str) -> str:
    """Return a line of the gold with the opposite label for hate speech."""
    item, text, hateful, *others = line.split("\t")
    return "\t".join([item, text, "0" if hateful == "1" else "1", *others])
