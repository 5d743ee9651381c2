"""Complete uploads: single files and archives, checked by name, structure and content together."""

import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from scoring import Definition, Report, check, check_upload, inspect_upload, limits, load_definition
from scoring.definition import Naming
from scoring.uploads.inspection import read_run
from scoring.uploads.naming import likely_track
from tests.scoring.conftest import DEFINITION, ITEMS

HARD = json.dumps([{"id": item, "value": "A", "test_case": "TINY"} for item in ITEMS]).encode()
SOFT = json.dumps([{"id": item, "value": {"NO": 0.5, "A": 0.25, "B": 0.25}} for item in ITEMS]).encode()
TEAM = "Lak_NLP"


@pytest.fixture
def stored(tmp_path: Path) -> Callable[[bytes | dict[str, bytes]], Path]:
    """A function that writes an upload (bytes, or the files of an archive) under a neutral name."""

    def write(content: bytes | dict[str, bytes]) -> Path:
        path = tmp_path / "0f343b09"
        if isinstance(content, dict):
            file = io.BytesIO()
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
                for name, data in content.items():
                    archive.writestr(name, data)
            content = file.getvalue()
        path.write_bytes(content)
        return path

    return write


Stored = Callable[[bytes | dict[str, bytes]], Path]


def said(report: Report) -> list[tuple[str, str | None]]:
    return [(problem.code, problem.file) for problem in report]


def test_a_single_file(tiny: Definition, stored: Stored) -> None:
    path = stored(HARD)
    upload = check_upload(tiny, path, "task1_hard_Lak_NLP_1.json", TEAM)
    assert upload.ok
    assert not upload.upload.is_archive
    (run,) = upload.runs
    assert (run.run.track, run.run.number, run.run.size, run.items) == ("task1-hard", 1, len(HARD), 10)
    assert run.sha256 == hashlib.sha256(HARD).hexdigest()
    assert read_run(path, run.run.entry) == HARD


def test_an_archive_with_several_runs(tiny: Definition, stored: Stored) -> None:
    path = stored({"task1_hard_Lak_NLP_1": HARD, "task1_soft_Lak_NLP_3.json": SOFT})
    upload = check_upload(tiny, path, "tiny_Lak_NLP.zip", TEAM)
    assert upload.ok
    assert upload.upload.is_archive
    assert [(run.run.track, run.run.number) for run in upload.runs] == [("task1-hard", 1), ("task1-soft", 3)]
    assert read_run(path, upload.runs[1].run.entry) == SOFT


def test_one_invalid_run_rejects_all_and_every_error_is_listed(tiny: Definition, stored: Stored) -> None:
    files = {f"task{task}_hard_Lak_NLP_{number}": HARD for task in (1, 2) for number in (1, 2)}
    files["task1_hard_Lak_NLP_3"] = HARD.replace(b'"A"', b'"C"', 1)
    files["Task1_soft_Lak_NLP_1"] = SOFT.replace(b"0.5", b"0.9", 1)
    upload = check_upload(tiny, stored(files), "tiny_Lak_NLP.zip", TEAM)
    assert not upload.ok
    assert set(said(upload.report)) >= {
        ("name-case", "Task1_soft_Lak_NLP_1"),
        ("wrong-sum", "Task1_soft_Lak_NLP_1"),
        ("label-outside-domain", "task1_hard_Lak_NLP_3"),
        ("value-not-a-list", "task2_hard_Lak_NLP_1"),
    }
    assert len(upload.runs) == 6


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("task1_hard_Lak_NLP_1.json", {"task1_hard_Lak_NLP_1": HARD}, "archive-named-otherwise"),
        ("tiny_Lak_NLP.zip", HARD, "archive-no-zip"),
        ("task1_hard_Lak_NLP_1.json", b"<html>", "not-a-text"),
        ("runs.zip", {"task1_hard_Lak_NLP_1": HARD}, "name-pattern"),
        ("tiny_Rival.zip", {"task1_hard_Lak_NLP_1": HARD}, "name-team"),
        ("tiny_Lak_NLP.zip", {"task1_hard_Rival_1": HARD}, "name-team"),
        ("tiny_Lak_NLP.zip", {"task1_hard_Lak_NLP_1": HARD, "notes.xlsx": b"x"}, "name-pattern"),  # an unexpected file
        ("tiny_Lak_NLP.zip", {"task1_hard_Lak_NLP_1": HARD, "task1_hard_Lak_NLP_1.json": HARD}, "name-twice"),
        ("tiny_Lak_NLP.zip", {"../task1_hard_Lak_NLP_1": HARD}, "archive-path"),
    ],
)
def test_names_and_structure_are_judged_without_reading_runs(
    tiny: Definition, stored: Stored, name: str, content: bytes | dict[str, bytes], code: str
) -> None:
    report = inspect_upload(tiny, stored(content), name, TEAM).report
    assert code in {problem.code for problem in report.errors}


def test_without_a_team_the_archive_says_whose_runs_these_are(tiny: Definition, stored: Stored) -> None:
    path = stored({"task1_hard_Rival_1": HARD})
    assert said(inspect_upload(tiny, path, "tiny_Lak_NLP.zip", None).report) == [("name-team", "task1_hard_Rival_1")]
    assert inspect_upload(tiny, path, "tiny_Rival.zip", None).report.ok


