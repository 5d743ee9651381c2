"""Synthetic DETESTS 2022: a gold standard on which the baselines get the scores of the overview paper.

The test set has the campaign's 1,812 sentences, of which 488 contain a stereotype. The counts of category combinations
were chosen to reproduce rows of the paper's Tables 3 and 4. They are not the counts of the real data.
"""

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..synthetic import binary_cells, neutral_texts, shuffled, write_lines, write_table

_CATEGORIES = (
    "xenophobia",
    "suffering",
    "economic",
    "migration",
    "culture",
    "benefits",
    "health",
    "security",
    "dehumanisation",
    "others",
)
_ID = ("comment_id", "sentence_pos")

_WITHOUT_STEREOTYPE = 1324
_ANNOTATORS = 3
_STRAY = 0.35  # share of sentences on which one annotator may differ
# Each key is the number of sentences with each of these category combinations.
_COMBINATIONS = {
    128: "migration",
    68: "security",
    50: "benefits",
    25: "culture",
    24: "migration security",
    18: "dehumanisation",
    16: "benefits security",
    15: "migration culture",
    14: "migration benefits, others",
    11: "suffering",
    10: "culture security",
    8: "suffering migration",
    7: "culture benefits",
    5: "economic, economic migration, health, migration others, suffering benefits",
    4: "benefits dehumanisation, migration dehumanisation, security dehumanisation",
    3: "suffering security",
    2: "culture benefits security, dehumanisation others, migration benefits others, migration benefits security, "
    "security others, suffering culture, suffering others, xenophobia migration",
    1: "benefits others, culture dehumanisation, culture health, culture security dehumanisation, "
    "economic culture benefits, economic migration security, health others, health security, "
    "migration benefits dehumanisation, migration benefits health security, migration culture benefits, "
    "migration culture dehumanisation, migration culture health, migration culture health security, "
    "migration culture others, migration culture security, migration health security, "
    "migration security dehumanisation, security dehumanisation others, suffering benefits others, "
    "suffering culture security, suffering migration benefits security others, xenophobia, xenophobia economic",
}

# Number of sentences per comment → number of comments.
_COMMENTS = {1: 387, 2: 215, 3: 103, 4: 47, 5: 29, 6: 16, 7: 21, 8: 2, 9: 3, 10: 1, 15: 1, 18: 1, 24: 1}


def generate(folder: Path, seed: int = 2022) -> None:
    """Write data/, gold/ and baselines/ of the shared task to `folder`."""
    rng = np.random.default_rng(seed)
    sentences = rng.permutation(np.repeat(list(_COMMENTS), list(_COMMENTS.values()))).tolist()
    comment_id = [comment for comment, length in enumerate(sentences) for _ in range(length)]
    sentence_pos = [position for length in sentences for position in range(1, length + 1)]
    id_columns = [comment_id, sentence_pos]
    texts = neutral_texts(rng, "es", len(comment_id))
    write_lines(
        folder / "data/test.txt", (f"{comment}_{position}" for comment, position in zip(*id_columns, strict=True))
    )
    write_table(folder / "data/test.tsv", [*id_columns, texts], (*_ID, "text"), "\t")

    gold = _gold(rng)
    _write_labels(folder / "gold/test.csv", id_columns, gold)
    for track, width in {"task1": 0, "task2": len(_CATEGORIES)}.items():
        _write_votes(folder / f"gold/votes_{track}.json", id_columns, gold, width, np.random.default_rng(seed))
    for name, categories in _baselines(rng, gold).items():
        _write_labels(folder / f"baselines/task1/{name}.csv", id_columns, categories, with_categories=False)
        _write_labels(folder / f"baselines/task2/{name}.csv", id_columns, categories)


def _gold(rng: np.random.Generator) -> NDArray[np.bool_]:
    """Return the categories of each sentence, shape (1812, 10). No category means no stereotype."""
    combinations = {names: count for count, group in _COMBINATIONS.items() for names in group.split(", ")}
    combinations["none"] = _WITHOUT_STEREOTYPE
    rows = np.array([[category in names.split(" ") for category in _CATEGORIES] for names in combinations])
    return rows[shuffled(rng, list(combinations.values()))]


def _baselines(rng: np.random.Generator, gold: NDArray[np.bool_]) -> dict[str, NDArray[np.bool_]]:
    """Return categories by baseline. The random baseline gives each sentence the gold answer of a random sentence."""
    return {
        "all-ones": np.ones_like(gold),
        "all-zeros": np.zeros_like(gold),
        "random": gold[rng.integers(len(gold), size=len(gold))],
    }


def _write_votes(
    path: Path, id_columns: list[list[int]], gold: NDArray[np.bool_], width: int, rng: np.random.Generator
) -> None:
    """Write three annotators' votes whose majority is the gold.

    In some sentences, one annotator gives the categories of another sentence.
    """
    others = gold[rng.integers(len(gold), size=len(gold))]
    strays = np.where(rng.random(len(gold)) < _STRAY, rng.integers(_ANNOTATORS, size=len(gold)), -1)
    votes = {}
    for comment, position, row, other, stray in zip(*id_columns, gold, others, strays.tolist(), strict=True):
        seen = [other if annotator == stray else row for annotator in range(_ANNOTATORS)]
        votes[f"{comment}_{position}"] = [_labels(categories, width) for categories in seen]
    path.write_text(json.dumps(votes), encoding="utf-8")


def _labels(categories: NDArray[np.bool_], width: int) -> list[str]:
    named = [name for name, holds in zip(_CATEGORIES[:width], categories, strict=False) if holds]
    return ["stereotype", *named] if categories.any() else ["none"]


def _write_labels(
    path: Path, id_columns: list[list[int]], categories: NDArray[np.bool_], with_categories: bool = True
) -> None:
    """Write a gold or run file of task 2 or, without the categories, of task 1."""
    labels = np.column_stack([np.any(categories, axis=1), categories])
    names = ("stereotype", *_CATEGORIES) if with_categories else ("stereotype",)
    write_table(path, [*id_columns, *binary_cells(labels[:, : len(names)])], (*_ID, *names))
