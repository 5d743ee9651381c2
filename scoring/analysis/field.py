"""Statistics of several runs: score summaries, correlations, and items that all of the best runs get wrong."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import NDArray

from scoring.analysis.item_answers import Answer, ItemAnswers, item_answers
from scoring.metrics.comparison import Comparison, EntityComparison
from scoring.metrics.correlation import midranks
from scoring.metrics.distinct import distinct
from scoring.reports.tables import TextTable, square

NOTHING = "(none)"

Words = NDArray[np.object_]  # one text per item


@dataclass(frozen=True, slots=True)
class Summary:
    """Statistics of the scores of several runs. A value is None if there are too few runs.

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
    """Items that all of `runs` answered incorrectly, among the `judged` items.

    `by_answer` maps a gold answer as text to (missed, judged).
    """

    runs: tuple[str, ...]
    items: tuple[str, ...]
    judged: int
    by_answer: Mapping[str, tuple[int, int]]

    def table(self) -> TextTable:
        """Return counts and shares by gold answer, as in Table 4 of HatEval 2019 (Basile et al., 2019)."""
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
    columns = [astuple(one) for one in summaries.values()]
    rows = tuple((name, *cells) for name, cells in zip(names, zip(*columns, strict=True), strict=True))
    return TextTable("Results analysis", ("", *summaries), rows)


def rank_correlation(first: Sequence[float | None], second: Sequence[float | None]) -> float | None:
    """Compute Spearman's correlation of two metrics over the runs that have both.

    Return None if there are fewer than two such runs, or if one metric is constant.
    """
    pairs = [(one, other) for one, other in zip(first, second, strict=True) if one is not None and other is not None]
    if len(pairs) < 2:
        return None
    ranks = [midranks(np.array(values, np.float64)) for values in zip(*pairs, strict=True)]
    if any(np.ptp(one) == 0 for one in ranks):
        return None
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def right(comparison: Comparison) -> NDArray[np.bool_]:
    """Return which gold items the run answers exactly right, with shape (items,)."""
    found = _answers(comparison)
    return np.array([one == other for one, other in zip(found.gold, found.run, strict=True)], bool)


def disagreement(runs: Mapping[str, Comparison]) -> TextTable:
    """Return the share of gold items that two runs answer differently, for each pair of runs."""
    answers = [_words(_answers(comparison).run) for comparison in runs.values()]
    shares = [[float(np.mean(one != other)) if len(one) else None for other in answers] for one in answers]
    return square("Share of items that two runs answer differently", list(runs), shares)


def missed_by_all(runs: Mapping[str, Comparison]) -> MissedItems:
    """Find the items that every run misses. Pass the k best runs, which must share a gold standard."""
    comparison = next(iter(runs.values()))
    one = _answers(comparison)
    wrong = ~np.any([right(comparison) for comparison in runs.values()], axis=0)
    judged = np.array([value is not None for value in one.values], bool)
    gold = _words(one.gold)
    if one.measure == "f1":
        marked = "some entities" if isinstance(comparison, EntityComparison) else "some characters"
        gold = np.where(gold == NOTHING, NOTHING, marked)
    by_answer = {
        str(answer): (int(wrong[judged & (gold == answer)].sum()), int((judged & (gold == answer)).sum()))
        for answer in distinct(gold[judged])
    }
    items = np.array(one.ids, object)[wrong & judged].tolist()
    return MissedItems(tuple(runs), tuple(items), int(judged.sum()), by_answer)


def _answers(comparison: Comparison) -> ItemAnswers:
    found = comparison.once(item_answers)
    if found.measure == "overlap":
        raise ValueError("weights are not correct or incorrect")
    return found


def _words(answers: Sequence[Answer]) -> Words:
    return np.array([", ".join(parts) or NOTHING for parts in answers], object)
