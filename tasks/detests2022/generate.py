"""Synthetic DETESTS 2022: a gold standard on which the baselines get the scores in the overview paper.

The test set has the campaign's 1,812 sentences, of which 488 contain a stereotype. The counts of category combinations
were chosen to reproduce rows of the paper's Tables 3 and 4. They are not the counts of the real data. Together with the
3,817 training sentences, each category has the paper's number of sentences (Table 2).

Each sentence ends with a mark in parentheses. The marks have no meaning, but usually match the labels, so that there is
something to learn.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

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
_COLUMNS = (*_ID, "reply_to", "text")

_WITHOUT_STEREOTYPE = 1324
_ANNOTATORS = 3
# Pairwise agreement in percent and Fleiss' kappa (Table 1 of the paper). The simulated annotators come close to both:
# within 0.15 percentage points and 0.02.
_AGREEMENT = {
    "stereotype": (84.36, 0.573),
    "xenophobia": (97.65, 0.348),
    "suffering": (94.55, 0.523),
    "economic": (96.86, 0.593),
    "migration": (83.86, 0.669),
    "culture": (90.68, 0.65),
    "benefits": (91.61, 0.764),
    "health": (98.92, 0.744),
    "security": (89.85, 0.735),
    "dehumanisation": (93.43, 0.488),
    "others": (92.74, 0.372),
    "racial_target": (84.05, 0.619),
    "other_target": (98.61, 0.139),
    "implicitness": (81.66, 0.412),
}
# number of sentences → the combinations of categories that each occur in this many sentences
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

# number of sentences in a comment → number of such comments
_TEST_COMMENTS = {1: 387, 2: 215, 3: 103, 4: 47, 5: 29, 6: 16, 7: 21, 8: 2, 9: 3, 10: 1, 15: 1, 18: 1, 24: 1}


# Number of sentences with each category in training and test together (Table 2 of the paper), among the 1,359 with a
# stereotype.
_TOTALS = (21, 113, 62, 553, 265, 315, 37, 376, 100, 90)
_STEREOTYPES = 1359
_TRAINING = 3817
_COMMENTS_FROM = 10_000  # first id of training comments; test comments are counted from 0

_MARKS = ("azul", "verde", "rojo", "gris", "blanco", "negro", "rosa", "marrón", "dorado", "violeta")
_PLAIN_MARKS = ("lunes", "martes", "jueves", "sábado", "domingo")
_FAITHFUL = 0.6  # probability that a mark matches its label
_STRAY_MARK = 0.02  # probability that a sentence has the mark of a category that it does not belong to
_REPLIES = 0.4  # share of sentences that may reply to an earlier one
_EXTRA = ("racial_target", "other_target", "implicitness")
_EXTRA_SHARES = (0.97, 0.05, 0.4)  # share of each extra label among sentences with a stereotype


def generate(folder: Path, seed: int = 2022) -> None:
    """Write data/, gold/ and baselines/ of the shared task to `folder`."""
    rng = np.random.default_rng(seed)
    sizes = rng.permutation(np.repeat(list(_TEST_COMMENTS), list(_TEST_COMMENTS.values()))).tolist()
    id_columns = _id_columns(sizes)
    gold = _gold(rng)
    _write_labels(folder / "gold/test.csv", id_columns, gold)
    _write_votes(folder / "gold", _ids(id_columns), gold, seed)
    for name, categories in {"all-ones": np.ones_like(gold), "all-zeros": np.zeros_like(gold)}.items():
        _write_labels(folder / f"baselines/task1/{name}.csv", id_columns, categories, with_categories=False)
        _write_labels(folder / f"baselines/task2/{name}.csv", id_columns, categories)

    rng = np.random.default_rng([seed, 1])
    write_lines(folder / "data/test.txt", _ids(id_columns))
    sentences = _sentences(rng, id_columns, gold)
    write_table(folder / "data/test.csv", sentences, _COLUMNS)
    replies = ["yes" if replied else "no" for replied in sentences[2]]
    write_table(folder / "data/test-replies.csv", [*id_columns, replies], (*_ID, "reply"))
    training = _training(rng, gold)
    shares = np.array(list(_TEST_COMMENTS.values())) / sum(_TEST_COMMENTS.values())
    sizes = []
    while (left := _TRAINING - sum(sizes)) > 0:
        sizes.append(min(int(rng.choice(list(_TEST_COMMENTS), p=shares)), left))
    id_columns = _id_columns(sizes, _COMMENTS_FROM)
    has_stereotype: NDArray[np.bool_] = np.any(training, axis=1)
    extra = has_stereotype[:, np.newaxis] & (rng.random((_TRAINING, len(_EXTRA))) < _EXTRA_SHARES)
    labels = binary_cells(np.column_stack([has_stereotype, training, extra]))
    header = (*_COLUMNS, "stereotype", *_CATEGORIES, *_EXTRA)
    write_table(folder / "data/train.csv", [*_sentences(rng, id_columns, training), *labels], header)


def _id_columns(sizes: Sequence[int], first: int = 0) -> list[list[int]]:
    """Return the comment and position of each sentence, from the sizes of the comments."""
    comments = [comment for comment, size in enumerate(sizes, first) for _ in range(size)]
    return [comments, [position for size in sizes for position in range(1, size + 1)]]


def _ids(id_columns: list[list[int]]) -> list[str]:
    return [f"{comment}_{position}" for comment, position in zip(*id_columns, strict=True)]


def _sentences(rng: np.random.Generator, id_columns: list[list[int]], categories: NDArray[np.bool_]) -> list[list[Any]]:
    """Return the columns of the sentences: ids, the id of the sentence replied to (if any), and the text."""
    ids, count = _ids(id_columns), len(categories)
    before = (rng.random(count) * np.arange(count)).astype(int).tolist()  # index of an earlier sentence
    has_reply = (rng.random(count) < _REPLIES).tolist()
    replied = [
        ids[other] if is_reply and id_columns[0][other] < comment else ""
        for comment, other, is_reply in zip(id_columns[0], before, has_reply, strict=True)
    ]
    shown = rng.random(categories.shape) < np.where(categories, _FAITHFUL, _STRAY_MARK)
    plain = rng.choice(_PLAIN_MARKS, size=count).tolist()
    marks = [
        " ".join(name for name, is_shown in zip(_MARKS, row, strict=True) if is_shown) or other
        for row, other in zip(shown.tolist(), plain, strict=True)
    ]
    texts = [f"{text} ({mark})" for text, mark in zip(neutral_texts(rng, "es", count), marks, strict=True)]
    return [*id_columns, replied, texts]


def _training(rng: np.random.Generator, test: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the categories of the training sentences.

    Together with those of the test set, they add up to the paper's totals.
    """
    left = np.repeat(np.arange(len(_TOTALS)), _TOTALS - test.sum(axis=0))
    with_stereotype = _STEREOTYPES - int(test.any(axis=1).sum())
    rows = np.zeros((with_stereotype, len(_TOTALS)), bool)
    left = rng.permutation(left)
    rows[np.arange(with_stereotype), left[:with_stereotype]] = True
    for category in left[with_stereotype:].tolist():  # additional categories for random sentences
        rows[rng.choice(np.flatnonzero(~rows[:, category])), category] = True
    none = np.zeros((_TRAINING - with_stereotype, len(_TOTALS)), bool)
    return rng.permutation(np.concatenate([rows, none]))


