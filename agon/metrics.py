"""Metrics for answers in memory: lists, arrays, Series, DataFrames or dictionaries."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from scoring.answers import Answers, Matrix, Spans, Texts
from scoring.definition import MetricSpec
from scoring.metrics import LoadedGold, compare, get
from scoring.metrics import compute as compute_metric

if TYPE_CHECKING:
    import pandas as pd

Values: TypeAlias = "Sequence[Any] | Mapping[Any, Any] | NDArray[Any] | pd.Series | pd.DataFrame"
"""One answer per item, by position or, in dictionaries, Series and DataFrames, by item id."""

Several: TypeAlias = list[str] | tuple[str, ...]

_COLUMN = "value"  # column name for plain numbers


@overload
def compute(
    metric: str,
    *,
    predictions: Values,
    references: Values,
    hierarchy: Mapping[str, Sequence[str]] | None = None,
    **options: str,
) -> float | None: ...
@overload
def compute(
    metric: Several,
    *,
    predictions: Values,
    references: Values,
    hierarchy: Mapping[str, Sequence[str]] | None = None,
    **options: str,
) -> dict[str, float | None]: ...
def compute(
    metric: str | Several,
    *,
    predictions: Values,
    references: Values,
    hierarchy: Mapping[str, Sequence[str]] | None = None,
    **options: str,
) -> float | dict[str, float | None] | None:
    """Compute a metric by its leaderboard key, such as `f1:YES`, or several metrics.

    An answer is a label, a list of labels, a mapping of labels to weights, a number, a list of spans as pairs (begin,
    end), or a text. A reference may be a list of texts. Two dictionaries, Series or DataFrames are aligned by id: items
    that are missing in `predictions` count as incorrect, and further items are left out. All other values are aligned
    by position. The value of an undefined metric is None.

    Args:
        hierarchy: the children of each class, for metrics that use them.
        options: options of the metric, as in task.yaml.

    Raises:
        ValueError: the answers do not match each other or the metric.
        UnknownMetricError: the metric does not exist.
    """
    if not isinstance(metric, str):
        return {
            name: compute(name, predictions=predictions, references=references, hierarchy=hierarchy, **options)
            for name in metric
        }
    name, _, part = metric.partition(":")
    kinds = get(name).kinds
    gold, run = _items(references), _items(predictions)
    if gold.has_ids != run.has_ids or not gold.has_ids:
        if len(gold.ids) != len(run.ids):
            raise ValueError(f"There are {len(run.ids)} predictions for {len(gold.ids)} references.")
        run.ids[:] = gold.ids
    if missing := [item for item, value in zip(gold.ids, gold.values, strict=True) if value is None]:
        raise ValueError(f"The reference of item {missing[0]} is missing.")
    read = _texts if "texts" in kinds else _reader(gold.values, "labels" in kinds)
    standard = LoadedGold(read(gold), hierarchy)
    return compute_metric(compare(standard, read(_answered(run))), MetricSpec(name, part or None, options))


@dataclass(frozen=True)
class _Items:
    """Ids and answers, one per item. None means no answer."""

    ids: list[str]
    values: list[Any]
    has_ids: bool


def _items(given: Any) -> _Items:
    if isinstance(given, Mapping):
        keys, values = list(given), list(given.values())
    elif hasattr(given, "columns"):  # a DataFrame
        rows = given.to_dict("records")
        is_single = len(given.columns) == 1
        keys, values = list(given.index), [next(iter(row.values())) if is_single else row for row in rows]
    elif hasattr(given, "index") and hasattr(given, "tolist"):  # a Series
        keys, values = list(given.index), given.tolist()
    else:
        values = given.tolist() if isinstance(given, np.ndarray) else list(given)
        return _Items([str(number) for number in range(len(values))], [_plain(one) for one in values], False)
    ids = [str(key) for key in keys]
    if len(set(ids)) < len(ids):
        twice = next(one for number, one in enumerate(ids) if one in ids[:number])
        raise ValueError(f"Item {twice} appears twice.")
    return _Items(ids, [_plain(one) for one in values], True)


def _plain(value: Any) -> Any:
    """Convert to Python's own types, with None for missing values."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    return None if isinstance(value, float) and np.isnan(value) else value


