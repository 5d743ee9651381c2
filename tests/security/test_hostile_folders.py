"""Hostile task folders: each is reported as a problem with its location, and nothing else happens."""

import json
import os
import shutil
import stat
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from portal.actions.task_folder.pushed_folder import check_push
from portal.actions.task_folder.pushes import push_new_task
from portal.evaluation import pushes
from portal.evaluation.child import Child
from portal.models import GoldStandard, Run, SharedTask, TaskPush, User
from portal.objects.interface import data_objects, gold_objects
from scoring import limits
from tests.portal.conftest import tiny_folder
from tests.portal.test_import import edit
from tests.portal.test_pushes import creator, packed
from tests.portal.world import EVALUATION, sealed_file
from tests.scoring.uploads.test_archives import of_kind, zipped
from tests.security.zips import BROKEN, LYING

__all__ = ["creator", "tiny_folder"]

SECONDS = 30
Push = Callable[[bytes], TaskPush]


@pytest.fixture
def push(creator: User) -> Push:
    """Push an invalid zip. Check that it is rejected quickly and that only the row of the push remains."""

    def push(content: bytes) -> TaskPush:
        before = set(data_objects().names()), set(gold_objects().names())
        start = time.process_time()
        found = push_new_task(creator, creator, EVALUATION, sealed=sealed_file(content))
        check_push(found.pk, EVALUATION)
        found.refresh_from_db()
        assert time.process_time() - start < SECONDS
        assert found.state == "rejected", found.state
        assert all(problem["message"] for problem in found.problems)
        assert (set(data_objects().names()), set(gold_objects().names())) == before
        assert not any(model.objects.exists() for model in (SharedTask, GoldStandard, Run))
        TaskPush.objects.all().delete()  # otherwise, limits might stop the next push
        return found

    return push


def places(found: TaskPush) -> set[tuple[str, str | None]]:
    return {(problem["code"], problem["file"]) for problem in found.problems if problem["severity"] == "error"}


PATHS = ["../../escaped", "/tmp/escaped", "C:/escaped", "c:escaped", "..\\escaped", "a/../../escaped"]


def test_paths_that_leave_the_folder(push: Push, tiny_folder: Path) -> None:
    for path in PATHS:
        codes = {code for code, _file in places(push(packed(tiny_folder, **{path: b"x"})))}
        assert codes == {"folder-path"}, path
    assert not Path("/tmp/escaped").exists()


def test_links_and_devices(push: Push, tiny_folder: Path) -> None:
    for mode in (stat.S_IFLNK, stat.S_IFCHR, stat.S_IFIFO):
        name = "tiny_task/pages/link.md"
        files = {
            path.relative_to(tiny_folder.parent).as_posix(): path.read_bytes() for path in tiny_folder.rglob("*.*")
        }
        found = push(zipped(files | {of_kind(name, mode | 0o777): b"/etc/passwd"}))
        assert places(found) == {("archive-special", name)}


def test_bombs_and_sizes(push: Push, tiny_folder: Path) -> None:
    attacks = {
        "archive-ratio": {"tiny_task/data/zeros.txt": bytes(64 * limits.MEBIBYTE)},
        "archive-entries": {f"tiny_task/{n}": b"" for n in range(limits.FOLDER_ENTRIES + 1)},
        "archive-too-large": {"tiny_task/more/task.yaml": bytes(limits.DEFINITION_BYTES + 1)},
    }
    for code, files in attacks.items():
        assert code in {found for found, _file in places(push(packed(tiny_folder, **files)))}


@pytest.mark.parametrize("what", [*BROKEN, *LYING])
def test_zips_that_could_be_read_in_two_ways(push: Push, what: str) -> None:
    assert places(push((BROKEN | LYING)[what]))


def test_huge_pages(push: Push, tiny_folder: Path) -> None:
    for text in (b"[" * (limits.PAGE_BYTES + 1), b"![" * (limits.PAGE_IMAGES + 1)):
        (tiny_folder / "pages/overview.md").write_bytes(text)
        assert places(push(packed(tiny_folder))) == {("folder-file", "pages/overview.md")}


