"""The data available to baselines: items, gold standard, training answers, texts, and word vectors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from scoring.answers import Answers, Matrix
from scoring.definition import Track
from scoring.formats import answer_kind
from scoring.formats.table import values_of

BINARY = {0, 1}


class UnavailableError(Exception):
    """Data that the baseline needs is missing. The message says which."""


class UnsuitedError(UnavailableError):
    """The baseline is for a different kind of track. The message says which."""


@dataclass(frozen=True, slots=True)
class Material:
    """The data for baselines.

    `ids` are the items to answer. `texts` maps the ids of these items and of training items to texts.
    """

    track: Track
    ids: Sequence[str]
    gold: Answers | None = None
    train: Answers | None = None
    texts: Mapping[str, str] = field(default_factory=dict)
    vectors: Path | None = None
    seed: int = 0

    def known(self) -> Matrix:
        """Return the answers whose distribution a baseline can copy, leaving out incomplete ones."""
        self._require_one_list_of_annotators()
        answers = labels_of(self.gold if self.train is None else self.train, "--train or a gold standard")
        if answers.absent is None:
            return answers
        whole = ~np.any(answers.absent, axis=1)
        if not whole.any():
            raise UnavailableError("the gold standard contains no labels")
        ids = [item for item, keep in zip(answers.ids, whole.tolist(), strict=True) if keep]
        return Matrix(ids, answers.columns, answers.values[whole])

    def _require_one_list_of_annotators(self) -> None:
        if self.track.annotators:
            raise UnsuitedError("this baseline requires the same annotators for all items")

    def classes(self) -> Matrix:
        """Return `known` if the answers are classes or soft labels."""
        if self.track.format.options.get("numbers"):
            raise UnsuitedError("this baseline requires classes")
        return self.known()

    def columns(self) -> tuple[str, ...]:
        """Return the columns of a table of zeros and ones."""
        self._require_one_list_of_annotators()
        values = values_of(self.track.format) if answer_kind(self.track) == "table" else {}
        if not values or any(set(allowed) != BINARY for allowed in values.values()):
            raise UnsuitedError("this baseline requires tables of zeros and ones")
        return tuple(values)

    def texts_of(self, ids: Sequence[str]) -> list[str]:
        """Return the texts of these items, in the same order."""
        missing = [item for item in ids if item not in self.texts]
        if missing:
            which = f"{missing[0]} and {len(missing) - 1} more items have no text"
            raise UnavailableError(f"this baseline requires --texts with a text for every item; {which}")
        return [self.texts[item] for item in ids]


def labels_of(answers: Answers | None, name: str) -> Matrix:
    if answers is None:
        raise UnavailableError(f"this baseline requires {name}")
    if not isinstance(answers, Matrix):
        raise UnsuitedError("this baseline requires labels, soft labels or tables")
    return answers
