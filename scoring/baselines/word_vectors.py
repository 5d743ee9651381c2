"""Text features as the mean of word vectors, which are read from a .vec text file in fastText's format."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]

_WORD = re.compile(r"\w+")


def words(text: str) -> list[str]:
    """Return sequences of letters and digits with their case unchanged."""
    return _WORD.findall(text)


def read_vectors(path: Path, texts: Iterable[str]) -> dict[str, Vector]:
    """Read the vectors of the words in the texts, as written or in lower case. Only one line is in memory at a time.

    Args:
        path: the first line has the numbers of words and dimensions. Each further line has a word and its numbers.

    Raises:
        ValueError: a line has another form. The message contains its number.
    """
    spelled = {word for text in texts for word in words(text)}
    wanted = spelled | {word.lower() for word in spelled}
    vectors = {}
    with path.open(encoding="utf-8", newline="\n") as lines:
        first = next(lines, "").split()
        if len(first) != 2 or not all(cell.isdecimal() for cell in first):
            raise ValueError(f"{path.name}, line 1: expected the number of words and of dimensions")
        size = int(first[1])
        for number, line in enumerate(lines, 2):
            word, *cells = line.rstrip().rsplit(" ", size)
            if word in wanted:
                try:
                    vectors[word] = np.array(cells, np.float32).reshape(size)
                except ValueError:
                    raise ValueError(f"{path.name}, line {number}: {word} is not followed by {size} numbers") from None
    if not vectors:
        raise ValueError(f"{path.name} contains none of the words in the texts")
    return vectors


def averaged(texts: Sequence[str], vectors: Mapping[str, Vector]) -> NDArray[np.float64]:
    """Return the mean of the normalized word vectors with shape (texts, dimensions), like fastText's sentence vectors.

    A word without a vector uses the vector of its lower-case form, if there is one. A text without any known word gets
    zeros.
    """
    result = np.zeros((len(texts), len(next(iter(vectors.values())))))
    for row, text in enumerate(texts):
        known = [
            vectors[form] for word in words(text) if (form := word if word in vectors else word.lower()) in vectors
        ]
        lengths = [float(np.linalg.norm(vector)) for vector in known]
        unit = [vector / length for vector, length in zip(known, lengths, strict=True) if length > 0]
        if unit:
            result[row] = np.mean(unit, axis=0)
    return result