def test_too_many_parts(push: Push, tiny_folder: Path) -> None:
    path = tiny_folder / "task.yaml"
    lines = "".join(f"  - {{name: b{number}, files: baselines/one_yes.json}}\n" for number in range(limits.ENTRIES))
    path.write_text(path.read_text() + lines)
    found = push(packed(tiny_folder))
    assert [(problem["file"], problem["item"]) for problem in found.problems] == [("task.yaml", "baselines")]


def test_too_many_rows_of_baselines(push: Push, tiny_folder: Path) -> None:
    """The numbers of phases and baselines are within their limits, but their product is not."""
    path = tiny_folder / "task.yaml"
    lines = path.read_text().splitlines(keepends=True)
    start = next(place for place, line in enumerate(lines) if line.startswith("phases:")) + 1
    rest = 'opens: "2024-06-01 00:00 UTC", split: test, scores: at-once, official: last'
    more = [f"  - {{slug: p{n}, {rest}}}\n" for n in range(150)]
    text = "".join([*lines[:start], *more, *lines[start:]])
    path.write_text(text + "".join(f"  - {{name: b{n}, files: baselines/one_yes.json}}\n" for n in range(150)))
    found = push(packed(tiny_folder))
    assert [(problem["file"], problem["item"]) for problem in found.problems] == [("task.yaml", "baselines")]


def test_patterns_that_take_exponential_time(push: Push, tiny_folder: Path) -> None:
    repeats = ("(?:){1000000000}[a-z]+", "a{2,1000000}", "(?:(?:(?=a{100})a){100}){100}")
    for pattern in ("(a+)+$", "(a|aa)+", r"(a*)*\\1", "(" * 5000, *repeats):
        path = tiny_folder / "task.yaml"
        original = path.read_text()
        path.write_text(original.replace('"[A-Za-z0-9_-]{2,30}"', f'"{pattern}"'))
        found = push(packed(tiny_folder))
        path.write_text(original)
        assert {(problem["file"], problem["line"]) for problem in found.problems} == {("task.yaml", 8)}, pattern


def test_yaml_that_grows_or_nests(push: Push, tiny_folder: Path) -> None:
    path = tiny_folder / "task.yaml"
    original = path.read_text()
    aliases = "a: &a [x, x]\n" + "".join(f"b{n}: &b{n} [*a, *a]\n" for n in range(20))
    for attack in (aliases, "x: " + "[" * 20_000 + "]" * 20_000, "x: !!python/object/apply:os.system [id]\n", "\0"):
        path.write_text(original + attack)
        assert {file for _code, file in places(push(packed(tiny_folder)))} == {"task.yaml"}


VALUES = [
    ('title: "Tiny"', r'title: "Ti\0ny"', "/"),
    ("year: 2024", r"'year: 2024, \0': 1".replace("'", '"'), "/"),
    ("year: 2024", "year: 2024\ndecimals: 999999999", "decimals"),
    ("baselines/{track}_yes.json", "baselines/{track", "baselines[1].files"),
    ('opens: "2024-06-01 00:00 UTC", split: test', 'opens: "2024-06-01 00:00 UTC", split: ../../x', "phases[1].split"),
]


@pytest.mark.parametrize(("before", "after", "item"), VALUES)
def test_values_that_break_pages_paths_or_the_database(
    push: Push, tiny_folder: Path, before: str, after: str, item: str
) -> None:
    edit(tiny_folder, before, after)
    found = push(packed(tiny_folder))
    assert item in {problem["item"] for problem in found.problems}
    assert "\\u0000" not in json.dumps(found.problems)


