"""Synthetic Toxic Spans 2021, with as many posts, empty gold answers and spans as in the campaign.

Invented words stand in for the toxic spans.
"""

import csv
import json
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

# Invented words in place of toxic ones. As in real posts, most words have four to six letters.
_INVENTED = ("zib", "vorp", "quib", "drozz", "flimb", "blorft", "snibbe", "grunkt", "zwolfer", "plinkert", "frobnitzer")
_SHARES = (0.02, 0.07, 0.07, 0.10, 0.10, 0.13, 0.13, 0.12, 0.11, 0.09, 0.06)
_LONG_SPANS = 0.06  # share of spans with three words

_ANNOTATORS = 3  # annotators per post, as in the campaign
_MISSED = 0.35  # share of spans that one annotator misses
_FURTHER = 0.5  # share of posts in which one annotator marks an additional word


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
        annotators = np.random.default_rng([seed, sum(counts), 1])
        marks = [_marks(annotators, text, json.loads(own)) for text, own in zip(texts, gold, strict=True)]
        write_lines(folder / f"gold/{split}/annotators.json", [json.dumps(dict(zip(ids, marks, strict=True)))])
        if split == "trial":
            _write_trial(folder / "data/tsd_trial.csv", gold, texts)
        baselines = folder / "baselines" / split
        write_run(track, empty_spans(ids), baselines / "nothing.txt")
        write_run(track, every_character(dict(zip(ids, texts, strict=True))), baselines / "everything.txt")
        write_table(baselines / "random.txt", [ids, _random_characters(rng, texts)], separator="\t")


def _write_trial(path: Path, gold: Sequence[str], texts: Sequence[str]) -> None:
    """Write the columns of the campaign's trial file, which is read with pandas and `ast.literal_eval`."""
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["spans", "text"])
        table.writerows(zip(gold, texts, strict=True))


def _marks(rng: np.random.Generator, text: str, gold: Sequence[int]) -> list[list[int]]:
    """Return the offsets that each annotator marks. The offsets marked by a majority are exactly the gold's.

    At most one annotator misses each span, and at most one marks an additional word.
    """
    offsets = np.array(gold, np.int64)
    spans = np.split(offsets, np.flatnonzero(np.diff(offsets) > 1) + 1) if len(offsets) else []
    marked: list[set[int]] = [set() for _ in range(_ANNOTATORS)]
    for span, missing in zip(spans, _one_or_none(rng, _MISSED, len(spans)), strict=True):
        for place, own in enumerate(marked):
            own.update(() if place == missing else span.tolist())
    (further,) = _one_or_none(rng, _FURTHER, 1)
    if further < _ANNOTATORS:
        word = rng.integers(text.count(" ") + 1)
        start = len(" ".join(text.split(" ")[:word])) + bool(word)
        new = set(range(start, start + len(text.split(" ")[word])))
        marked[further] |= new if new.isdisjoint(gold) else set()
    return [sorted(own) for own in marked]


def _one_or_none(rng: np.random.Generator, share: float, count: int) -> list[int]:
    """Return an annotator for each of `count` cases with probability `share`, otherwise a number that none has."""
    chosen = rng.integers(_ANNOTATORS, size=count)
    found: list[int] = np.where(rng.random(count) < share, chosen, _ANNOTATORS).tolist()
    return found


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
    """Replace some of the words with spans.

    Every second word is kept, so that spans do not touch. Return the text, and the offsets as in a run file.
    """
    places = sorted((2 * rng.permutation(len(words) // 2)[: len(spans)]).tolist())
    for place, span in zip(places, spans, strict=True):
        words[place] = span
    starts = [0, *accumulate(len(word) + 1 for word in words)]
    offsets = [offset for place in places for offset in range(starts[place], starts[place + 1] - 1)]
    return " ".join(words), str(offsets)


def _random_characters(rng: np.random.Generator, texts: list[str]) -> list[str]:
    """Mark each character with a probability of one half."""
    return [str(np.flatnonzero(rng.random(len(text)) < 0.5).tolist()) for text in texts]
