"""Synthetic SSA 2023: 300 tuples per language in the published groups, and 200 labeled pairs.

No real tuple is used. The two sentences of a tuple differ in harmless words that represent two social groups.
"""

from pathlib import Path

import numpy as np

from ..synthetic import neutral_texts, shuffled, write_lines, write_table

_GROUPS = ("gender", "race")
_TUPLES = (109, 191)  # per group, as matched to the categories of CrowS-Pairs
_LABELLED = 200
_HATEFUL = 0.4  # share of hateful sentences in the labeled pairs
_LABELS = ("stereotype_label", "counter_label")

# Words for the stereotyped group and its counterpart, in the order of _GROUPS.
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
        sentences = [
            [f"{text} {mentions[of][side]}" for of, text in zip(group, texts, strict=True)]
            + neutral_texts(rng, language, _LABELLED)
            for side in (0, 1)
        ]
        write_lines(folder / f"data/{language}.txt", tuples)
        write_lines(folder / f"data/{language}-labelled.txt", labelled)
        write_table(folder / f"data/{language}.tsv", [ids, *sentences], ("tuple_id", "stereotype", "counter"), "\t")

        groups = [_GROUPS[of] for of in group] + [""] * _LABELLED
        hateful = (rng.random((2, _LABELLED)) < _HATEFUL).astype(int).tolist()
        labels = [[""] * len(tuples) + column for column in hateful]
        write_table(folder / f"gold/{language}.csv", [ids, groups, *labels], ("tuple_id", "group", *_LABELS))

        runs = {
            "constant-0": [[0] * len(ids)] * 2,
            "constant-1": [[1] * len(ids)] * 2,
            "random": rng.integers(2, size=(2, len(ids))).tolist(),
        }
        for name, columns in runs.items():
            write_table(folder / f"baselines/{language}/{name}.csv", [ids, *columns], ("tuple_id", *_LABELS))
