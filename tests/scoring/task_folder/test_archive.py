"""Zips that are accepted or rejected as a task's folder."""

import io
import stat

import pytest

from scoring import limits
from scoring.reports.problems import Report
from scoring.task_folder.archive import inspect_folder_archive, read_file
from tests.scoring.uploads.test_archives import of_kind, zipped

YAML = b"agon: 1\n"


def found(*names, **more):
    archive = inspect_folder_archive(io.BytesIO(zipped(dict.fromkeys(names, YAML) | more)))
    return sorted(archive.entries), {(problem.code, problem.file) for problem in archive.report}


def test_a_folder_at_the_top_or_in_one_enclosing_folder_is_the_same():
    assert found("task.yaml", "pages/a.md") == (["pages/a.md", "task.yaml"], set())
    assert found("tiny/task.yaml", "tiny/pages/a.md", "__MACOSX/._task.yaml") == (["pages/a.md", "task.yaml"], set())


@pytest.mark.parametrize(
    "path", ["../a", "a/../../b", "/etc/a", "C:/a", "c:a", "..\\a", "a//b", "a/" * 11 + "b", "x" * 151]
)
def test_paths_that_could_leave_the_folder_are_problems(path):
    files, problems = found("task.yaml", path)
    assert files == []
    assert "folder-path" in {code for code, _file in problems}


@pytest.mark.parametrize("mode", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFIFO, stat.S_IFSOCK])
def test_links_and_devices_are_problems(mode):
    archive = inspect_folder_archive(
        io.BytesIO(zipped({"task.yaml": YAML, of_kind("a", mode | 0o777): b"/etc/passwd"}))
    )
    assert [(problem.code, problem.file) for problem in archive.report.errors] == [("archive-special", "a")]


def test_bombs_too_many_and_too_large_files_are_problems():
    bomb = {"task.yaml": YAML, "data/items.txt": bytes(8 * limits.MEBIBYTE)}
    many = {f"{n}": b"" for n in range(limits.FOLDER_ENTRIES + 1)}
    large = {"task.yaml": bytes(limits.DEFINITION_BYTES + 1)}
    codes = [
        {problem.code for problem in inspect_folder_archive(io.BytesIO(zipped(files))).report.errors}
        for files in (bomb, many, large)
    ]
    assert codes == [{"archive-ratio"}, {"archive-entries"}, {"archive-too-large"}]


def test_names_that_are_one_on_some_computers_are_problems():
    assert found("task.yaml", "Pages/a.md", "pages/a.md")[1] == {("archive-name-twice", "pages/a.md")}
    assert {code for code, _file in found("task.yaml", "a", "a/b")[1]} == {"folder-path"}


def test_code_is_left_out_with_a_warning():
    files, problems = found("task.yaml", "generate.py", "tools/x.SO")
    assert files == ["task.yaml"]
    assert problems == {("folder-code", "generate.py"), ("folder-code", "tools/x.SO")}


def test_a_zip_without_a_definition_is_a_problem():
    assert found("pages/a.md")[1] == {("folder-definition", "task.yaml")}


def test_damaged_data_are_a_problem_of_their_file():
    content = bytearray(zipped({"task.yaml": YAML * 100}))
    content[50] ^= 0xFF
    file, report = io.BytesIO(content), Report()
    archive = inspect_folder_archive(file)
    assert read_file(file, archive.entries["task.yaml"], "task.yaml", report) is None
    assert [(problem.code, problem.file) for problem in report] == [("archive-broken", "task.yaml")]
