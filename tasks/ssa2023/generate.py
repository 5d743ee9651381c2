"""Synthetic SSA 2023: 300 tuples per language in groups of the published sizes, and 200 labeled pairs.

No real tuple is used. The two sentences of a tuple differ in harmless words that represent two social groups.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..synthetic import neutral_texts, shuffled, write_lines, write_table
from .models import Labels, margins, with_offenses

_GROUPS = ("gender", "race")
_TUPLES = (109, 191)  # tuples per group when the published tuples are matched to CrowS-Pairs categories
_LABELLED = 200
_HATEFUL = 0.4  # share of hateful sentences in the labeled pairs, and of tuples that a person calls hateful
_EXAMPLES = (3, 4)  # tuples that a person calls not hateful and hateful, as in the paper's Table 3
_CORPORA = {"en": 8800, "pt": 7000}  # sentences, half of them offensive, as in the paper's balanced corpora
_SAMPLE = 500  # sentences that the models learn from, when the demo starts
_MENTIONED = (0.3, 0.6)  # share of sentences about the first group of each pair, among inoffensive and offensive ones
_HUMAN_LABELS = ("not-hateful", "hateful")
_LABELS = ("stereotype_label", "counter_label")
_PROBABILITIES = ("stereotype_probability", "counter_probability")

# Words for the stereotyped group and for its counterpart, in the order of _GROUPS.
_MENTIONS = {
    "en": (("The first guests saw it.", "The second guests saw it."), ("The north saw it.", "The south saw it.")),
    "pt": (("Os primeiros hóspedes viram.", "Os segundos hóspedes viram."), ("O norte viu.", "O sul viu.")),
}


def generate(folder: Path, seed: int = 2023) -> None:
    """Write data/, gold/ and baselines/ of the shared task to `folder`."""
    tuples = [str(number) for number in range(sum(_TUPLES))]
    labelled = [f"L{number:03d}" for number in range(_LABELLED)]
    ids = tuples + labelled
    for index, (language, mentions) in enumerate(_MENTIONS.items()):
        rng = np.random.default_rng([seed, index])
        group = shuffled(rng, _TUPLES).tolist()
        texts = neutral_texts(rng, language, len(tuples))
        neutral = [neutral_texts(rng, language, _LABELLED) for _side in (0, 1)]
        hateful = rng.random((2, _LABELLED)) < _HATEFUL
        offenses = np.random.default_rng([seed, index, 1])
        humans = offenses.random(len(tuples)) < _HATEFUL
        texts = with_offenses(offenses, texts, humans)
        sentences = [
            [f"{text} {mentions[of][side]}" for of, text in zip(group, texts, strict=True)]
            + with_offenses(offenses, neutral[side], hateful[side])
            for side in (0, 1)
        ]
        words = [_HUMAN_LABELS[int(is_hateful)] for is_hateful in humans.tolist()]
        write_table(folder / f"data/{language}-humans.tsv", [tuples, words], ("tuple_id", "human_label"), "\t")
        examples = [*np.flatnonzero(~humans)[: _EXAMPLES[0]].tolist(), *np.flatnonzero(humans)[: _EXAMPLES[1]].tolist()]
        shown = [tuples, *(side[: len(tuples)] for side in sentences), words]
        write_table(
            folder / f"data/{language}-examples.tsv",
            [[column[row] for row in examples] for column in shown],
            ("tuple_id", "stereotype", "counter", "human_label"),
            "\t",
        )
        write_lines(folder / f"data/{language}.txt", tuples)
        write_lines(folder / f"data/{language}-labelled.txt", labelled)
        write_table(folder / f"data/{language}.tsv", [ids, *sentences], ("tuple_id", "stereotype", "counter"), "\t")

        groups = [_GROUPS[of] for of in group] + [""] * _LABELLED
        labels = [[""] * len(tuples) + column for column in hateful.astype(int).tolist()]
        write_table(folder / f"gold/{language}.csv", [ids, groups, *labels], ("tuple_id", "group", *_LABELS))

        runs = {
            "constant-0": [[0] * len(ids)] * 2,
            "constant-1": [[1] * len(ids)] * 2,
            "random": rng.integers(2, size=(2, len(ids))).tolist(),
        }
        corpus, offensive = _corpus(offenses, language, mentions, _CORPORA[language])
        write_table(
            folder / f"data/{language}-train.tsv",
            [range(len(corpus)), corpus, offensive.astype(int).tolist()],
            ("id", "text", "label"),
            "\t",
        )
        learned = margins(corpus[:_SAMPLE], offensive[:_SAMPLE], [*sentences[0], *sentences[1]])
        runs |= {name: _labels_and_probabilities(found.reshape(2, -1)) for name, found in learned.items()}
        for name, columns in runs.items():
            header = ("tuple_id", *_LABELS, *_PROBABILITIES)[: 1 + len(columns)]
            write_table(folder / f"baselines/{language}/{name}.csv", [ids, *columns], header)


def _labels_and_probabilities(margins: NDArray[np.float64]) -> list[list[int] | list[float]]:
    """Return a column for each row: the label of each margin, then the logistic function of each margin."""
    labels = (margins > 0).astype(int).tolist()
    return [*labels, *(1 / (1 + np.exp(-margins))).round(4).tolist()]


def _corpus(
    rng: np.random.Generator, language: str, mentions: Sequence[tuple[str, str]], size: int
) -> tuple[list[str], Labels]:
    """Return texts, and whether each is offensive. Offensive texts are more often about the first group of a pair."""
    offensive = shuffled(rng, (size // 2, size // 2)).astype(bool)
    is_second = (rng.random(size) >= np.where(offensive, *_MENTIONED[::-1])).astype(int).tolist()
    about = rng.integers(len(mentions), size=size).tolist()
    neutral = with_offenses(rng, neutral_texts(rng, language, size), offensive)
    texts = [f"{text} {mentions[of][side]}" for text, of, side in zip(neutral, about, is_second, strict=True)]
    return texts, offensive
