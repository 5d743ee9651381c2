"""A reader for the metrics' examples (`Metric.example`), which use a short notation."""

from collections.abc import Mapping, Sequence, Sized
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from scoring.answers import AnswerKind, Answers, Entities, Matrix, Ranking, Spans, Texts, Tuples
from scoring.definition.slices import Slicing
from scoring.items.slices import SliceColumn
from scoring.metrics.comparison import Comparison, compare
from scoring.metrics.loaded_gold import LoadedGold
from scoring.metrics.metric import Example

TEXT = " ".join(f"w{place}" for place in range(10))


def worked(example: Example) -> Comparison:
    """Compare an example's run with its gold."""
    gold, run = read_answers(example.kind, example.gold), read_answers(example.kind, example.run)
    if example.where is None:
        return compare(LoadedGold(gold, example.hierarchy), run)
    assert isinstance(gold, Matrix)
    name = example.where[0]
    gold = replace(gold, extra={name: [example.slices[item] for item in gold.ids]})
    columns = {name: SliceColumn(Slicing(column=name), None, ())}
    return compare(LoadedGold(gold, example.hierarchy, slice_columns=columns), run)


def read_answers(kind: AnswerKind, given: Mapping[str, str]) -> Answers:
    """Read answers in the notation of `Example`. Cells with `?` and missing cells are absent."""
    if kind == "spans":
        offsets = [np.array(text.split(), np.int64) for text in given.values()]
        return Spans.of_offsets(list(given), np.concatenate(offsets), _starts(offsets))
    if kind == "entities":
        return read_entities(given)
    if kind == "texts":
        return Texts(list(given), [tuple(text.split(" | ")) for text in given.values()])
    if kind == "tuples":
        sets = {item: [tuple(part.split()) for part in text.split(", ") if part] for item, text in given.items()}
        width = max((len(one) for own in sets.values() for one in own), default=2)
        return Tuples.of_sets(tuple("xyzw"[:width]), sets)
    if kind == "labels":
        return _labels([text.split() for text in given.values()], list(given))
    pairs = [dict(_pair(part) for part in text.split(",") if part.strip()) for text in given.values()]
    if kind == "rankings":
        documents = [name for row in pairs for name in row]
        return Ranking(list(given), documents, np.array([row[name] for row in pairs for name in row]), _starts(pairs))
    columns = tuple(dict.fromkeys(name for row in pairs for name in row))
    values = np.array([[row.get(name, np.nan) for name in columns] for row in pairs])
    absent = np.isnan(values)
    values[absent] = 0.0
    whole = kind == "table" and not (values % 1).any()
    return Matrix(list(given), columns, values.astype(np.int64) if whole else values, absent)


def read_entities(given: Mapping[str, str], types: Sequence[str] = ()) -> Entities:
    """Read entities such as `PER 0-2, LOC 4-5` by sentence. Each sentence has the ten tokens `w0` to `w9`."""
    rows = [[part.split() for part in text.split(",") if part.strip()] for text in given.values()]
    names = tuple(dict.fromkeys([*types, *(name for row in rows for name, _ in row)]))
    places = np.array([list(map(int, place.split("-"))) for row in rows for _, place in row], np.int64).reshape(-1, 2)
    kinds = np.array([names.index(name) for row in rows for name, _ in row], np.intp)
    return Entities(
        list(given), names, kinds, *places.T, _starts(rows), np.full(len(rows), 10), dict.fromkeys(given, TEXT)
    )


def _labels(rows: list[list[str]], ids: list[str]) -> Matrix:
    columns = tuple(dict.fromkeys(name for row in rows for name in row))
    return Matrix(ids, columns, np.array([[name in row for name in columns] for row in rows]))


def _pair(text: str) -> tuple[str, float]:
    name, number = text.split()
    return name, float("nan" if number == "?" else number)


def _starts(rows: Sequence[Sized]) -> NDArray[np.int64]:
    return np.cumsum([0, *map(len, rows)])
