"""Random bytes: readers report problems instead of raising exceptions, and accept no file that lacks items."""

import io
import json
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring import Definition, check, check_upload
from scoring.formats import read_run
from scoring.items.index import ItemIndex
from scoring.reports.problems import Report
from scoring.uploads import naming
from tests.scoring.conftest import ITEMS

QUICK = settings(max_examples=60)
RIGHT = {
    "task1-hard": json.dumps([{"id": item, "value": "A", "test_case": "TINY"} for item in ITEMS]).encode(),
    "task2-hard": json.dumps([{"id": item, "value": ["A", "NO"]} for item in ITEMS]).encode(),
    "task1-soft": json.dumps([{"id": item, "value": {"NO": 0.5, "A": 0.25, "B": 0.25}} for item in ITEMS]).encode(),
    "task3-table": b"doc,pos,whole,left\n" + b"".join(b'd,%d,1,"1"\n' % number for number in range(10)),
    "task4-plain": "".join(f"{item}\t1\n" for item in ITEMS).encode(),
    "task5-spans": "".join(f"{item}\t[1, 2]\n" for item in ITEMS).encode(),
}
SNIPPETS = [
    b'"',
    b",",
    b"\t",
    b"\n",
    b"[",
    b"]",
    b"{",
    b"}",
    b"\\",
    b"NaN",
    b"1e999",
    b"\x00",
    b"\xff",
    b"null",
    b"-",
    b"9" * 50,
]


def zipped(data: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("task1_hard_Lak_NLP_1", data)
    return file.getvalue()


@st.composite
def mutated(draw: st.DrawFn, data: bytes) -> bytes:
    """Remove, insert or replace a few bytes."""
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = draw(st.integers(start, min(len(data), start + 40)))
        piece = draw(st.sampled_from(SNIPPETS) | st.binary(max_size=4) | st.just(data[start:end] * 2))
        data = data[:start] + piece + data[end:]
    return data


@pytest.mark.slow
@pytest.mark.parametrize("track", RIGHT)
@QUICK
@given(data=st.data())
def test_no_content_raises(tiny: Definition, track: str, data: st.DataObject) -> None:
    content = data.draw(mutated(RIGHT[track]) | st.binary(max_size=200))
    items = [f"d_{number}" for number in range(10)] if track == "task3-table" else ITEMS
    known = ItemIndex(items)
    for lenient in (False, True):
        report = Report()
        answers = read_run(tiny.track(track), content, report, items=known, lenient=lenient)
        assert (answers is None) == (not report.ok)
        assert all(problem.message and len(problem.places) <= 20 for problem in report)
        json.dumps(report.as_dict(), ensure_ascii=False).encode()  # fails if a lone surrogate gets through
        if answers is not None and not lenient:
            assert sorted(answers.ids) == sorted(items)


@pytest.mark.slow
@QUICK
@given(data=st.data())
def test_no_archive_raises(tiny: Definition, tmp_path: Path, data: st.DataObject) -> None:
    path = tmp_path / "upload"
    content = data.draw(mutated(zipped(RIGHT["task1-hard"])))
    path.write_bytes(content)
    upload = check_upload(tiny, path, "tiny_Lak_NLP.zip", "Lak_NLP")
    assert not upload.ok or [run.items for run in upload.runs] == [10]


@pytest.mark.slow
@QUICK
@given(name=st.text(max_size=60) | st.from_regex(r"task[0-9]_(hard|soft)_\w{0,9}_[0-9]{0,2}(\.json)?", fullmatch=True))
def test_every_suggested_name_is_right(tiny: Definition, name: str) -> None:
    for team in (None, "Lak_NLP"):
        for explain in (naming.explain, naming.explain_archive):
            for problem in explain(tiny, name, team).report:
                assert problem.suggestion is None or explain(tiny, problem.suggestion, team).report.ok
                assert problem.message.isprintable()


@pytest.mark.parametrize("track", RIGHT)
def test_the_untouched_files_are_right(tiny: Definition, track: str) -> None:
    assert check(tiny, track, RIGHT[track]).ok
