"""The gold standard as metrics see it, with everything that depends only on it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from scoring.answers import Answers, Entities, Matrix, Ranking, Rows, Spans, Texts, Tuples
from scoring.items.index import ItemIndex
from scoring.items.slices import SliceColumn, Words
from scoring.metrics.tree import Tree, grow

Derived = TypeVar("Derived")
Known = TypeVar("Known", bound=Answers)
Arguments = ParamSpec("Arguments")
Values = NDArray[Any]  # has the type of `Matrix.values`: bool for labels, float for weights, integer for columns


class Remembering:
    """A base class that caches values derived from an object, so that several metrics can share them."""

    @cached_property
    def _derived(self) -> dict[Any, Any]:
        return {}

    def once(
        self, derive: Callable[Concatenate[Self, Arguments], Derived], *given: Arguments.args, **named: Arguments.kwargs
    ) -> Derived:
        """Return `derive(self, …)`, which is computed on the first call with these arguments and then cached."""
        key = (derive, given, *named.items())
        if key not in self._derived:
            self._derived[key] = derive(self, *given, **named)
        result: Derived = self._derived[key]
        return result


class LoadedGold(Remembering):
    """The correct answers, and values that depend only on them. The values are computed once and kept for all runs."""

    def __init__(
        self,
        answers: Answers,
        hierarchy: Mapping[str, Sequence[str]] | None = None,
        declared: Mapping[str, Sequence[int]] | None = None,
        slice_columns: Mapping[str, SliceColumn] | None = None,
    ) -> None:
        self.answers = answers
        # Column → the values that its cells may have, even if they do not occur in the gold.
        self.declared = declared or {}
        self.slice_columns = slice_columns or {}  # name of the slicing → column
        self._hierarchy = hierarchy
        # If this is a selection from a gold standard: the whole gold, and the selected rows.
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
    def parents(self) -> frozenset[str]:
        """The classes that have child classes in the track's hierarchy."""
        return frozenset(name for name, below in (self._hierarchy or {}).items() if below)

    def _answers(self, kind: type[Known], otherwise: str) -> Known:
        if not isinstance(self.answers, kind):
            raise TypeError(otherwise)
        return self.answers

    @property
    def matrix(self) -> Matrix:
        """The answers as labels, weights or columns.

        Raises:
            TypeError: the answers are of a different kind. The same applies to the properties below.
        """
        return self._answers(Matrix, "only labels, weights and columns have classes")

    @property
    def spans(self) -> Spans:
        """The answers as marked spans."""
        return self._answers(Spans, "these answers are not spans")

    @property
    def entities(self) -> Entities:
        """The answers as typed spans of tokens or characters."""
        return self._answers(Entities, "these answers are not entities")

    @property
    def ranking(self) -> Ranking:
        """The answers as documents with relevance grades."""
        return self._answers(Ranking, "these answers are not rankings")

    @property
    def texts(self) -> Texts:
        """The answers as texts."""
        return self._answers(Texts, "these answers are not texts")

    @property
    def tuples(self) -> Tuples:
        """The answers as sets of tuples."""
        return self._answers(Tuples, "these answers are not tuples")

    def covering(self, items: Sequence[str]) -> "LoadedGold":
        """Return the gold with missing `items` added if it has spans, tuples, or entities given by character offsets.

        The added items are empty. Any other gold standard is returned unchanged.
        """
        known = self.answers
        if not isinstance(known, Spans | Entities | Tuples) or (
            isinstance(known, Entities) and known.lengths is not None
        ):
            return self
        further = [item for item in items if item not in self.index]
        if not further:
            return self
        starts = np.append(known.starts, np.full(len(further), known.starts[-1]))
        answers = replace(known, ids=[*known.ids, *further], starts=starts)
        return LoadedGold(answers, self._hierarchy, self.declared, self.slice_columns)

    @property
    def files(self) -> str | None:
        """The name of the slicing by a run's files, or None if runs have a single file."""
        return next((name for name, column in self.slice_columns.items() if column.rules.files), None)

    @cached_property
    def strata(self) -> list[Rows]:
        """The rows of each file of a run. Samples draw as many items from each file as the gold has.

        If runs have a single file, all rows form one stratum.
        """
        return [np.arange(len(self))] if self.files is None else list(self.slices(self.files).values())

    @cached_property
    def tree(self) -> Tree:
        """The classes of the gold's columns, followed by those that only the hierarchy has.

        Columns of soft labels without any weights are left out.
        """
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
        return np.logical_not(spread(self.matrix.present, self.matrix.columns, self.tree.classes))

    def slices(self, name: str) -> dict[str, Rows]:
        """Return the rows of the items in each slice, sorted by slice value.

        Raises:
            TextsError: the column cannot be read.
            KeyError: the track has no slicing with this name.
        """
        return self.once(_rows_by_value, name)

    def slice_values(self, name: str) -> Words:
        return self.once(_slice_values, name)

    def select(self, rows: Rows) -> "LoadedGold":
        """Return the items in `rows`, which may contain duplicates. The classes remain those of the whole gold."""
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
    """Arrange `values` in the columns `wanted`. Missing columns are zero, and other columns are dropped."""
    if tuple(columns) == tuple(wanted):
        return values
    position = {name: index for index, name in enumerate(wanted)}
    kept = [index for index, name in enumerate(columns) if name in position]
    result = np.zeros((len(values), len(wanted)), values.dtype)
    result[:, [position[columns[index]] for index in kept]] = values[:, kept]
    return result
