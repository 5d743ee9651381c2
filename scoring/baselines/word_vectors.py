"""Mean word vectors as features of texts. The word vectors are read from a .vec file or made of character n-grams."""

import re
from binascii import crc32
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]

SUBWORD_LENGTHS = range(3, 7)  # fastText's defaults
DIMENSIONS = 100
_BUCKETS = 1 << 14

_WORD = re.compile(r"\w+")


def words(text: str) -> list[str]:
    """Split a text into words: sequences of letters, digits and underscores. Case is preserved."""
    return _WORD.findall(text)


def read_vectors(path: Path, texts: Iterable[str]) -> dict[str, Vector]:
    """Read the vectors of the words in the texts, as written or in lower case. Only one line is in memory at a time.

    Args:
        path: the file's first line has the numbers of words and dimensions. Each other line has a word and its numbers.

    Raises:
        ValueError: a line has a different format (the message contains its number), or no word is found.
    """
    spelled = {word for text in texts for word in words(text)}
    wanted = spelled | {word.lower() for word in spelled}
    vectors = {}
    with path.open(encoding="utf-8", newline="\n") as lines:
        first = next(lines, "").split()
        if len(first) != 2 or not all(cell.isdecimal() for cell in first):
            raise ValueError(f"{path.name}, line 1: expected the number of words and the number of dimensions")
        size = int(first[1])
        for number, line in enumerate(lines, 2):
            word, *cells = line.rstrip().rsplit(" ", size)
            if word in wanted:
                try:
                    vectors[word] = np.array(cells, np.float32).reshape(size)
                except ValueError:
                    raise ValueError(f"{path.name}, line {number}: expected {size} numbers after {word}") from None
    if not vectors:
        raise ValueError(f"{path.name} contains none of the words in the texts")
    return vectors


def subword_vectors(texts: Iterable[str], seed: int) -> dict[str, Vector]:
    """Return a vector for each lower-case word: the mean of the vectors of its character n-grams, as in fastText.

    The vectors of n-grams are random, as at the start of fastText's training. Similar words have similar vectors, and
    nothing has to be downloaded or trained.
    """
    table = np.random.default_rng(seed).standard_normal((_BUCKETS, DIMENSIONS), np.float32)
    found = {word.lower() for text in texts for word in words(text)}
    return {word: table[_subwords(f"<{word}>")].mean(axis=0) for word in sorted(found)}


def _subwords(word: str) -> list[int]:
    """Return the table rows for the character n-grams and for the whole word."""
    grams = [word[at : at + size] for size in SUBWORD_LENGTHS for at in range(len(word) - size + 1)]
    return [crc32(gram.encode()) % _BUCKETS for gram in (*grams, word)]


def averaged(texts: Sequence[str], vectors: Mapping[str, Vector]) -> NDArray[np.float64]:
    """Return the mean of the normalized word vectors with shape (texts, dimensions), like fastText's sentence vectors.

    A word without a vector uses that of its lower-case form, if there is one. A text without any known words gets
    zeros.
    """
    known = {word: vector for word, vector in vectors.items() if np.any(vector)}
    places = {word: place for place, word in enumerate(known)}
    found = [
        [places[form] for word in words(text) if (form := word if word in vectors else word.lower()) in places]
        for text in texts
    ]
    result = np.zeros((len(texts), len(next(iter(vectors.values())))))
    if any(found):
        table = np.array(list(known.values()), float)
        table /= np.linalg.norm(table, axis=1, keepdims=True)
        sizes = np.array([len(row) for row in found])
        starts = np.cumsum(sizes) - sizes
        sums = np.add.reduceat(table[[place for row in found for place in row]], starts[sizes > 0])
        result[sizes > 0] = sums / sizes[sizes > 0, np.newaxis]
    return result
