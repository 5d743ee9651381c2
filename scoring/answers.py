"""The content of a run or gold standard in memory. Formats create these objects and metrics read them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.intp]


def gathered(starts: NDArray[np.int64], rows: Rows) -> tuple[Rows, NDArray[np.int64]]:
    """Select the entries of `rows`. The entries of row i are those from starts[i] to starts[i + 1].

    Returns:
        The indexes of the selected entries, and the new `starts`.
    """
    counts = np.diff(starts)[rows]
    own = np.append(0, np.cumsum(counts))
    return np.arange(own[-1]) + np.repeat(starts[:-1][rows] - own[:-1], counts), own


@dataclass(frozen=True, slots=True, repr=False)
class Matrix:
    """One row per item, one column per class or dimension.

    `values` has shape (items, columns): bool for labels (True where the item has the class), float for soft labels,
    integer for the columns of a table. `absent` (same shape, or None) marks missing cells, where they are allowed.
    `extra` holds additional columns as text, one entry per item, such as the group of a tuple. `probabilities` (same
    shape as `values`) has a run's probability that each value is 1, or NaN in columns without probabilities.
    """

    ids: list[str]
    columns: tuple[str, ...]
    values: NDArray[np.bool_] | NDArray[np.float64] | NDArray[np.int64]
    absent: NDArray[np.bool_] | None = None
    extra: dict[str, list[str]] = field(default_factory=dict)
    probabilities: NDArray[np.float64] | None = None

    def __repr__(self) -> str:
        return f"Matrix({len(self.ids)} items; {', '.join(self.columns)})"

    @property
    def present(self) -> NDArray[np.bool_]:
        """Which cells have a value, with the shape of `values`."""
        return np.ones(self.values.shape, bool) if self.absent is None else ~self.absent

    def select(self, rows: Rows, ids: list[str]) -> "Matrix":
        """Return the answers in `rows`, with their ids replaced by `ids`."""
        at = rows.tolist()
        return Matrix(
            ids=ids,
            columns=self.columns,
            values=self.values[rows],
            absent=None if self.absent is None else self.absent[rows],
            extra={name: [cells[row] for row in at] for name, cells in self.extra.items()},
            probabilities=None if self.probabilities is None else self.probabilities[rows],
        )

    def labels(self) -> list[list[str]]:
        rows = self.values.tolist()
        return [[name for name, holds in zip(self.columns, row, strict=True) if holds] for row in rows]

    def cells(self) -> list[list[Any]]:
        """Return the values of each item, with None for absent values."""
        rows: list[list[Any]] = self.values.tolist()
        if self.absent is None:
            return rows
        return [
            [None if lacks else value for value, lacks in zip(row, absent, strict=True)]
            for row, absent in zip(rows, self.absent.tolist(), strict=True)
        ]


@dataclass(frozen=True, slots=True, repr=False)
class Spans:
    """Marked spans of text. The spans of item i are at starts[i] to starts[i + 1] in `begins` and `ends` (exclusive).

    The spans of an item are sorted, unique and not empty. They may touch or overlap.
    """

    ids: list[str]
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]
    starts: NDArray[np.int64]

    def __repr__(self) -> str:
        return f"Spans({len(self.ids)} items, {len(self.begins)} spans)"

    @classmethod
    def of_offsets(cls, ids: list[str], offsets: NDArray[np.int64], starts: NDArray[np.int64]) -> "Spans":
        """Create spans from character offsets. Consecutive offsets form one span.

        The offsets of item i are offsets[starts[i]:starts[i + 1]], sorted and unique.
        """
        owners = np.repeat(np.arange(len(ids)), np.diff(starts))
        goes_on = (np.diff(offsets) == 1) & (np.diff(owners) == 0)
        firsts = np.flatnonzero(np.append(True, ~goes_on)[: len(offsets)])
        lasts = np.flatnonzero(np.append(~goes_on, True)[: len(offsets)])
        bounds = np.searchsorted(owners[firsts], np.arange(len(ids) + 1))
        return cls(ids, offsets[firsts], offsets[lasts] + 1, bounds)

    def select(self, rows: Rows, ids: list[str]) -> "Spans":
        """Return the spans in `rows`, with their ids replaced by `ids`."""
        at, starts = gathered(self.starts, rows)
        return Spans(ids, self.begins[at], self.ends[at], starts)

    def pairs(self, row: int) -> list[tuple[int, int]]:
        """Return the begin and end of each span of an item."""
        own = slice(self.starts[row], self.starts[row + 1])
        return list(zip(self.begins[own].tolist(), self.ends[own].tolist(), strict=True))

    def offsets(self, row: int) -> list[int]:
        """Return the positions of the characters in an item's spans, sorted and unique."""
        found: list[int] = []
        for begin, end in self.pairs(row):
            found.extend(range(max(begin, found[-1] + 1) if found else begin, end))
        return found


