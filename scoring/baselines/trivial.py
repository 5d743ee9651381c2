"""Trivial systems whose scores serve as a reference.

`majority`, `minority` and `weighted_random` use the distribution of the gold standard. The other functions do not use
it. Each function returns answers for all of the given items, which may include items outside the gold standard.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from scoring.answers import Matrix, Spans


def constant(ids: Sequence[str], columns: Sequence[str], value: int) -> Matrix:
    """Return a table with `value` in every cell, for the all-zeros and all-ones baselines."""
    return Matrix(list(ids), tuple(columns), np.full((len(ids), len(columns)), value, np.int64))


def majority(ids: Sequence[str], gold: Matrix) -> Matrix:
    """Give every item the most frequent gold class or, for soft labels, the class with the highest total weight.

    In a table, each column gets its most frequent value.
    """
    return _uniform(ids, gold, rarest=False)


def minority(ids: Sequence[str], gold: Matrix) -> Matrix:
    """Give every item the rarest class that occurs in the gold standard.

    In a table, each column gets its rarest value.
    """
    return _uniform(ids, gold, rarest=True)


def median(ids: Sequence[str], gold: Matrix) -> Matrix:
    """Give every item the median of each column or, of two middle values, the lower one."""
    row = np.sort(gold.values, axis=0)[(len(gold.ids) - 1) // 2]
    return Matrix(list(ids), gold.columns, np.tile(row, (len(ids), 1)))


def weighted_random(ids: Sequence[str], gold: Matrix, seed: int) -> Matrix:
    """Give every item the answer to a random gold item, which preserves the frequencies of classes and combinations."""
    drawn = np.random.default_rng(seed).integers(len(gold.ids), size=len(ids))
    return Matrix(list(ids), gold.columns, gold.values[drawn])


def empty_spans(ids: Sequence[str]) -> Spans:
    """Return an answer without spans for every item."""
    return Spans.of_offsets(list(ids), np.zeros(0, np.int64), np.zeros(len(ids) + 1, np.int64))


def every_character(texts: Mapping[str, str]) -> Spans:
    """Mark every character of every text. `texts` maps item ids to texts."""
    lengths = np.array([len(text) for text in texts.values()], np.int64)
    filled = lengths[lengths > 0]
    return Spans(list(texts), np.zeros(len(filled), np.int64), filled, np.append(0, np.cumsum(lengths > 0)))


def random_spans(texts: Mapping[str, str], seed: int) -> Spans:
    """Mark a random half of the characters in every text."""
    coins = np.random.default_rng(seed)
    offsets = [np.flatnonzero(coins.random(len(text)) < 0.5).astype(np.int64) for text in texts.values()]
    starts = np.cumsum([0, *map(len, offsets)], dtype=np.int64)
    return Spans.of_offsets(list(texts), np.concatenate([np.zeros(0, np.int64), *offsets]), starts)


def _uniform(ids: Sequence[str], gold: Matrix, rarest: bool) -> Matrix:
    if gold.values.dtype.kind == "i":
        row = np.array([_frequent(column, rarest) for column in gold.values.T], np.int64)
    else:
        totals = gold.values.sum(axis=0, dtype=np.float64)
        chosen = np.where(totals > 0, totals, np.inf).argmin() if rarest else totals.argmax()
        row = np.zeros(len(gold.columns), gold.values.dtype)
        row[chosen] = 1
    return Matrix(list(ids), gold.columns, np.tile(row, (len(ids), 1)))


def _frequent(column: Any, rarest: bool) -> int:
    values, counts = np.unique(column, return_counts=True)
    return int(values[counts.argmin() if rarest else counts.argmax()])
