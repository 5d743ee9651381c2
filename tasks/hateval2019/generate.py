"""Synthetic HatEval 2019: neutral texts, with as many items of each label as in the campaign.

The test counts of (HS, TR, AG) give the most-frequent-class baseline the scores in the overview paper. The counts by
target match the percentages in the paper's Tables 1 and 2.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from scoring.gold.from_votes import crowd_and_experts, table_gold
from scoring.gold.votes import VoteRules
from scoring.gold.votes_file import NO_COLUMN, read_named_votes

from ..synthetic import neutral_texts, shuffled, write_lines, write_table

# (HS, TR, AG): not hateful; or hateful against a group or an individual (TR), and aggressive or not (AG).
_LABELS = np.array([(0, 0, 0), (1, 0, 0), (1, 0, 1), (1, 1, 0), (1, 1, 1)])
_TARGETS = ("immigrants", "women")
_SAMPLE = 600  # training tweets for the SVC baseline, which is trained when the demo starts
_COLUMNS = ("id", "text", "HS", "TR", "AG")

# split and language → first id, and the number of items with each of _LABELS for each target. The paper gives the share
# of each label for each target, but not of the combinations. The development sets have as many hateful items as the
# campaign's, and among these the shares of the training sets.
_SETS = {
    ("test", "en"): (40001, ((870, 245, 364, 8, 13), (870, 77, 45, 336, 172))),
    ("test", "es"): (50001, ((476, 109, 111, 52, 52), (464, 2, 15, 23, 296))),
    ("dev", "en"): (20001, ((298, 86, 104, 5, 7), (275, 55, 24, 102, 44))),
    ("dev", "es"): (30001, ((111, 23, 46, 2, 9), (167, 7, 11, 11, 113))),
    ("train", "en"): (1, ((2711, 757, 927, 47, 58), (2500, 490, 211, 909, 390))),
    ("train", "es"): (10001, ((1001, 208, 415, 19, 80), (1628, 57, 86, 86, 920))),
}

# A word for each value (0 and 1) of HS, TR and AG, so that a classifier can learn from the texts.
_CUES = np.array([("amber", "teal"), ("maple", "cedar"), ("flute", "drum")])
_FAITHFUL = 0.9  # probability that a word matches the text's label

# As in the campaign, three crowd workers and two experts judge each tweet.
_CROWD, _EXPERTS = ("crowd1", "crowd2", "crowd3"), ("expert1", "expert2")
_STRAY = (0.2, 0.1, 0.1)  # probability that the crowd, or one of the experts, differs from the gold
_DISSENT = 0.5  # probability that one crowd worker differs from the other two


def generate(folder: Path, seed: int = 2019) -> None:
    """Write data/, gold/ and baselines/ of the shared task to `folder`."""
    for (split, language), (first_id, counts) in _SETS.items():
        rng = np.random.default_rng([seed, first_id])
        kinds = shuffled(rng, [*counts[0], *counts[1]])
        labels = _LABELS[kinds % len(_LABELS)]
        texts = _texts(rng, language, labels)
        ids = range(first_id, first_id + len(texts))
        targets = [_TARGETS[of] for of in (kinds // len(_LABELS)).tolist()]
        rows: list[Sequence[object]] = [ids, texts, *labels.T.tolist()]
        if split != "test":
            write_table(folder / f"data/{split}/{language}-labels.tsv", rows, _COLUMNS, "\t")
        if split == "train":
            # in the same layout as the gold files
            sample = [column[:_SAMPLE] for column in rows]
            for track in (f"{language}-a", f"{language}-b"):
                write_table(folder / f"baselines/train/{track}.tsv", sample, separator="\t")
                write_table(folder / f"baselines/train/{track}-texts.tsv", sample[:2], _COLUMNS[:2], "\t")
            continue
        write_lines(folder / f"data/{split}/{language}.txt", map(str, ids))
        write_table(folder / f"data/{split}/{language}.tsv", [ids, texts], ("id", "text"), "\t")
        write_table(folder / f"data/{split}/{language}-targets.tsv", [ids, targets], ("id", "target"), "\t")
        votes = folder / f"gold/{split}/{language}-votes.tsv"
        _write_votes(votes, np.random.default_rng([seed, first_id, 1]), ids, labels)
        write_table(folder / f"gold/{split}/{language}.tsv", [ids, texts, *_gold(votes)], separator="\t")
        most_frequent = (labels.mean(axis=0) > 0.5).astype(int).tolist()
        constant = [[value] * len(ids) for value in most_frequent]
        write_table(folder / f"baselines/{split}/{language}-a/mfc.tsv", [ids, constant[0]], separator="\t")
        write_table(folder / f"baselines/{split}/{language}-b/mfc.tsv", [ids, *constant], separator="\t")


def _write_votes(path: Path, rng: np.random.Generator, ids: Sequence[int], labels: NDArray[np.int64]) -> None:
    """Write the judgments of the crowd and the experts. Their majority in two steps is `labels`, of shape (tweets, 3).

    Of the crowd as a whole and the two experts, at most one differs from the labels. At most one crowd worker differs
    from the other two.
    """
    count = len(labels)
    others = _LABELS[rng.integers(len(_LABELS), size=(count, 2))]
    voices = (None, "crowd", *_EXPERTS)
    stray = rng.choice(len(voices), size=count, p=[1 - sum(_STRAY), *_STRAY])
    heard = {name: np.where(stray[:, np.newaxis] == place, others[:, 0], labels) for place, name in enumerate(voices)}
    dissenter = np.where(rng.random(count) < _DISSENT, rng.integers(len(_CROWD), size=count), -1)
    given = [
        np.where(dissenter[:, np.newaxis] == place, others[:, 1], heard["crowd"]) for place in range(len(_CROWD))
    ] + [heard[name] for name in _EXPERTS]
    judgments = np.stack(given, axis=1).reshape(-1, labels.shape[1])
    items = [item for item in ids for _ in given]
    annotators = [*_CROWD, *_EXPERTS] * count
    write_table(path, [items, annotators, *judgments.T.tolist()], ("item", "annotator", *_COLUMNS[2:]), "\t")


def _gold(votes: Path) -> list[list[int]]:
    """Return the columns of the gold: the majority of the two experts' votes and the crowd's own majority."""
    columns = _COLUMNS[2:]
    rules = VoteRules((*columns, NO_COLUMN), threshold=0, multi=True)
    step = crowd_and_experts(read_named_votes(votes, columns), _EXPERTS, rules, columns)
    gold: list[list[int]] = table_gold(step.votes, rules, len(columns)).answers.values.T.tolist()
    return gold


def _texts(rng: np.random.Generator, language: str, labels: NDArray[np.int64]) -> list[str]:
    """Return neutral texts that each end with one word per label. `labels` has the shape (texts, 3)."""
    shown = np.where(rng.random(labels.shape) < _FAITHFUL, labels, 1 - labels)
    cues = _CUES[np.arange(len(_CUES)), shown].tolist()
    neutral = neutral_texts(rng, language, len(labels))
    return [f"{text} ({' '.join(words)})" for text, words in zip(neutral, cues, strict=True)]
