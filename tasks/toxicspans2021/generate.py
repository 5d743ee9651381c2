"""Synthetic Toxic Spans 2021: the campaign's sizes, empty gold answers and span counts.

Invented words represent the toxic spans.
"""

from collections.abc import Sequence
from itertools import accumulate, islice
from pathlib import Path

import numpy as np

from scoring import load_definition
from scoring.baselines.trivial import empty_spans, every_character
from scoring.formats import write_run

from ..synthetic import neutral_texts, shuffled, write_lines, write_table

# split → number of posts with 0, 1, 2, … spans, as in the real trial and test sets (690 and 2,000 posts)
_SPANS_A_POST = {"test": (394, 1407, 172, 16, 8, 0, 2, 1), "trial": (43, 448, 154, 36, 7, 1, 1)}

# Invented words replace toxic ones. As in real posts, four to six letters are the most frequent length.
_INVENTED = ("zib", "vorp", "quib", "drozz", "flimb", "blorft", "snibbe", "grunkt", "zwolfer", "plinkert", "frobnitzer")
_SHARES = (0.02, 0.07, 0.07, 0.10, 0.10, 0.13, 0.13, 0.12, 0.11, 0.09, 0.06)
_LONG_SPANS = 0.06  # share of spans with three words


def generate(folder: Path, seed: int = 2021) -> None:
    """Write data/, gold/ and baselines/ of the shared task to `folder`."""
    track = load_definition(Path(__file__).parent).track("spans")
    for split, counts in _SPANS_A_POST.items():
        rng = np.random.default_rng([seed, sum(counts)])
        texts, gold = _posts(rng, counts)
        ids = [str(number) for number in range(len(texts))]
        write_lines(folder / f"data/{split}/posts.txt", ids)
        write_table(folder / f"data/{split}/posts.tsv", [ids, texts], ("id", "text"), "\t")
        write_table(folder / f"gold/{split}/spans.txt", [ids, gold], separator="\t")
        baselines = folder / "baselines" / split
        write_run(track, empty_spans(ids), baselines / "nothing.txt")
        write_run(track, every_character(dict(zip(ids, texts, strict=True))), baselines / "everything.txt")
        write_table(baselines / "random.txt", [ids, _random_characters(rng, texts)], separator="\t")


def _posts(rng: np.random.Generator, counts: Sequence[int]) -> tuple[list[str], list[str]]:
    """Return texts of one to sixteen sentences, and the gold offsets of each text as in a run file."""
    spans = shuffled(rng, counts)
    sentences = np.clip(rng.lognormal(mean=0.9, sigma=0.7, size=len(spans)), np.maximum(spans, 1), 16).astype(int)
    sentence = iter(neutral_texts(rng, "en", sentences.sum()))
    words = np.where(rng.random(spans.sum()) < _LONG_SPANS, 3, 1)
    invented = iter(rng.choice(_INVENTED, p=_SHARES, size=words.sum()).tolist())
    span = (" ".join(islice(invented, count)) for count in words.tolist())
    posts = [
        _post(rng, " ".join(islice(sentence, length)).split(" "), list(islice(span, count)))
        for length, count in zip(sentences.tolist(), spans.tolist(), strict=True)
    ]
    texts, gold = zip(*posts, strict=True)
    return list(texts), list(gold)


def _post(rng: np.random.Generator, words: list[str], spans: list[str]) -> tuple[str, str]:
    """Return the words with some replaced by spans. Every second word is kept, so that spans do not touch."""
    places = sorted((2 * rng.permutation(len(words) // 2)[: len(spans)]).tolist())
    for place, span in zip(places, spans, strict=True):
        words[place] = span
    starts = [0, *accumulate(len(word) + 1 for word in words)]
    offsets = [offset for place in places for offset in range(starts[place], starts[place + 1] - 1)]
    return " ".join(words), str(offsets)


def _random_characters(rng: np.random.Generator, texts: list[str]) -> list[str]:
    """Mark each character with a probability of one half."""
    return [str(np.flatnonzero(rng.random(len(text)) < 0.5).tolist()) for text in texts]
