"""TF-IDF weights of words and word n-grams in sparse rows, computed as in scikit-learn's TfidfVectorizer."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scoring.answers import gathered

_WORD = re.compile(r"\b\w\w+\b")  # scikit-learn's default, which ignores one-letter words


@dataclass(frozen=True, slots=True)
class SparseRows:
    """A matrix with few nonzero values: the row, column and value of each, ordered by row."""

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    values: NDArray[np.float64]
    shape: tuple[int, int]

    def __getitem__(self, chosen: NDArray[np.int64]) -> "SparseRows":
        """Return the chosen rows, in the given order."""
        places, starts = gathered(np.searchsorted(self.rows, np.arange(self.shape[0] + 1)), chosen)
        rows = np.repeat(np.arange(len(chosen)), np.diff(starts))
        return SparseRows(rows, self.columns[places], self.values[places], (len(chosen), self.shape[1]))

    def __matmul__(self, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        weights = self.values * vector[self.columns]
        return np.bincount(self.rows, weights=weights, minlength=self.shape[0]).astype(np.float64)

    @property
    def T(self) -> "SparseRows":  # noqa: N802 (numpy's name for it)
        """The transposed matrix. Its rows are not in order, so it only supports multiplication."""
        return SparseRows(self.columns, self.rows, self.values, self.shape[::-1])


def tfidf(
    texts: Sequence[str], others: Sequence[str], *, longest: int = 1, most: int | None = None
) -> tuple[SparseRows, SparseRows]:
    """Compute TF-IDF weights for both lists, fitted on the first, with smoothed idf and rows of length 1.

    Args:
        longest: the maximum number of words in an n-gram.
        most: keep only this many of the most frequent features. Ties are broken alphabetically.

    Raises:
        ValueError: the first list contains no words of two or more letters.
    """
    counts = [_ngrams(text, longest) for text in texts]
    totals: Counter[str] = Counter()
    documents: Counter[str] = Counter()
    for row in counts:
        totals.update(row)
        documents.update(row.keys())
    if not totals:
        raise ValueError("the training texts contain no words")
    kept = sorted(totals, key=lambda gram: (-totals[gram], gram))[:most]
    places = {gram: place for place, gram in enumerate(kept)}
    idf = np.array([np.log((1 + len(texts)) / (1 + documents[gram])) + 1 for gram in kept])
    return _weighted(counts, places, idf), _weighted([_ngrams(text, longest) for text in others], places, idf)


def _ngrams(text: str, longest: int) -> Counter[str]:
    words: list[Any] = _WORD.findall(text.lower())
    sizes = range(1, longest + 1)
    return Counter(" ".join(words[at : at + size]) for size in sizes for at in range(len(words) - size + 1))


def _weighted(counts: Sequence[Mapping[str, int]], places: Mapping[str, int], idf: NDArray[np.float64]) -> SparseRows:
    pairs = ((row, gram, count) for row, found in enumerate(counts) for gram, count in found.items())
    cells = [(row, places[gram], count) for row, gram, count in pairs if gram in places]
    rows, columns, values = np.array(cells, np.int64).reshape(-1, 3).T
    weights = values * idf[columns]
    lengths = np.sqrt(np.bincount(rows, weights=weights**2, minlength=len(counts)))
    return SparseRows(rows, columns, weights / lengths[rows], (len(counts), len(places)))
