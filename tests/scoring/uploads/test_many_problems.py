"""Uploads with thousands of problems: the report is short and cheap to create, and suggestions do not conflict."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from scoring import Definition, Report, check_upload, inspect_upload
from scoring.uploads import naming
from scoring.uploads.name_rules import UsedNumbers
from tests.scoring.conftest import ITEMS
from tests.scoring.uploads.test_archives import zipped

HARD = json.dumps([{"id": item, "value": "A", "test_case": "TINY"} for item in ITEMS]).encode()
SOFT = json.dumps([{"id": item, "value": {"NO": 0.5, "A": 0.25, "B": 0.25}} for item in ITEMS]).encode()
TEAM = "Lak_NLP"

Write = Callable[[dict[str, bytes]], Path]


@pytest.fixture
def archive(tmp_path: Path) -> Write:
    def write(files: dict[str, bytes]) -> Path:
        path = tmp_path / "tiny_Lak_NLP.zip"
        path.write_bytes(zipped(dict(files)))
        return path

    return write


def inspected(tiny: Definition, path: Path, used_numbers: UsedNumbers = ()) -> Report:
    return inspect_upload(tiny, path, path.name, TEAM, used_numbers=used_numbers).report


def test_after_twenty_wrong_names_the_others_are_listed(tiny: Definition, archive: Write) -> None:
    files = {f"run number {number}.txt": HARD for number in range(30)} | {"task1_hard_Lak_NLP_2": HARD}
    upload = inspect_upload(tiny, archive(files), "tiny_Lak_NLP.zip", TEAM)
    codes = [problem.code for problem in upload.report]
    assert (codes.count("name-pattern"), codes[-1]) == (20, "names-not-analyzed")
    rest = upload.report.problems[-1]
    assert (rest.count, rest.places[0], rest.places[-1]) == (10, "run number 20.txt", "run number 29.txt")
    assert [run.name for run in upload.runs if not run.is_guess] == ["task1_hard_Lak_NLP_2"]


def test_after_twenty_invalid_runs_the_others_are_not_read(tiny: Definition, archive: Write) -> None:
    wrong = HARD.replace(b'"A"', b'"Q"')
    files = {f"Task1_hard_Lak_NLP_{number % 3 + 1}{'.json' * (number // 3)}": wrong for number in range(18)}
    files |= {f"task1_soft_Lak_NLP_{number}": wrong for number in (1, 2, 3)} | {"task2_hard_Lak_NLP_1": HARD}
    checked = check_upload(tiny, archive(files), "tiny_Lak_NLP.zip", TEAM)
    assert len(checked.runs) == 20
    left_out = next(problem for problem in checked.report if problem.code == "runs-not-checked")
    assert (left_out.count, left_out.found) == (2, "20")
    assert left_out in checked.upload.report.problems


def test_no_name_is_suggested_for_two_files_or_for_one_that_is_there(tiny: Definition, archive: Write) -> None:
    files = {f"task1_hard_Lak_NLP_{number}.json": HARD for number in (2, 4, 5, 6)}
    files |= {"Task1_hard_Lak_NLP_1.json": HARD, "task1 soft.json": HARD, "task1-soft.json": HARD}
    report = inspected(tiny, archive(files))
    suggested = {problem.file: problem.suggestion for problem in report}
    given = [naming.read(tiny, name, TEAM) for name in suggested.values() if name]
    runs = [(named.track, named.number) for named in given if named]
    assert len(runs) == len(set(runs)) == 4
    assert ("task1-hard", 2) not in runs
    assert suggested["task1_hard_Lak_NLP_6.json"] is None  # all three run numbers are used


def test_a_used_run_number_is_not_suggested(tiny: Definition, tmp_path: Path) -> None:
    path = tmp_path / "Task1_hard_Lak_NLP_1.json"
    path.write_bytes(HARD)
    used = {("task1-hard", 1), ("task1-hard", 3)}
    assert [problem.suggestion for problem in inspected(tiny, path)] == ["task1_hard_Lak_NLP_1.json"]
    assert [problem.suggestion for problem in inspected(tiny, path, used)] == ["task1_hard_Lak_NLP_2.json"]


def test_a_run_of_another_track_gets_a_free_number(tiny: Definition, archive: Write) -> None:
    files = {"task1_hard_Lak_NLP_2": SOFT, "task1_hard_Lak_NLP_3": SOFT, "task1_soft_Lak_NLP_2": SOFT}
    used = {("task1-soft", 1)}
    report = check_upload(tiny, archive(files), "tiny_Lak_NLP.zip", TEAM, used_numbers=used).report
    suggested = [problem.suggestion for problem in report if problem.code == "name-of-other-track"]
    assert suggested == ["task1_soft_Lak_NLP_3.json", None]


def test_ordinary_invalid_labels_are_not_mistaken_for_another_track(tiny: Definition, archive: Write) -> None:
    first, *others = json.loads(HARD)
    for wrong in ([first | {"value": "Q"}, *others], [*others, first | {"value": "Q"}]):
        path = archive({"task1_hard_Lak_NLP_1": json.dumps(wrong).encode()})
        (problem,) = check_upload(tiny, path, "tiny_Lak_NLP.zip", TEAM).report
        assert problem.code == "label-outside-domain"
