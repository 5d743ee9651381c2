"""A run compared with the gold standard, item by item. Metrics are computed on such comparisons."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from scoring.answers import (
    AnswerKind,
    Answers,
    Entities,
    Matrix,
    Ranking,
    Rows,
    Spans,
    Texts,
    Tuples,
    as_trec_eval,
    gathered,
)
from scoring.metrics.loaded_gold import LoadedGold, Remembering, Values, spread


@dataclass(frozen=True, repr=False)
class Compared(Remembering, ABC):
    """A run compared with a gold standard, for all kinds of answers.

    If runs have several files, `lacks` lists the missing ones, each as the name and value of a slice.
    """

    kind: ClassVar[AnswerKind]
    gold: LoadedGold
    lacks: frozenset[tuple[str, str]] = field(default=frozenset(), kw_only=True)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.gold)} items)"

    def kinds(self, numbers: bool) -> frozenset[AnswerKind]:
        """Return the kinds of answers that a metric can treat this comparison as.

        Args:
            numbers: whether the metric supports tables of arbitrary numbers.
        """
        return frozenset({self.kind})

    @abstractmethod
    def by_chance(self, order: NDArray[np.intp]) -> Self:
        """Give each item the run's answers to a different item, chosen by `order`.

        Answers that depend on an item's text, such as spans, become empty.
        """

    @abstractmethod
    def select(self, rows: Rows, gold: LoadedGold) -> Self:
        """Restrict the comparison to the gold items in `rows`. `gold` must consist of these items."""


@dataclass(frozen=True, repr=False)
class MatrixComparison(Compared):
    """Labels, weights or table cells. Row i of every array belongs to item i of the gold.

    The first columns are the gold's classes. Classes that only the run has follow.
    """

    gold: LoadedGold
    columns: tuple[str, ...]
    run: Values
    absent: NDArray[np.bool_]  # cells missing from the run
    answered: NDArray[np.bool_]  # items that the run contains
    outside: Values  # answers to items without gold; empty unless the track counts them
    probabilities: NDArray[np.float64] | None = None  # NaN in columns without them, −∞ for missing items

    @property
    def extra(self) -> int:
        """The number of columns that only the run has."""
        return len(self.columns) - len(self.gold.tree.classes)

    @cached_property
    def has_several_labels(self) -> bool:
        """Whether any item has more than one label, in the gold or in the run."""
        return self.gold.once(_gold_has_several) or _has_several(self.run)

    def kinds(self, numbers: bool) -> frozenset[AnswerKind]:
        dtype = self.gold.matrix.values.dtype
        if dtype.kind == "f":
            return frozenset({"soft", "table"} if numbers else {"soft"})
        return frozenset({"labels"} if dtype == np.bool_ else {"table"})

    def by_chance(self, order: NDArray[np.intp]) -> "MatrixComparison":
        return replace(self, **self._at(order))

    def position(self, column: str) -> int:
        """Return the index of a column.

        Raises:
            ValueError: the column does not exist.
        """
        return self.columns.index(column)

    def select(self, rows: Rows, gold: LoadedGold) -> "MatrixComparison":
        return replace(self, gold=gold, **self._at(rows))

    def _at(self, rows: Rows) -> dict[str, Any]:
        """Return the fields of the items in `rows`."""
        found = {name: getattr(self, name)[rows] for name in ("run", "absent", "answered")}
        return found | {"probabilities": None if self.probabilities is None else self.probabilities[rows]}


class _Entries(Compared):
    """A run with any number of entries per item. `owners[i]` is the gold row of the item that has entry i."""

    owners: NDArray[np.intp]
    by_entry: ClassVar[tuple[str, ...]]  # the other fields that have a value for each entry

    def by_chance(self, order: NDArray[np.intp]) -> Self:
        return replace(self, **self._at(self.owners[:0], self.owners[:0]))

    def select(self, rows: Rows, gold: LoadedGold) -> Self:
        order = np.argsort(self.owners, kind="stable")
        at, starts = gathered(np.searchsorted(self.owners[order], np.arange(len(self.gold) + 1)), rows)
        owners = np.repeat(np.arange(len(rows)), np.diff(starts))
        return replace(self, gold=gold, lacks=frozenset(), **self._at(order[at], owners))

    def _at(self, places: Rows, owners: Rows) -> dict[str, Any]:
        """Return the fields of the entries at `places`, which belong to the items in `owners`."""
        return {"owners": owners} | {name: getattr(self, name)[places] for name in self.by_entry}


@dataclass(frozen=True, repr=False)
class SpanComparison(_Entries):
    """The gold's spans and the run's, which are in no particular order.

    The run's span i extends from `begins[i]` to `ends[i]` (exclusive), and `owners[i]` is the gold row of its item.
    """

    kind = "spans"
    by_entry = ("begins", "ends")
    gold: LoadedGold
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]
    owners: NDArray[np.intp]


@dataclass(frozen=True, repr=False)
class EntityComparison(_Entries):
    """The entities of gold and run, ordered by gold item and position.

    `owners[i]` is the gold row of the item that contains the run's entity i. `kinds_of_run` are indexes into `types`,
    which lists the gold's types followed by types that only the run has.
    """

    kind = "entities"
    by_entry = ("begins", "ends", "kinds_of_run")
    gold: LoadedGold
    types: tuple[str, ...]
    owners: NDArray[np.intp]
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]
    kinds_of_run: NDArray[np.intp]


@dataclass(frozen=True, repr=False)
class RankingComparison(_Entries):
    """The documents retrieved for the gold's queries, by query, best first.

    Documents with equal scores (in single precision) are in descending order of their names, as in trec_eval.
    `owners[i]` is the gold row of the query. `ranks[i]` counts from 1 within the query. `judged[i]` is whether the
    document has a judgment. If it has none, `relevance[i]` is 0.
    """

    kind = "rankings"
    by_entry = ("ranks", "relevance", "judged")
    gold: LoadedGold
    owners: NDArray[np.intp]
    ranks: NDArray[np.int64]
    relevance: NDArray[np.float64]
    judged: NDArray[np.bool_]


@dataclass(frozen=True, repr=False)
class TextComparison(Compared):
    """The run's text for each gold item, which is empty if the item is missing from the run."""

    kind = "texts"
    gold: LoadedGold
    outputs: list[str]

    def by_chance(self, order: NDArray[np.intp]) -> "TextComparison":
        return replace(self, outputs=[self.outputs[row] for row in order.tolist()])

    def select(self, rows: Rows, gold: LoadedGold) -> "TextComparison":
        return TextComparison(gold, [self.outputs[row] for row in rows.tolist()])


