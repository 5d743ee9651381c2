"""Ranked retrieval: nDCG, average precision, reciprocal ranks, bpref, RBP, and measures on the first k documents.

Metrics are averaged over the gold's queries. A query counts as 0 if it is missing from the run or has no relevant
documents, unless the option `queries` says otherwise. Documents without a judgment are not relevant. With a cutoff such
as `ndcg:10`, only the first 10 documents count.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from scoring.definition import MetricSpec
from scoring.metrics.comparison import RankingComparison
from scoring.metrics.loaded_gold import LoadedGold
from scoring.metrics.metric import (
    BETA,
    RANKINGS,
    AnyNumber,
    Example,
    Heading,
    Metric,
    Numbers,
    Options,
    Part,
    Share,
    heading_of_f_beta,
    number,
    per_row,
    ratios,
)

_HIGHEST_GRADE = 4.0  # as in gdeval, the evaluation program of TREC's web track
_PERSISTENCE = 0.8
_QUERIES: Options = {"queries": ("all", "judged", "run")}
_GRADED: Options = {**_QUERIES, "relevant": AnyNumber(low=0.0)}

Values = Callable[[RankingComparison, MetricSpec], Numbers]  # returns the value of each query


def _cutoff(spec: MetricSpec) -> float:
    return float(spec.part) if spec.part else np.inf


def _level(spec: MetricSpec) -> float:
    """Return the lowest grade that counts as relevant."""
    return number(spec, "relevant", 1.0)


def _relevant_in_gold(gold: LoadedGold, least: float, most: float = np.inf) -> Numbers:
    """Return how many documents of each query have a grade of at least `least` and less than `most`."""
    owners = np.repeat(np.arange(len(gold)), np.diff(gold.ranking.starts))
    scores = gold.ranking.scores
    return per_row(owners, (scores >= least) & (scores < most), len(gold))


def _relevant(comparison: RankingComparison, spec: MetricSpec) -> Numbers:
    return comparison.gold.once(_relevant_in_gold, _level(spec))


def _found(comparison: RankingComparison, spec: MetricSpec) -> Numbers:
    """Return 1 for each relevant document within the cutoff, otherwise 0."""
    relevant = comparison.relevance >= _level(spec)
    return (relevant & (comparison.ranks <= _cutoff(spec))).astype(np.float64)


def _sum(comparison: RankingComparison, values: Numbers) -> Numbers:
    """Sum the documents' values for each query."""
    return per_row(comparison.owners, values, len(comparison.gold))


def _before(comparison: RankingComparison, values: Numbers) -> Numbers:
    """Return the sum of the values of all documents ranked above each document in the same query."""
    so_far = np.cumsum(values) - values
    before: Numbers = so_far - so_far[np.searchsorted(comparison.owners, comparison.owners)]
    return before


def _precision(comparison: RankingComparison, spec: MetricSpec) -> Numbers:
    return _sum(comparison, _found(comparison, spec)) / _cutoff(spec)


def _recall(comparison: RankingComparison, spec: MetricSpec) -> Numbers:
    return ratios(_sum(comparison, _found(comparison, spec)), _relevant(comparison, spec), 0.0)


def _f1(comparison: RankingComparison, spec: MetricSpec) -> Numbers:
    square = number(spec, "beta", 1.0) ** 2
    wanted = _cutoff(spec) + square * _relevant(comparison, spec)
    return (1 + square) * _sum(comparison, _found(comparison, spec)) / wanted


def _success(comparison: RankingComparison, spec: MetricSpec) -> Numbers:
    return (_sum(comparison, _found(comparison, spec)) > 0).astype(np.float64)


def _highest_in_gold(gold: LoadedGold) -> Numbers:
    """Return the highest grade of each query, or −∞ for queries without judgments."""
    highest = np.full(len(gold), -np.inf)
    owners = np.repeat(np.arange(len(gold)), np.diff(gold.ranking.starts))
    np.maximum.at(highest, owners, gold.ranking.scores)
    return highest


