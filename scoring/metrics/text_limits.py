"""Limits on texts. Text metrics take longer the more characters there are, and the longer the single texts are."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from scoring.answers import Answers, Texts
from scoring.definition import MetricSpec
from scoring.metrics.registry import METRICS, plain
from scoring.reports.problems import Report

# Each word and each other character is at most one word of the metrics, whatever their options.
_WORDS = re.compile(r"[^\W_]+|[^\w\s]|_")


def _words(text: str) -> int:
    return sum(1 for _ in _WORDS.finditer(text))


def _total(texts: Iterable[Sequence[str]], measure: Callable[[str], int]) -> int:
    return sum(measure(text) for several in texts for text in several)


def _squares(texts: Iterable[Sequence[str]], measure: Callable[[str], int]) -> int:
    """Return the sum over the items of the squared lengths. An item with several references is as long as all of them.

    By the Cauchy–Schwarz inequality, comparing outputs with references takes at most as many steps as the larger of
    their sums.
    """
    return sum(sum(map(measure, several)) ** 2 for several in texts)


# The metrics' limit → the code of the problem, and what is limited.
_LIMITS: Mapping[str, tuple[str, Callable[[Iterable[Sequence[str]]], int]]] = {
    "most_characters": ("texts-too-long", lambda texts: _total(texts, len)),
    "most_squared_characters": ("texts-too-long-squared", lambda texts: _squares(texts, len)),
    "most_squared_words": ("texts-too-many-words", lambda texts: _squares(texts, _words)),
}


def _most(spec: MetricSpec, limit: str) -> int | None:
    metric = METRICS[spec.name]
    most: int | None = getattr(metric, limit)
    return most if most is None or metric.times is None else most // metric.times(spec)


def report_long_texts(answers: Answers, specs: Sequence[MetricSpec], report: Report) -> None:
    """Report texts, of a run or of its gold, that would take too long to score. Other answers are never reported.

    Both have the same limits, so that whether a run is accepted does not depend on the gold.
    """
    if not isinstance(answers, Texts):
        return
    for limit, (code, size) in _LIMITS.items():
        allowed = [most for spec in plain(specs) if (most := _most(spec, limit)) is not None]
        if allowed and (found := size(answers.texts)) > min(allowed):
            report.error(code, found=f"{found:,}", expected=f"{min(allowed):,}")
