"""Files and archives with a hostile name or structure: they get a 4xx status, and none of their content is stored."""

import logging
import stat
import struct
import zipfile
from pathlib import Path

import pytest

from portal.models import Submission
from scoring import limits
from tests.scoring.uploads.test_archives import of_kind, patched, zipped
from tests.security.uploads import LABELS, SECONDS, TABLE, Desk, dump, hostile_task
from tests.security.zips import BROKEN, LYING, NAME, ODD, OTHER, RUN

ARCHIVE = "hostile_Bora.zip"
ONE = zipped({NAME: RUN})


def flagged(flag: int) -> bytes:
    value = struct.pack("<H", flag)
    return patched(patched(ONE, b"PK\x01\x02", 8, value), b"PK\x03\x04", 6, value)


def stated(size: int) -> bytes:
    value = struct.pack("<L", size)
    return patched(patched(ONE, b"PK\x01\x02", 24, value), b"PK\x03\x04", 22, value)


# case number → (file name, content, code)
ATTACKS: dict[str, list[tuple[str, bytes, str]]] = {
    "A17 another kind": [
        ("table_Bora_1", b"<!doctype html><html><body>no run</body></html>", "not-a-text"),
        ("labels_Bora_1", b"%PDF-1.7 and so on", "not-a-text"),
        ("labels_Bora_1", b"\x7fELF and so on", "not-a-text"),
        ("labels_Bora_1", ONE, "archive-named-otherwise"),
        (ARCHIVE, RUN, "archive-no-zip"),
        (ARCHIVE, b"", "archive-no-zip"),
    ],
    "A18 paths": [
        (ARCHIVE, zipped({path: RUN}), "archive-path")
        for path in (
            f"../{NAME}",
            f"a/../../{NAME}",
            f"/tmp/{NAME}",
            f"C:/{NAME}",
            f"c:{NAME}",
            f"..\\{NAME}",
        )
    ],
    "A19 no files": [
        *(
            (ARCHIVE, zipped({of_kind(NAME, mode | 0o777): b"/etc/passwd"}), "archive-special")
            for mode in (stat.S_IFLNK, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFIFO, stat.S_IFSOCK)
        ),
        (ARCHIVE, zipped({NAME: RUN, "folder/": RUN}), "archive-special"),
        (ARCHIVE, zipped({"folder/": b""}), "archive-empty"),
    ],
    "A21 sizes": [
        (ARCHIVE, zipped({NAME: bytes(8 * limits.MEBIBYTE)}), "archive-ratio"),
        (ARCHIVE, zipped({f"{n}": b"" for n in range(limits.ARCHIVE_ENTRIES + 1)}), "archive-entries"),
        (ARCHIVE, stated(limits.RUN_BYTES + 1), "archive-too-large"),
        (ARCHIVE, zipped({NAME: RUN, "inner.zip": ONE}), "archive-nested"),
        (ARCHIVE, zipped({NAME: RUN, "inner.tar.gz": ONE}), "archive-nested"),
    ],
    "A24 methods": [
        (ARCHIVE, flagged(0x1), "archive-encrypted"),
        (ARCHIVE, flagged(0x41), "archive-encrypted"),
        (ARCHIVE, zipped({NAME: RUN}, zipfile.ZIP_BZIP2), "archive-method"),
        (ARCHIVE, zipped({NAME: RUN}, zipfile.ZIP_LZMA), "archive-method"),
    ],
    "A25 names": [
        ("labels_Bora_1" + "x" * 230, RUN, "name-characters"),
        ("labels_Bora_1.", RUN, "name-extension"),
        ("labels_Bora_1.json", RUN, "name-extension"),
        (ARCHIVE, zipped({NAME: RUN, "notes.docx": b"x"}), "name-pattern"),
        (ARCHIVE, zipped({f"{NAME}\u200f": RUN}), "name-characters"),
    ],
}


@pytest.fixture
def desk(db: None, tmp_path: Path) -> Desk:
    return Desk(hostile_task(tmp_path / "hostile"))


def rejected_codes(desk: Desk, name: str, body: bytes) -> set[str]:
    """Check that validation and submission both reject the file and store nothing. Return the error codes."""
    files = desk.files()
    checked, rejected = desk.check(name, body), desk.rejected(name, body)
    assert (checked.status, rejected.status) == (422, 422)
    assert rejected.codes <= checked.codes
    assert max(checked.seconds, rejected.seconds) < SECONDS
    assert desk.files() == files
    assert (desk.runs, desk.used, Submission.objects.count()) == ([], 0, 0)
    return rejected.codes


@pytest.mark.parametrize("case", ATTACKS)
def test_structure_is_rejected_before_anything_is_stored(
    desk: Desk, case: str, caplog: pytest.LogCaptureFixture
) -> None:
    for name, body, code in ATTACKS[case]:
        assert code in rejected_codes(desk, name, body), (name, body[:60])
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]
    submission, _ = desk.accepted("labels_Bora_1", RUN)
    assert submission.runs.get().state == "scored"


def test_all_kinds_of_broken_archives_are_rejected(desk: Desk) -> None:
    named = {what: rejected_codes(desk, ARCHIVE, body) for what, body in BROKEN.items()}
    allowed = {
        "archive-broken",
        "archive-name-twice",
        "name-twice",
        "archive-no-zip",
        "name-characters",
        "name-pattern",
    }
    assert {what: codes for what, codes in named.items() if not codes or not codes <= allowed} == {}


def test_archives_that_lie_about_their_data_are_rejected_by_the_child(desk: Desk) -> None:
    for what, body in LYING.items():
        checked = desk.check(ARCHIVE, body)
        submission, judged = desk.accepted(ARCHIVE, body)
        assert (checked.status, checked.codes, judged.codes) == (422, {"archive-broken"}, {"archive-broken"}), what
        assert (submission.state, desk.used) == ("rejected", 0)


@pytest.mark.parametrize("what", ODD)
def test_odd_but_valid_archives_are_read(desk: Desk, what: str) -> None:
    submission, judged = desk.accepted(ARCHIVE, ODD[what])
    assert judged.codes == set()
    assert {run.state for run in submission.runs.all()} == {"scored"}
    assert {run.name for run in submission.runs.all()} in ({NAME}, {NAME, OTHER})


def test_direction_marks_in_file_names_have_no_effect(desk: Desk) -> None:
    """Django removes unprintable characters from the names of uploaded files."""
    submission, _ = desk.accepted("labels_\u202eBora_1\u200f", RUN)
    assert (submission.file_name, submission.runs.get().name) == (NAME, NAME)


def test_what_is_passed_over_is_said(desk: Desk) -> None:
    for what, code in {
        "a folder and its run": "folder",
        "what macOS adds": "clutter",
        "a readme": "accompanying",
    }.items():
        problems = desk.check(ARCHIVE, ODD[what]).problems
        assert [(problem["severity"], problem["code"]) for problem in problems] == [("warning", f"archive-{code}")]


def test_more_runs_than_are_left_are_rejected_whole(desk: Desk) -> None:
    files = {f"labels_Bora_{number}": dump(LABELS) for number in (1, 2, 3)}
    desk.accepted("labels_Bora_1", RUN)
    type(desk.team.shared_task.phases.get()).objects.update(runs_per_track=3, run_numbers="free")
    before = desk.files()
    rejected = desk.rejected(ARCHIVE, zipped(files | {"table_Bora_1": TABLE.encode()}))
    assert rejected.status == 429
    assert (len(desk.runs), desk.used, desk.files()) == (1, 1, before)