@dataclass(frozen=True, slots=True, repr=False)
class Entities:
    """Typed spans. The entities of item i are at starts[i] to starts[i + 1] (exclusive) in the other arrays.

    `begins` and `ends` (exclusive) count from 0. They count tokens if `lengths` has the number of tokens per sentence,
    otherwise characters. `kinds` are indexes into `types`. The entities of an item are unique and sorted by begin, end
    and kind. Entities made of tokens do not overlap. `texts` has the texts of the items, if they are known.
    """

    ids: list[str]
    types: tuple[str, ...]
    kinds: NDArray[np.intp]
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64] | None
    texts: Mapping[str, str] | None = None  # id → text; tokens are separated by spaces

    def __repr__(self) -> str:
        return f"Entities({len(self.ids)} items, {len(self.begins)} entities)"

    def select(self, rows: Rows, ids: list[str]) -> "Entities":
        """Return the entities in `rows`, with their ids replaced by `ids`."""
        at, starts = gathered(self.starts, rows)
        kinds, begins, ends = self.kinds[at], self.begins[at], self.ends[at]
        lengths = None if self.lengths is None else self.lengths[rows]
        texts = None
        if self.texts is not None:
            texts = {name: self.texts.get(self.ids[row], "") for name, row in zip(ids, rows.tolist(), strict=True)}
        return Entities(ids, self.types, kinds, begins, ends, starts, lengths, texts)

    def of_item(self, row: int) -> list[tuple[str, int, int]]:
        """Return the type, begin and end of each entity of an item."""
        own = slice(self.starts[row], self.starts[row + 1])
        kinds = [self.types[kind] for kind in self.kinds[own].tolist()]
        return list(zip(kinds, self.begins[own].tolist(), self.ends[own].tolist(), strict=True))


@dataclass(frozen=True, slots=True, repr=False)
class Ranking:
    """Ranked documents per query, each document once.

    The documents of query i are `documents[starts[i]:starts[i + 1]]`.

    `scores` has one finite value per document: a run's scores (higher is better) or the gold standard's relevance
    grades. A query's documents are in no particular order.
    """

    ids: list[str]  # query ids
    documents: list[str]
    scores: NDArray[np.float64]
    starts: NDArray[np.int64]  # length: number of queries + 1

    def __repr__(self) -> str:
        return f"Ranking({len(self.ids)} queries, {len(self.documents)} documents)"

    def select(self, rows: Rows, ids: list[str]) -> "Ranking":
        """Return the documents in `rows`, with their query ids replaced by `ids`."""
        at, starts = gathered(self.starts, rows)
        return Ranking(ids, [self.documents[place] for place in at.tolist()], self.scores[at], starts)


@dataclass(frozen=True, slots=True, repr=False)
class Texts:
    """The items' texts: one per item in a run, or one or more references per item in a gold standard."""

    ids: list[str]
    texts: list[tuple[str, ...]]

    def __repr__(self) -> str:
        return f"Texts({len(self.ids)} items)"

    def select(self, rows: Rows, ids: list[str]) -> "Texts":
        """Return the texts in `rows`, with their ids replaced by `ids`."""
        return Texts(ids, [self.texts[row] for row in rows.tolist()])


@dataclass(frozen=True, slots=True, repr=False)
class Tuples:
    """Sets of tuples. The tuples of item i are `rows[starts[i]:starts[i + 1]]`, unique and sorted.

    A tuple has one string per column, which is empty if the column has no value.
    """

    ids: list[str]
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    starts: NDArray[np.int64]

    def __repr__(self) -> str:
        return f"Tuples({len(self.ids)} items, {len(self.rows)} tuples; {', '.join(self.columns)})"

    @classmethod
    def of_sets(cls, columns: tuple[str, ...], sets: Mapping[str, Iterable[tuple[str, ...]]]) -> "Tuples":
        """Create an object from each item's set of tuples."""
        rows = [sorted(set(own)) for own in sets.values()]
        starts = np.append(0, np.cumsum([len(own) for own in rows])).astype(np.int64)
        return cls(list(sets), columns, [entry for own in rows for entry in own], starts)

    def select(self, rows: Rows, ids: list[str]) -> "Tuples":
        """Return the tuples in `rows`, with their ids replaced by `ids`."""
        at, starts = gathered(self.starts, rows)
        return Tuples(ids, self.columns, [self.rows[place] for place in at.tolist()], starts)

    def of_item(self, row: int) -> list[tuple[str, ...]]:
        return self.rows[self.starts[row] : self.starts[row + 1]]