def test_the_folder_that_the_task_asks_for_is_no_warning(tiny: Definition, stored: Stored) -> None:
    asked = stored({"tiny_Lak_NLP/task1_hard_Lak_NLP_1": HARD})
    assert said(inspect_upload(tiny, asked, "tiny_Lak_NLP.zip", TEAM).report) == []
    other = stored({"runs/task1_hard_Lak_NLP_1": HARD})
    assert said(inspect_upload(tiny, other, "tiny_Lak_NLP.zip", TEAM).report) == [
        ("archive-folder", "tiny_Lak_NLP.zip")
    ]
    (problem,) = inspect_upload(tiny, other, "tiny_Lak_NLP.zip", TEAM).report
    assert problem.expected == "at the top level of the archive or in the folder tiny_Lak_NLP"


def in_folders(tiny: Definition) -> Definition:
    rules = Naming(run="{team}/{task}/{context}/run_{number}.json", track="{task}-{context}", numbers=(1, 2, 3))
    return replace(tiny, naming=rules)


def test_runs_in_the_folders_that_the_rule_names(tiny: Definition, stored: Stored) -> None:
    definition = in_folders(tiny)
    runs = {"Lak_NLP/task1/hard/run_1.json": HARD, "Lak_NLP/task1/soft/run_2.json": SOFT}
    for outer, warnings in (("", []), ("mine/", [("archive-folder", "runs.zip")])):
        upload = check_upload(
            definition, stored({f"{outer}{name}": run for name, run in runs.items()}), "runs.zip", TEAM
        )
        assert said(upload.report) == warnings
        found = [(run.run.entry, run.run.name, run.run.track, run.run.number) for run in upload.runs]
        assert found == [
            (f"{outer}Lak_NLP/task1/hard/run_1.json", "Lak_NLP/task1/hard/run_1.json", "task1-hard", 1),
            (f"{outer}Lak_NLP/task1/soft/run_2.json", "Lak_NLP/task1/soft/run_2.json", "task1-soft", 2),
        ]


def test_problems_of_folders_have_the_right_path(tiny: Definition, stored: Stored) -> None:
    definition = in_folders(tiny)
    entries = {"Lak_NLP/task1/run_1.json": HARD, "a/b/Lak_NLP/task1/soft/run_2.json": SOFT}
    report = inspect_upload(definition, stored(entries), "runs.zip", TEAM).report
    assert [(problem.code, problem.suggestion) for problem in report] == [
        ("archive-subfolder", "run_2.json"),
        ("name-folders", None),
    ]
    alone = inspect_upload(definition, stored(HARD), "run_1.json", TEAM).report
    assert [problem.code for problem in alone] == ["name-folders"]
    assert definition.naming.run in alone.problems[0].message


def test_one_fixed_name_in_a_zip(tiny: Definition, stored: Stored) -> None:
    definition = replace(tiny, tracks=tiny.tracks[:1], naming=Naming(run="answer.txt", archive="{team}"))
    upload = check_upload(definition, stored({"answer.txt": HARD}), "Lak_NLP.zip", TEAM)
    assert (said(upload.report), [run.run.track for run in upload.runs]) == ([], ["task1-hard"])
    other = inspect_upload(definition, stored({"Answers.txt": HARD}), "Lak_NLP.zip", TEAM).report
    assert [problem.suggestion for problem in other] == ["answer.txt"]


def test_a_run_under_the_name_of_another_track(tiny: Definition, stored: Stored) -> None:
    upload = check_upload(tiny, stored(SOFT), "task1_hard_Lak_NLP_2.json", TEAM)
    problem = upload.report.problems[0]  # it explains the others
    assert problem.code == "name-of-other-track"
    assert (problem.expected, problem.suggestion) == ("task1-soft", "task1_soft_Lak_NLP_2.json")


def test_ids_of_another_phase_are_named_as_such(write_task: Callable[[str], Path], stored: Stored) -> None:
    folder = write_task(DEFINITION.replace("items: items.txt", "items: {test: items.txt, dev: dev.txt}", 1))
    (folder / "dev.txt").write_text("d1\nd2\n")
    with (folder / "task.yaml").open("a") as file:
        file.write('  - {slug: dev, title: Practice, opens: "2024-01-01 00:00 UTC", split: dev, ')
        file.write("scores: at-once, official: best}\n")
    definition = load_definition(folder)
    run = json.dumps([{"id": item, "value": "A", "test_case": "TINY"} for item in ("d1", "d2")]).encode()
    for report in (
        check_upload(definition, stored(run), "task1_hard_Lak_NLP_1.json", TEAM).report,
        check(definition, "task1-hard", run),
    ):
        problem, *others = report
        assert (problem.code, problem.expected) == ("items-of-other-split", "Practice")
        assert "--split" in problem.message
        assert "items-of-other-split" not in {other.code for other in others}
    unknown = run.replace(b"d2", b"d3")
    codes = {problem.code for problem in check(definition, "task1-hard", unknown)}
    assert "items-of-other-split" not in codes


