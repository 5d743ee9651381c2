"""Yes/no answers with a probability, as in PAN's authorship verification: c@1, F0.5u, Fβ, Brier and calibration error.

A column has numbers from 0 to 1. In a run, numbers above 0.5 mean yes, and numbers below 0.5 mean no. An item is
undecided if its number is exactly 0.5 or if it has no answer. In the gold, numbers above 0.5 mean yes, all others no.
"""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from scoring.definition import MetricSpec
from scoring.metrics.comparison import MatrixComparison
from scoring.metrics.correlation import judged_items
from scoring.metrics.metric import TABLE, AnyNumber, Example, Metric, Numbers, Part, number, per_row, ratios, sums_of

_OPEN = 0.5
_BINS = 10.0


def _sides(comparison: MatrixComparison, column: str | None) -> tuple[Numbers, Numbers, Numbers]:
    """Return three values per item: 1 if the gold judges it, 1 if the gold answer is yes, and the run's number."""
    at = comparison.position(column or comparison.gold.matrix.columns[0])
    judged = judged_items(comparison, column)
    yes = np.zeros(len(judged))
    yes[judged] = comparison.gold.values[judged, at] > _OPEN
    given = np.where(comparison.absent[:, at], _OPEN, comparison.run[:, at].astype(np.float64))
    return judged.astype(np.float64), yes, given


def _decisions(comparison: MatrixComparison, spec: MetricSpec) -> Numbers:
    """Return (items, 6): 1 for a judged item, and 1 in one of true yes, false yes, false no, true no and undecided."""
    judged, yes, given = _sides(comparison, spec.part)
    says_yes, says_no = judged * (given > _OPEN), judged * (given < _OPEN)
    open_ = judged - says_yes - says_no
    no = 1 - yes
    return np.column_stack([judged, says_yes * yes, says_yes * no, says_no * yes, says_no * no, open_])


def _squares(comparison: MatrixComparison, spec: MetricSpec) -> Numbers:
    judged, yes, given = _sides(comparison, spec.part)
    return np.column_stack([judged, judged * (given - yes) ** 2])


def _bins(comparison: MatrixComparison, spec: MetricSpec) -> Numbers:
    """Return 1 for judged items, followed by a column per bin, with gold answer − run's number in the item's bin."""
    judged, off, bins = _binned(comparison, spec)
    found = np.zeros((len(judged), 1 + int(number(spec, "bins", _BINS))))
    found[:, 0] = judged
    found[np.arange(len(judged)), 1 + bins] = off
    return found


def _binned(comparison: MatrixComparison, spec: MetricSpec) -> tuple[Numbers, Numbers, NDArray[np.intp]]:
    """Return three values per item: 1 if the gold judges it, gold answer − run's number, and the bin of the number."""
    judged, yes, given = _sides(comparison, spec.part)
    count = int(number(spec, "bins", _BINS))
    bins = np.searchsorted(np.arange(1, count) / count, given)  # exact for decimal numbers, unlike given * count
    return judged, judged * (yes - given), bins


def _calibration(comparison: MatrixComparison, spec: MetricSpec) -> float | None:
    """Return the error without a table of items and bins."""
    judged, off, bins = _binned(comparison, spec)
    sums = np.append(judged.sum(), per_row(bins, off, int(number(spec, "bins", _BINS))))
    value = float(_error_of(sums, spec))
    return None if np.isnan(value) else value


def _error_of(sums: Numbers, spec: MetricSpec) -> Numbers:
    return ratios(np.abs(sums[..., 1:]).sum(axis=-1), sums[..., 0])


def _c_at_1(sums: Numbers, spec: MetricSpec) -> Numbers:
    items, right, left_open = sums[..., 0], sums[..., 1] + sums[..., 4], sums[..., 5]
    return ratios(right + left_open * ratios(right, items, 0.0), items)


def _f_05_u(sums: Numbers, spec: MetricSpec) -> Numbers:
    hits = 1.25 * sums[..., 1]
    return ratios(hits, hits + 0.25 * (sums[..., 3] + sums[..., 5]) + sums[..., 2])


def _f_beta(sums: Numbers, spec: MetricSpec) -> Numbers:
    weight = number(spec, "beta", 1.0) ** 2
    hits = (1 + weight) * sums[..., 1]
    return ratios(hits, hits + weight * sums[..., 3] + sums[..., 2])