def as_trec_eval(scores: NDArray[np.float64]) -> NDArray[np.float32]:
    """Round scores to C floats, as trec_eval does, so that scores that round to the same float are equal."""
    with np.errstate(over="ignore"):  # values that are too large become infinite
        return scores.astype(np.float32)


Answers = Matrix | Spans | Entities | Ranking | Texts | Tuples


def joined(parts: Mapping[str, Answers]) -> Answers:
    """Join the answers from several files. Each id is prefixed with its file's key in `parts` and a slash."""
    found = list(parts.values())
    ids = [f"{value}/{item}" for value, part in parts.items() for item in part.ids]
    if matrices := [part for part in found if isinstance(part, Matrix)]:
        return _joined_matrices(ids, matrices)
    if spans := [part for part in found if isinstance(part, Spans)]:
        begins, ends = np.concatenate([part.begins for part in spans]), np.concatenate([part.ends for part in spans])
        return Spans(ids, begins, ends, _joined_starts(spans))
    if rankings := [part for part in found if isinstance(part, Ranking)]:
        documents = [document for part in rankings for document in part.documents]
        return Ranking(ids, documents, np.concatenate([part.scores for part in rankings]), _joined_starts(rankings))
    if texts := [part for part in found if isinstance(part, Texts)]:
        return Texts(ids, [text for part in texts for text in part.texts])
    if tuples := [part for part in found if isinstance(part, Tuples)]:
        rows = [row for part in tuples for row in part.rows]
        return Tuples(ids, tuples[0].columns, rows, _joined_starts(tuples))
    entities = [part for part in found if isinstance(part, Entities)]
    types = tuple(dict.fromkeys(name for part in entities for name in part.types))
    places = [np.array([types.index(name) for name in part.types], np.intp) for part in entities]
    kinds = [own[part.kinds] for own, part in zip(places, entities, strict=True)]
    lengths = [part.lengths for part in entities if part.lengths is not None]
    return Entities(
        ids,
        types,
        np.concatenate(kinds),
        np.concatenate([part.begins for part in entities]),
        np.concatenate([part.ends for part in entities]),
        _joined_starts(entities),
        lengths=np.concatenate(lengths) if len(lengths) == len(entities) else None,
        texts=_joined_texts(dict(zip(parts, entities, strict=True))),
    )


def _joined_matrices(ids: list[str], parts: Sequence[Matrix]) -> Matrix:
    """Join matrices. If a part lacks a column, its items have no label or weight there."""
    columns = tuple(dict.fromkeys(name for part in parts for name in part.columns))
    values = np.zeros((len(ids), len(columns)), np.result_type(*(part.values.dtype for part in parts)))
    absent = np.zeros(values.shape, bool)
    probabilities = np.full(values.shape, np.nan)
    start = 0
    for part in parts:
        rows, at = slice(start, start + len(part.ids)), [columns.index(name) for name in part.columns]
        values[rows, at] = part.values
        if part.absent is not None:
            absent[rows, at] = part.absent
        if part.probabilities is not None:
            probabilities[rows, at] = part.probabilities
        start = rows.stop
    names = dict.fromkeys(name for part in parts for name in part.extra)
    extra = {name: [cell for part in parts for cell in part.extra.get(name, [""] * len(part.ids))] for name in names}
    given = all(part.probabilities is not None for part in parts)
    return Matrix(ids, columns, values, absent if absent.any() else None, extra, probabilities if given else None)


def _joined_texts(parts: Mapping[str, Entities]) -> dict[str, str] | None:
    texts = {value: part.texts for value, part in parts.items() if part.texts is not None}
    if len(texts) < len(parts):
        return None
    return {f"{value}/{item}": text for value, own in texts.items() for item, text in own.items()}


def _joined_starts(parts: Sequence[Spans | Entities | Ranking | Tuples]) -> NDArray[np.int64]:
    counts = np.concatenate([np.diff(part.starts) for part in parts])
    return np.append(0, np.cumsum(counts)).astype(np.int64)


AnswerKind = Literal["labels", "soft", "table", "spans", "entities", "rankings", "judgements", "texts", "tuples"]
"""The kind of content in a file, regardless of its format.

Labels, soft labels and tables of numbers are read as a `Matrix`. Rankings and judgments of documents, which only a gold
standard can have, are read as a `Ranking`. The other kinds are `Spans`, `Entities`, `Texts` and `Tuples`.
"""
