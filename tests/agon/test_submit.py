"""Submitting on the command line: confirmation, retries, exit codes and reports."""

import json
from collections.abc import Callable
from datetime import timedelta
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from django.test import Client

import agon as client
from agon.__main__ import INTERRUPTED, main
from agon.commands.submit import _tracks_named_in
from agon.errors import AgonError, WaitTimedOut
from portal.models import Phase, Run, Submission, Team, Validation
from tests.agon.conftest import Typed, server
from tests.portal.script import Script, token_of
from tests.portal.web.conftest import Clock
from tests.portal.world import (
    EVALUATION,
    GOOD,
    PERFECT,
    RELEASE,
    archive,
    captain,
    person,
    run_file,
    send_run,
    work_off,
)

NAME = "one_Meltemi_1.json"


@pytest.fixture
def run() -> Path:
    path = Path(NAME)
    path.write_bytes(run_file(GOOD))
    return path


@pytest.mark.slow
def test_a_run_is_submitted_and_waited_for(agon: Typed, run: Path, worker: None) -> None:
    found = agon.json("submit", run, "-t", "tiny", "--wait=60", "--yes", "-m", "SVM on n-grams")
    assert (found["ok"], found["state"], found["problems"]) == (True, "accepted", [])
    assert [(one["name"], one["state"], one["description"]) for one in found["runs"]] == [
        (NAME, "valid", "SVM on n-grams")
    ]
    assert "as Meltemi" in agon.err
    assert "Runs left: one 3 of 3 in this phase." in agon.err
    assert NAME in agon("runs", "view", NAME)


@pytest.mark.slow
def test_an_invalid_run_is_waited_for(agon: Typed, run: Path, worker: None) -> None:
    run.write_text("{}")
    agon("submit", run, "--wait", "--yes", expect=3)
    assert "json-not-a-list" in agon.out


def test_runs_left_are_those_of_the_round(agon: Typed, run: Path) -> None:
    Phase.objects.update(round_days=7)
    agon("submit", run, expect=2)
    assert "Runs left: one 3 of 3 in this round." in agon.err


@pytest.mark.slow
def test_runs_left_are_those_of_the_tracks_that_the_name_contains(agon: Typed) -> None:
    """An archive can contain runs for every track."""
    for name in ("tiny_Meltemi_one.zip", "run.json"):
        Path(name).write_bytes(b"")
        agon("submit", name, expect=2)
        assert "Runs left: one 3 of 3 in this phase, two 3 of 3 in this phase." in agon.err


@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("exist2024_task1_hard_Meltemi_1.json", ["task1-hard"]),
        ("en_a.tsv", ["en-a"]),
        ("Meltemi_EN_1.csv", ["en"]),
        ("Meltemi_entities_1.csv", []),
    ],
)
def test_tracks_named_in_a_file_name(name: str, named: list[str]) -> None:
    assert _tracks_named_in(name, ["en", "en-a", "task1-hard", "task1-soft"]) == named


@pytest.mark.slow
def test_the_summary_names_the_submission_that_is_replaced(agon: Typed, run: Path, team: Team) -> None:
    Phase.objects.filter(slug="evaluation").update(max_submissions=1, run_numbers="free")
    agon("submit", run, "--yes")
    assert "Each team has one submission in this phase" in agon.err
    assert "Runs left: one 3 of 3 in this upload" in agon.err
    agon("submit", run, "--yes")
    assert f"your earlier submission, with all its runs: {NAME}, {EVALUATION:%Y-%m-%d %H:%M} UTC." in agon.err
    work_off(EVALUATION)
    earlier, newer = sorted(agon.json("runs", "list"), key=lambda one: one["is_withdrawn"], reverse=True)
    assert (earlier["is_replaced"], newer["is_replaced"], newer["is_official"]) == (True, False, True)
    assert "replaced" in agon("runs", "list")
    portal = Script(captain(team))
    sent = portal(f"/tasks/tiny/submissions/{earlier['submission']}").json()
    assert sent["replaced_by"] == newer["submission"]
    (phase, *_rest) = portal("/tasks/tiny/phases").json()
    assert (phase["submissions"], phase["replaces"]["id"]) == (1, newer["submission"])


def test_nothing_is_submitted_unasked(agon: Typed, run: Path) -> None:
    agon("submit", run, expect=2)
    assert "--yes" in agon.err
    assert not Submission.objects.exists()


def test_an_answer_that_is_lost_submits_nothing_twice(
    agon: Typed, run: Path, bad_line: Callable[[dict[int, int]], Any]
) -> None:
    with bad_line({1: 0}) as line:
        found = agon.json("submit", run, "--yes", "--phase", "evaluation", "--quiet")
    assert line.connections > 1
    assert Submission.objects.get().pk.hex == found["id"].replace("-", "")


