"""Everything from a new task to its exports, typed in terminals against a running demo and compared with the pages.

An organizer and a captain use the command `agon`. In their browsers, they approve their logins, upload two runs, and
read pages to compare.
"""

import csv
import hashlib
import io
import json
import re
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from portal.management.commands.load_demo import CAPTAIN, MEMBER, ORGANIZER
from tests.agon.demo import Demo, Person
from tests.services import wait_until

NAME = "Levante_task1_{}.csv"
NOTE = "The label of the first sentence was wrong."


@pytest.fixture
def organizer(demo: Demo, tmp_path: Path) -> Person:
    return Person(demo, ORGANIZER, tmp_path / "organizer")


@pytest.fixture
def captain(demo: Demo, tmp_path: Path) -> Person:
    return Person(demo, CAPTAIN, tmp_path / "captain")


@pytest.mark.slow
def test_a_task_from_its_folder_to_its_exports(demo: Demo, organizer: Person, captain: Person) -> None:
    slug = "journey"
    organizer.login("--scope", "organize")
    assert _opened(organizer, slug) == f"{slug} is open.\n"

    captain.login()
    _take_part(organizer, captain, slug)
    password = _data_password(demo, slug)
    saved = captain.agon("download", slug, typed=f"{password}\n").split()
    (data,) = [captain.folder / name for name in saved if name.endswith("-test.csv")]
    gold = organizer.folder / slug / "gold/test.csv"
    runs = _run_files(captain.folder, data.read_text(), gold.read_text())
    invalid = _check_and_submit(captain, slug, runs)
    _submit_by_page(captain, slug, runs, invalid)

    captain.agon("runs", "select", NAME.format(1), "-t", slug)
    assert "Levante" not in captain.agon("leaderboard", f"{slug}/task1")
    before = _own_score(organizer, slug)
    after = _fix_gold(organizer, slug, gold)
    assert after != before

    organizer.agon("task", "release", slug, "evaluation", "--yes", expect=1)
    assert "still accepts runs" in organizer.err
    demo.let_deadline_pass(slug)
    organizer.agon("task", "release", slug, "evaluation", "--yes")
    _same_board_as_on_the_page(captain, slug, after)
    _verify_receipt(captain, slug)
    _return_to_the_first_gold(organizer, slug, before)
    _same_board_as_on_the_page(captain, slug, before)
    _export(organizer, slug)


def _opened(organizer: Person, slug: str) -> str:
    """Create a folder, push it, fix what the portal reports, and open the task. Return the last output."""
    organizer.agon("task", "new", slug, "--like", "detests2022")
    definition, page = organizer.folder / slug / "task.yaml", organizer.folder / slug / "pages/overview.md"
    definition.write_text(_with_open_phase(definition.read_text()))
    overview = page.read_bytes()
    page.write_bytes(b"\xff")
    definition.write_text(definition.read_text().replace("official: chosen", "official: chosenn", 1))
    report = organizer.json("task", "push", slug, expect=3)
    (problem,) = report["problems"]
    assert (problem["file"], problem["found"]) == ("task.yaml", "chosenn")
    assert problem["line"] == _line_of(definition, "chosenn")
    definition.write_text(definition.read_text().replace("chosenn", "chosen"))
    (problem,) = organizer.json("task", "push", slug, expect=3)["problems"]
    assert problem["file"] == "pages/overview.md"
    page.write_bytes(overview)
    assert f"{slug} is a draft" in organizer.agon("task", "push", slug)
    definition.write_text(definition.read_text().replace("title: Evaluation", "title: Final evaluation"))
    assert "Final evaluation" in organizer.agon("task", "diff", slug)
    assert organizer.agon("task", "push", slug, "--yes") == f"{slug} now matches the folder.\n"
    organizer.agon("organizers", "add", slug, MEMBER, "--yes")
    organizer.agon("organizers", "remove", slug, MEMBER, "--yes")
    return organizer.agon("task", "open", slug, "--yes")


def _with_open_phase(definition: str) -> str:
    """Return the definition with team approval, a data password, and one open phase with chosen official runs."""
    now = datetime.now(UTC)
    head, phases, rest = re.split(r"(^phases:\n.*?)(?=^datasets:)", definition, flags=re.MULTILINE | re.DOTALL)
    assert phases
    window = f"""phases:
  - slug: evaluation
    title: Evaluation
    opens: "{now - timedelta(days=1):%Y-%m-%d %H:%M} UTC"
    closes: "{now + timedelta(days=30):%Y-%m-%d %H:%M} UTC"
    split: test
    runs_per_track: 5
    scores: on-release
    official: chosen

"""
    return head.replace("approval: automatic", "approval: manual") + window + rest


def _line_of(file: Path, word: str) -> int:
    return next(number for number, line in enumerate(file.read_text().splitlines(), 1) if word in line)