@pytest.mark.parametrize(
    ("name", "track"),
    [
        ("task1_hard_run1_Lak_NLP.json", "task1-hard"),
        ("task1 sofft Lak_NLP 1.json", "task1-soft"),
        ("answers.json", None),
        ("notes.txt", None),
    ],
)
def test_what_a_name_that_says_no_track_may_mean(tiny: Definition, name: str, track: str | None) -> None:
    assert likely_track(tiny, name, TEAM) == track


def test_the_content_under_a_wrong_name_is_looked_at_too(tiny: Definition, stored: Stored) -> None:
    body = {"task1_hard_run1_Lak_NLP.json": HARD.replace(b'"A"', b'"C"', 1), "task1_hard_Lak_NLP_1.json": HARD}
    upload = check_upload(tiny, stored(body), "tiny_Lak_NLP.zip", TEAM)
    assert said(upload.report) == [
        ("name-pattern", "task1_hard_run1_Lak_NLP.json"),
        ("label-outside-domain", "task1_hard_run1_Lak_NLP.json"),
    ]
    assert [run.run.is_guess for run in upload.runs] == [True, False]


def test_a_file_whose_name_says_no_track_is_checked_for_the_track_that_it_fits(
    tiny: Definition, stored: Stored
) -> None:
    wrong = SOFT.replace(b"0.5", b"0.9", 1)
    upload = check_upload(tiny, stored(wrong), "predictions.json", TEAM)
    assert said(upload.report) == [(code, "predictions.json") for code in ("name-pattern", "name-guessed", "wrong-sum")]
    _, guessed, _ = upload.report
    assert (guessed.expected, guessed.suggestion) == ("task1-soft", "task1_soft_Lak_NLP_1.json")
    (run,) = upload.runs
    assert (run.run.track, run.run.is_guess) == ("task1-soft", True)


@pytest.mark.parametrize("content", [b"Some notes about i1.\n", b"print(1)\n", b'{"a": 1}', b"\x1f\x8b\x08"])
def test_other_files_are_not_checked_as_runs(tiny: Definition, stored: Stored, content: bytes) -> None:
    upload = check_upload(tiny, stored({"notes.txt": content, "task1_hard_Lak_NLP_1": HARD}), "tiny_Lak_NLP.zip", TEAM)
    assert said(upload.report) == [("name-pattern", "notes.txt")]


def test_too_large_an_upload(tiny: Definition, stored: Stored, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "UPLOAD_BYTES", len(HARD) - 1)
    assert said(inspect_upload(tiny, stored(HARD), "task1_hard_Lak_NLP_1", TEAM).report)[0][0] == "file-too-large"
    monkeypatch.setattr(limits, "UPLOAD_BYTES", len(HARD))
    assert inspect_upload(tiny, stored(HARD), "task1_hard_Lak_NLP_1", TEAM).report.ok


def test_no_run_of_a_rejected_archive_is_read(tiny: Definition, stored: Stored) -> None:
    path = stored({"task1_hard_Lak_NLP_1": bytes(8 * limits.MEBIBYTE), "stray.txt": b"x"})
    upload = check_upload(tiny, path, "tiny_Lak_NLP.zip", TEAM)
    assert said(upload.report) == [("archive-ratio", "task1_hard_Lak_NLP_1"), ("name-pattern", "stray.txt")]
    assert upload.runs == []


def test_no_name_reaches_a_report_as_it_is(tiny: Definition, stored: Stored) -> None:
    for name in ("task1_hard_Lak_NLP_1\u202e.json", "x\x00.zip", "x\ud800.csv"):
        for content in (HARD, {"task1_hard_Lak_NLP_1\u200f": HARD}, b"<html>"):
            report = check_upload(tiny, stored(content), name, TEAM).report
            assert not report.ok
            assert all((problem.file or "").isprintable() and problem.message.isprintable() for problem in report)


def test_a_missing_list_of_items_is_reported_once_and_not_as_the_runs_error(tiny: Definition, stored: Stored) -> None:
    (tiny.folder / "items.txt").unlink()
    assert said(check_upload(tiny, stored(HARD), "task1_hard_Lak_NLP_1", TEAM).report) == [
        ("items-unreadable", "items.txt")
    ]


def test_the_same_upload_gets_the_same_report(tiny: Definition, stored: Stored) -> None:
    path = stored({"task1_hard_Lak_NLP_1": HARD.replace(b'"A"', b'"C"'), "x": b"\xff"})
    reports = [check_upload(tiny, path, "tiny_Lak_NLP.zip", TEAM).report.as_dict() for _ in range(2)]
    assert reports[0] == reports[1]
    assert json.loads(json.dumps(reports[0])) == reports[0]


def test_names_count_for_tracks_without_numbers(tiny: Definition, stored: Stored) -> None:
    definition = replace(tiny, naming=replace(tiny.naming, run="{task}_{context}.json", numbers=()))
    upload = check_upload(definition, stored(HARD), "task1_hard.json", TEAM)
    assert [(run.run.track, run.run.number) for run in upload.runs] == [("task1-hard", None)]
    assert upload.ok
