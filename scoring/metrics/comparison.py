"""A run compared with the gold standard, item by item: all that a metric sees."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from scoring.answers import Answers, Matrix, Ranking, Spans, as_trec_eval
from scoring.items.index import ItemIndex
from scoring.metrics.tree import Tree, grow

Derived = TypeVar("Derived")
Arguments = ParamSpec("Arguments")
Values = NDArray[Any]  # of the type of `Matrix.values`: bool for labels, float for weights, integer for columns


class Remembering:
    """Keeps what several metrics derive from it."""

    @cached_property
    def _derived(self) -> dict[Any, Any]:
        return {}

    def once(
        self, derive: Callable[Concatenate[Self, Arguments], Derived], *given: Arguments.args, **named: Arguments.kwargs
    ) -> Derived:
        """`derive(self, …)`, computed at the first call with these arguments and remembered."""
        key = (derive, given, *named.items())
        if key not in self._derived:
            self._derived[key] = derive(self, *given, **named)
        result: Derived = self._derived[key]
        return result


class LoadedGold(Remembering):
    """The right answers, and whatever can be derived from them alone: computed once, kept for every run."""

    def __init__(
        self,
        answers: Answers,
        hierarchy: Mapping[str, Sequence[str]] | None = None,
        declared: Sequence[int] = (),
    ) -> None:
        self.answers = answers
        self.declared = np.array(declared, np.int64)  # values that a table's cells may have, in the gold or not
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
            raise TypeError("spans and rankings have no classes")
        return self.answers

    @property
    def spans(self) -> Spans:
        """The answers as marked spans."""
        if not isinstance(self.answers, Spans):
            raise TypeError("these answers are no spans")
        return self.answers

    @property
    def ranking(self) -> Ranking:
        """The answers as documents with degrees of relevance."""
        if not isinstance(self.answers, Ranking):
            raise TypeError("these answers are no rankings")
        return self.answers

    def covering(self, items: Sequence[str]) -> "LoadedGold":
        """The same with all of `items`: those that a gold of spans leaves out have none; other gold is unchanged."""
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
        return _spread(self.matrix.values, self.matrix.columns, self.tree.classes)

    @cached_property
    def absent(self) -> NDArray[np.bool_]:
        """Shape as `values`: the cells for which the gold holds no answer."""
        matrix = self.matrix
        absent = np.zeros(matrix.values.shape, bool) if matrix.absent is None else matrix.absent
        present = _spread(~absent, matrix.columns, self.tree.classes)
        return np.logical_not(present)

    def select(self, rows: NDArray[np.intp]) -> "LoadedGold":
        """The items in `rows`, again where a row stands twice; the classes stay those of the whole gold."""
        matrix, at = self.matrix, rows.tolist()
        sample = Matrix(
            ids=[str(number) for number in range(len(at))],
            columns=matrix.columns,
            values=matrix.values[rows],
            absent=None if matrix.absent is None else matrix.absent[rows],
            extra={name: [cells[row] for row in at] for name, cells in matrix.extra.items()},
        )
        taken = LoadedGold(sample, self._hierarchy, self.declared.tolist())
        taken.tree = self.tree
        return taken


class Compared(Remembering):
    """A run compared with a gold standard; what all kinds of answers share."""

    gold: LoadedGold

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.gold)} items)"


@dataclass(frozen=True, repr=False)
class MatrixComparison(Compared):
    """Row i of every array is the gold's item i; columns are the gold's classes, then those that only the run has."""

    gold: LoadedGold
    columns: tuple[str, ...]
    run: Values
    absent: NDArray[np.bool_]  # cells that the run does not hold
    answered: NDArray[np.bool_]  # items that the run holds
    outside: Values  # answers for items that the gold lacks; no rows unless the track counts them

    @property
    def extra(self) -> int:
        """How many columns only the run has."""
        return len(self.columns) - len(self.gold.tree.classes)

    @cached_property
    def has_several_labels(self) -> bool:
        """Whether an item has more than one label, in the gold or in the run."""
        return self.gold.once(_gold_has_several) or _has_several(self.run)

    def position(self, column: str) -> int:
        """Where a column stands; ValueError where there is none of that name."""
        return self.columns.index(column)

    def select(self, rows: NDArray[np.intp], gold: LoadedGold) -> "MatrixComparison":
        """The run compared with `gold`, which is what the gold has in these rows."""
        return replace(self, gold=gold, run=self.run[rows], absent=self.absent[rows], answered=self.answered[rows])


@dataclass(frozen=True, repr=False)
class SpanComparison(Compared):
    """The gold's spans and the run's, which begin at `begins` and end before `ends`, in any order.

    `owners[i]` is the gold's row to which the run's span i belongs.
    """

    gold: LoadedGold
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]
    owners: NDArray[np.intp]


@dataclass(frozen=True, repr=False)
class RankingComparison(Compared):
    """The documents that the run retrieved for the gold's queries, those of a query together, the best first.

    Documents with the same score, in single precision, are in descending order of their names, as in trec_eval.
    `owners[i]` is the gold's row of the query, `ranks[i]` counts from 1 within it, `relevance[i]` is 0 where the gold
    does not judge a document.
    """

    gold: LoadedGold
    owners: NDArray[np.intp]
    ranks: NDArray[np.int64]
    relevance: NDArray[np.float64]


Comparison = MatrixComparison | SpanComparison | RankingComparison


def compare(gold: LoadedGold, run: Answers, count_outside: bool = False) -> Comparison:
    """Compare `run` with `gold`: items in the gold's order, missing ones empty.

    The gold standard sets the denominator. Items that it lacks are left out or, with `count_outside`, kept aside as
    PyEvALL does, where they weigh on precision.
    """
    rows = gold.index.rows_of(run.ids)
    if isinstance(run, Spans):
        return _compare_spans(gold, run, rows)
    if isinstance(run, Ranking):
        return _compare_rankings(gold, run, rows)
    return _compare_matrix(gold, run, rows, count_outside)


def _compare_spans(gold: LoadedGold, run: Spans, rows: NDArray[np.intp]) -> SpanComparison:
    owners = np.repeat(rows, np.diff(run.starts))
    inside = owners >= 0
    return SpanComparison(gold, run.begins[inside], run.ends[inside], owners[inside])


def _compare_rankings(gold: LoadedGold, run: Ranking, rows: NDArray[np.intp]) -> RankingComparison:
    owners = np.repeat(rows, np.diff(run.starts))
    names = {name: place for place, name in enumerate(sorted({*run.documents}))}
    places = np.fromiter((names[document] for document in run.documents), np.int64, len(run.documents))
    order = np.lexsort((-places, -as_trec_eval(run.scores), owners))
    order = order[owners[order] >= 0]
    owners = owners[order]
    firsts = np.searchsorted(owners, owners)  # where each document's query begins
    relevant = gold.once(_relevance)
    documents = [run.documents[place] for place in order.tolist()]
    relevance = [relevant.get(judged, 0.0) for judged in zip(owners.tolist(), documents, strict=True)]
    return RankingComparison(gold, owners, np.arange(len(owners)) - firsts + 1, np.array(relevance, np.float64))


def _relevance(gold: LoadedGold) -> dict[tuple[int, str], float]:
    """(row of a query, document) → degree of relevance, for the documents that the gold judges."""
    ranking = gold.ranking
    owners = np.repeat(np.arange(len(ranking.ids)), np.diff(ranking.starts)).tolist()
    return dict(zip(zip(owners, ranking.documents, strict=True), ranking.scores.tolist(), strict=True))


def _compare_matrix(gold: LoadedGold, run: Matrix, rows: NDArray[np.intp], count_outside: bool) -> MatrixComparison:
    columns = tuple(dict.fromkeys([*gold.tree.classes, *run.columns]))
    values = _spread(run.values, run.columns, columns)
    present = np.ones(run.values.shape, bool) if run.absent is None else ~run.absent
    present = _spread(present, run.columns, columns)
    inside = rows >= 0
    answered = np.zeros(len(gold), bool)
    answered[rows[inside]] = True
    return MatrixComparison(
        gold=gold,
        columns=columns,
        run=_place(values[inside], rows[inside], len(gold)),
        absent=~_place(present[inside], rows[inside], len(gold)),
        answered=answered,
        outside=values[~inside] if count_outside else values[:0],
    )


def _gold_has_several(gold: LoadedGold) -> bool:
    return _has_several(gold.matrix.values)


def _has_several(values: Values) -> bool:
    """Whether a row of labels has more than one."""
    if values.dtype != np.bool_:
        return False
    seen = np.zeros(len(values), bool)
    for column in values.T:
        if (seen & column).any():
            return True
        seen |= column
    return False


def _spread(values: Values, columns: Sequence[str], wanted: Sequence[str]) -> Values:
    """`values` under the columns `wanted`: those that it lacks are zero, those not wanted fall away."""
    if tuple(columns) == tuple(wanted):
        return values
    position = {name: index for index, name in enumerate(wanted)}
    kept = [index for index, name in enumerate(columns) if name in position]
    result = np.zeros((len(values), len(wanted)), values.dtype)
    result[:, [position[columns[index]] for index in kept]] = values[:, kept]
    return result


def _place(values: Values, rows: NDArray[np.intp], count: int) -> Values:
    """Rows of `values` at `rows` of an array of `count` rows, zero elsewhere."""
    if len(rows) == count and (rows == np.arange(count)).all():
        return values
    result = np.zeros((count, values.shape[1]), values.dtype)
    result[rows] = values
    return result
