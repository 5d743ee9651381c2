"""The content of a run or gold standard in memory. Formats create these objects and metrics read them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.intp]


def gathered(starts: NDArray[np.int64], rows: Rows) -> tuple[Rows, NDArray[np.int64]]:
    """Select the entries of `rows`, where the entries of row i are from starts[i] to starts[i + 1].

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
    integer for the columns of a table. `absent` (same shape, or None) marks cells missing in a lenient reading.
    `extra` holds further columns as text, one entry per item, such as the group of a tuple.
    """

    ids: list[str]
    columns: tuple[str, ...]
    values: NDArray[np.bool_] | NDArray[np.float64] | NDArray[np.int64]
    absent: NDArray[np.bool_] | None = None
    extra: dict[str, list[str]] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Matrix({len(self.ids)} items; {', '.join(self.columns)})"

    def select(self, rows: Rows, ids: list[str]) -> "Matrix":
        """Return the answers in `rows` with other ids."""
        at = rows.tolist()
        return Matrix(
            ids=ids,
            columns=self.columns,
            values=self.values[rows],
            absent=None if self.absent is None else self.absent[rows],
            extra={name: [cells[row] for row in at] for name, cells in self.extra.items()},
        )

    def labels(self) -> list[list[str]]:
        """Return the labels of each item."""
        rows = self.values.tolist()
        return [[name for name, holds in zip(self.columns, row, strict=True) if holds] for row in rows]

    def cells(self) -> list[list[Any]]:
        """Return the values of each item, with None for absent values."""
        if self.absent is None:
            rows: list[list[Any]] = self.values.tolist()
            return rows
        return [
            [None if lacks else value for value, lacks in zip(row, absent, strict=True)]
            for row, absent in zip(self.values.tolist(), self.absent.tolist(), strict=True)
        ]


@dataclass(frozen=True, slots=True, repr=False)
class Spans:
    """Marked spans: the spans of item i are `begins` and `ends` (exclusive) from starts[i] to starts[i + 1].

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
        """Create spans from character offsets. Neighboring offsets form one span.

        The offsets of item i are offsets[starts[i]:starts[i + 1]], sorted and unique.
        """
        owners = np.repeat(np.arange(len(ids)), np.diff(starts))
        goes_on = (np.diff(offsets) == 1) & (np.diff(owners) == 0)
        firsts = np.flatnonzero(np.append(True, ~goes_on)[: len(offsets)])
        lasts = np.flatnonzero(np.append(~goes_on, True)[: len(offsets)])
        bounds = np.searchsorted(owners[firsts], np.arange(len(ids) + 1))
        return cls(ids, offsets[firsts], offsets[lasts] + 1, bounds)

    def select(self, rows: Rows, ids: list[str]) -> "Spans":
        """Return the spans in `rows` with other ids."""
        at, starts = gathered(self.starts, rows)
        return Spans(ids, self.begins[at], self.ends[at], starts)

    def pairs(self, row: int) -> list[tuple[int, int]]:
        """Return the begin and end of each span of an item."""
        own = slice(self.starts[row], self.starts[row + 1])
        return list(zip(self.begins[own].tolist(), self.ends[own].tolist(), strict=True))

    def offsets(self, row: int) -> list[int]:
        """Return the characters in an item's spans, sorted and unique."""
        found: list[int] = []
        for begin, end in self.pairs(row):
            found.extend(range(max(begin, found[-1] + 1) if found else begin, end))
        return found


@dataclass(frozen=True, slots=True, repr=False)
class Entities:
    """Typed spans: the entities of item i are from starts[i] to starts[i + 1] in the other arrays.

    `begins` and `ends` (exclusive) count from 0: tokens of a sentence, whose number is in `lengths`, or characters of a
    text if there are no `lengths`. `kinds` are indexes in `types`. The entities of an item are unique and sorted by
    begin, end and kind. Entities of tokens do not overlap. `texts` has the texts of the items, if they are known.
    """

    ids: list[str]
    types: tuple[str, ...]
    kinds: NDArray[np.intp]
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64] | None
    texts: Mapping[str, str] | None = None  # id → text, with tokens separated by spaces

    def __repr__(self) -> str:
        return f"Entities({len(self.ids)} items, {len(self.begins)} entities)"

    def select(self, rows: Rows, ids: list[str]) -> "Entities":
        """Return the entities of the items in `rows`, with the items renamed to `ids`."""
        at, starts = gathered(self.starts, rows)
        return Entities(
            ids,
            self.types,
            self.kinds[at],
            self.begins[at],
            self.ends[at],
            starts,
            lengths=None if self.lengths is None else self.lengths[rows],
            texts=None
            if self.texts is None
            else {name: self.texts.get(self.ids[row], "") for name, row in zip(ids, rows.tolist(), strict=True)},
        )

    def of_item(self, row: int) -> list[tuple[str, int, int]]:
        """Return the type, begin and end of each entity of an item."""
        own = slice(self.starts[row], self.starts[row + 1])
        kinds = [self.types[kind] for kind in self.kinds[own].tolist()]
        return list(zip(kinds, self.begins[own].tolist(), self.ends[own].tolist(), strict=True))


