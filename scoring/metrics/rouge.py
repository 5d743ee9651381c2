"""ROUGE-1, ROUGE-2 and ROUGE-L: how many words, word pairs and words in order an output shares with a reference.

Words are lowercased. If there are several references, the one with the highest F1 counts.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from scoring.definition import MetricSpec
from scoring.metrics.comparison import TextComparison
from scoring.metrics.loaded_gold import LoadedGold
from scoring.metrics.metric import TEXTS, Example, Mean, Metric, Numbers, Options
from scoring.metrics.porter import STEM, stem
from scoring.metrics.text_distance import MOST_CHARACTERS, MOST_SQUARED, common_subsequence

_WORDS = {"ascii": re.compile("[a-z0-9]+"), "unicode": re.compile(r"[^\W_]+")}
_MEASURES = {"f1": 2, "precision": 0, "recall": 1}
_TIMES = 4  # how many times as long stemming takes
_STEMMED = 4  # number of letters from which words are stemmed, as in rouge-score
OPTIONS: Options = {"measure": tuple(_MEASURES), "words": tuple(_WORDS), **STEM}

Tokens = list[str]
# (output, reference) → the numbers of matches, of units in the output, and of units in the reference
Matches = Callable[[Tokens, Tokens], tuple[int, int, int]]


def _in_ngrams(order: int) -> Matches:
    def matches(output: Tokens, reference: Tokens) -> tuple[int, int, int]:
        own, wanted = (Counter(zip(*(side[at:] for at in range(order)), strict=False)) for side in (output, reference))
        hits = sum(min(own[gram], wanted[gram]) for gram in own.keys() & wanted.keys())
        return hits, max(0, len(output) - order + 1), max(0, len(reference) - order + 1)

    return matches


def _words_of(texts: Sequence[str], kind: str, is_stemmed: bool) -> list[Tokens]:
    found = [_WORDS[kind].findall(text.lower()) for text in texts]
    if not is_stemmed:
        return found
    return [[stem(word) if len(word) >= _STEMMED else word for word in words] for words in found]


def _references(gold: LoadedGold, kind: str, is_stemmed: bool) -> list[list[Tokens]]:
    return [_words_of(texts, kind, is_stemmed) for texts in gold.texts.texts]


def _measures(counts: tuple[int, int, int]) -> tuple[float, float, float]:
    """Return precision, recall and F1."""
    hits, own, wanted = counts
    precision, recall = hits / max(1, own), hits / max(1, wanted)
    return precision, recall, 2 * precision * recall / (precision + recall) if hits else 0.0


def _values(matches: Matches) -> Mean:
    def values(comparison: TextComparison, spec: MetricSpec) -> Numbers:
        kind, is_stemmed = str(spec.options.get("words", "ascii")), spec.options.get("stem") == "porter"
        place = _MEASURES[str(spec.options.get("measure", "f1"))]
        references = comparison.gold.once(_references, kind, is_stemmed)
        pairs = zip(_words_of(comparison.outputs, kind, is_stemmed), references, strict=True)
        best = [
            max((_measures(matches(output, reference)) for reference in references), key=lambda found: found[2])
            for output, references in pairs
        ]
        return np.array([found[place] for found in best], np.float64)

    return Mean(values)


def _metric(name: str, title: str, what: str, unit: str, matches: Matches, value: float, why: str) -> Metric:
    return Metric(
        name=name,
        title=title,
        short=title.replace("ROUGE-", "R-"),
        formula=f"mean over items of F1 = 2 P R / (P + R) or, with `measure`, of P or R; P = {what} / {unit} in the "
        f"output, R = {what} / {unit} in the reference; if there are several references, the one with the highest F1 "
        "counts; words are lowercased, and contain only digits and the letters a–z (with `words: unicode`, all "
        "letters); with `stem: porter`, Porter's stemmer for English is applied to words of at least four letters",
        source="Lin (2004), ROUGE: a package for automatic evaluation of summaries; rouge-score",
        compared_with="rouge-score 0.1.2",
        conventions=("Texts",),
        compute=_values(matches),
        example=Example("texts", {"1": "the cat sat on the mat"}, {"1": "the mat sat"}, value, why),
        kinds=TEXTS,
        options=OPTIONS,
        most_characters=MOST_CHARACTERS,
        most_squared_characters=MOST_SQUARED,
        times=lambda spec: _TIMES if spec.options.get("stem") == "porter" else 1,
    )


METRICS = (
    _metric(
        "rouge_1",
        "ROUGE-1",
        "words in both",
        "words",
        _in_ngrams(1),
        2 * 3 / (3 + 6),
        "all 3 words in the output are among the 6 words in the reference: 2 · 3 / (3 + 6)",
    ),
    _metric(
        "rouge_2",
        "ROUGE-2",
        "pairs of neighboring words in both",
        "pairs",
        _in_ngrams(2),
        2 * 1 / (2 + 5),
        "one of the 2 pairs, `the mat`, is among the 5 pairs in the reference: 2 · 1 / (2 + 5)",
    ),
    _metric(
        "rouge_l",
        "ROUGE-L",
        "words in the longest common subsequence",
        "words",
        lambda output, reference: (common_subsequence(output, reference), len(output), len(reference)),
        2 * 2 / (3 + 6),
        "`the … sat` and `the … mat` are the longest common subsequences: 2 · 2 / (3 + 6)",
    ),
)
