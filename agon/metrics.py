"""Metrics for answers in memory: lists, arrays, Series, DataFrames or dictionaries."""

from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from agon.declared_classes import Classes, with_classes
from scoring.answers import Answers, Entities, Matrix, Ranking, Spans, Texts, Tuples
from scoring.definition import FormatSpec, MetricSpec, Track
from scoring.metrics import LoadedGold, Metric, compare, get
from scoring.metrics import compute as compute_metric
from scoring.metrics.metric import AnswerKinds, Part
from scoring.metrics.validation import validate_key

if TYPE_CHECKING:
    import pandas as pd

Values: TypeAlias = "Sequence[Any] | Mapping[Any, Any] | NDArray[Any] | pd.Series | pd.DataFrame"
"""One answer per item, by position or, in dictionaries, Series and DataFrames, by item id."""

Several: TypeAlias = list[str] | tuple[str, ...]
Option: TypeAlias = str | float
Hierarchy: TypeAlias = Mapping[str, Sequence[str]]

_COLUMN = "value"  # column name for plain numbers


@overload
def compute(
    metric: str,
    *,
    predictions: Values,
    references: Values,
    hierarchy: Hierarchy | None = None,
    texts: "Values | None" = None,
    classes: Classes = None,
    **options: Option,
) -> float | None: ...
@overload
def compute(
    metric: Several,
    *,
    predictions: Values,
    references: Values,
    hierarchy: Hierarchy | None = None,
    texts: "Values | None" = None,
    classes: Classes = None,
    **options: Option,
) -> dict[str, float | None]: ...
def compute(
    metric: str | Several,
    *,
    predictions: Values,
    references: Values,
    hierarchy: Hierarchy | None = None,
    texts: "Values | None" = None,
    classes: Classes = None,
    **options: Option,
) -> float | dict[str, float | None] | None:
    """Compute the metric with this leaderboard key, such as `f1:YES`, or several metrics.

    An answer is a label, a list of labels, a mapping of labels to weights, a number, a list of spans as pairs (begin,
    end), a list of entities as triples (begin, end, type), a list of tuples (whose columns are 1, 2, …, or the keys of
    mappings), a text, or a query's documents as a list or as a mapping of documents to scores or relevance grades. A
    reference may be a list of texts. Two dictionaries, Series or DataFrames are aligned by id:
    items missing from `predictions` count as incorrect, and extra items are ignored. All other values are
    aligned by position. The value of an undefined metric is None.

    Args:
        hierarchy: the children of each class, for metrics that use them.
        texts: the texts of the items, aligned with the references, for metrics that compare surface forms.
        classes: the labels, entity types or values that answers may have, as in a track's format. For a table, this
            can also be a mapping of columns to values. By default, they are the ones that occur in the references or
            the predictions. `over: declared` averages over them.
        options: the metric's options, as in task.yaml.

    Raises:
        ValueError: the answers do not match each other, the classes or the metric, or an option is invalid.
        UnknownMetricError: the metric does not exist.
    """
    if not isinstance(metric, str):
        given: dict[str, Any] = {"predictions": predictions, "references": references, "hierarchy": hierarchy}
        given |= {"texts": texts, "classes": classes, **options}
        return {name: compute(name, **given) for name in metric}
    name, _, part = metric.partition(":")
    spec = MetricSpec(name, part or None, {key: str(value) for key, value in options.items()})
    kinds = get(name).kinds
    gold, run = _items(references), _items(predictions)
    if gold.has_ids != run.has_ids or not gold.has_ids:
        if len(gold.ids) != len(run.ids):
            raise ValueError(f"The numbers of predictions ({len(run.ids)}) and references ({len(gold.ids)}) differ.")
        run.ids[:] = gold.ids
    if missing := [item for item, value in zip(gold.ids, gold.values, strict=True) if value is None]:
        raise ValueError(f"The reference of item {missing[0]} is missing.")
    read = next((own for kind, own in _READERS.items() if kind in kinds), None)
    read = read or _reader(gold.values, kinds)
    answers = read(gold)
    if texts is not None and isinstance(answers, Entities):
        answers = replace(answers, texts=_texts_of(gold, _items(texts)))
    if isinstance(answers, Tuples):
        read = partial(_tuples, columns=answers.columns)
    if isinstance(answers, Ranking):
        read = partial(_rankings, is_run=True)
    predicted = read(_answered(run, {*gold.ids}))
    answers, declared = with_classes(answers, predicted, classes)
    track = _track(answers, spec, hierarchy)
    if problem := validate_key(spec, track, only_known=classes is not None):
        raise ValueError(problem)
    declared = {**dict.fromkeys(track.format.options["columns"], ()), **declared}
    return compute_metric(compare(LoadedGold(answers, hierarchy, declared), predicted), spec)


