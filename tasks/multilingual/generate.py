"""Synthetic emotion labels for neutral texts in three languages.

The datasets are as large as those of SemEval-2025 Task 11, track A.
"""

from pathlib import Path

import numpy as np

from ..synthetic import binary_cells, neutral_texts, write_lines, write_table

_HEADER = ("id", "anger", "disgust", "fear", "joy", "sadness", "surprise")
_SHARES = (0.2, 0.1, 0.3, 0.3, 0.25, 0.15)  # share of texts with each emotion

# split and language → number of texts
_SIZES = {
    ("test", "eng"): 2767,
    ("test", "esp"): 1695,
    ("test", "ptbr"): 2226,
    ("dev", "eng"): 116,
    ("dev", "esp"): 184,
    ("dev", "ptbr"): 200,
}
_LANGUAGES = {"eng": "en", "esp": "es", "ptbr": "pt"}  # language of the neutral texts


def generate(folder: Path, seed: int = 2025) -> None:
    """Write data/, gold/ and baselines/ of the shared task to `folder`."""
    for place, ((split, language), size) in enumerate(_SIZES.items()):
        rng = np.random.default_rng([seed, place])
        ids = [f"{language}_{split}_track_a_{number:05d}" for number in range(1, size + 1)]
        texts = neutral_texts(rng, _LANGUAGES[language], size)
        write_lines(folder / f"data/{split}/{language}.txt", ids)
        write_table(folder / f"data/{split}/{language}.tsv", [ids, texts], ("id", "text"), "\t")
        for name in ("gold/{}/{}.csv", "baselines/{}/track-a/{}.csv"):
            emotions = rng.random((size, len(_SHARES))) < _SHARES
            write_table(folder / name.format(split, language), [ids, *binary_cells(emotions)], _HEADER)
