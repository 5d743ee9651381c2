"""Values that a definition declares for undefined metrics, as the official scorers of some campaigns return them.

They also apply to samples of items, so that intervals and tests are those of the declared score. Metrics remain
undefined for a slice, a column or a gold standard without answers, and for a missing file of a run.
"""

import numpy as np
from numpy.typing import NDArray

from scoring.definition import MetricSpec
from scoring.metrics.comparison import (
    Comparison,
    EntityComparison,
    MatrixComparison,
    SpanComparison,
    TupleComparison,
)
from scoring.metrics.metric import Contributions, Numbers

EXACT = "exact"  # 1 if the run's answers are those of the gold, otherwise 0


def stand_in(comparison: Comparison, spec: MetricSpec) -> float | None:
    """Return the declared value of a metric that is undefined for a comparison, or None if there is none."""
    if spec.undefined is None or not _judged(comparison, spec).any():
        return None
    if spec.undefined != EXACT:
        return float(spec.undefined)
    return 0.0 if _differing(comparison, spec).any() else 1.0


def with_stand_in(parts: Contributions, comparison: Comparison, spec: MetricSpec) -> Contributions:
    """Return contributions whose undefined values are replaced with the declared one."""
    if spec.undefined is None:
        return parts
    is_exact = spec.undefined == EXACT
    differing = _differing(comparison, spec) if is_exact else np.zeros(len(parts.values), bool)
    value = 1.0 if is_exact else float(spec.undefined)

    def combine(sums: Numbers) -> Numbers:
        found, judged, differs = parts.combine(sums[..., :-2]), sums[..., -2] > 0, sums[..., -1] > 0
        return np.where(np.isnan(found) & judged, np.where(differs, 0.0, value), found)

    return Contributions(np.column_stack([parts.values, _judged(comparison, spec), differing]), combine)


def in_words(spec: MetricSpec) -> str:
    """Return the end of a formula that says what an undefined value counts as."""
    if spec.undefined is None:
        return ""
    if spec.undefined == EXACT:
        return "; if undefined, 1 for a run that equals the gold and 0 for any other"
    return f"; if undefined, {float(spec.undefined):g}"


def _judged(comparison: Comparison, spec: MetricSpec) -> NDArray[np.bool_]:
    """Return for which items (items,) the gold has an answer in the metric's column."""
    if not isinstance(comparison, MatrixComparison):
        return np.ones(len(comparison.gold), bool)
    absent, classes = comparison.gold.absent, comparison.gold.tree.classes
    known = absent[:, [classes.index(spec.part)]] if spec.part in classes else absent
    found: NDArray[np.bool_] = np.logical_not(known.all(axis=1)) if known.size else np.ones(len(absent), bool)
    return found


def _differing(comparison: Comparison, spec: MetricSpec) -> NDArray[np.bool_]:
    """Return for which items (items,) the run's answers, of the metric's class or column, are not those of the gold."""
    found: NDArray[np.bool_] = comparison.once(_differing_items, spec.part)
    return found


def _differing_items(comparison: Comparison, part: str | None) -> NDArray[np.bool_]:
    if isinstance(comparison, MatrixComparison):
        return _differing_cells(comparison, part)
    differs, gold = np.zeros(len(comparison.gold), bool), comparison.gold
    if isinstance(comparison, SpanComparison):
        spans = gold.spans
        rows = np.column_stack([_owners(spans.starts), spans.begins, spans.ends])
        _mark(differs, rows, np.column_stack([comparison.owners, comparison.begins, comparison.ends]))
    elif isinstance(comparison, EntityComparison):
        own = gold.entities
        rows = np.column_stack([_owners(own.starts), own.begins, own.ends, own.kinds])
        run = np.column_stack([comparison.owners, comparison.begins, comparison.ends, comparison.kinds_of_run])
        if part in comparison.types:
            kind = comparison.types.index(part)
            rows, run = rows[rows[:, 3] == kind], run[run[:, 3] == kind]
        _mark(differs, rows, run)
    elif isinstance(comparison, TupleComparison):
        expected = set(zip(_owners(gold.tuples.starts).tolist(), gold.tuples.rows, strict=True))
        given = set(zip(comparison.owners.tolist(), comparison.rows, strict=True))
        differs[[row for row, _ in expected ^ given]] = True
    return differs


def _owners(starts: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.repeat(np.arange(len(starts) - 1), np.diff(starts))


def _mark(differs: NDArray[np.bool_], rows: NDArray[np.int64], run: NDArray[np.int64]) -> None:
    """Mark the items that have an entry only in the gold or only in the run. The first column is the entry's item."""
    both = np.vstack([np.unique(rows, axis=0), np.unique(run, axis=0)])
    entries, counts = np.unique(both, axis=0, return_counts=True)
    differs[entries[counts == 1, 0]] = True


def _differing_cells(comparison: MatrixComparison, part: str | None) -> NDArray[np.bool_]:
    gold, count = comparison.gold, len(comparison.gold.tree.classes)
    expected = np.zeros(comparison.run.shape, comparison.run.dtype)
    expected[:, :count] = gold.values
    differing = expected != comparison.run
    differing[:, :count] &= ~gold.absent
    if part in comparison.columns:
        differing = differing[:, [comparison.position(part)]]
    found: NDArray[np.bool_] = differing.any(axis=1)
    return found
