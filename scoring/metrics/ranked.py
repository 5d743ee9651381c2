"""Ranked retrieval: nDCG, mean average precision, mean reciprocal rank, precision and recall at a rank.

Metrics are averaged over the gold's queries. A query counts as 0 if the run lacks it or if it has no relevant
documents. Documents without a judgment are not relevant. With a cutoff such as `ndcg:10`, only the first 10 documents
count.
"""

import numpy as np
from numpy.typing import NDArray

from scoring.definition import MetricSpec
from scoring.metrics.comparison import RankingComparison
from scoring.metrics.loaded_gold import LoadedGold
from scoring.metrics.metric import (
    RANKINGS,
    AnyNumber,
    Example,
    Mean,
    Metric,
    Numbers,
    Options,
    Part,
    number,
    per_row,
    ratios,
)


def _cutoff(spec: MetricSpec) -> float:
    return float(spec.part) if spec.part else np.inf


def _relevant_in_gold(gold: LoadedGold, least: float) -> Numbers:
    """Return the number of relevant documents per query."""
    owners = np.repeat(np.arange(len(gold)), np.diff(gold.ranking.starts))
    return per_row(owners, gold.ranking.scores >= least, len(gold))


def _found(comparison: RankingComparison, spec: MetricSpec) -> Numbers:
    """Return 1 for each relevant document within the cutoff, otherwise 0."""
    relevant = comparison.relevance >= number(spec, "relevant", 1.0)
    return (relevant & (comparison.ranks <= _cutoff(spec))).astype(np.float64)


def _sum(comparison: RankingComparison, values: Numbers) -> Numbers:
    """Sum over the documents of each query."""
    return per_row(comparison.owners, values, len(comparison.gold))


@Mean
def _precision(comparison: RankingComparison, spec: MetricSpec) -> Numbers:
    return _sum(comparison, _found(comparison, spec)) / _cutoff(spec)


@Mean
def _recall(comparison: RankingComparison, spec: MetricSpec) -> Numbers:
    relevant = comparison.gold.once(_relevant_in_gold, number(spec, "relevant", 1.0))
    return ratios(_sum(comparison, _found(comparison, spec)), relevant, 0.0)


@Mean
def _average_precision(comparison: RankingComparison, spec: MetricSpec) -> Numbers:
    found = _found(comparison, spec)
    so_far = np.cumsum(found)
    # documents found for earlier queries
    before = (so_far - found)[np.searchsorted(comparison.owners, comparison.owners)]
    relevant = comparison.gold.once(_relevant_in_gold, number(spec, "relevant", 1.0))
    return ratios(_sum(comparison, found * (so_far - before) / comparison.ranks), relevant, 0.0)


@Mean
def _reciprocal_rank(comparison: RankingComparison, spec: MetricSpec) -> Numbers:
    best = np.zeros(len(comparison.gold))
    np.maximum.at(best, comparison.owners, _found(comparison, spec) / comparison.ranks)
    return best


def _gains(relevance: Numbers, ranks: NDArray[np.int64], cutoff: float) -> Numbers:
    return np.where(ranks <= cutoff, np.maximum(relevance, 0.0) / np.log2(ranks + 1), 0.0)


def _best_gain(gold: LoadedGold, cutoff: float) -> Numbers:
    """Return DCG of the ideal order per query."""
    ranking = gold.ranking
    owners = np.repeat(np.arange(len(gold)), np.diff(ranking.starts))
    order = np.lexsort((-ranking.scores, owners))
    ranks = np.arange(len(owners)) - np.repeat(ranking.starts[:-1], np.diff(ranking.starts)) + 1
    return per_row(owners, _gains(ranking.scores[order], ranks, cutoff), len(gold))


@Mean
def _ndcg(comparison: RankingComparison, spec: MetricSpec) -> Numbers:
    cutoff = _cutoff(spec)
    gain = _sum(comparison, _gains(comparison.relevance, comparison.ranks, cutoff))
    return ratios(gain, comparison.gold.once(_best_gain, cutoff), 0.0)


_GOLD = {"q": "d1 2, d2 0, d3 1"}
_RUN = {"q": "d1 0.9, d2 0.8, d3 0.7"}
_GRADED: Options = {"relevant": AnyNumber(low=0.0)}


def _metric(
    name: str, title: str, short: str, formula: str, values: Mean, part: Part, example: Example, options: Options
) -> Metric:
    return Metric(
        name=name,
        title=title,
        short=short,
        formula=formula,
        source="trec_eval; ir_measures (MacAvaney et al., 2022)",
        compute=values.compute,
        contributions=values.contributions,
        example=example,
        kinds=RANKINGS,
        part=part,
        options=options,
    )


METRICS = (
    _metric(
        "ndcg",
        "Normalized discounted cumulative gain",
        "nDCG",
        "mean over queries of DCG / DCG of the ideal order; DCG = Σ_i max(0, relevance_i) / log2(i + 1)",
        _ndcg,
        Part.CUTOFF_OR_ALL,
        Example("rankings", _GOLD, _RUN, 2.5 / (2 + 1 / np.log2(3)), "(2/1 + 0 + 1/2) / (2/1 + 1/log2 3)"),
        {},
    ),
    _metric(
        "map",
        "Mean average precision",
        "MAP",
        "mean over queries of Σ precision at the ranks of relevant documents / all relevant documents",
        _average_precision,
        Part.CUTOFF_OR_ALL,
        Example("rankings", _GOLD, _RUN, (1 + 2 / 3) / 2, "relevant at ranks 1 and 3: (1/1 + 2/3) / 2"),
        _GRADED,
    ),
    _metric(
        "mrr",
        "Mean reciprocal rank",
        "MRR",
        "mean over queries of 1 / rank of the first relevant document; 0 if there is none",
        _reciprocal_rank,
        Part.CUTOFF_OR_ALL,
        Example("rankings", _GOLD, {"q": "d2 2, d1 1"}, 0.5, "the first relevant document has rank 2"),
        _GRADED,
    ),
    _metric(
        "precision_at",
        "Precision",
        "P",
        "mean over queries of (relevant documents among the first k) / k",
        _precision,
        Part.CUTOFF,
        Example("rankings", _GOLD, _RUN, 0.5, "one of the first two documents is relevant", part="2"),
        _GRADED,
    ),
    _metric(
        "recall_at",
        "Recall",
        "R",
        "mean over queries of (relevant documents among the first k) / (all relevant documents)",
        _recall,
        Part.CUTOFF,
        Example("rankings", _GOLD, _RUN, 0.5, "one of the two relevant documents is among the first two", part="2"),
        _GRADED,
    ),
)