def _gold(rng: np.random.Generator) -> NDArray[np.bool_]:
    """Return the categories of each sentence, with shape (1812, 10). No category means no stereotype."""
    combinations = {names: count for count, group in _COMBINATIONS.items() for names in group.split(", ")}
    combinations["none"] = _WITHOUT_STEREOTYPE
    rows = np.array([[category in names.split(" ") for category in _CATEGORIES] for names in combinations])
    return rows[shuffled(rng, list(combinations.values()))]


def _write_votes(folder: Path, ids: Sequence[str], gold: NDArray[np.bool_], seed: int) -> None:
    """Write the votes of three annotators, with about the agreement in the paper's Table 1.

    The majority of the votes for each label is the gold. As in the campaign, stereotypes and the extra labels were
    annotated in a first step, and the categories, in a second step, only for the sentences with a stereotype.
    """
    rng = np.random.default_rng([seed, 2])
    has_stereotype: NDArray[np.bool_] = np.any(gold, axis=1)
    first = {"stereotype": _votes_for(rng, has_stereotype, "stereotype")}
    first |= {name: _votes_for(rng, _extra_labels(rng, has_stereotype, name), name) for name in _EXTRA}
    second = {
        name: _votes_for(rng, holds, name) for name, holds in zip(_CATEGORIES, gold[has_stereotype].T, strict=True)
    }
    second["stereotype"] = np.ones((int(has_stereotype.sum()), _ANNOTATORS), bool)
    votes = [
        [labels if "stereotype" in labels else ["none", *labels] for labels in annotators]
        for annotators in _labels(first)
    ]
    (folder / "votes_task1.json").write_text(json.dumps(dict(zip(ids, votes, strict=True))), encoding="utf-8")
    chosen = [name for name, has in zip(ids, has_stereotype.tolist(), strict=True) if has]
    written = dict(zip(chosen, _labels(second), strict=True))
    (folder / "votes_task2.json").write_text(json.dumps(written), encoding="utf-8")


