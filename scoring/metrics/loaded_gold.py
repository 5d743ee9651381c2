"""The gold standard for metrics, with everything that can be derived from it alone."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from scoring.answers import Answers, Entities, Matrix, Ranking, Spans
from scoring.items.index import ItemIndex
from scoring.metrics.tree import Tree, grow

Derived = TypeVar("Derived")
Arguments = ParamSpec("Arguments")
Values = NDArray[Any]  # of the type of `Matrix.values`: bool for labels, float for weights, integer for columns


class Remembering:
    """Caches what several metrics derive from it."""

    @cached_property
    def _derived(self) -> dict[Any, Any]:
        return {}

    def once(
        self, derive: Callable[Concatenate[Self, Arguments], Derived], *given: Arguments.args, **named: Arguments.kwargs
    ) -> Derived:
        """`derive(self, …)`, computed at the first call with these arguments and cached."""
        key = (derive, given, *named.items())
        if key not in self._derived:
            self._derived[key] = derive(self, *given, **named)
        result: Derived = self._derived[key]
        return result


class LoadedGold(Remembering):
    """The right answers, and what can be derived from them alone: computed once, kept for every run."""

    def __init__(
        self,
        answers: Answers,
        hierarchy: Mapping[str, Sequence[str]] | None = None,
        declared: Mapping[str, Sequence[int]] | None = None,
    ) -> None:
        self.answers = answers
        # by column, the values that its cells may have, whether the gold has them or not
        self.declared = declared or {}
        self._hierarchy = hierarchy

    def __len__(self) -> int:
        return len(self.answers.ids)

    def __repr__(self) -> str:
        return f"LoadedGold({len(self)} items)"

    @cached_property
    def index(self) -> ItemIndex:
        """The items' ids, each with its row."""
        return ItemIndex(self.answers.ids)

    @property
    def matrix(self) -> Matrix:
        """The answers as labels, weights or columns; spans have none."""
        if not isinstance(self.answers, Matrix):
            raise TypeError("spans, entities and rankings have no classes")
        return self.answers

    @property
    def spans(self) -> Spans:
        """The answers as marked spans."""
        if not isinstance(self.answers, Spans):
            raise TypeError("these answers are no spans")
        return self.answers

    @property
    def entities(self) -> Entities:
        """The answers as typed spans of tokens."""
        if not isinstance(self.answers, Entities):
            raise TypeError("these answers are no entities")
        return self.answers

    @property
    def ranking(self) -> Ranking:
        """The answers as documents with degrees of relevance."""
        if not isinstance(self.answers, Ranking):
            raise TypeError("these answers are no rankings")
        return self.answers

    def covering(self, items: Sequence[str]) -> "LoadedGold":
        """The gold with all of `items`: those missing in a gold of spans have none; other gold is unchanged."""
        if not isinstance(self.answers, Spans):
            return self
        spans = self.answers
        further = [item for item in items if item not in self.index]
        if not further:
            return self
        starts = np.append(spans.starts, np.full(len(further), len(spans.begins)))
        return LoadedGold(replace(spans, ids=[*spans.ids, *further], starts=starts))

    @cached_property
    def tree(self) -> Tree:
        """The gold's classes: its columns (soft ones if any item has a weight there), then the hierarchy's."""
        matrix = self.matrix
        columns = matrix.columns
        if matrix.values.dtype.kind == "f" and matrix.absent is not None:
            columns = tuple(name for name, absent in zip(columns, matrix.absent.T, strict=True) if not absent.all())
        return grow(columns, self._hierarchy)

    @cached_property
    def values(self) -> Values:
        """Shape (items, classes of the tree)."""
        return spread(self.matrix.values, self.matrix.columns, self.tree.classes)

    @cached_property
    def absent(self) -> NDArray[np.bool_]:
        """Shape as `values`: the cells without an answer in the gold."""
        matrix = self.matrix
        absent = np.zeros(matrix.values.shape, bool) if matrix.absent is None else matrix.absent
        present = spread(~absent, matrix.columns, self.tree.classes)
        return np.logical_not(present)

    def select(self, rows: NDArray[np.intp]) -> "LoadedGold":
        """The items in `rows`, repeated rows too; the classes stay those of the whole gold."""
        matrix, at = self.matrix, rows.tolist()
        sample = Matrix(
            ids=[str(number) for number in range(len(at))],
            columns=matrix.columns,
            values=matrix.values[rows],
            absent=None if matrix.absent is None else matrix.absent[rows],
            extra={name: [cells[row] for row in at] for name, cells in matrix.extra.items()},
        )
        sampled = LoadedGold(sample, self._hierarchy, self.declared)
        sampled.tree = self.tree
        return sampled


def spread(values: Values, columns: Sequence[str], wanted: Sequence[str]) -> Values:
    """`values` in the columns `wanted`: missing ones are zero, others are dropped."""
    if tuple(columns) == tuple(wanted):
        return values
    position = {name: index for index, name in enumerate(wanted)}
    kept = [index for index, name in enumerate(columns) if name in position]
    result = np.zeros((len(values), len(wanted)), values.dtype)
    result[:, [position[columns[index]] for index in kept]] = values[:, kept]
    return result