@dataclass(frozen=True, repr=False)
class TupleComparison(_Entries):
    """The run's tuples and the gold's, sorted within each item. `owners[i]` is the gold row of the run's tuple i."""

    kind = "tuples"
    gold: LoadedGold
    rows: list[tuple[str, ...]]
    owners: NDArray[np.intp]

    def _at(self, places: Rows, owners: Rows) -> dict[str, Any]:
        return {"owners": owners, "rows": [self.rows[place] for place in places.tolist()]}


Comparison = MatrixComparison | SpanComparison | EntityComparison | RankingComparison | TextComparison | TupleComparison


def compare(gold: LoadedGold, run: Answers, count_outside: bool = False) -> Comparison:
    """Compare `run` with `gold`. Items are in the gold's order, and items missing from the run are empty.

    Metrics divide by the number of gold items. Answers to other items are left out or, with `count_outside`, kept
    separately, because they then count in precision, as in PyEvALL.
    """
    found = _compared(gold, run, count_outside)
    lacks = _missing_files(gold, run)
    return replace(found, lacks=lacks) if lacks else found


def _missing_files(gold: LoadedGold, run: Answers) -> frozenset[tuple[str, str]]:
    name = gold.files
    if name is None:
        return frozenset()
    given = {item.partition("/")[0] for item in run.ids}
    return frozenset((name, value) for value in gold.slices(name) if value not in given)


def _compared(gold: LoadedGold, run: Answers, count_outside: bool) -> Comparison:
    rows = gold.index.rows_of(run.ids)
    if isinstance(run, Spans):
        return _compare_spans(gold, run, rows)
    if isinstance(run, Entities):
        return _compare_entities(gold, run, rows)
    if isinstance(run, Ranking):
        return _compare_rankings(gold, run, rows)
    if isinstance(run, Texts):
        return _compare_texts(gold, run, rows)
    if isinstance(run, Tuples):
        return _compare_tuples(gold, run, rows)
    return _compare_matrix(gold, run, rows, count_outside)


def _compare_spans(gold: LoadedGold, run: Spans, rows: NDArray[np.intp]) -> SpanComparison:
    owners = np.repeat(rows, np.diff(run.starts))
    inside = owners >= 0
    return SpanComparison(gold, run.begins[inside], run.ends[inside], owners[inside])