def _success_best(comparison: RankingComparison, spec: MetricSpec) -> Numbers:
    highest = comparison.gold.once(_highest_in_gold)[comparison.owners]
    best = _found(comparison, spec) * (comparison.relevance == highest)
    return (_sum(comparison, best) > 0).astype(np.float64)


def _r_precision(comparison: RankingComparison, spec: MetricSpec) -> Numbers:
    relevant = _relevant(comparison, spec)
    early = comparison.ranks <= relevant[comparison.owners]
    return ratios(_sum(comparison, _found(comparison, spec) * early), relevant, 0.0)


def _average_precision(comparison: RankingComparison, spec: MetricSpec) -> Numbers:
    found = _found(comparison, spec)
    precisions = found * (_before(comparison, found) + 1) / comparison.ranks
    return ratios(_sum(comparison, precisions), _relevant(comparison, spec), 0.0)


def _reciprocal_rank(comparison: RankingComparison, spec: MetricSpec) -> Numbers:
    best = np.zeros(len(comparison.gold))
    np.maximum.at(best, comparison.owners, _found(comparison, spec) / comparison.ranks)
    return best


def _bpref(comparison: RankingComparison, spec: MetricSpec) -> Numbers:
    level, relevant = _level(spec), _relevant(comparison, spec)
    irrelevant = comparison.judged & (comparison.relevance >= 0) & (comparison.relevance < level)
    bound = relevant[comparison.owners]
    known = np.minimum(bound, comparison.gold.once(_relevant_in_gold, 0.0, level)[comparison.owners])
    above = np.minimum(bound, _before(comparison, irrelevant.astype(np.float64)))
    values = _found(comparison, spec) * (1 - ratios(above, known, 0.0))
    return ratios(_sum(comparison, values), relevant, 0.0)


def _reciprocal_expected(comparison: RankingComparison, spec: MetricSpec) -> Numbers:
    highest = number(spec, "highest", _HIGHEST_GRADE)
    grades = np.clip(comparison.relevance, 0.0, highest)
    stops = (2.0**grades - 1) / 2.0**highest
    goes_on = np.exp(_before(comparison, np.log1p(-stops)))
    return _sum(comparison, np.where(comparison.ranks <= _cutoff(spec), stops * goes_on / comparison.ranks, 0.0))


def _rank_biased(comparison: RankingComparison, spec: MetricSpec) -> Numbers:
    persistence = number(spec, "persistence", _PERSISTENCE)
    weights = (1 - persistence) * persistence ** (comparison.ranks - 1.0)
    return _sum(comparison, _found(comparison, spec) * weights)


def _gains(relevance: Numbers, ranks: NDArray[np.int64], cutoff: float, gain: str) -> Numbers:
    grades = np.maximum(relevance, 0.0)
    grades = 2.0**grades - 1 if gain == "exponential" else grades
    return np.where(ranks <= cutoff, grades / np.log2(ranks + 1), 0.0)


def _best_gain(gold: LoadedGold, cutoff: float, gain: str) -> Numbers:
    """Return the DCG of each query's ideal order."""
    ranking = gold.ranking
    owners = np.repeat(np.arange(len(gold)), np.diff(ranking.starts))
    order = np.lexsort((-ranking.scores, owners))
    ranks = np.arange(len(owners)) - np.repeat(ranking.starts[:-1], np.diff(ranking.starts)) + 1
    return per_row(owners, _gains(ranking.scores[order], ranks, cutoff, gain), len(gold))


def _ndcg(comparison: RankingComparison, spec: MetricSpec) -> Numbers:
    cutoff, gain = _cutoff(spec), str(spec.options.get("gain", "linear"))
    found = _sum(comparison, _gains(comparison.relevance, comparison.ranks, cutoff, gain))
    return ratios(found, comparison.gold.once(_best_gain, cutoff, gain), 0.0)


