"""Synthetic emotion intensities for neutral texts.

The datasets are as large as the English ones of SemEval-2018 Task 1, EI-reg.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..synthetic import neutral_texts, write_lines, write_table

_HEADER = ("ID", "Tweet", "Affect Dimension", "Intensity Score")

# split and emotion → number of tweets
_SIZES = {
    ("test", "anger"): 1002,
    ("test", "fear"): 986,
    ("test", "joy"): 1105,
    ("test", "sadness"): 975,
    ("dev", "anger"): 388,
    ("dev", "fear"): 389,
    ("dev", "joy"): 290,
    ("dev", "sadness"): 397,
}


def generate(folder: Path, seed: int = 2018) -> None:
    """Write data/, gold/ and baselines/ of the shared task to `folder`."""
    for place, ((split, emotion), size) in enumerate(_SIZES.items()):
        rng = np.random.default_rng([seed, place])
        ids = [f"2018-En-{number:05d}" for number in range(10_000 * place + 1, 10_000 * place + size + 1)]
        texts, emotions = neutral_texts(rng, "en", size), [emotion] * size
        write_lines(folder / f"data/{split}/{emotion}.txt", ids)
        write_table(folder / f"data/{split}/{emotion}.tsv", [ids, texts], _HEADER[:2], "\t")
        for kind, scores in (("gold", rng.beta(3, 3, size)), ("baselines", rng.random(size))):
            file = f"gold/{split}/{emotion}.tsv" if kind == "gold" else f"baselines/{split}/{emotion}/random.txt"
            write_table(folder / file, [ids, texts, emotions, _written(scores.tolist())], _HEADER, "\t")


def _written(scores: Sequence[float]) -> list[str]:
    """Format scores with three decimals, as in the campaign."""
    return [f"{score:.3f}" for score in scores]
