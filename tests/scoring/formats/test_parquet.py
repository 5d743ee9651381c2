"""Parquet files: the same checks as for text, with row numbers, and limits on what a file unpacks to."""

import io
import struct
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from scoring import Definition, check, check_upload, load_definition, score
from scoring.answers import Matrix
from scoring.formats import parquet, read_run, write_run
from scoring.formats.parquet_pages import BrokenPageError, page_sizes
from scoring.reports.problems import Report
from tests.conftest import ROOT

TASK = """
agon: 1
slug: columns
title: Columns
year: 2026
languages: [en]
tracks:
  - slug: labels
    format: {kind: table-labels, id: id, label: label, classes: ["YES", "NO"], parquet: true}
    items: items.txt
    metrics: [accuracy]
    rank_by: accuracy
  - slug: numbers
    format: {kind: table, id: [doc, pos], columns: [HS, TR], parquet: true, aliases: {hs: HS}}
    items: pairs.txt
    metrics: ["accuracy:HS"]
    rank_by: "accuracy:HS"
  - slug: shares
    format: {kind: table-soft, id: id, classes: ["YES", "NO"], sum: 1, parquet: true}
    items: items.txt
    metrics: [manhattan]
    rank_by: manhattan
naming: {run: "{track}_{team}_{number}.parquet", number: [1, 2, 3]}
phases: [{slug: open, opens: "2026-01-01 00:00 UTC", scores: at-once, official: best}]
gold: [{track: labels, file: gold.parquet}]
"""
IDS = ["a", "b", "c", "d"]


@pytest.fixture
def task(tmp_path: Path) -> Definition:
    (tmp_path / "task.yaml").write_text(TASK)
    (tmp_path / "items.txt").write_text("\n".join(IDS))
    (tmp_path / "pairs.txt").write_text("d1_1\nd1_2\nd2_1\n")
    (tmp_path / "gold.parquet").write_bytes(stored({"id": IDS, "label": ["YES", "NO", "NO", "NO"]}))
    return load_definition(tmp_path)


def stored(columns: Mapping[str, Any], **options: Any) -> bytes:
    body = io.BytesIO()
    pq.write_table(pa.table(columns), body, **options)
    return body.getvalue()


def codes(task: Definition, track: str, data: bytes) -> list[str]:
    return [problem.code for problem in check(task, track, data)]


def long_text(size: int) -> bytes:
    """Return a small file with a text of this size, in a page after four bytes."""
    return stored({"id": ["a" * size], "label": ["YES"]}, compression="zstd", use_dictionary=False)


def with_another_name(data: bytes) -> bytes:
    """Rename the column `id` in the description of the row group, which pyarrow does not compare with the schema."""
    old = b"\x19\x18\x02id"
    assert data.count(old) == 1
    return data.replace(old, b"\x19\x18\x02iX")


def with_another_size(data: bytes) -> bytes:
    """Repeat the unpacked size of the first page as a 64-bit integer (10), which Thrift skips. Drop its statistics."""
    old, new = bytes.fromhex("2c15021500150615061c3600 000000"), bytes.fromhex("06049400 3c15021500150615060000")
    assert len(old) == len(new)
    assert 4 < data.index(old) < 40
    return data.replace(old, new, 1)


CHANGES = [with_another_name, with_another_size]


@pytest.mark.parametrize("compression", ["snappy", "zstd", "gzip", "lz4", "brotli", "none"])
@pytest.mark.parametrize("dictionary", [True, False])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_files_are_read_however_they_are_packed(
    task: Definition, compression: str, dictionary: bool, version: str
) -> None:
    run = stored(
        {"id": IDS, "label": ["YES", "NO", "YES", "NO"]},
        compression=compression,
        use_dictionary=dictionary,
        data_page_version=version,
        row_group_size=3,
    )
    assert codes(task, "labels", run) == []
    assert score(task, "labels", run, task.gold[0].file).scores == {"accuracy": 0.75}


