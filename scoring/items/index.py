"""An index of item ids, built once for checking a run and for comparing it with the gold standard."""

from collections.abc import Sequence
from functools import cached_property
from itertools import islice, repeat
from operator import lt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.intp]
Words = NDArray[np.uint64]

HEAD = 1000  # this many ids are compared first, which usually shows whether the order is as expected
# For this many ids or more, sorted numbers are several times faster than a dictionary, whose memory access is slow.
MANY = 50_000
LONGEST = 64  # maximum number of characters in ids that are compared as a few machine words
_FACTORS = np.array([0x9E3779B97F4A7C15**power % 2**64 for power in range(LONGEST // 8)], np.uint64)


class ItemIndex:
    """Item ids with their row numbers."""

    def __init__(self, ids: Sequence[str]) -> None:
        self.ids = ids if isinstance(ids, list) else list(ids)
        self._last: tuple[list[str], Rows] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def __contains__(self, item: object) -> bool:
        return item in self._rows

    @cached_property
    def by_file(self) -> dict[str, "ItemIndex"]:
        """For a track whose runs have several files: the ids in each file, keyed by the value in the file's name."""
        found: dict[str, list[str]] = {}
        for item in self.ids:
            value, _, own = item.partition("/")
            found.setdefault(value, []).append(own)
        return {value: ItemIndex(ids) for value, ids in found.items()}

    @cached_property
    def unique(self) -> bool:
        """Whether each id occurs only once."""
        return are_surely_unique(self.ids) or len({*self.ids}) == len(self.ids)

    def rows_of(self, ids: list[str]) -> Rows:
        """Return the row of each id, or -1 for unknown ids. The result for the most recent list is cached."""
        if self._last is None or self._last[0] is not ids:
            self._last = ids, self._find(ids)
        return self._last[1]

    def is_same(self, ids: list[str]) -> bool:
        """Return whether `ids` contains the same ids in any order, each exactly once."""
        if len(ids) != len(self.ids) or not self.unique:
            return False
        rows = self.rows_of(ids)
        return not len(rows) or bool(rows.min() >= 0 and np.bincount(rows).max() == 1)

    def _find(self, ids: list[str]) -> Rows:
        if ids == self.ids and self.unique:
            return np.arange(len(ids))
        found = self._find_many(ids) if min(len(ids), len(self.ids)) >= MANY else None
        return np.fromiter(map(self._rows.get, ids, repeat(-1)), np.intp, len(ids)) if found is None else found

    @cached_property
    def _rows(self) -> dict[str, int]:
        return dict(zip(self.ids, range(len(self.ids)), strict=True))

    def _find_many(self, ids: list[str]) -> Rows | None:
        """Look up ids as machine words, sorting both the ids and the index by key.

        Return None if the ids cannot be stored as words.
        """
        own, words = self._by_key, _words(ids)
        if own is None or words is None or words.shape[1] > own.words.shape[1]:
            return None
        words = np.pad(words, ((0, 0), (0, own.words.shape[1] - words.shape[1])))
        keys = _keys(words)
        order = np.argsort(keys)
        candidates = own.order[np.minimum(np.searchsorted(own.keys, keys[order]), len(self.ids) - 1)]
        rows = np.empty(len(ids), np.intp)
        rows[order] = candidates
        rows[(own.words[rows] != words).any(axis=1)] = -1
        return rows

    @cached_property
    def _by_key(self) -> "_ByKey | None":
        words = _words(self.ids)
        if words is None or not self.unique:
            return None
        keys = _keys(words)
        order = np.argsort(keys)
        keys = keys[order]
        return _ByKey(words, keys, order) if np.all(keys[1:] > keys[:-1]) else None


class _ByKey(NamedTuple):
    """Ids as machine words, with their sorted keys and the row of each key. All keys are different."""

    words: Words
    keys: Words
    order: Rows


def _words(ids: list[str]) -> Words | None:
    """Return the characters of each id as eight-byte numbers, or None if an id is too long or not plain ASCII."""
    lengths = np.fromiter(map(len, ids), np.int64, len(ids))
    size = -(-int(lengths.max()) // 8) * 8
    if not 0 < size <= LONGEST:
        return None
    try:
        cells = np.fromiter(ids, f"S{size}", len(ids))
    except UnicodeEncodeError:
        return None
    # A zero byte in an id would look like the end of the id, but ids from files cannot contain one.
    is_whole = np.count_nonzero(cells.view(np.uint8)) == lengths.sum()
    return cells.view(np.uint64).reshape(len(ids), -1) if is_whole else None


def _keys(words: Words) -> Words:
    """Return one number per id: the word itself, or a hash if ids have several words."""
    mixed: Words = (words * _FACTORS[: words.shape[1]]).sum(axis=1, dtype=np.uint64)
    return mixed


def are_surely_unique(ids: Sequence[str]) -> bool:
    """Return whether the ids are sorted by length and value, which proves that they are unique.

    Most files are sorted like this, and the check is faster than building a set.
    """
    if len(ids) > HEAD and not are_surely_unique(ids[:HEAD]):
        return False
    lengths = np.fromiter(map(len, ids), np.int64, len(ids))
    rises = np.fromiter(map(lt, ids, islice(ids, 1, None)), np.bool_)
    longer = np.diff(lengths)
    return bool(np.all((longer > 0) | (rises & (longer == 0))))