@dataclass(frozen=True, slots=True, repr=False)
class Ranking:
    """Ranked documents per query, each document once.

    The documents of query i are `documents[starts[i]:starts[i + 1]]`.

    `scores` (one finite value per document) are a run's scores, where higher is better, or the gold standard's
    relevance grades. The documents of a query are in any order.
    """

    ids: list[str]  # query ids
    documents: list[str]
    scores: NDArray[np.float64]
    starts: NDArray[np.int64]  # length: number of queries + 1

    def __repr__(self) -> str:
        return f"Ranking({len(self.ids)} queries, {len(self.documents)} documents)"

    def select(self, rows: Rows, ids: list[str]) -> "Ranking":
        """Return the documents of the queries in `rows` with other ids."""
        at, starts = gathered(self.starts, rows)
        return Ranking(ids, [self.documents[place] for place in at.tolist()], self.scores[at], starts)


@dataclass(frozen=True, slots=True, repr=False)
class Texts:
    """Texts of items: one per item in a run, or one or more references per item in a gold standard."""

    ids: list[str]
    texts: list[tuple[str, ...]]

    def __repr__(self) -> str:
        return f"Texts({len(self.ids)} items)"

    def select(self, rows: Rows, ids: list[str]) -> "Texts":
        """Return the texts in `rows` with other ids."""
        return Texts(ids, [self.texts[row] for row in rows.tolist()])


def as_trec_eval(scores: NDArray[np.float64]) -> NDArray[np.float32]:
    """Round scores to C floats, which trec_eval compares: scores that round to the same float are equal."""
    with np.errstate(over="ignore"):  # values that are too large become infinite
        return scores.astype(np.float32)


Answers = Matrix | Spans | Entities | Ranking | Texts


def joined(parts: Mapping[str, Answers]) -> Answers:
    """Join the answers of several files. Each id gets the file's value and a slash as a prefix."""
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
        return Texts(ids, [one for part in texts for one in part.texts])
    entities = [part for part in found if isinstance(part, Entities)]
    types = tuple(dict.fromkeys(name for part in entities for name in part.types))
    places = [np.array([types.index(name) for name in part.types], np.intp) for part in entities]
    kinds = [own[part.kinds] for own, part in zip(places, entities, strict=True)]
    return Entities(
        ids,
        types,
        np.concatenate(kinds),
        np.concatenate([part.begins for part in entities]),
        np.concatenate([part.ends for part in entities]),
        _joined_starts(entities),
        lengths=_joined_lengths(entities),
        texts=_joined_texts(dict(zip(parts, entities, strict=True))),
    )


def _joined_matrices(ids: list[str], parts: Sequence[Matrix]) -> Matrix:
    """Columns that a part does not have are empty there: no label, no weight."""
    columns = tuple(dict.fromkeys(name for part in parts for name in part.columns))
    values = np.zeros((len(ids), len(columns)), np.result_type(*(part.values.dtype for part in parts)))
    absent = np.zeros(values.shape, bool)
    start = 0
    for part in parts:
        rows, at = slice(start, start + len(part.ids)), [columns.index(name) for name in part.columns]
        values[rows, at] = part.values
        if part.absent is not None:
            absent[rows, at] = part.absent
        start = rows.stop
    names = dict.fromkeys(name for part in parts for name in part.extra)
    extra = {name: [cell for part in parts for cell in part.extra.get(name, [""] * len(part.ids))] for name in names}
    return Matrix(ids, columns, values, absent if absent.any() else None, extra)


def _joined_lengths(parts: Sequence[Entities]) -> NDArray[np.int64] | None:
    lengths = [part.lengths for part in parts if part.lengths is not None]
    return np.concatenate(lengths) if len(lengths) == len(parts) else None


def _joined_texts(parts: Mapping[str, Entities]) -> dict[str, str] | None:
    texts = {value: part.texts for value, part in parts.items() if part.texts is not None}
    if len(texts) < len(parts):
        return None
    return {f"{value}/{item}": text for value, own in texts.items() for item, text in own.items()}


def _joined_starts(parts: Sequence[Spans | Entities | Ranking]) -> NDArray[np.int64]:
    counts = np.concatenate([np.diff(part.starts) for part in parts])
    return np.append(0, np.cumsum(counts)).astype(np.int64)


AnswerKind = Literal["labels", "soft", "table", "spans", "entities", "rankings", "judgements", "texts"]
"""The kind of content in a file, in whatever format it is written.

Labels, soft labels and tables of numbers are a `Matrix` each. The other kinds are `Spans`, `Entities`, a `Ranking` of
documents, judgments of documents, which only a gold standard can have, and `Texts`.
"""