def _answered(run: _Items) -> _Items:
    """Return the items with an answer."""
    kept = [number for number, value in enumerate(run.values) if value is not None]
    return _Items([run.ids[number] for number in kept], [run.values[number] for number in kept], run.has_ids)


def _reader(values: list[Any], takes_labels: bool) -> Any:
    """Return the function that reads such answers, which depends on the references."""
    first = next(iter(values), "")
    if isinstance(first, Mapping):
        return _weights
    if (isinstance(first, bool | int) and takes_labels) or isinstance(first, str):
        return _labels
    if isinstance(first, int | float):
        return _numbers
    if not isinstance(first, Iterable):
        raise ValueError(f"An answer must be a label, a number, labels, weights or spans, not {type(first).__name__}.")
    inner = next((one for answer in values for one in answer), "")
    return _labels if isinstance(inner, str | bool | int) else _spans


def _texts(items: _Items) -> Answers:
    rows = [(value,) if isinstance(value, str) else tuple(value) for value in items.values]
    if bad := [row for row in rows if not row or not all(isinstance(text, str) for text in row)]:
        raise ValueError(f"An answer is a text, or a list of references, not {list(bad[0])}.")
    return Texts(items.ids, rows)


def _labels(items: _Items) -> Answers:
    rows = [
        [str(one) for one in (value if isinstance(value, list | tuple | set | frozenset) else [value])]
        for value in items.values
    ]
    found = {label for row in rows for label in row}
    columns = tuple(sorted(found))
    places = {label: place for place, label in enumerate(columns)}
    values = np.zeros((len(rows), len(columns)), np.bool_)
    for number, row in enumerate(rows):
        values[number, [places[label] for label in row]] = True
    return Matrix(items.ids, columns, values)


def _weights(items: _Items) -> Answers:
    if not all(isinstance(row, Mapping) for row in items.values):
        raise ValueError("The references are mappings, so every prediction must be a mapping.")
    columns = tuple(dict.fromkeys(str(label) for row in items.values for label in row))
    rows = [{str(label): _plain(weight) for label, weight in row.items()} for row in items.values]
    cells = [[row.get(label) for label in columns] for row in rows]
    if all(isinstance(cell, bool | None) for row in cells for cell in row):
        return Matrix(items.ids, columns, np.array([[bool(cell) for cell in row] for row in cells], np.bool_))
    absent = np.array([[cell is None for cell in row] for row in cells], np.bool_).reshape(len(rows), len(columns))
    filled = [[0 if cell is None else cell for cell in row] for row in cells]
    return Matrix(items.ids, columns, _number_array(filled, len(columns)), absent if absent.any() else None)


def _numbers(items: _Items) -> Answers:
    if not all(isinstance(value, int | float) for value in items.values):
        raise ValueError("The references are numbers, so every prediction must be a number.")
    return Matrix(items.ids, (_COLUMN,), _number_array([[value] for value in items.values], 1))


def _number_array(rows: list[list[Any]], width: int) -> NDArray[Any]:
    has_fractions = any(isinstance(cell, float) for row in rows for cell in row)
    kind: type[np.float64 | np.int64] = np.float64 if has_fractions else np.int64
    return np.array(rows, kind).reshape(len(rows), width)


def _spans(items: _Items) -> Answers:
    rows = [sorted({(int(begin), int(end)) for begin, end in value}) for value in items.values]
    if bad := [pair for row in rows for pair in row if not 0 <= pair[0] < pair[1]]:
        raise ValueError(
            f"{bad[0]} is not a span: its start must be 0 or more, and its end (exclusive) larger than its start."
        )
    pairs = np.array([pair for row in rows for pair in row], np.int64).reshape(-1, 2)
    starts = np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)]).astype(np.int64)
    return Spans(items.ids, pairs[:, 0], pairs[:, 1], starts)
