"""Texts as the mean of their words' vectors; vectors come from a .vec text file, as fastText writes it."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]

_WORD = re.compile(r"\w+")


def words(text: str) -> list[str]:
    """Runs of letters and digits, in the case they stand in."""
    return _WORD.findall(text)


def read_vectors(path: Path, texts: Iterable[str]) -> dict[str, Vector]:
    """The vectors of the texts' words, as written or in small letters; one line of the file in memory at a time.

    Args:
        path: a first line with the number of words and of dimensions, then a word and its numbers a line.

    Raises:
        ValueError: a line is not of that form; it names the line.
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
    """Shape (texts, dimensions): the mean of the words' vectors, each made one long, as fastText's sentence vectors.

    A word without a vector is taken in small letters, or passed over; a text of none but such words is all zeros.
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