def test_numbers_of_any_type_and_columns_by_alias(task: Definition) -> None:
    columns = {
        "doc": pa.array(["d1", "d1", "d2"]).dictionary_encode(),
        "pos": pa.array([1, 2, 1], pa.int8()),
        "hs": pa.array([1.0, 0.0, 1.0]),
        "TR": pa.array([True, False, False]),
        "__index_level_0__": pa.array([0, 1, 2]),
    }
    report = Report()
    answers = read_run(task.track("numbers"), stored(columns), report)
    assert report.problems == []
    assert isinstance(answers, Matrix)
    assert answers.ids == ["d1_1", "d1_2", "d2_1"]
    assert answers.values.tolist() == [[1, 1], [0, 0], [1, 0]]


LABELS: dict[str, Any] = {"id": IDS, "label": ["YES", "NO", "YES", "NO"]}


@pytest.mark.parametrize(
    ("changed", "code", "line"),
    [
        ({"label": ["YES", "no", "YES", "NO"]}, "label-outside-domain", 2),
        ({"label": ["YES", "NO", None, "NO"]}, "label-outside-domain", 3),
        ({"id": ["a", "b", "c", "c"]}, "duplicate-ids", None),
        ({"label": [["YES"], [], [], []]}, "parquet-column-type", None),
        ({"label": [{"x": 1}] * 4}, "parquet-column-type", None),
        ({"id": [b"a", b"b", b"c", b"d"]}, "parquet-column-type", None),
        ({"note": [1, 2, 3, 4]}, "extra-columns", None),
    ],
)
def test_problems_have_the_number_of_the_row(
    task: Definition, changed: Mapping[str, Any], code: str, line: int | None
) -> None:
    problem = next(iter(check(task, "labels", stored(LABELS | changed))))
    assert (problem.code, problem.line) == (code, line)


def test_a_missing_column_is_named(task: Definition) -> None:
    (problem,) = check(task, "labels", stored({"id": IDS, "labels": LABELS["label"]}))
    assert (problem.code, problem.suggestion, problem.line) == ("header-column-missing", "labels → label", None)


def test_numbers_outside_the_domain_and_sums(task: Definition) -> None:
    shares = {"id": IDS, "YES": [0.5, 1.0, float("nan"), 0.25], "NO": [0.5, 0.0, 1.0, 0.5]}
    found = {problem.code: problem for problem in check(task, "shares", stored(shares))}
    assert set(found) == {"share-not-a-number", "wrong-sum"} or "value-missing" in found


GOOD = stored(LABELS)


@pytest.mark.parametrize(
    "data",
    [
        b"id,label\na,YES\n",
        b"",
        b"PAR1",
        b"PAR1PAR1",
        GOOD[:-1],
        GOOD[:60] + GOOD[61:],
        GOOD[:4] + bytes(200) + GOOD[204:],
        GOOD[:-8] + struct.pack("<I", 2**31) + b"PAR1",
        GOOD[:-8] + struct.pack("<I", 7) + b"PAR1",
        stored({}),
    ],
)
def test_broken_files_are_reported(task: Definition, data: bytes) -> None:
    assert codes(task, "labels", data) == ["parquet-unreadable"]


@pytest.mark.slow
def test_no_byte_can_be_changed_so_that_reading_raises_an_error(task: Definition) -> None:
    """Change every byte of a file in two ways. Each resulting file is valid or has problems in its report."""
    for place in range(len(GOOD)):
        for mask in (0xFF, 0x10):
            broken = bytearray(GOOD)
            broken[place] ^= mask
            check(task, "labels", bytes(broken))


@pytest.mark.slow
def test_a_page_that_claims_to_unpack_to_gigabytes_is_not_unpacked(
    task: Definition, monkeypatch: pytest.MonkeyPatch
) -> None:
    bomb = long_text(2**26)
    assert len(bomb) < 20_000
    monkeypatch.setattr(parquet, "_column", lambda *_: pytest.fail("it was unpacked"))
    (problem,) = check(task, "labels", bomb)
    assert problem.code == "parquet-unreadable"
    assert "unpack to more than" in str(problem.found)


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_descriptions_that_contradict_themselves_do_not_hide_a_page(
    task: Definition, monkeypatch: pytest.MonkeyPatch, change: Callable[[bytes], bytes]
) -> None:
    monkeypatch.setattr(parquet, "_column", lambda *_: pytest.fail("it was unpacked"))
    assert codes(task, "labels", change(long_text(2**26))) == ["parquet-unreadable"]