@pytest.mark.slow
def test_a_dry_run_submits_nothing(agon: Typed, run: Path, worker: None) -> None:
    agon("submit", run, "--dry-run")
    assert agon.out == f"{NAME}: valid. Track: one.\n"
    run.write_text("{}")
    assert agon.json("submit", run, "--dry-run", expect=3)["problems"][0]["code"] == "json-not-a-list"
    assert (Submission.objects.count(), Validation.objects.count()) == (0, 2)


@pytest.mark.slow
def test_exit_codes(agon: Typed, run: Path, team: Team, at: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    agon("submit", "nowhere.json", "--yes", expect=2)
    agon("submit", run, "--yes", "--wait=0", expect=6)
    agon("submit", run, "--yes", expect=1)  # the run number is already used
    assert "one_Meltemi_1" in agon.err
    for number in (2, 3):
        send_run(team, GOOD, number, EVALUATION)
    fourth = run.rename("one_Meltemi_4.json")
    assert agon.json("submit", fourth, "--yes", expect=5)["code"] == "no_runs_left"
    monkeypatch.setenv("AGON_TOKEN", token_of(captain(team), "read"))
    assert agon.json("submit", fourth, "--yes", expect=5)["code"] == "token_scope"
    monkeypatch.setenv("AGON_TOKEN", token_of(captain(team)))
    at(RELEASE)
    assert agon.json("submit", fourth, "--yes", "--phase", "evaluation", expect=5)["code"] == "phase_closed"
    agon("submit", fourth, "--yes", expect=5)
    assert "No phase of tiny is open now" in agon.err
    assert "--phase" not in agon.err
    monkeypatch.setenv("AGON_TOKEN", token_of(person("Eve")))
    agon("submit", fourth, "--yes", "--phase", "evaluation", expect=5)
    monkeypatch.delenv("AGON_TOKEN")
    agon("submit", fourth, "--yes", "--phase", "evaluation", expect=4)


@pytest.mark.slow
def test_a_message_that_is_too_long_submits_nothing(agon: Typed, run: Path) -> None:
    agon("submit", run, "--yes", "-m", "x" * 1001, expect=2)
    assert "1,001 characters; at most 1,000" in agon.err
    assert not Submission.objects.exists()
    assert agon.json("submit", run, "--yes", "-m", "x" * 1000)["runs"]
    assert Submission.objects.get().runs.get().description == "x" * 1000


def test_a_message_that_is_not_saved_loses_no_submission(
    agon: Typed, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agon.portal.LONGEST_MESSAGE", 2000)
    found = agon.json("submit", run, "--yes", "-q", "-m", "x" * 1200)
    assert found["id"] == str(Submission.objects.get().pk)
    assert found["not_described"]
    assert f"{found['id']} was submitted, but the description was not saved" in agon.err


@pytest.mark.slow
def test_what_is_not_there_in_time_has_an_id(agon: Typed, run: Path) -> None:
    found = agon.json("submit", run, "--yes", "-q", "--wait=0", expect=6)
    sent = Submission.objects.get()
    assert (found["id"], found["ok"], found["state"]) == (str(sent.pk), False, "received")
    assert [one["id"] for one in found["runs"]] == [str(one.pk) for one in sent.runs.all()]
    agon("submit", "--yes", "-q", "--wait", "0", run.rename("one_Meltemi_2.json"), expect=6)
    assert str(Submission.objects.exclude(pk=sent.pk).get().pk) in agon.err


@pytest.mark.parametrize("text", ["abc", "-1", "nan", "inf"])
def test_a_waiting_time_is_a_number_of_seconds(agon: Typed, run: Path, text: str) -> None:
    with pytest.raises(SystemExit) as ended:
        agon("submit", run, "--yes", f"--wait={text}")
    assert ended.value.code == 2
    agon("whoami")  # to get the output
    assert f"argument --wait: {text} is not a number of seconds. Use a number from 0, such as 60." in agon.err


@pytest.mark.parametrize("is_upload", [True, False])
def test_a_portal_that_has_moved(agon: Typed, run: Path, is_upload: bool) -> None:
    asked = []

    def move(request: BaseHTTPRequestHandler) -> None:
        asked.append(request.path)
        request.rfile.read(int(request.headers["Content-Length"] or 0))
        request.send_response(307)
        request.send_header("Location", f"https://new.example.org{request.path}")
        request.end_headers()

    with server(move) as address:
        portal = client.Portal(address)
        with pytest.raises(AgonError) as moved:
            portal.submit(run, "tiny", phase="evaluation") if is_upload else portal.me()
    assert len(asked) == 1
    assert str(moved.value) == "The portal’s URL is https://new.example.org. Set AGON_URL to this URL."


@pytest.mark.slow
def test_a_dry_run_ends_as_the_submission_would(agon: Typed, run: Path, team: Team, at: Clock, worker: None) -> None:
    send_run(team, GOOD, 1, EVALUATION)
    assert agon.json("submit", run, "--dry-run", expect=1)["rejection"]["code"] == "run_number_taken"
    for number in (2, 3):
        send_run(team, GOOD, number, EVALUATION)
    fourth = run.rename("one_Meltemi_4.json")
    found = agon.json("submit", fourth, "--dry-run", expect=5)
    assert (found["ok"], found["rejection"]["code"]) == (False, "no_runs_left")
    at(RELEASE)
    found = agon.json("submit", fourth, "--dry-run", "--phase", "evaluation", expect=5)
    assert found["code"] == "phase_closed"


@pytest.mark.slow
def test_a_receipt_overwrites_no_other_file_unasked(agon: Typed, team: Team) -> None:
    send_run(team, GOOD, 1, EVALUATION)
    for _ in range(2):
        agon("runs", "receipt", NAME)
    key = Path("agon-receipt-key").read_text()
    Path("agon-receipt-key").write_text("mine")
    agon("runs", "receipt", NAME, expect=1)
    assert "agon-receipt-key already exists" in agon.err
    assert Path("agon-receipt-key").read_text() == "mine"
    agon("runs", "receipt", NAME, "-o")
    assert Path("agon-receipt-key").read_text() == key


BROKEN = {
    "one_Meltemi_1.json": b"[",
    "one_Meltemi_2.json": run_file(["YES", "Yes", "no"]),
    "one_Meltemi_3.json": b'[{"id": "a", "value": "YES"}, {"id": "a", "value": "NO"}, {"id": "z", "value": "NO"}]',
    "one_Meltemi_4.json": b"[" * 3000,
    "one_Meltemi_5.json": b"",
    "two_Meltemi_3.json": b'[{"id": "a", "value": NaN}, {"id": "b"}, 1, null, {"value": "YES"}, {"id": 5, "value": 1}]',
    "two_Meltemi_4.json": b'[{"id": "\\u001b]0;x\\u0007\\u202e", "value": "\\u001b[2J"}, {"id": "a", "value": "yes"}]',
    "two_Meltemi_5.json": '[{"id": "a", "value": "S\u00cd"}]'.encode("latin-1"),
    "two_Meltemi_1.json": b"\xff\xfe\x00",
    "two_Meltemi_2.json": json.dumps([{"id": number, "value": ["YES"]} for number in range(40)]).encode(),
    "tiny_Meltemi.zip": archive({"a/one_Meltemi_4.json": b"{}", "a/two_Meltemi_4.json": run_file(PERFECT[:2])}),
}
BROKEN["tiny_Meltemi_broken.zip"] = BROKEN["tiny_Meltemi.zip"].replace(b"{}", b"[]", 1)  # with the old checksum


@pytest.mark.slow
@pytest.mark.parametrize("name", BROKEN)
def test_the_report_is_the_same_by_page_api_command_line_and_worker(agon: Typed, team: Team, name: str) -> None:
    path = Path(name.replace("_broken", ""))
    path.write_bytes(BROKEN[name])
    agon("download", "-f", "rules")
    checked = agon.json("check", "--task", "tiny", "--team", "Meltemi", path, expect=1)["problems"]
    sent = agon.json("submit", path, "--yes", "--quiet")
    work_off(EVALUATION)
    shown = agon.json("runs", "report", sent["runs"][0]["id"], expect=3)
    client = Client()
    client.force_login(captain(team))
    page = client.get(f"/tasks/tiny/submissions/{sent['id']}/report.json")
    agon("runs", "report", sent["runs"][0]["id"], expect=3)
    by_command, by_api = agon.out, shown["problems"]
    row = Submission.objects.get()
    by_worker = [
        *row.problems,
        *(problem for run in row.runs.order_by("track__position", "number") for problem in run.problems),
    ]
    reports = (checked, by_api, page.json()["problems"], by_worker)
    assert len({json.dumps(report) for report in reports}) == 1
    agon("check", "--task", "tiny", "--team", "Meltemi", path, expect=1)
    assert by_command == agon.out


def test_an_invalid_name_is_rejected_before_anything_is_stored(agon: Typed) -> None:
    path = Path("one_Sirocco_1.json")
    path.write_bytes(run_file(GOOD))
    agon("download", "-f", "rules")
    checked = agon.json("check", "--task", "tiny", "--team", "Meltemi", path, expect=1)["problems"]
    rejected = agon.json("submit", path, "--yes", expect=3)
    assert json.dumps(rejected["problems"]) == json.dumps(checked)
    assert "name-team" in agon.err
    assert not Submission.objects.exists()


@pytest.mark.slow
def test_runs_are_named_by_id_its_beginning_or_name(agon: Typed, team: Team) -> None:
    first, second = (send_run(team, GOOD, number, EVALUATION + timedelta(minutes=number)) for number in (1, 2))
    listed = agon("runs", "list").splitlines()
    assert [line.split()[:2] for line in listed[1:]] == [[str(one.pk)[:8], one.name] for one in (second, first)]
    for name in (str(first.pk), str(first.pk)[:8], NAME):
        assert agon.json("submissions", "view", name)["id"] == str(first.pk)
    agon("runs", "view", "", expect=2)
    assert "2 of your runs match" in agon.err
    assert [line.split()[:3] for line in agon.err.splitlines()[-2:]] == [
        [str(one.pk)[:8], one.name, "one"] for one in (second, first)
    ]
    agon("runs", "view", "none", expect=2)
    assert agon("runs", "download", NAME, "-p", "there") == f"there/{NAME}\n"
    assert Path(f"there/{NAME}").read_bytes() == run_file(GOOD)
    agon("runs", "download", NAME, "-p", "there", expect=1)


@pytest.mark.slow
def test_a_run_is_selected_and_withdrawn(agon: Typed, team: Team) -> None:
    for number in (1, 2):
        send_run(team, GOOD, number, EVALUATION)
    work_off(EVALUATION)

    def official() -> dict[str, str]:
        """Return the last word of each run's line: the mark of an official run, or UTC, where the upload time ends."""
        return {words[1]: words[-1] for words in map(str.split, agon("runs", "list").splitlines()[1:])}

    assert official() == {NAME: "UTC", "one_Meltemi_2.json": "yes"}
    agon("runs", "select", NAME)
    assert official() == {NAME: "selected", "one_Meltemi_2.json": "UTC"}
    assert Run.objects.get(chosen_at__isnull=False).name == NAME
    agon("runs", "withdraw", NAME, "-m", "wrong file", expect=2)
    agon("runs", "withdraw", NAME, "-m", "wrong file", "--yes")
    assert Run.objects.get(withdrawn_at__isnull=False).withdrawal_reason == "wrong file"
    assert agon.json("runs", "select", NAME, expect=1)["code"] == "not_eligible"


@pytest.mark.slow
def test_names_that_do_not_exist_are_answered_with_those_that_do(agon: Typed, run: Path) -> None:
    for words in (
        ("submit", run, "--yes", "--phase"),
        ("runs", "list", "--phase"),
        ("leaderboard", "tiny/one", "--phase"),
    ):
        agon(*words, "evalution", expect=2)
        assert "There is no phase evalution. Available: evaluation, post, without-gold." in agon.err
    for words in (("runs", "list", "--track", "none"), ("leaderboard", "tiny/none")):
        agon(*words, expect=2)
        assert "There is no track none. Available: one, two." in agon.err
    assert not Submission.objects.exists()


@pytest.mark.slow
def test_a_scored_run_that_made_no_step_says_so(agon: Typed, team: Team) -> None:
    rules = {"scores": "at-once", "official": "best", "ladder_step": 0.05, "released": None}
    team.shared_task.phases.filter(slug="evaluation").update(**rules)
    for number in (1, 2):
        send_run(team, GOOD, number, EVALUATION + timedelta(minutes=number))
    work_off(EVALUATION)
    assert "accuracy" in agon("runs", "view", NAME)
    assert "was scored, but its score is hidden" in agon("runs", "view", "one_Meltemi_2.json")
    assert "beats, by more than 0.05, every score" in agon.out


def test_waiting_ends_in_time_if_the_portal_does_not_respond(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agon.portal._AT_LEAST", 0.2)
    ended = Event()
    with server(lambda _request: ended.wait(60) and None) as address:
        with pytest.raises(WaitTimedOut) as late:
            client.Portal(address, "agon_token").wait("tiny", "upload-1", 0.1)
        assert not ended.is_set()
        ended.set()
    assert late.value.submission is None
    assert "No result for upload-1 after 0.1 seconds." in str(late.value)
    assert "is not responding: it took too long." in str(late.value)


@pytest.mark.slow
def test_waiting_survives_a_broken_connection(agon: Typed, run: Path, team: Team, bad_line: Any, worker: None) -> None:
    sent = client.submit(run)
    with bad_line({1: 0}) as line:
        assert client.Portal(line.url).wait("tiny", sent.id, 60).state == "accepted"


@pytest.mark.parametrize("place", ["builtins.__import__", "scoring.__main__._run"])
def test_ctrl_c_prints_no_traceback(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(place, interrupt)
        code = main(["tasks"])
    assert code == INTERRUPTED


def test_an_empty_list_of_runs_names_the_next_command(agon: Typed) -> None:
    agon("runs", "list")
    assert agon.err == "No runs found. Submit one with “agon submit FILE -t tiny”.\n"
    assert agon.json("runs", "list") == []
