"""Text answers to questions: exact match and word F1, normalized as in SQuAD by default.

If there are several references, the one with the highest score counts.
"""

import re
import string
from collections import Counter
from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np

from scoring.definition import MetricSpec
from scoring.metrics.comparison import TextComparison
from scoring.metrics.metric import TEXTS, Example, Mean, Metric, Numbers, Options

_OPTIONS: Options = {"normalize": ("squad", "none")}
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")


@lru_cache(maxsize=2**16)
def _words(text: str, normalize: str) -> tuple[str, ...]:
    if normalize == "squad":
        text = _ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION))
    return tuple(text.split())


def _f1(output: tuple[str, ...], reference: tuple[str, ...]) -> float:
    if not output or not reference:
        return float(output == reference)
    return 2 * (Counter(output) & Counter(reference)).total() / (len(output) + len(reference))


def _best(measure: Callable[[tuple[str, ...], tuple[str, ...]], float]) -> Mean:
    def values(comparison: TextComparison, spec: MetricSpec) -> Numbers:
        words = partial(_words, normalize=spec.options.get("normalize", "squad"))
        pairs = zip(comparison.outputs, comparison.gold.texts.texts, strict=True)
        return np.array([max(measure(words(own), words(text)) for text in texts) for own, texts in pairs], np.float64)

    return Mean(values)


def item_token_f1(comparison: TextComparison) -> Numbers:
    """Return the word F1 of each item, using the default normalization."""
    return _TOKENS.values(comparison, MetricSpec("token_f1"))


_TOKENS = _best(_f1)
_GOLD = {"1": "The Rhine | Rhine river", "2": "in 1492"}
_NORMALIZED = (
    "texts are lowercased, and punctuation and English articles are removed (with `normalize: none`, only repeated "
    "whitespace is merged)"
)

_SOURCE = "Rajpurkar et al. (2016), SQuAD; its scorer returns 100 times this value"
_metric = partial(
    Metric,
    source=_SOURCE,
    kinds=TEXTS,
    options=_OPTIONS,
    compared_with="an independent reimplementation of SQuAD's scorer",
    conventions=("Texts",),
)
METRICS = (
    _metric(
        name="exact_match",
        title="Exact match",
        short="EM",
        formula=f"items whose output equals a reference / gold items; {_NORMALIZED}",
        compute=_best(lambda output, reference: float(output == reference)),
        example=Example(
            "texts",
            _GOLD,
            {"1": "Rhine", "2": "1492"},
            0.5,
            "without the article, the first reference equals the output",
        ),
    ),
    _metric(
        name="token_f1",
        title="Word F1",
        short="Token F1",
        formula="mean over items of 2 · words in both / (words in the output + words in the reference); "
        f"{_NORMALIZED}; 1 if neither has any words; if there are several references, the best one counts",
        compute=_TOKENS,
        example=Example(
            "texts",
            _GOLD,
            {"1": "river Rhine", "2": "1492"},
            (1 + 2 / 3) / 2,
            "item 1 contains both words of a reference, and item 2 contains one of two words: (1 + 2 · 1 / (1 + "
            "2)) / 2",
        ),
    ),
)