@pytest.mark.parametrize("encoding", ["DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_texts_in_encodings_without_limits_are_reported(task: Definition, encoding: str, version: str) -> None:
    encodings = dict.fromkeys(LABELS, encoding)
    run = stored(LABELS, use_dictionary=False, column_encoding=encodings, data_page_version=version)
    (problem,) = check(task, "labels", run)
    assert problem.code == "parquet-unreadable"
    assert problem.found == f"its columns have the encoding {encoding}; write them with dictionary or plain encoding"


@pytest.mark.parametrize(
    ("writer", "read"),
    [
        ("parquet-mr version 1.2.8", False),
        ("parquet-mr", False),
        (" Parquet-MR version 1.12", False),
        ("parquet-mr version 1.3.0", True),
        ("parquet-mr version 1.12.3 (build", True),
        ("another", True),
    ],
)
def test_old_writers_whose_columns_are_read_beyond_their_end(task: Definition, writer: str, read: bool) -> None:
    name = f"parquet-cpp-arrow version {pa.__version__}"
    changed = GOOD.replace(name.encode(), f"{writer:{len(name)}}"[: len(name)].encode())
    assert changed != GOOD
    assert codes(task, "labels", changed) == ([] if read else ["parquet-unreadable"])


def test_a_file_that_declares_encryption_is_reported(task: Definition) -> None:
    """Add an empty method of encryption, on which pyarrow would end the process."""
    (size,) = struct.unpack("<I", GOOD[-8:-4])
    encrypted = GOOD[:-9] + b"\x1c\x00" + GOOD[-9:-8] + struct.pack("<I", size + 2) + b"PAR1"
    (problem,) = check(task, "labels", encrypted)
    assert (problem.code, problem.found) == ("parquet-unreadable", "it is encrypted")


def test_millions_of_rows_in_a_small_file_are_too_many(task: Definition) -> None:
    rows = 2_000_000
    column = pa.DictionaryArray.from_arrays(np.zeros(rows, np.int8), ["a"])
    bomb = stored({"id": column, "label": column}, compression="zstd")
    assert len(bomb) < 20_000
    assert codes(task, "labels", bomb) == ["too-many-entries"]


def test_a_long_text_in_every_row_is_too_much(task: Definition) -> None:
    rows = 50_000
    long = pa.DictionaryArray.from_arrays(np.zeros(rows, np.int8), ["a" * 2**20])
    short = pa.DictionaryArray.from_arrays(np.zeros(rows, np.int8), ["YES"])
    (problem,) = check(task, "labels", stored({"id": long, "label": short}, compression="zstd"))
    assert "characters" in str(problem.found)


def test_many_small_pages_are_too_many(task: Definition, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "PAGES", 3)
    (problem,) = check(task, "labels", stored(LABELS, row_group_size=1))
    assert "pages" in str(problem.found)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x15",
        b"\x15\x00\x15",
        b"\x1c" * 9,
        b"\x19\x00",
        b"\x15" + b"\xff" * 20,
        b"\x58\x7f",
        b"\x25\x00\x16\x00\x00",  # field 3 is a 64-bit integer
        b"\x25\x00\x15\x00\x05\x04\x00\x00",  # field 2 twice
        b"\x25\x00\x15\x00\x05\x84\x80\x08\x00\x00",  # field 65,538, which is 2 in 16 bits
    ],
)
def test_headers_that_are_no_headers(data: bytes) -> None:
    if data:
        with pytest.raises(BrokenPageError):
            list(page_sizes(data, 0, len(data)))
    assert list(page_sizes(data, 0, 0)) == []


def test_uploads_and_written_runs(task: Definition, tmp_path: Path) -> None:
    path = tmp_path / "numbers_Team_1.parquet"
    values = np.array([[1, 0], [0, 0], [1, 1]])
    write_run(task.track("numbers"), Matrix(["d1_1", "d1_2", "d2_1"], ("HS", "TR"), values), path)
    assert check_upload(task, path, path.name, "Team").ok
    text = path.with_name("labels_Team_1.parquet")
    text.write_text("id,label\na,YES\n")
    problems = [problem.code for problem in check_upload(task, text, text.name, "Team").report]
    assert problems == ["parquet-unreadable"]


@pytest.mark.slow
def test_the_engine_starts_without_the_library() -> None:
    code = "import sys, scoring.formats; print('pyarrow' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
