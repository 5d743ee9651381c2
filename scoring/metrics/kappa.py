"""Agreement beyond what class frequencies alone would give: Cohen's kappa and Matthews correlation."""

from collections.abc import Callable
from functools import partial

import numpy as np

from scoring.definition import MetricSpec
from scoring.metrics.comparison import MatrixComparison
from scoring.metrics.counts import ClassMarks, marks, total
from scoring.metrics.metric import LABELS, TABLE, Contributions, Example, Metric, Numbers, Part, ratios

# Functions that take hits (…), the number of judged answers (…), class frequencies in the run (…, classes of the run),
# and class frequencies in the gold (…, classes). They return values (…), NaN where undefined.
Agreement = Callable[[Numbers, Numbers, Numbers, Numbers], Numbers]


def _kappa(hits: Numbers, items: Numbers, run: Numbers, gold: Numbers) -> Numbers:
    observed, by_chance = items * hits, _by_chance(run, gold)
    return ratios(observed - by_chance, items**2 - by_chance)


def _matthews(hits: Numbers, items: Numbers, run: Numbers, gold: Numbers) -> Numbers:
    unanswered = items - run.sum(axis=-1)
    spread = items**2 - (run**2).sum(axis=-1) - unanswered**2
    gold_spread = items**2 - (gold**2).sum(axis=-1)
    product = np.sqrt(spread) * np.sqrt(gold_spread)
    value = ratios(items * hits - _by_chance(run, gold), product)
    return np.where((spread <= 0) & (gold_spread > 0), 0.0, value)


def _by_chance(run: Numbers, gold: Numbers) -> Numbers:
    """Return Σ_c run_c · gold_c. The run's first classes are those of the gold."""
    total: Numbers = (run[..., : gold.shape[-1]] * gold).sum(axis=-1)
    return total


def _of(agreement: Agreement) -> Callable[[MatrixComparison, MetricSpec], float | None]:
    def compute(comparison: MatrixComparison, spec: MetricSpec) -> float | None:
        own = marks(comparison, spec.part)
        hits, items = float(np.count_nonzero(own.hits)), float(np.count_nonzero(own.judged))
        run = np.concatenate([total(own.says), total(own.others)]).astype(float)
        value = agreement(np.array(hits), np.array(items), run, total(own.has).astype(float))
        return None if np.isnan(value) else float(value)

    return compute


def _contributions(agreement: Agreement) -> Callable[[MatrixComparison, MetricSpec], Contributions | None]:
    def contributions(comparison: MatrixComparison, spec: MetricSpec) -> Contributions | None:
        own: ClassMarks = marks(comparison, spec.part)
        classes = len(own.classes)
        return Contributions(
            np.column_stack([own.hits.any(axis=1), own.judged, own.says, own.has]).astype(np.float64),
            lambda sums: agreement(sums[..., 0], sums[..., 1], sums[..., 2 : 2 + classes], sums[..., 2 + classes :]),
        )

    return contributions


def _matthews_contributions(comparison: MatrixComparison, spec: MetricSpec) -> Contributions | None:
    """Return the contributions. None if the run has classes unknown to the gold, because the sums leave these out."""
    if marks(comparison, spec.part).others.any():
        return None
    return _contributions(_matthews)(comparison, spec)


_GOLD = {"1": "yes", "2": "yes", "3": "no", "4": "no"}
_RUN = {"1": "yes", "2": "no", "3": "no", "4": "no"}

_metric = partial(Metric, kinds=LABELS | TABLE, part=Part.COLUMN, single_label=True, low=-1.0)
METRICS = (
    _metric(
        name="kappa",
        title="Cohen's kappa",
        short="Kappa",
        formula="(A − E) / (1 − E); A = accuracy, E = Σ_c run_c · gold_c / n²; undefined if E = 1 (only one class)",
        source="Cohen (1960); PyEvALL 0.2.11, Kappa",
        undefined="if the gold and the run both have the same class for all items",
        compared_with="PyEvALL 0.2.11, scikit-learn",
        compute=_of(_kappa),
        example=Example("labels", _GOLD, _RUN, 0.5, "A = 3/4, E = (2 · 1 + 2 · 3) / 16 = 1/2: (1/4) / (1/2)"),
        contributions=_contributions(_kappa),
    ),
    _metric(
        name="mcc",
        title="Matthews correlation coefficient",
        short="MCC",
        formula="(n · hits − Σ_c run_c gold_c) / √((n² − Σ_c run_c²) (n² − Σ_c gold_c²)); 0 if the run has only one "
        "class, undefined if the gold has only one class; a missing answer counts as a separate class",
        source="Gorodkin (2004), Comparing two K-category assignments; scikit-learn, matthews_corrcoef",
        undefined="if the gold has the same class for all items",
        compared_with="scikit-learn",
        compute=_of(_matthews),
        example=Example(
            kind="labels",
            gold=_GOLD,
            run=_RUN,
            value=1 / 3**0.5,
            why="(4 · 3 − (1 · 2 + 3 · 2)) / √((16 − 1 − 9) (16 − 4 − 4)) = 4 / √48",
        ),
        contributions=_matthews_contributions,
    ),
)