def _votes_for(rng: np.random.Generator, holds: NDArray[np.bool_], label: str) -> NDArray[np.bool_]:
    """Return the annotators' votes on a label, with shape (sentences, annotators). At most one differs from `holds`.

    If one of three annotators differs on a sentence, two of its three pairs of votes disagree. How many of these
    sentences have the label follows from the share of positive votes.
    """
    disagreeing, positive = _rates(label)
    differing, surplus = 1.5 * disagreeing * len(holds), 3 * (positive * len(holds) - int(holds.sum()))
    votes = np.repeat(holds[:, np.newaxis], _ANNOTATORS, axis=1)
    for value, count in ((True, (differing - surplus) / 2), (False, (differing + surplus) / 2)):
        places = np.flatnonzero(holds == value)
        chosen = rng.choice(places, min(max(round(count), 0), len(places)), replace=False)
        votes[chosen, rng.integers(_ANNOTATORS, size=len(chosen))] = not value
    return votes


def _rates(label: str) -> tuple[float, float]:
    """Return the share of pairs of votes that disagree, and the share of positive votes.

    Fleiss' kappa of two values is 1 - d / (2 p (1 - p)), where d is the former and p the latter.
    """
    percent, kappa = _AGREEMENT[label]
    disagreeing = 1 - percent / 100
    return disagreeing, (1 - (1 - 2 * disagreeing / (1 - kappa)) ** 0.5) / 2


def _extra_labels(rng: np.random.Generator, has_stereotype: NDArray[np.bool_], name: str) -> NDArray[np.bool_]:
    """Return which sentences have an extra label. Sentences with a stereotype are preferred.

    Annotators differ on half of the sentences with the label. Their other differing votes are on sentences without it.
    """
    disagreeing, positive = _rates(name)
    count = round(len(has_stereotype) * (1.5 * positive - 0.75 * disagreeing))
    order = np.argsort(rng.random(len(has_stereotype)) - has_stereotype)
    holds = np.zeros(len(has_stereotype), bool)
    holds[order[:count]] = True
    return holds


def _labels(votes: Mapping[str, NDArray[np.bool_]]) -> list[list[list[str]]]:
    """Return the labels that each annotator gave to each sentence."""
    holds = np.stack(list(votes.values()), axis=2).tolist()
    return [[[name for name, held in zip(votes, one, strict=True) if held] for one in item] for item in holds]


def _write_labels(
    path: Path, id_columns: list[list[int]], categories: NDArray[np.bool_], with_categories: bool = True
) -> None:
    """Write a gold or run file of task 2 or, without the categories, of task 1."""
    labels = np.column_stack([np.any(categories, axis=1), categories])
    names = ("stereotype", *_CATEGORIES) if with_categories else ("stereotype",)
    write_table(path, [*id_columns, *binary_cells(labels[:, : len(names)])], (*_ID, *names))