def _compare_entities(gold: LoadedGold, run: Entities, rows: NDArray[np.intp]) -> EntityComparison:
    types = tuple(dict.fromkeys([*gold.entities.types, *run.types]))
    indexes = {name: at for at, name in enumerate(types)}
    places = np.array([indexes[name] for name in run.types], np.intp)
    owners = np.repeat(rows, np.diff(run.starts))
    order = np.argsort(owners, kind="stable")  # an item's entities are already sorted
    order = order[owners[order] >= 0]
    return EntityComparison(gold, types, owners[order], run.begins[order], run.ends[order], places[run.kinds[order]])


def _compare_rankings(gold: LoadedGold, run: Ranking, rows: NDArray[np.intp]) -> RankingComparison:
    owners = np.repeat(rows, np.diff(run.starts))
    names = {name: place for place, name in enumerate(sorted({*run.documents}))}
    places = np.fromiter((names[document] for document in run.documents), np.int64, len(run.documents))
    order = np.lexsort((-places, -as_trec_eval(run.scores), owners))
    order = order[owners[order] >= 0]
    owners = owners[order]
    firsts = np.searchsorted(owners, owners)  # index where each document's query begins
    relevant = gold.once(_relevance)
    documents = [run.documents[place] for place in order.tolist()]
    known = [relevant.get(pair) for pair in zip(owners.tolist(), documents, strict=True)]
    relevance = np.array([grade or 0.0 for grade in known], np.float64)
    judged = np.array([grade is not None for grade in known], np.bool_)
    return RankingComparison(gold, owners, np.arange(len(owners)) - firsts + 1, relevance, judged)


def _compare_texts(gold: LoadedGold, run: Texts, rows: NDArray[np.intp]) -> TextComparison:
    outputs = [""] * len(gold)
    for row, (text, *_) in zip(rows.tolist(), run.texts, strict=True):
        if row >= 0:
            outputs[row] = text
    return TextComparison(gold, outputs)


def _compare_tuples(gold: LoadedGold, run: Tuples, rows: NDArray[np.intp]) -> TupleComparison:
    owners = np.repeat(rows, np.diff(run.starts))
    order = np.argsort(owners, kind="stable")  # an item's tuples are already sorted
    order = order[owners[order] >= 0]
    return TupleComparison(gold, [run.rows[place] for place in order.tolist()], owners[order])


def _relevance(gold: LoadedGold) -> dict[tuple[int, str], float]:
    """Map each pair of query row and document to its relevance grade in the gold."""
    ranking = gold.ranking
    owners = np.repeat(np.arange(len(ranking.ids)), np.diff(ranking.starts)).tolist()
    return dict(zip(zip(owners, ranking.documents, strict=True), ranking.scores.tolist(), strict=True))


def _compare_matrix(gold: LoadedGold, run: Matrix, rows: NDArray[np.intp], count_outside: bool) -> MatrixComparison:
    columns = tuple(dict.fromkeys([*gold.tree.classes, *run.columns]))
    values = spread(run.values, run.columns, columns)
    present = spread(run.present, run.columns, columns)
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
        probabilities=_probabilities(run, columns, rows, len(gold)),
    )


def _probabilities(
    run: Matrix, columns: tuple[str, ...], rows: NDArray[np.intp], count: int
) -> NDArray[np.float64] | None:
    if run.probabilities is None:
        return None
    result = np.full((count, len(columns)), np.nan)
    for name, given in zip(run.columns, run.probabilities.T, strict=True):
        if not np.isnan(given).all():
            at = columns.index(name)
            result[:, at] = -np.inf
            result[rows[rows >= 0], at] = given[rows >= 0]
    return result


def _gold_has_several(gold: LoadedGold) -> bool:
    return _has_several(gold.matrix.values)


def _has_several(values: Values) -> bool:
    """Return whether any item has more than one label."""
    if values.dtype != np.bool_:
        return False
    seen = np.zeros(len(values), bool)
    for column in values.T:
        if (seen & column).any():
            return True
        seen |= column
    return False


def _place(values: Values, rows: NDArray[np.intp], count: int) -> Values:
    """Return an array of `count` rows with `values` at `rows` and zeros elsewhere."""
    if len(rows) == count and (rows == np.arange(count)).all():
        return values
    result = np.zeros((count, values.shape[1]), values.dtype)
    result[rows] = values
    return result