def _take_part(organizer: Person, captain: Person, slug: str) -> None:
    """Create a team, have the organizer approve it, and sign the agreement."""
    captain.agon("team", "create", "Levante", "-t", slug, expect=1)
    assert "What do you use the data for?" in captain.err
    captain.agon("team", "create", "Levante", "-t", slug, "--answer", "use=research")
    assert captain.json("team", "show", "-t", slug)["state"] == "pending"
    captain.agon("files", slug)
    assert "test.csv" in captain.agon("files", slug)
    assert "Levante" in organizer.agon("teams", slug)
    organizer.agon("teams", slug, "--approve", "Levante", "--yes")
    assert captain.json("team", "show", "-t", slug)["state"] == "approved"
    text = captain.agon("sign", slug)
    assert "agon sign" in text
    captain.agon("sign", slug, "--name", "Cleo Captain", expect=2)  # there is no terminal to prompt on
    captain.agon("sign", slug, "--name", "Cleo Captain", "--yes")
    assert captain.json("sign", slug)["is_signed"]
    assert "Cleo Captain" in captain.browser.get(f"/tasks/{slug}/agreement/")


def _data_password(demo: Demo, slug: str) -> str:
    """Return the team's data password from the email to its captain."""

    def found() -> list[str]:
        mails = [mail for mail in demo.mails_to(CAPTAIN) if f"/tasks/{slug}/" in mail]
        return re.findall(r"data password:\s+(\S+)", "\n".join(mails))

    wait_until(found, "the mail with the data password")
    return found()[-1]


def _run_files(folder: Path, data: str, gold: str) -> dict[str, bytes]:
    """Write and return three runs for the first track: perfect, invalid, and with half of the labels flipped."""
    rows = list(csv.DictReader(io.StringIO(gold)))
    assert len(rows) == len(data.splitlines()) - 1
    head = "comment_id,sentence_pos,stereotype"

    def file(labels: list[str]) -> bytes:
        keys = [f"{row['comment_id']},{row['sentence_pos']}" for row in rows]
        return "\n".join([head, *(f"{key},{label}" for key, label in zip(keys, labels, strict=True)), ""]).encode()

    true = [row["stereotype"] for row in rows]
    flipped = [str(1 - int(label)) if place % 2 else label for place, label in enumerate(true)]
    found = {
        NAME.format(1): file(true),
        NAME.format(2): file(["maybe", *true[1:]]).replace(b"\n", b"\n\xff,", 1),
        NAME.format(3): file(flipped),
    }
    for name, content in found.items():
        (folder / name).write_bytes(content)
    return found


def _check_and_submit(captain: Person, slug: str, runs: dict[str, bytes]) -> list[dict[str, Any]]:
    """Check and submit each run.

    Return the problems of the invalid run, which all commands and the page report in the same way.
    """
    good, invalid, other = runs
    check = ("check", "--task", slug, "--team", "Levante")
    assert captain.agon(*check, good).startswith(f"{good}: valid. Track")
    problems: list[dict[str, Any]] = captain.json(*check, invalid, expect=1)["problems"]
    assert problems
    validated = captain.json("submit", invalid, "-t", slug, "--dry-run", expect=3)
    sent = captain.json("submit", invalid, "-t", slug, "--wait", "--yes", expect=3)
    page = json.loads(captain.browser.get(f"/tasks/{slug}/submissions/{sent['id']}/report.json"))
    assert problems == validated["problems"] == sent["problems"] == page["problems"]
    for name in (good, other):
        assert f"{name}: valid." in captain.agon("submit", name, "-t", slug, "-m", "A run", "--wait", "--yes")
    return problems


def _submit_by_page(captain: Person, slug: str, runs: dict[str, bytes], problems: list[dict[str, Any]]) -> None:
    """Upload an invalid and a valid run on the page.

    The invalid run must have problems other than `problems`. The valid run has the same content as one that was
    submitted with `agon`, so both must have the same state and hash.
    """
    _good, invalid, other = runs
    boundary = captain.browser.upload(slug, "evaluation", invalid, b"comment_id\n")
    rejected = json.loads(captain.browser.get(f"{boundary}report.json"))
    assert rejected["problems"] != problems
    name = NAME.format(4)
    address = captain.browser.upload(slug, "evaluation", name, runs[other])
    wait_until(lambda: captain.json("runs", "view", name, "-t", slug)["is_finished"], "the run of the page is checked")
    mine = {one["name"]: one for one in captain.json("runs", "list", "-t", slug)}
    assert mine[name]["submission"] in address
    assert (mine[name]["state"], mine[name]["sha256"]) == ("valid", mine[other]["sha256"])


def _own_score(organizer: Person, slug: str) -> float:
    wait_until(lambda: _own_rows(organizer, slug), "the team has a score")  # organizers see it before the release
    (row,) = _own_rows(organizer, slug)
    return float(row["scores"]["f1_positive"])


def _own_rows(person: Person, slug: str) -> list[dict[str, Any]]:
    rows = person.json("leaderboard", f"{slug}/task1", "--phase", "evaluation")["rows"]
    return [row for row in rows if row["team"] == "Levante"]


