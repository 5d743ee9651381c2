"""METEOR with the stages for equal words and equal stems. There are no synonyms."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from scoring.definition import MetricSpec
from scoring.metrics.comparison import TextComparison
from scoring.metrics.metric import TEXTS, AnyNumber, Example, Mean, Metric, Numbers, number
from scoring.metrics.porter import stem

_ALPHA, _BETA, _GAMMA = 0.9, 3.0, 0.5
_MOST = 1_000_000  # characters that are scored in about two seconds

Pairs = list[tuple[int, int]]  # positions in the output and in the reference


class _Weights(NamedTuple):
    alpha: float
    beta: float
    gamma: float


def _matched(output: Sequence[str], reference: Sequence[str]) -> Pairs:
    """Pair equal words from right to left, then the remaining words with equal stems in the same way."""
    own, wanted = list(enumerate(output)), list(enumerate(reference))
    pairs = _equal(own, wanted)
    matched = [{place for place, _ in pairs}, {place for _, place in pairs}]
    rests = [
        [(place, stem(word)) for place, word in side if place not in known]
        for side, known in zip((own, wanted), matched, strict=True)
    ]
    return sorted(pairs + _equal(*rests))


def _equal(output: Sequence[tuple[int, str]], reference: Sequence[tuple[int, str]]) -> Pairs:
    places: defaultdict[str, list[int]] = defaultdict(list)
    for place, word in reference:
        places[word].append(place)
    return [(place, places[word].pop()) for place, word in reversed(output) if places.get(word)]


def _score(output: Sequence[str], reference: Sequence[str], weights: _Weights) -> float:
    pairs = _matched(output, reference)
    if not pairs:
        return 0.0
    precision, recall = len(pairs) / len(output), len(pairs) / len(reference)
    mean = precision * recall / (weights.alpha * precision + (1 - weights.alpha) * recall)
    chunks = 1 + sum(after != (before[0] + 1, before[1] + 1) for before, after in pairwise(pairs))
    penalty: float = weights.gamma * (chunks / len(pairs)) ** weights.beta
    return mean * (1 - penalty)


@Mean
def _meteor(comparison: TextComparison, spec: MetricSpec) -> Numbers:
    weights = _Weights(number(spec, "alpha", _ALPHA), number(spec, "beta", _BETA), number(spec, "gamma", _GAMMA))
    pairs = zip(comparison.outputs, comparison.gold.texts.texts, strict=True)
    values = [
        max(_score(output.lower().split(), text.lower().split(), weights) for text in texts) for output, texts in pairs
    ]
    return np.array(values, np.float64)


METRICS = (
    Metric(
        name="meteor",
        title="METEOR, words and stems",
        short="METEOR",
        formula="mean over items of P R / (α P + (1 − α) R) · (1 − γ (chunks / m)^β), where m is the number of pairs "
        "of words, P = m / words in the output, R = m / words in the reference, and a chunk is a sequence of "
        "pairs that are next to each other on both sides; each word is paired at most once, from right to "
        "left, first with the same word and then with a word with the same stem (Porter's stemmer for "
        "English); there are no synonyms; α = 0.9, β = 3 and γ = 0.5 by default; words are lowercased and "
        "separated by whitespace; if there are several references, the best one counts",
        source="Banerjee and Lavie (2005), METEOR; Lavie and Agarwal (2007); NLTK, meteor_score without WordNet",
        compared_with="NLTK 3.10.4",
        conventions=("Texts",),
        compute=_meteor,
        example=Example(
            "texts",
            {"1": "cats sat on mats"},
            {"1": "on mats cat sat"},
            1 - 0.5 * (2 / 4) ** 3,
            "all 4 words are paired, `cat` by its stem, in the two chunks `on mats` and `cat sat`: 1 · (1 − 0.5 · "
            "(2/4)³)",
        ),
        kinds=TEXTS,
        options={"alpha": AnyNumber(0.0, 1.0), "beta": AnyNumber(0.0, 100.0), "gamma": AnyNumber(0.0, 1.0)},
        most_characters=_MOST,
    ),
)