_GOLD = {"1": "same 1", "2": "same 1", "3": "same 0", "4": "same 0"}
_RUN = {"1": "same 0.9", "2": "same 0.5", "3": "same 0.2", "4": "same 0.6"}
_example = partial(Example, "table", _GOLD, _RUN)
_metric = partial(Metric, kinds=TABLE, numbers=True, part=Part.COLUMN, conventions=("Items", "Probabilities"))

METRICS = (
    _metric(
        name="c_at_1",
        title="c@1",
        short="c@1",
        formula="(r + u · r / n) / n, where r is the number of correct items, u of undecided items (exactly 0.5 or no "
        "answer) and n of all items",
        source="Peñas and Rodrigo (2011), A simple measure to assess non-response; PAN's verification evaluator",
        compared_with="an independent reimplementation of PAN's evaluator",
        compute=sums_of(_decisions, _c_at_1),
        example=_example((2 + 2 / 4) / 4, "items 1 and 3 are correct, and item 2 is undecided: (2 + 1 · 2/4) / 4"),
    ),
    _metric(
        name="f_05_u",
        title="F0.5u",
        short="F0.5u",
        formula="1.25 tp / (1.25 tp + 0.25 (fn + u) + fp); u is the number of undecided items of either class; "
        "undefined if tp, fn, u and fp are all 0",
        source="Bevendorff et al. (2019), Generalizing unmasking for short texts; PAN's verification evaluator",
        undefined="if no item is undecided and no item is positive in the gold or the run",
        compared_with="an independent reimplementation of PAN's evaluator",
        compute=sums_of(_decisions, _f_05_u),
        example=_example(1.25 / (1.25 + 0.25 + 1), "tp = 1, fn = 0, u = 1, fp = 1: 1.25 / (1.25 + 0.25 + 1)"),
    ),
    _metric(
        name="f_beta_decided",
        title="Fβ of decided items",
        short="Fβ",
        formula="(1 + β²) tp / ((1 + β²) tp + β² fn + fp) over decided items; β is the `beta` option and defaults to "
        "1; undefined if tp, fn and fp are all 0",
        source="van Rijsbergen (1979); scikit-learn, fbeta_score; PAN's verification evaluator of 2020 to 2023 for β = "
        "1, from which the evaluators of 2024 and 2025 differ if items are undecided",
        undefined="if no decided item is positive in the gold or the run",
        compared_with="scikit-learn",
        compute=sums_of(_decisions, _f_beta),
        example=_example(1.25 / (1.25 + 1), "tp = 1, fn = 0, fp = 1: 1.25 / (1.25 + 0 + 1)", options={"beta": "0.5"}),
        options={"beta": AnyNumber(0.0)},
    ),
    _metric(
        name="brier_complement",
        title="Complement of the Brier score",
        short="1 − Brier",
        formula="1 − mean of (g − a)², where g is 1 for yes and 0 for no; an unanswered item counts as 0.5",
        source="Brier (1950); scikit-learn, 1 − brier_score_loss; PAN's verification evaluator",
        compared_with="scikit-learn",
        compute=sums_of(_squares, lambda sums, _: 1 - ratios(sums[..., 1], sums[..., 0])),
        example=_example(1 - (0.01 + 0.25 + 0.04 + 0.36) / 4, "1 − (0.1² + 0.5² + 0.2² + 0.6²) / 4"),
    ),
    _metric(
        name="calibration_error",
        title="Expected calibration error",
        short="ECE",
        formula="Σ_b |Σ g − Σ a| / n over bins b of equal width; the `bins` option sets their number and defaults to "
        "10; each bin includes its upper bound, and the first bin also its lower bound",
        source="Naeini et al. (2015), Obtaining well calibrated probabilities using Bayesian binning; Guo et al. "
        "(2017), On calibration of modern neural networks; scikit-learn, calibration_curve",
        compared_with="scikit-learn",
        compute=_calibration,
        contributions=sums_of(_bins, _error_of).contributions,
        example=_example(
            (0.3 + 0.5) / 4,
            "with 2 bins, items 2 and 3 contain 1 positive item, and their answers add up to 0.5 + 0.2 = 0.7, while "
            "items 1 and 4 contain 1 positive item, and their answers add up to 0.9 + 0.6 = 1.5: (0.3 + 0.5) / 4",
            options={"bins": "2"},
        ),
        options={"bins": AnyNumber(1.0, 1000.0)},
        higher_is_better=False,
    ),
)