def _fix_gold(organizer: Person, slug: str, gold: Path) -> float:
    """Correct one label after a preview, and return the team's new score."""
    head, first, *others = gold.read_text().splitlines()
    row = dict(zip(head.split(","), first.split(","), strict=True))
    fixed = organizer.folder / "fixed.csv"
    other = "0" if row["stereotype"] == "1" else "1"
    labels = [key for key in row if key not in ("comment_id", "sentence_pos")]
    row |= dict.fromkeys(labels, "0") | ({labels[0]: other, labels[1]: other} if other == "1" else {})
    fixed.write_text("\n".join([head, ",".join(row.values()), *others, ""]))
    fix = ("task", "gold", slug, "task1", fixed, "-m", NOTE)
    preview = organizer.json(*fix, "--dry-run")
    assert (preview["state"], preview["changes"]["changed"]["count"]) == ("ready", 1)
    (own,) = [one for one in preview["boards"][0]["runs"] if one["run"] == NAME.format(1)]
    organizer.agon(*fix, "--yes")
    _wait_for_gold(organizer, slug, 2)
    after = _own_score(organizer, slug)
    assert after == own["after"]["scores"]["f1_positive"]
    return after


def _wait_for_gold(person: Person, slug: str, version: int) -> None:
    """Wait until the page and the command use this gold version. The page is asked first, without a new process."""
    page = f"/tasks/{slug}/leaderboard/task1/?phase=evaluation&format=json"

    def is_used() -> bool:
        return bool(json.loads(person.browser.get(page))["gold_version"] == version)

    wait_until(is_used, f"the board goes by gold version {version}")
    assert person.json("leaderboard", f"{slug}/task1", "--phase", "evaluation")["gold_version"] == version


def _same_board_as_on_the_page(captain: Person, slug: str, score: float) -> None:
    """Check that the command and the page export the same released board, both as CSV and as JSON."""
    (own,) = _own_rows(captain, slug)
    assert (own["run"], own["rank"], own["scores"]["f1_positive"]) == (NAME.format(1), 1, score)
    page = f"/tasks/{slug}/leaderboard/task1/?phase=evaluation&format="
    command = ("leaderboard", f"{slug}/task1", "--phase", "evaluation")

    def pages_csv() -> str:
        return captain.browser.get(f"{page}csv").replace("\r\n", "\n")

    # The board's intervals may appear between the two requests, because workers are still comparing its runs.
    wait_until(lambda: captain.agon(*command, "--csv") == pages_csv(), "command and page have the same board")
    shown = json.loads(captain.browser.get(f"{page}json"))
    assert [row["scores"] for row in shown["rows"]] == [row["scores"] for row in captain.json(*command)["rows"]]


def _verify_receipt(captain: Person, slug: str) -> None:
    receipt, key = captain.agon("runs", "receipt", NAME.format(1), "-t", slug).split()
    submission = receipt.removeprefix("receipt_").removesuffix(".json")
    page = captain.browser.get(f"/tasks/{slug}/submissions/{submission}/receipt.json")
    assert (captain.folder / receipt).read_text() == page
    assert captain.json("receipt", "verify", "--key", key, receipt, NAME.format(1))["ok"]
    captain.agon("receipt", "verify", "--key", key, receipt, NAME.format(3), expect=1)


def _return_to_the_first_gold(organizer: Person, slug: str, score: float) -> None:
    """Preview the first gold standard and apply it again."""
    back = ("task", "gold", slug, "task1", "--return-to", "1", "-m", "The correction was wrong.")
    preview = organizer.json(*back, "--dry-run")
    (own,) = [one for one in preview["boards"][0]["runs"] if one["run"] == NAME.format(1)]
    assert own["after"]["scores"]["f1_positive"] == score
    organizer.agon(*back, "--yes")
    _wait_for_gold(organizer, slug, 3)


def _export(organizer: Person, slug: str) -> None:
    organizer.agon("task", "export", slug, "-p", "exports")
    exports = organizer.folder / "exports"
    assert CAPTAIN in (exports / f"{slug}_teams.csv").read_text()
    with zipfile.ZipFile(exports / f"{slug}_runs.zip") as packed:
        listed = json.loads(packed.read("manifest.json"))["runs"]
        assert {one["run"] for one in listed} >= {NAME.format(number) for number in (1, 3, 4)}
        assert all(hashlib.sha256(packed.read(one["path"])).hexdigest() == one["sha256"] for one in listed)
    verbs = {entry["verb"] for entry in json.loads((exports / f"{slug}_audit.json").read_text())}
    assert {"create_draft", "open_task", "apply_push", "upload_gold", "release_scores", "approve_team"} <= verbs
    assert captain_rows(exports / f"{slug}_downloads.csv")


def captain_rows(file: Path) -> list[dict[str, str]]:
    """Return the rows of an exported file that are about the captain's team."""
    return [row for row in csv.DictReader(io.StringIO(file.read_text())) if "Levante" in row.values()]