def _counted(comparison: RankingComparison, spec: MetricSpec) -> Numbers:
    """Return 1 for each query that counts according to the `queries` option, otherwise 0."""
    queries = spec.options.get("queries", "all")
    if queries == "judged":
        return (_relevant(comparison, spec) > 0).astype(np.float64)
    if queries == "run":
        return (np.bincount(comparison.owners, minlength=len(comparison.gold)) > 0).astype(np.float64)
    return np.ones(len(comparison.gold))


def _mean(values: Values) -> Share:
    def parts(comparison: RankingComparison, spec: MetricSpec) -> tuple[Numbers, Numbers]:
        counted = _counted(comparison, spec)
        return values(comparison, spec) * counted, counted

    return Share(parts)


_GOLD = {"q": "d1 2, d2 0, d3 1"}
_RUN = {"q": "d1 0.9, d2 0.8, d3 0.7"}
_example = partial(Example, "rankings", _GOLD, _RUN)
_EACH = "mean over queries of "
_F1 = "2 · (relevant documents among the first k) / (k + all relevant documents)"
_F_BETA = "(1 + β²) · (relevant documents among the first k) / (k + β² · all relevant documents), β = {}"
_TREC = "trec_eval; ir_measures (MacAvaney et al., 2022)"
_TREC_PEERS = "trec_eval through pytrec-eval-terrier 0.5.11 and ir_measures 0.4.3"


