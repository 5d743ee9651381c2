"""Statistics on several runs: score summaries, correlations, and items that all of the best runs miss."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from scoring.analysis.item_answers import Answer, ItemAnswers, item_answers
from scoring.answers import Spans
from scoring.metrics.comparison import Comparison, EntityComparison, SpanComparison
from scoring.metrics.correlation import midranks
from scoring.metrics.distinct import distinct
from scoring.reports.tables import TextTable, square

NOTHING = "(none)"
LENGTHS = (1, 6, 11, 21)  # lower ends of the ranges for the number of marked characters

Words = NDArray[np.object_]  # one string per item


@dataclass(frozen=True, slots=True)
class Summary:
    """Statistics on the scores of several runs. A value is None if there are too few runs.

    Quartiles are interpolated linearly. `deviation` is the sample standard deviation (n − 1). `skewness` is g1 = m3 /
    m2^1.5 and `kurtosis` is m4 / m2² (3 for a normal distribution), where m_k are the central moments.
    """

    runs: int
    lowest: float | None = None
    first_quartile: float | None = None
    mean: float | None = None
    median: float | None = None
    third_quartile: float | None = None
    highest: float | None = None
    deviation: float | None = None
    skewness: float | None = None
    kurtosis: float | None = None


@dataclass(frozen=True, slots=True)
class MissedItems:
    """The items that all of `runs` answered incorrectly, among the `judged` items.

    `by_answer` maps each gold answer (as text; for spans, a range of marked-character counts) to (missed, judged).
    `same` maps an incorrect answer to the number of items to which all of the runs gave it.
    """

    runs: tuple[str, ...]
    items: tuple[str, ...]
    judged: int
    by_answer: Mapping[str, tuple[int, int]]
    same: Mapping[str, int]

    def table(self) -> TextTable:
        """Return counts and shares by gold answer."""
        counts = [*self.by_answer.items(), ("all", (len(self.items), self.judged))]
        rows = tuple((name, missed, judged, missed / judged if judged else None) for name, (missed, judged) in counts)
        return TextTable(f"Missed by all of {', '.join(self.runs)}", ("gold", "missed", "items", "share"), rows)


def summary(scores: Sequence[float | None]) -> Summary:
    """Summarize the defined scores, as in Table 3 of HatEval 2019 (Basile et al., 2019)."""
    values = np.array([value for value in scores if value is not None], np.float64)
    if not len(values):
        return Summary(0)
    low, first, middle, third, high = np.percentile(values, [0, 25, 50, 75, 100]).tolist()
    apart = values - values.mean()
    spread = float((apart**2).mean()) if high > low else 0.0
    return Summary(
        runs=len(values),
        lowest=low,
        first_quartile=first,
        mean=float(values.mean()),
        median=middle,
        third_quartile=third,
        highest=high,
        deviation=float(values.std(ddof=1)) if len(values) > 1 else None,
        skewness=float((apart**3).mean()) / spread**1.5 if spread else None,
        kurtosis=float((apart**4).mean()) / spread**2 if spread else None,
    )


def summary_table(summaries: Mapping[str, Summary]) -> TextTable:
    """Return a table with one column per metric or track."""
    names = ("runs", "min", "Q1", "mean", "median", "Q3", "max", "std. dev.", "skewness", "kurtosis")
    columns = [astuple(own) for own in summaries.values()]
    rows = tuple((name, *cells) for name, cells in zip(names, zip(*columns, strict=True), strict=True))
    return TextTable("Results analysis", ("", *summaries), rows)


def rank_correlation(first: Sequence[float | None], second: Sequence[float | None]) -> float | None:
    """Compute Spearman's correlation of two metrics over the runs that have both.

    Return None if there are fewer than two such runs, or if one metric is constant.
    """
    pairs = [
        (value, other) for value, other in zip(first, second, strict=True) if value is not None and other is not None
    ]
    ranks = [midranks(np.array(values, np.float64)) for values in zip(*pairs, strict=True)]
    if len(pairs) < 2 or any(np.ptp(ranking) == 0 for ranking in ranks):
        return None
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def right(comparison: Comparison) -> NDArray[np.bool_]:
    """Return which gold items the run answers entirely correctly, with shape (items,)."""
    found = _answers(comparison)
    return np.array([expected == other for expected, other in zip(found.gold, found.run, strict=True)], bool)


def disagreement(runs: Mapping[str, Comparison]) -> TextTable:
    """Return a table with the share of gold items that each pair of runs answers differently."""
    answers = [_words(_answers(comparison).run) for comparison in runs.values()]
    shares = [[float(np.mean(own != other)) if len(own) else None for other in answers] for own in answers]
    return square("Percentage of items that two runs answer differently", list(runs), shares)


def missed_by_all(runs: Mapping[str, Comparison]) -> MissedItems:
    """Find the items that every run misses.

    All runs must share a gold standard. To find what the k best runs miss, pass only these runs.
    """
    comparison = next(iter(runs.values()))
    answers = _answers(comparison)
    wrong = ~np.any([right(comparison) for comparison in runs.values()], axis=0)
    judged = np.array([value is not None for value in answers.values], bool)
    gold = _words(answers.gold)
    if isinstance(comparison, SpanComparison):
        gold = _by_length(comparison.gold.spans)
    elif answers.measure == "f1":
        marked = "some entities" if isinstance(comparison, EntityComparison) else "some characters"
        gold = np.where(gold == NOTHING, NOTHING, marked)
    by_answer = {
        str(answer): (int(wrong[judged & (gold == answer)].sum()), int((judged & (gold == answer)).sum()))
        for answer in distinct(gold[judged])
    }
    items = np.array(answers.ids, object)[wrong & judged].tolist()
    same = (
        {} if answers.measure == "f1" else _same_answers([_answers(run).run for run in runs.values()], wrong & judged)
    )
    return MissedItems(tuple(runs), tuple(items), int(judged.sum()), by_answer, same)


def _by_length(spans: Spans) -> Words:
    """Return the range that contains each item's number of marked characters, such as `6–10 characters`."""
    owners = np.repeat(np.arange(len(spans.ids)), np.diff(spans.starts))
    lengths = np.bincount(owners, spans.ends - spans.begins, len(spans.ids))
    names = [f"{low}–{high - 1} characters" for low, high in pairwise(LENGTHS)] + [f"{LENGTHS[-1]} or more characters"]
    return np.array([NOTHING, *names], object)[np.searchsorted(LENGTHS, lengths, side="right")]


def _same_answers(answers: Sequence[Sequence[Answer]], among: NDArray[np.bool_]) -> dict[str, int]:
    """Count the answers on which all runs agree, for the items in `among`, with the most frequent answers first."""
    rows = zip(among.tolist(), zip(*answers, strict=True), strict=True)
    given = Counter(", ".join(said[0]) or NOTHING for counts, said in rows if counts and len(set(said)) == 1)
    return dict(given.most_common())


def _answers(comparison: Comparison) -> ItemAnswers:
    found = comparison.once(item_answers)
    if found.measure == "overlap":
        raise ValueError("answers with weights cannot be counted as correct or incorrect")
    return found


def _words(answers: Sequence[Answer]) -> Words:
    return np.array([", ".join(parts) or NOTHING for parts in answers], object)
