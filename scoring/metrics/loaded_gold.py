"""The gold standard for metrics, with everything that is derived from it alone."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from scoring.answers import Answers, Entities, Matrix, Ranking, Rows, Spans, Texts
from scoring.items.index import ItemIndex
from scoring.items.slices import SliceColumn, Words
from scoring.metrics.tree import Tree, grow

Derived = TypeVar("Derived")
Arguments = ParamSpec("Arguments")
Values = NDArray[Any]  # has the type of `Matrix.values`: bool for labels, float for weights, integer for columns


class Remembering:
    """A base class that caches values which several metrics derive from an object."""

    @cached_property
    def _derived(self) -> dict[Any, Any]:
        return {}

    def once(
        self, derive: Callable[Concatenate[Self, Arguments], Derived], *given: Arguments.args, **named: Arguments.kwargs
    ) -> Derived:
        """Return `derive(self, …)`, computed at the first call with these arguments and then cached."""
        key = (derive, given, *named.items())
        if key not in self._derived:
            self._derived[key] = derive(self, *given, **named)
        result: Derived = self._derived[key]
        return result


class LoadedGold(Remembering):
    """The correct answers and values derived from them alone, which are computed once and kept for every run."""

    def __init__(
        self,
        answers: Answers,
        hierarchy: Mapping[str, Sequence[str]] | None = None,
        declared: Mapping[str, Sequence[int]] | None = None,
        slice_columns: Mapping[str, SliceColumn] | None = None,
    ) -> None:
        self.answers = answers
        # column → the values that its cells may have, whether they occur in the gold or not
        self.declared = declared or {}
        self.slice_columns = slice_columns or {}  # name of the slices → column
        self._hierarchy = hierarchy
        # for a part of a gold standard: the whole, and the rows of the part in it
        self._origin: tuple[LoadedGold, Rows] | None = None

    def __len__(self) -> int:
        return len(self.answers.ids)

    def __repr__(self) -> str:
        return f"LoadedGold({len(self)} items)"

    @cached_property
    def index(self) -> ItemIndex:
        """The item ids with their rows."""
        return ItemIndex(self.answers.ids)

    @property
    def matrix(self) -> Matrix:
        """The answers as labels, weights or columns. Spans, entities and rankings have none."""
        if not isinstance(self.answers, Matrix):
            raise TypeError("only labels, weights and columns have classes")
        return self.answers

    @property
    def spans(self) -> Spans:
        """The answers as marked spans."""
        if not isinstance(self.answers, Spans):
            raise TypeError("these answers are not spans")
        return self.answers

    @property
    def entities(self) -> Entities:
        """The answers as typed spans of tokens."""
        if not isinstance(self.answers, Entities):
            raise TypeError("these answers are not entities")
        return self.answers

    @property
    def ranking(self) -> Ranking:
        """The answers as documents with relevance grades."""
        if not isinstance(self.answers, Ranking):
            raise TypeError("these answers are not rankings")
        return self.answers

    @property
    def texts(self) -> Texts:
        """The answers as texts."""
        if not isinstance(self.answers, Texts):
            raise TypeError("these answers are not texts")
        return self.answers

    def covering(self, items: Sequence[str]) -> "LoadedGold":
        """Return the gold with all of `items`. Items missing in span gold get no spans. Other gold stays unchanged."""
        spans = self.answers
        if not isinstance(spans, Spans | Entities) or (isinstance(spans, Entities) and spans.lengths is not None):
            return self
        further = [item for item in items if item not in self.index]
        if not further:
            return self
        starts = np.append(spans.starts, np.full(len(further), len(spans.begins)))
        answers = replace(spans, ids=[*spans.ids, *further], starts=starts)
        return LoadedGold(answers, self._hierarchy, self.declared, self.slice_columns)

    @property
    def files(self) -> str | None:
        """The name of the slices that are the files of a run."""
        return next((name for name, column in self.slice_columns.items() if column.rules.files), None)

    @cached_property
    def strata(self) -> list[Rows]:
        """The rows of each file. Samples draw as many items from each file as the gold has.

        If runs have a single file, it is the only stratum.
        """
        return [np.arange(len(self))] if self.files is None else list(self.slices(self.files).values())

    @cached_property
    def tree(self) -> Tree:
        """The classes of the gold's columns (for soft labels, those with any weight), followed by the hierarchy's."""
        matrix = self.matrix
        columns = matrix.columns
        if matrix.values.dtype.kind == "f" and matrix.absent is not None:
            columns = tuple(name for name, absent in zip(columns, matrix.absent.T, strict=True) if not absent.all())
        return grow(columns, self._hierarchy)

    @cached_property
    def values(self) -> Values:
        """The values with shape (items, classes of the tree)."""
        return spread(self.matrix.values, self.matrix.columns, self.tree.classes)

    @cached_property
    def absent(self) -> NDArray[np.bool_]:
        """The cells without a gold answer, with the shape of `values`."""
        matrix = self.matrix
        absent = np.zeros(matrix.values.shape, bool) if matrix.absent is None else matrix.absent
        present = spread(~absent, matrix.columns, self.tree.classes)
        return np.logical_not(present)

    def slices(self, name: str) -> dict[str, Rows]:
        """Return the rows of the items in each slice, sorted by slice value.

        Raises:
            TextsError: the column cannot be read.
            KeyError: the track has no slices with that name.
        """
        return self.once(_rows_by_value, name)

    def slice_values(self, name: str) -> Words:
        """Return the slice of each item."""
        return self.once(_slice_values, name)

    def select(self, rows: Rows) -> "LoadedGold":
        """Return the items in `rows`, where rows may repeat. The classes stay those of the whole gold."""
        ids = [str(number) for number in range(len(rows))]
        sampled = LoadedGold(self.answers.select(rows, ids), self._hierarchy, self.declared, self.slice_columns)
        sampled._origin = self, rows
        if isinstance(self.answers, Matrix):
            sampled.tree = self.tree
        return sampled


def _slice_values(gold: LoadedGold, name: str) -> Words:
    if gold._origin is None:
        return gold.slice_columns[name].values(gold.answers)
    whole, rows = gold._origin
    values: Words = whole.slice_values(name)[rows]
    return values


def _rows_by_value(gold: LoadedGold, name: str) -> dict[str, Rows]:
    values, places = np.unique(gold.slice_values(name).astype(str), return_inverse=True)
    order = np.argsort(places, kind="stable")
    starts = np.searchsorted(places[order], np.arange(len(values) + 1))
    return {value: order[starts[at] : starts[at + 1]] for at, value in enumerate(values.tolist()) if value}


def spread(values: Values, columns: Sequence[str], wanted: Sequence[str]) -> Values:
    """Return `values` in the columns `wanted`. Missing columns are zero, and other columns are dropped."""
    if tuple(columns) == tuple(wanted):
        return values
    position = {name: index for index, name in enumerate(wanted)}
    kept = [index for index, name in enumerate(columns) if name in position]
    result = np.zeros((len(values), len(wanted)), values.dtype)
    result[:, [position[columns[index]] for index in kept]] = values[:, kept]
    return result