def _metric(
    name: str,
    title: str,
    short: str,
    formula: str,
    values: Values,
    part: Part,
    example: Example,
    options: Options = _GRADED,
    source: str = _TREC,
    compared_with: str = _TREC_PEERS,
    heading: Callable[[MetricSpec], Heading] | None = None,
) -> Metric:
    return Metric(
        name=name,
        title=title,
        short=short,
        formula=f"{_EACH}{formula}",
        heading=heading,
        source=source,
        undefined="with `queries: judged` or `queries: run`, if every query is excluded",
        compared_with=compared_with,
        conventions=("Rankings",),
        compute=_mean(values),
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
        "DCG / DCG of the ideal order; DCG = Σ_i g_i / log2(i + 1), where g_i = max(0, relevance_i) or, with "
        "`gain: exponential`, 2^relevance_i − 1",
        _ndcg,
        Part.CUTOFF_OR_ALL,
        _example(2.5 / (2 + 1 / np.log2(3)), "(2/1 + 0 + 1/2) / (2/1 + 1/log2 3)"),
        {**_QUERIES, "gain": ("linear", "exponential")},
        "Järvelin and Kekäläinen (2002); trec_eval; for exponential gains, Burges et al. (2005) and gdeval",
    ),
    _metric(
        "map",
        "Mean average precision",
        "MAP",
        "(sum of the precision at the rank of each relevant document) / (all relevant documents)",
        _average_precision,
        Part.CUTOFF_OR_ALL,
        _example((1 + 2 / 3) / 2, "the documents at ranks 1 and 3 are relevant: (1/1 + 2/3) / 2"),
    ),
    _metric(
        "mrr",
        "Mean reciprocal rank",
        "MRR",
        "1 / rank of the first relevant document; 0 if there is none",
        _reciprocal_rank,
        Part.CUTOFF_OR_ALL,
        Example("rankings", _GOLD, {"q": "d2 2, d1 1"}, 0.5, "the first relevant document has rank 2"),
    ),
    _metric(
        "precision_at",
        "Precision",
        "P",
        "(relevant documents among the first k) / k",
        _precision,
        Part.CUTOFF,
        _example(0.5, "one of the first two documents is relevant", part="2"),
    ),
    _metric(
        "recall_at",
        "Recall",
        "R",
        "(relevant documents among the first k) / (all relevant documents)",
        _recall,
        Part.CUTOFF,
        _example(0.5, "one of the two relevant documents is among the first two", part="2"),
    ),
    _metric(
        "f1_at",
        "F1",
        "F1",
        _F1,
        _f1,
        Part.CUTOFF,
        Example(
            "rankings",
            _GOLD,
            {"q": "d1 3, d9 2, d8 1"},
            0.4,
            "one of the three documents is relevant: 2 · 1 / (3 + 2)",
            "3",
        ),
        {**_GRADED, **BETA},
        source="harmonic mean of trec_eval's P and R for each query",
        heading=heading_of_f_beta("F1", "F1", f"{_EACH}{_F1}", _F1, _F_BETA),
    ),
    _metric(
        "success_at",
        "Success",
        "Success",
        "1 if any of the first k documents is relevant, otherwise 0",
        _success,
        Part.CUTOFF,
        Example("rankings", _GOLD, {"q": "d2 2, d3 1"}, 1.0, "d3, the second document, is relevant", part="2"),
    ),
    _metric(
        "success_best_at",
        "Success with the best documents",
        "Best",
        "1 if any of the first k documents is relevant and has the query's highest grade, otherwise 0",
        _success_best,
        Part.CUTOFF,
        Example(
            "rankings",
            _GOLD,
            {"q": "d3 3, d2 2, d1 1"},
            0.0,
            "d1 has the highest grade, but is not among the first two documents",
            part="2",
        ),
        source="Saggion et al. (2022), TSAR-2022: accuracy@k@top1; Shardlow et al. (2024), MLSP",
        compared_with="an independent count with sets, as in the evaluator of TSAR 2022",
    ),
    _metric(
        "r_precision",
        "R-precision",
        "R-prec",
        "(relevant documents among the first R) / R, where R is the number of relevant documents",
        _r_precision,
        Part.NONE,
        _example(0.5, "two documents are relevant, and one of them is among the first two"),
    ),
    _metric(
        "bpref",
        "Binary preference",
        "bpref",
        "Σ_r (1 − min(n_r, R) / min(N, R)) / R over the relevant documents r in the run, where n_r is the number "
        "of documents ranked above r that are judged not relevant, N the number of all documents that are judged "
        "not relevant, and R the number of relevant documents; documents without a judgment or with a negative one "
        "are ignored",
        _bpref,
        Part.NONE,
        _example(0.5, "the only irrelevant document, d2, is ranked below d1 and above d3: (1 + 0) / 2"),
        source="Buckley and Voorhees (2004), Retrieval evaluation with incomplete information; trec_eval",
    ),
    _metric(
        "err",
        "Expected reciprocal rank",
        "ERR",
        "Σ_i R_i / i · Π_{j<i} (1 − R_j), where R_i = (2^relevance_i − 1) / 2^highest; the `highest` option is the "
        "highest degree of relevance and defaults to 4; higher grades count as `highest`, and negative ones as 0",
        _reciprocal_expected,
        Part.CUTOFF_OR_ALL,
        _example(3 / 4 + 1 / 4 * 1 / 4 / 3, "R = 3/4, 0, 1/4: 3/4 + (1/4) · (1/4) / 3", options={"highest": "2"}),
        {**_QUERIES, "highest": AnyNumber(1.0)},
        "Chapelle et al. (2009), Expected reciprocal rank for graded relevance; gdeval",
        "an independent implementation of the authors' algorithm, and gdeval through ir_measures 0.4.3",
    ),
    _metric(
        "rbp",
        "Rank-biased precision",
        "RBP",
        "(1 − p) Σ_i p^(i − 1) over the ranks i of relevant documents; p is the `persistence` option and defaults "
        "to 0.8",
        _rank_biased,
        Part.CUTOFF_OR_ALL,
        _example(
            0.5 * (1 + 0.25),
            "the documents at ranks 1 and 3 are relevant: 0.5 · (1 + 0.5²)",
            options={"persistence": "0.5"},
        ),
        {**_GRADED, "persistence": AnyNumber(0.0, 1.0)},
        "Moffat and Zobel (2008), Rank-biased precision for measurement of retrieval effectiveness; cwl_eval",
        "cwl-eval 1.0.12 through ir_measures 0.4.3",
    ),
)
