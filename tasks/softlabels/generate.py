"""Synthetic disagreement as in LeWiDi: neutral texts, and annotators whose labels differ by person and by item."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..synthetic import neutral_texts, write_lines, write_table

_LANGUAGES = ("en", "es", "pt")
_SIZES = {"train": 600, "dev": 120, "test": 300}


@dataclass(frozen=True)
class _Data:
    """A dataset: the scale of its labels, the bias of each annotator, and the share of labels that are missing."""

    name: str
    scale: tuple[int, ...]
    biases: tuple[float, ...]
    noise: float
    missing: float
    languages: tuple[str, ...]


_DATA = (
    _Data("irony", (0, 1), (-0.3, -0.2, -0.1, 0.0, 0.2, 0.3), 0.5, 0.2, _LANGUAGES),
    _Data("paraphrases", tuple(range(-5, 6)), (-1.5, -0.5, 0.5, 1.5), 1.5, 0.0, ("en",)),
)

Votes = NDArray[np.float64]  # labels by item and annotator, NaN if an annotator did not label the item


def generate(folder: Path, seed: int = 2025) -> None:
    """Write data/, gold/ and baselines/ of the shared task to `folder`."""
    for place, data in enumerate(_DATA):
        train = np.empty((0, len(data.biases)))
        for split, size in _SIZES.items():
            rng = np.random.default_rng([seed, place, list(_SIZES).index(split)])
            ids, votes = (
                [f"{data.name[:1]}{split[:2]}{number}" for number in range(1, size + 1)],
                _votes(rng, data, size),
            )
            languages = [data.languages[row % len(data.languages)] for row in range(size)]
            texts = [neutral_texts(rng, language, 1)[0] for language in languages]
            columns, header = [ids, languages, texts], ["id", "lang", "text"]
            if split == "train":
                train = votes
                columns += [_lists(_shares(votes, data)), _lists(votes)]
                header += ["soft_label", "annotators"]
            else:
                write_lines(folder / f"data/{split}/{data.name}.txt", ids)
                _write_answers(folder / f"gold/{split}", data, ids, _shares(votes, data), votes)
                _write_baselines(folder / f"baselines/{split}", data, ids, rng, train)
            write_table(folder / f"data/{split}/{data.name}.tsv", columns, header, "\t")


def _votes(rng: np.random.Generator, data: _Data, size: int) -> Votes:
    low, high = data.scale[0], data.scale[-1]
    meant = rng.uniform(low, high, (size, 1)) + np.array(data.biases)
    votes = np.clip(np.rint(meant + data.noise * rng.standard_normal(meant.shape)), low, high)
    absent = rng.random(votes.shape) < data.missing
    absent[absent.all(axis=1)] = False
    return np.where(absent, np.nan, votes)


def _shares(votes: Votes, data: _Data) -> Votes:
    """Return the share of each label among an item's annotators, with shape (items, labels)."""
    counts = (votes[:, :, None] == np.array(data.scale)).sum(axis=1)
    shares: Votes = counts / counts.sum(axis=1, keepdims=True)
    return shares


def _write_baselines(folder: Path, data: _Data, ids: Sequence[str], rng: np.random.Generator, train: Votes) -> None:
    size, annotators = len(ids), len(data.biases)
    drawn = rng.choice(data.scale, (size, annotators)).astype(np.float64)
    _write_answers(folder / "random", data, ids, rng.dirichlet(np.ones(len(data.scale)), size), drawn)
    counts = (train[:, :, None] == np.array(data.scale)).sum(axis=0)
    usual = np.array(data.scale, np.float64)[counts.argmax(axis=1)]
    overall = counts.sum(axis=0) / counts.sum()
    _write_answers(folder / "frequent", data, ids, np.tile(overall, (size, 1)), np.tile(usual, (size, 1)))


def _write_answers(folder: Path, data: _Data, ids: Sequence[str], shares: Votes, votes: Votes) -> None:
    for track, values in (("soft", shares), ("annotators", votes)):
        write_table(folder / f"{data.name}-{track}.tsv", [ids, _lists(values)], (), "\t")


def _lists(values: Votes) -> list[str]:
    """Format each row as a list. Labels are whole numbers, and missing labels are empty."""
    return [f"[{', '.join(map(_cell, row))}]" for row in values.tolist()]


def _cell(value: float) -> str:
    if np.isnan(value):
        return ""
    return str(int(value)) if value == int(value) else f"{value:.6f}"
