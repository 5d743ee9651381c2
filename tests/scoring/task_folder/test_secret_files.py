"""Files of gold and votes are secret: they have no public use, and no public file is a copy of one."""

import shutil
import zipfile
from pathlib import Path

import pytest

from scoring import load_definition
from scoring.task_folder.folder import problems_of_folder

TASK = """\
agon: 1
slug: tiny
title: Tiny
year: 2024
languages: [en]
pages: {overview: pages/overview.md}
tracks:
  - slug: main
    title: Main
    format: {kind: json-labels, classes: ["YES", "NO"]}
    items: {test: items.txt}
    metrics: [accuracy]
    rank_by: accuracy
naming: {archive: "tiny_{team}", run: "{track}_{team}_{number}.json", number: [1, 2]}
phases:
  - {slug: main, opens: "2024-05-01 00:00 UTC", closes: "2024-05-16 00:00 UTC", scores: at-once, official: best}
gold:
  - {track: main, file: gold/main.json}
datasets:
"""
COPY = "  - {slug: copy, file: data/copy.json, access: public"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("pages", "gold", "data"):
        (tmp_path / name).mkdir()
    (tmp_path / "pages/overview.md").write_text("# Tiny\n")
    (tmp_path / "items.txt").write_text("1\n")
    (tmp_path / "gold/main.json").write_text('[{"id": "1", "test_case": "T", "value": "YES"}]')
    return tmp_path


def found(folder: Path, datasets: str = "  []\n") -> set[tuple[str, str | None]]:
    (folder / "task.yaml").write_text(TASK + datasets)
    return {(problem.code, problem.file) for problem in problems_of_folder(load_definition(folder))}


def test_a_file_has_a_secret_or_a_public_use(folder: Path) -> None:
    assert found(folder) == set()
    assert found(folder, "  - {slug: gold, file: gold/main.json, access: public}\n") == {
        ("folder-file", "gold/main.json")
    }


def test_links_to_gold_are_copies(folder: Path) -> None:
    (folder / "pages/overview.md").unlink()
    (folder / "pages/link.md").symlink_to(folder / "gold/main.json")
    shutil.copy(folder / "gold/main.json", folder / "pages/overview.md")
    assert ("folder-secret", "pages/overview.md") in found(folder)


GOLD = '[{"id": "1", "test_case": "T", "value": "YES"}]'


@pytest.mark.parametrize("copy", [f"{GOLD}\n", f"\ufeff{GOLD}\r\n\r\n", GOLD.replace("[", "[\r\n")])
def test_copies_with_other_line_ends_are_copies(folder: Path, copy: str) -> None:
    (folder / "data/copy.json").write_bytes(copy.encode())
    assert found(folder) == {("folder-secret", "data/copy.json")}
    (folder / "data/copy.json").write_text(copy.replace("YES", "NO"))
    assert found(folder) == set()


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_copies_in_zips_are_copies(folder: Path, method: int) -> None:
    with zipfile.ZipFile(folder / "data/all.zip", "w", method) as archive:
        archive.writestr("readme.txt", "The data.")
        archive.writestr("deep/labels.json", GOLD)
    assert found(folder) == {("folder-secret", "data/all.zip")}
    assert found(folder, "  - {slug: all, file: data/all.zip, access: public}\n") == set()
    with zipfile.ZipFile(folder / "data/all.zip", "w", method) as archive:
        archive.writestr("labels.json", GOLD.replace("YES", "NO"))
        archive.writestr("empty.json", "")
    assert found(folder) == set()


@pytest.mark.parametrize(
    ("released", "problems"),
    [
        ("}\n", {("folder-secret", "data/copy.json")}),
        (', released: "2024-05-15 00:00 UTC"}\n', {("folder-secret", "data/copy.json")}),
        (', released: "2024-05-16 00:00 UTC"}\n', set()),
    ],
)
def test_a_dataset_may_contain_gold_once_its_phases_have_closed(
    folder: Path, released: str, problems: set[tuple[str, str]]
) -> None:
    shutil.copy(folder / "gold/main.json", folder / "data/copy.json")
    assert found(folder, COPY + released) == problems


def test_empty_files_are_no_copies(folder: Path) -> None:
    (folder / "gold/main.json").write_text("")
    (folder / "data/empty.json").write_text("")
    assert {code for code, _file in found(folder)} == {"folder-file"}
