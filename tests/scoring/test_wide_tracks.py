"""Tracks with many classes or columns: the work grows with the size of the run, not with that times the classes.

Comparisons of names and bytes of memory are counted, because neither depends on the machine.
"""

import io
import json
import tracemalloc
import zipfile
from collections.abc import Callable
from typing import ClassVar, cast

import numpy as np
import pytest

from scoring.answers import Answers, Matrix
from scoring.definition import FormatSpec, MetricSpec
from scoring.formats import brat, delimited, json_soft
from scoring.formats.reading import Reading
from scoring.metrics import LoadedGold, compare, compute
from scoring.reports.problems import Report

NAMES, ITEMS = 300, 400
MANY_VALUES = 200
MEGABYTE = 1024**2


class Name(str):
    """A name that counts how often it is compared with others."""

    __slots__ = ()
    compared: ClassVar[int] = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Name.compared += 1
        return str.__eq__(self, other)


@pytest.fixture(autouse=True)
def none_compared() -> None:
    Name.compared = 0


def names() -> tuple[str, ...]:
    return tuple(Name(f"name {number}") for number in range(NAMES))


def spec(kind: str, **options: object) -> FormatSpec:
    return FormatSpec(kind, options)


def test_columns_are_found_in_a_header_with_many_others() -> None:
    header = [*(Name(f"other {number}") for number in range(5000)), *names()]
    found = delimited.find_columns(header, names(), ",", "ignore", Reading(role="run", report=Report()))
    assert found is not None
    assert list(found.values()) == list(range(5000, 5000 + NAMES))
    assert Name.compared < 10 * len(header)


def test_few_missing_columns_are_compared_with_others(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[str]()
    monkeypatch.setattr(delimited, "nearest", lambda name, others: asked.append(name))
    report = Report()
    header = [f"other {number}" for number in range(NAMES)]
    assert delimited.find_columns(header, names(), ",", "ignore", Reading(role="run", report=report)) is None
    assert [(problem.code, problem.count) for problem in report.errors] == [("header-column-missing", NAMES)]
    assert len(asked) == delimited.COLUMNS_COMPARED


def test_shares_are_looked_up_among_many_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = json_soft.object_type  # msgspec accepts only plain strings
    monkeypatch.setattr(
        json_soft, "object_type", lambda types, keys: plain(types, {field: str(key) for field, key in keys.items()})
    )
    given = {str(name): 0.5 for name in names()[1:]}
    data = json.dumps([{"id": str(item), "value": given} for item in range(ITEMS)]).encode()
    options = {"sum": None, "tolerance": 1e-3, "lines": False, "constants": {}, "id": "id", "value": "value"}
    report = Report()
    json_soft.read(data, spec("json-soft", classes=names(), **options), Reading(role="run", report=report))
    assert [(problem.code, problem.count) for problem in report.errors] == [("missing-label", ITEMS)]
    assert Name.compared < 10 * ITEMS * NAMES


def test_unknown_shares_are_counted_without_naming_each_one() -> None:
    value = {f"other {number}": 0.5 for number in range(NAMES)}
    data = json.dumps([{"id": str(item), "value": value} for item in range(3)]).encode()
    options = {"sum": None, "tolerance": 1e-3, "lines": False, "constants": {}, "id": "id", "value": "value"}
    report = Report()
    json_soft.read(data, spec("json-soft", classes=("a", "b"), **options), Reading(role="run", report=report))
    found = [(problem.code, problem.count, problem.item, len(problem.places)) for problem in report.errors]
    assert found == [("missing-label", 6, "0", 6), ("label-outside-domain", 3 * NAMES, "0", 20)]


@pytest.mark.parametrize("kind", ["name 299", "other"])
def test_annotations_are_looked_up_among_many_types(kind: str) -> None:
    lines = "".join(f"T{number}\t{kind.replace(' ', '')} {number} {number + 1}\ta\n" for number in range(ITEMS))
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("d.ann", lines)
    types = tuple(Name(name.replace(" ", "")) for name in names())
    report = Report()
    brat.read(file.getvalue(), spec("brat", classes=types, fragments="join"), Reading(role="run", report=report))
    expected = [] if kind == "name 299" else [("label-outside-domain", ITEMS)]
    assert [(problem.code, problem.count) for problem in report.errors] == expected
    assert Name.compared < 10 * ITEMS


def table(items: int, columns: int, values: int, seed: int) -> Matrix:
    cells = np.random.default_rng(seed).integers(0, values, (items, columns))
    return Matrix([str(item) for item in range(items)], tuple(f"c{at}" for at in range(columns)), cells)


def peak(work: Callable[[], object]) -> float:
    """Return the megabytes of memory that the work needs at most."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] / MEGABYTE
    finally:
        tracemalloc.stop()


def score(metric: MetricSpec, gold: Answers, run: Answers) -> float:
    return cast(float, compute(compare(LoadedGold(gold), run), metric))


@pytest.mark.parametrize("name", ["precision_macro_all", "recall_macro_all", "f1_macro_all", "f1_macro_mean"])
def test_metrics_of_wide_tables_need_no_table_for_each_value(name: str) -> None:
    gold, run = (table(1000, 50, MANY_VALUES, seed) for seed in (1, 2))
    assert peak(lambda: score(MetricSpec(name), gold, run)) < 10


def test_calibration_needs_no_table_of_items_and_bins() -> None:
    random = np.random.default_rng(1)
    ids = [str(item) for item in range(20_000)]
    gold = Matrix(ids, ("same",), (random.random((20_000, 1)) < 0.5).astype(np.float64))
    run = Matrix(ids, ("same",), random.random((20_000, 1)))
    assert peak(lambda: score(MetricSpec("calibration_error", "same", {"bins": "1000"}), gold, run)) < 20
