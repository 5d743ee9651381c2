"""Parquet files in a confined child, which loads the library itself: valid files, and files meant to use up memory."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from portal.evaluation.child import run_limited
from tests.portal import attempts
from tests.scoring.formats.test_parquet import CHANGES, IDS, LABELS, TASK, long_text, stored

PEAK_MB = 400  # of which the child uses about 120 before it reads the file


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "task.yaml").write_text(TASK)
    (tmp_path / "items.txt").write_text("\n".join(IDS))
    return tmp_path


def repeated(rows: int, text: str) -> Any:
    return pa.DictionaryArray.from_arrays(np.zeros(rows, np.int8), [text])


@pytest.mark.parametrize("compression", ["snappy", "zstd", "gzip", "none"])
def test_a_valid_file(folder: Path, compression: str) -> None:
    run = stored(LABELS, compression=compression)
    assert run_limited(attempts.check_run, folder, "labels", run, readable=[folder])["codes"] == []


BOMBS: Mapping[str, Mapping[str, Any]] = {
    "a page of 64 MB": {"id": ["a" * 2**26], "label": ["YES"]},
    "a text of 1 MB in each row": {"id": repeated(50_000, "a" * 2**20), "label": repeated(50_000, "YES")},
    "many rows": {"id": repeated(2_000_000, "a"), "label": repeated(2_000_000, "YES")},
    "many different texts": {"id": [f"{row:x}" for row in range(100_000)], "label": ["?" * 90] * 100_000},
    "many columns": {**LABELS, **{f"c{place}": [1, 2, 3, 4] for place in range(2_000)}},
    "nested columns": {**LABELS, "id": [[[[["a"]]]]] * 4},
}


@pytest.mark.slow
@pytest.mark.parametrize("columns", BOMBS.values(), ids=BOMBS)
def test_a_hostile_file_has_a_report_and_bounded_memory(folder: Path, columns: Mapping[str, Any]) -> None:
    run = stored(columns, compression="zstd", use_dictionary=len(columns["id"]) > 1)
    found = run_limited(attempts.check_run, folder, "labels", run, readable=[folder])
    assert found["codes"]
    assert found["peak_mb"] < PEAK_MB


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_a_page_hidden_by_its_description_has_a_report_and_bounded_memory(
    folder: Path, change: Callable[[bytes], bytes]
) -> None:
    found = run_limited(attempts.check_run, folder, "labels", change(long_text(2**27)), readable=[folder])
    assert found["codes"] == ["parquet-unreadable"]
    assert found["peak_mb"] < PEAK_MB
