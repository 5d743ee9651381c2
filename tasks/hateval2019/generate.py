"""Synthetic HatEval 2019: the campaign's sizes and label counts with neutral texts.

With the test counts of (HS, TR, AG), the most-frequent-class baseline gets the scores of the overview paper's Tables 1
and 2.
"""

from pathlib import Path

import numpy as np

from ..synthetic import neutral_texts, shuffled, write_lines, write_table

# (HS, TR, AG): not hateful, or hateful against a group or a single person (TR), aggressive or not (AG).
_LABELS = np.array([(0, 0, 0), (1, 0, 0), (1, 0, 1), (1, 1, 0), (1, 1, 1)])

# split and language → first id, and items with each of _LABELS. In the development set, only the size and HS are the
# campaign's.
_SETS = {
    ("test", "en"): (40001, (1740, 322, 409, 344, 185)),
    ("test", "es"): (50001, (940, 111, 126, 75, 348)),
    ("dev", "en"): (20001, (573, 109, 139, 116, 63)),
    ("dev", "es"): (30001, (278, 37, 43, 25, 117)),
}

_TARGETS = ("immigrants", "women")  # targets of the tweets


def generate(folder: Path, seed: int = 2019) -> None:
    """Write data/, gold/ and baselines/ of the shared task to `folder`."""
    for (split, language), (first_id, counts) in _SETS.items():
        rng = np.random.default_rng([seed, first_id])
        ids = range(first_id, first_id + sum(counts))
        texts = neutral_texts(rng, language, len(ids))
        labels = _LABELS[shuffled(rng, counts)]
        write_lines(folder / f"data/{split}/{language}.txt", map(str, ids))
        write_table(folder / f"data/{split}/{language}.tsv", [ids, texts], ("id", "text"), "\t")
        targets = np.random.default_rng([seed, first_id, 1]).choice(_TARGETS, len(ids)).tolist()
        write_table(folder / f"data/{split}/{language}-targets.tsv", [ids, targets], ("id", "target"), "\t")
        write_table(folder / f"gold/{split}/{language}.tsv", [ids, texts, *labels.T.tolist()], separator="\t")
        most_frequent = (labels.mean(axis=0) > 0.5).astype(int).tolist()
        constant = [[value] * len(ids) for value in most_frequent]
        write_table(folder / f"baselines/{split}/{language}-a/mfc.tsv", [ids, constant[0]], separator="\t")
        write_table(folder / f"baselines/{split}/{language}-b/mfc.tsv", [ids, *constant], separator="\t")
