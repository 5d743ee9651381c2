"""Texts as the mean of their words' vectors, from a .vec text file in the format of fastText."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]

_WORD = re.compile(r"\w+")


def words(text: str) -> list[str]:
    """Sequences of letters and digits, in their own case."""
    return _WORD.findall(text)


def read_vectors(path: Path, texts: Iterable[str]) -> dict[str, Vector]:
    """The vectors of the texts' words, as written or in lower case. One line of the file is in memory at a time.

    Args:
        path: a first line with the numbers of words and dimensions, then lines of a word and its numbers.

    Raises:
        ValueError: a line has another form; the text names it.
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
        raise ValueError(f"{path.name} holds none of the texts' words")
    return vectors


def averaged(texts: Sequence[str], vectors: Mapping[str, Vector]) -> NDArray[np.float64]:
    """Shape (texts, dimensions): the mean of the words' normalized vectors, as fastText's sentence vectors.

    For a word without a vector, the lower-case one is used, if any. A text without any such word is all zeros.
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
