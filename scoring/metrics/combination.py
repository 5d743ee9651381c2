"""Scores that combine several metrics: mean, weighted mean, harmonic mean, product, minimum, maximum and gap.

An undefined metric counts as 0 or is skipped, depending on the definition. Weights of skipped metrics are ignored.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scoring.definition import MetricSpec
from scoring.metrics.metric import Contributions, Numbers, ratios

NAMES = {
    "mean": "mean",
    "harmonic-mean": "harmonic mean",
    "product": "product",
    "minimum": "minimum",
    "maximum": "maximum",
    "gap": "gap (maximum − minimum)",
}
Range = tuple[float | None, float | None]


@dataclass(frozen=True, slots=True)
class Combination:
    """A way to combine several values into one score. `weights` (parts,) are 1 by default."""

    by: str
    weights: Numbers
    skips: bool  # whether undefined parts are skipped

    @classmethod
    def of(cls, spec: MetricSpec, parts: int) -> "Combination":
        """Return the combination that a metric's options declare, for this number of parts."""
        weights = spec.options["weights"] or [1.0] * parts
        return cls(spec.options["by"], np.array(weights, np.float64), spec.options["missing"] == "skip")

    @classmethod
    def mean(cls, weights: Sequence[float], *, skips: bool) -> "Combination":
        return cls("mean", np.array(weights, np.float64), skips)

    def score(self, values: Sequence[float | None]) -> float | None:
        """Return the score for the parts' values. None means undefined."""
        value = float(self(np.array([np.nan if value is None else value for value in values])))
        return value if np.isfinite(value) else None

    def __call__(self, values: Numbers) -> Numbers:
        """Return the scores (…) for the parts' values (…, parts), NaN where undefined."""
        missing = np.isnan(values)
        if not self.skips:
            values, missing = np.where(missing, 0.0, values), np.zeros_like(missing)
        weights = np.where(missing, 0.0, self.weights)
        return np.where(missing.all(axis=-1), np.nan, self._combine(values, missing, weights))

    def _combine(self, values: Numbers, missing: NDArray[np.bool_], weights: Numbers) -> Numbers:
        if self.by in ("minimum", "maximum", "gap"):
            lowest = np.asarray(np.where(missing, np.inf, values).min(axis=-1))
            highest = np.asarray(np.where(missing, -np.inf, values).max(axis=-1))
            gap = np.where((~missing).sum(axis=-1) > 1, highest - lowest, np.nan)
            return {"minimum": lowest, "maximum": highest, "gap": gap}[self.by]
        if self.by == "product":
            return np.asarray(np.where(missing, 1.0, values).prod(axis=-1))
        if self.by == "mean":
            return ratios((np.where(missing, 0.0, values) * weights).sum(axis=-1), weights.sum(axis=-1))
        counts = np.logical_not(missing)
        shares = np.divide(weights, values, out=np.zeros_like(values), where=counts & (values > 0))
        zero = (counts & (values <= 0)).any(axis=-1)
        return np.where(zero, 0.0, ratios(weights.sum(axis=-1), shares.sum(axis=-1)))

    def range(self, parts: Sequence[Range]) -> Range:
        """Return the range of the score, with None for an unbounded end."""
        low = self._end([low if self.skips or low is None else min(0.0, low) for low, _ in parts], min)
        high = self._end([high for _, high in parts], max)
        if self.by == "gap":
            return 0.0, None if low is None or high is None else high - low
        return low, high

    def _end(self, ends: Sequence[float | None], extreme: Callable[[Iterable[float]], float]) -> float | None:
        """Return the score if every part is at the given end of its range, or None if any end is unbounded.

        If undefined parts are skipped, any subset of the parts may remain, so return the most extreme end.
        """
        known = [end for end in ends if end is not None]
        if len(known) < len(ends):
            return None
        return extreme(known) if self.skips or self.by == "gap" else float(self(np.array(known)))

    def words(self, named: str) -> str:
        """Describe the formula for a column heading. `named` lists the parts."""
        if (self.weights != 1).any():
            named += f", weighted {' : '.join(f'{weight:g}' for weight in self.weights)}"
        missing = "is skipped" if self.skips else "counts as 0"
        return f"{NAMES[self.by]} of {named}; an undefined value {missing}"


def joined(parts: Sequence[Contributions], combination: Combination) -> Contributions:
    """Return each item's contributions to a combined score: its contributions to all parts, side by side."""
    ends = np.cumsum([part.values.shape[1] for part in parts])[:-1]

    def combine(sums: Numbers) -> Numbers:
        own = np.split(sums, ends, axis=-1)
        return combination(np.stack([part.combine(some) for part, some in zip(parts, own, strict=True)], axis=-1))

    return Contributions(np.hstack([part.values for part in parts]), combine)