def test_code_and_plug_ins_never_run(creator: User, tiny_folder: Path) -> None:
    """Push a module that the definition names as a metric, and modules with names that Python would import."""
    code = f"open({str(tiny_folder.parent / 'ran')!r}, 'w').close()\n"
    for name in ("sitecustomize.py", "scoring.py", "metric.py", "portal/__init__.py", "setup.py"):
        (tiny_folder / name).parent.mkdir(exist_ok=True)
        (tiny_folder / name).write_text(code)
    path = tiny_folder / "task.yaml"
    named = path.read_text()
    path.write_text(named.replace("metrics: [accuracy]", 'metrics: [accuracy, "metric.py"]'))
    found = push_new_task(creator, creator, EVALUATION, sealed=sealed_file(packed(tiny_folder)))
    check_push(found.pk, EVALUATION)
    found.refresh_from_db()
    assert found.state == "rejected"
    assert "task.yaml" in {file for _code, file in places(found)}
    path.write_text(named)
    found = push_new_task(creator, creator, EVALUATION, sealed=sealed_file(packed(tiny_folder)))
    check_push(found.pk, EVALUATION)
    found.refresh_from_db()
    assert found.state == "applied"
    assert {problem["code"] for problem in found.problems} == {"folder-code"}
    assert not list(SharedTask.objects.get().definition.folder.rglob("*.py"))
    assert not (tiny_folder.parent / "ran").exists()
    assert "metric" not in sys.modules


def test_a_folder_that_kills_its_check_is_rejected_at_once(
    push: Push, tiny_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pushes, "Child", partial(Child, memory=256 * limits.MEBIBYTE))
    (tiny_folder / "data/large.txt").write_bytes(os.urandom(60 * limits.MEBIBYTE))
    assert places(push(packed(tiny_folder))) == {("folder-too-expensive", None)}


SECRETS = [
    ("pages/overview.md", "gold/one.json", "gold/one.json"),  # as a page
    ('"baselines/{track}_yes.json"', '"gold/{track}.json"', "gold/one.json"),  # as a baseline
    ("items: {test: data/items.txt", "items: {test: gold/two.json", "gold/two.json"),  # as items
    ("pages/overview.md", "gold/other.md", "gold/other.md"),  # in the folder, but not gold
    ("pages/overview.md", ".hidden/other.md", ".hidden/other.md"),
]


@pytest.mark.parametrize(("before", "after", "file"), SECRETS)
def test_secret_files_with_a_public_use(push: Push, tiny_folder: Path, before: str, after: str, file: str) -> None:
    """They are not unpacked, so they could not be found, and the portal took that for an outage."""
    edit(tiny_folder, before, after)
    (tiny_folder / ".hidden").mkdir()
    for name in ("gold/other.md", ".hidden/other.md"):
        (tiny_folder / name).write_text("# Other\n")
    assert ("folder-file", file) in places(push(packed(tiny_folder)))


def test_copies_of_gold(push: Push, tiny_folder: Path) -> None:
    shutil.copy(tiny_folder / "gold/one.json", tiny_folder / "pages/copy.json")
    assert places(push(packed(tiny_folder))) == {("folder-secret", "pages/copy.json")}


LONG_NAMES = [
    ("pages/overview.md", f"pages/{'é' * 140}.md"),
    ('"baselines/{track}_yes.json"', f'"baselines/{"é" * 128}{{track}}.json"'),
    ("file: gold/one.json", f"file: gold/{'é' * 128}"),
]


def test_names_that_are_too_long_for_file_systems(push: Push, tiny_folder: Path) -> None:
    found = push(packed(tiny_folder, **{f"tiny_task/data/{'é' * 140}.txt": b"x"}))
    assert [problem["code"] for problem in found.problems] == ["folder-path"]
    for before, after in LONG_NAMES:
        edit(tiny_folder, before, after)
        assert places(push(packed(tiny_folder))) == {("definition-value", "task.yaml")}
        edit(tiny_folder, after, before)


def test_paths_through_files(push: Push, tiny_folder: Path) -> None:
    for before, after in (("pages/overview.md", "pages/overview.md/more.md"), ("gold/one.json", "task.yaml/gold.json")):
        edit(tiny_folder, before, after)
        assert "folder-file" in {code for code, _file in places(push(packed(tiny_folder)))}
        edit(tiny_folder, after, before)
