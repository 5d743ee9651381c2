"""Synthetic retrieval: titles and posts that share some words.

The datasets are as large as those of CheckThat! 2025, task 4b.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..synthetic import write_lines, write_table

_PAPERS = 7718
_SIZES = {"test": 1446, "dev": 1400}
_DEPTH = 10  # length of the baseline's lists
_VOCABULARY = (
    "age air blood bone brain breath cell child city climate clinic cohort cost cough data diet dose drug effect "
    "evidence fever gene growth heart home hospital immune infection lung mask memory method model mouse network "
    "night nurse outcome patient protein rate recovery response review risk river sample school sleep soil spread "
    "study summer survey test therapy trial tissue travel trend vaccine virus water winter worker"
)
_WORDS = _VOCABULARY.split()
_IN_TITLE, _SHARED, _OTHERS = 8, 4, 2  # words in a title, words that a post shares with its title, and other words


def generate(folder: Path, seed: int = 2025) -> None:
    """Write data/, gold/ and baselines/ of the shared task to `folder`."""
    rng = np.random.default_rng(seed)
    papers = [f"p{number:05d}" for number in range(1, _PAPERS + 1)]
    titles = np.array([rng.permutation(len(_WORDS))[:_IN_TITLE] for _ in papers])
    held = _held(titles)
    write_table(folder / "data/papers.tsv", [papers, _texts(titles)], ("cord_uid", "title"), "\t")
    for split, size in _SIZES.items():
        meant = rng.integers(_PAPERS, size=size)
        own = np.array([rng.permutation(titles[row])[:_SHARED] for row in meant])
        posts = np.hstack([own, rng.integers(len(_WORDS), size=(size, _OTHERS))])
        ids = [str(number) for number in range(1, size + 1)]
        write_lines(folder / f"data/{split}/posts.txt", ids)
        write_table(folder / f"data/{split}/posts.tsv", [ids, _texts(posts)], ("post_id", "tweet_text"), "\t")
        relevant = [papers[row] for row in meant.tolist()]
        write_table(folder / f"gold/{split}.tsv", [ids, relevant], ("post_id", "cord_uid"), "\t")
        best = np.argsort(-(_held(posts) @ held.T), axis=1, kind="stable")[:, :_DEPTH].tolist()
        lists = [str([papers[row] for row in rows]) for rows in best]
        write_table(folder / f"baselines/{split}/words.tsv", [ids, lists], ("post_id", "preds"), "\t")


def _held(words: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return 1 for each word that a text contains, otherwise 0, with shape (texts, words)."""
    held = np.zeros((len(words), len(_WORDS)), np.float32)
    np.put_along_axis(held, words, 1.0, axis=1)
    return held


def _texts(words: Any) -> Sequence[str]:
    return [" ".join(_WORDS[place] for place in row) for row in words.tolist()]
