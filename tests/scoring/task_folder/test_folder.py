"""Checks of the files in a task's folder."""

from pathlib import Path

import pytest

from scoring import load_definition
from scoring.reports.problems import Problem
from scoring.task_folder.folder import errors_of_folder, problems_of_folder
from tests.scoring.task_folder.test_secret_files import TASK


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("pages", "gold"):
        (tmp_path / name).mkdir()
    (tmp_path / "pages/overview.md").write_text("# Tiny\n")
    (tmp_path / "items.txt").write_text("1\n2\n")
    (tmp_path / "gold/main.json").write_text('[{"id": "1", "value": "YES"}, {"id": "2", "value": "NO"}]')
    (tmp_path / "task.yaml").write_text(TASK.replace("datasets:\n", ""))
    return tmp_path


def problems(folder: Path) -> list[Problem]:
    return problems_of_folder(load_definition(folder))


@pytest.mark.parametrize("space", [" ", "\t", "\u00a0", "\u3000"])
def test_spaces_around_an_id_in_the_list_of_items_are_shown(folder: Path, space: str) -> None:
    (folder / "items.txt").write_text(f"1\n\n2{space}\n", encoding="utf-8")
    [problem] = problems(folder)
    assert (problem.severity, problem.file, problem.line) == ("error", "items.txt", 3)
    assert "spaces at their ends" in problem.message
    assert "2" in problem.message.partition("ends: ")[2]


def test_warnings_of_the_definition_are_listed_but_are_no_errors(folder: Path) -> None:
    text = (
        (folder / "task.yaml").read_text().replace('closes: "2024-05-16 00:00 UTC"', 'closes: "2024-05-16 00:00 EST"')
    )
    (folder / "task.yaml").write_text(text)
    [warning] = problems(folder)
    assert (warning.severity, warning.code, warning.item) == ("warning", "definition-time", "phases[0].closes")
    assert errors_of_folder(load_definition(folder)) == []