def _track(answers: Answers, spec: MetricSpec, hierarchy: Hierarchy | None) -> Track:
    """Return a track whose runs have answers like these in files."""
    metric = get(spec.name)
    names: tuple[str, ...] = ()
    if isinstance(answers, Entities):
        kind, names = "conll", answers.types
    elif isinstance(answers, Matrix):
        kind, names = _format(answers, metric, spec), answers.columns
    elif isinstance(answers, Tuples):
        kind, names = "tuples", answers.columns
    else:
        kind = {Ranking: "trec-run", Spans: "spans", Texts: "text-lines"}[type(answers)]
    are_columns = kind in ("table", "tuples")
    columns, classes = (names, ()) if are_columns else ((), names)
    return Track(
        slug="answers",
        title="Answers",
        format=FormatSpec(kind, {"columns": columns, "values": columns, "classes": classes}),
        hierarchy=None if hierarchy is None else {name: tuple(below) for name, below in hierarchy.items()},
        items={},
        metrics=(spec,),
        rank_by=spec.key,
        decimals=4,
    )


def _format(answers: Matrix, metric: Metric, spec: MetricSpec) -> str:
    """Return the format for labels, weights or tables like these.

    Weights and tables of numbers look the same. They are weights if the metric supports them and needs no column.
    """
    if answers.values.dtype.kind == "b":
        return "json-labels"
    if answers.values.dtype.kind == "i" or "soft" not in metric.kinds or answers.columns == (_COLUMN,):
        return "table"
    return "table" if metric.part is Part.COLUMN and spec.part is not None else "json-soft"


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
    """Convert to built-in Python types, with None for missing values."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    return None if isinstance(value, float) and np.isnan(value) else value


def _answered(run: _Items, known: set[str]) -> _Items:
    """Return only the known items that have an answer."""
    kept = [at for at, value in enumerate(run.values) if value is not None and run.ids[at] in known]
    return _Items([run.ids[at] for at in kept], [run.values[at] for at in kept], run.has_ids)


def _reader(values: list[Any], kinds: AnswerKinds) -> Any:
    """Return the function that reads this kind of answers. `values` are the references."""
    first = next(iter(values), "")
    if isinstance(first, Mapping):
        return partial(_weights, kinds=kinds)
    if (isinstance(first, bool | int) and "labels" in kinds) or isinstance(first, str):
        return _labels
    if isinstance(first, int | float):
        return _numbers
    if not isinstance(first, Iterable):
        raise ValueError(f"An answer must be a label, a number, labels, weights or spans, not {type(first).__name__}.")
    inner = next((one for answer in values for one in answer), "")
    return _labels if isinstance(inner, str | bool | int) else _spans


def _rankings(items: _Items, is_run: bool = False) -> Answers:
    """Return documents with scores or relevance grades.

    The documents of a list are in the order of their ranks or, in the references, all relevant with grade 1.
    """
    rows = [_documents(value, is_run) for value in items.values]
    scores = np.array([score for row in rows for score in row.values()], np.float64)
    return Ranking(items.ids, [name for row in rows for name in row], scores, _starts(rows))


def _documents(given: Any, is_run: bool) -> dict[str, float]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ValueError(f"An answer must be a list or a mapping of documents, not {given!r}.")
    if isinstance(given, Mapping):
        return {str(name): float(score) for name, score in given.items()}
    names = [str(name) for name in given]
    if len(set(names)) < len(names):
        twice = next(name for at, name in enumerate(names) if name in names[:at])
        raise ValueError(f"Document {twice} appears twice in {names}.")
    return {name: -float(at) if is_run else 1.0 for at, name in enumerate(names)}


def _texts(items: _Items) -> Answers:
    rows = [(value,) if isinstance(value, str) else tuple(value) for value in items.values]
    if bad := [row for row in rows if not row or not all(isinstance(text, str) for text in row)]:
        raise ValueError(f"An answer must be a string or a list of references, not {list(bad[0])}.")
    return Texts(items.ids, rows)


def _texts_of(gold: _Items, texts: _Items) -> dict[str, str]:
    """Return the text of each gold item. `texts` is aligned in the same way as the predictions."""
    if not (gold.has_ids and texts.has_ids) and len(texts.ids) != len(gold.ids):
        raise ValueError(f"There are {len(texts.ids)} texts for {len(gold.ids)} references.")
    ids = texts.ids if gold.has_ids and texts.has_ids else gold.ids
    return {item: str(text) for item, text in zip(ids, texts.values, strict=True)}


def _entities(items: _Items) -> Answers:
    rows = [sorted({_entity(one) for one in value}) for value in items.values]
    types = tuple(sorted({kind for row in rows for _, _, kind in row}))
    begins, ends = _positions([one[:2] for row in rows for one in row])
    kinds = np.array([types.index(kind) for row in rows for _, _, kind in row], np.intp)
    return Entities(items.ids, types, kinds, begins, ends, _starts(rows), lengths=None)


def _entity(given: Any) -> tuple[int, int, str]:
    if len(given) != 3 or not isinstance(given[2], str):
        raise ValueError(f"An entity is a triple of start, end and type, not {given}.")
    return int(given[0]), int(given[1]), given[2]


def _tuples(items: _Items, columns: tuple[str, ...] = ()) -> Answers:
    """Return sets of tuples with these columns.

    By default, use all keys, or as many columns as the longest tuple has.
    """
    every = [one for value in items.values for one in value]
    if not columns:
        keys = dict.fromkeys(str(name) for one in every if isinstance(one, Mapping) for name in one)
        width = max((len(one) for one in every if not isinstance(one, Mapping)), default=0)
        columns = tuple(keys) or tuple(str(number) for number in range(1, width + 1))
    sets = {item: [_cells(one, columns) for one in own] for item, own in zip(items.ids, items.values, strict=True)}
    return Tuples.of_sets(columns, sets)


def _cells(given: Any, columns: tuple[str, ...]) -> tuple[str, ...]:
    if isinstance(given, Mapping) and (unknown := [name for name in given if str(name) not in columns]):
        raise ValueError(f"{given} has the column {unknown[0]}; the columns are {', '.join(columns)}.")
    values = [given.get(name, "") for name in columns] if isinstance(given, Mapping) else list(given)
    if len(values) != len(columns) or isinstance(given, str):
        raise ValueError(f"{given} is not a tuple of {len(columns)} values.")
    return tuple(str(value) for value in values)


def _labels(items: _Items) -> Answers:
    several = (value if isinstance(value, list | tuple | set | frozenset) else [value] for value in items.values)
    rows = [list(map(_label, labels)) for labels in several]
    columns = tuple(sorted({label for row in rows for label in row}))
    places = {label: place for place, label in enumerate(columns)}
    values = np.zeros((len(rows), len(columns)), np.bool_)
    for number, row in enumerate(rows):
        values[number, [places[label] for label in row]] = True
    return Matrix(items.ids, columns, values)


def _label(given: Any) -> str:
    """Return a label as text. Whole numbers have no decimal point, which pandas adds if an answer is missing."""
    return str(int(given)) if isinstance(given, float) and given.is_integer() else str(given)


def _weights(items: _Items, kinds: AnswerKinds) -> Answers:
    if not all(isinstance(row, Mapping) for row in items.values):
        raise ValueError("The references are mappings, so every prediction must be a mapping.")
    columns = tuple(dict.fromkeys(str(label) for row in items.values for label in row))
    rows = [{str(label): _plain(weight) for label, weight in row.items()} for row in items.values]
    cells = [[row.get(label) for label in columns] for row in rows]
    if all(isinstance(cell, bool | None) for row in cells for cell in row) and "labels" in kinds:
        return Matrix(items.ids, columns, np.array([[bool(cell) for cell in row] for row in cells], np.bool_))
    absent = np.array([[cell is None for cell in row] for row in cells], np.bool_).reshape(len(rows), len(columns))
    filled = [[0 if cell is None else cell for cell in row] for row in cells]
    values = _number_array(filled, len(columns))
    if "table" not in kinds:
        values = values.astype(np.float64)
    elif "soft" not in kinds and not (values % 1).any():  # pandas converts columns with missing answers to floats
        values = values.astype(np.int64)
    return Matrix(items.ids, columns, values, absent if absent.any() else None)


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
    return Spans(items.ids, *_positions([pair for row in rows for pair in row]), _starts(rows))


def _positions(pairs: Sequence[tuple[int, int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the start and end offsets of spans."""
    if bad := [pair for pair in pairs if not 0 <= pair[0] < pair[1]]:
        raise ValueError(
            f"{bad[0]} is not a span. Its start must be at least 0, and its end (exclusive) must be greater than "
            "its start."
        )
    begins, ends = np.array(pairs, np.int64).reshape(-1, 2).T
    return begins, ends


def _starts(rows: Sequence[Sized]) -> NDArray[np.int64]:
    return np.append(0, np.cumsum([len(row) for row in rows])).astype(np.int64)


_READERS: dict[str, Callable[[_Items], Answers]] = {
    "texts": _texts,
    "entities": _entities,
    "tuples": _tuples,
    "rankings": _rankings,
}
