"""How many items a metric is computed from, if it is computed on slices of the items.

A sample of all items draws only about n items from a slice with n items. Resampling underestimates the variance of the
slice's value by (n − 1) / n, so a mean over slices with 300 and 20 items needs about the correction for 20 items.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from scoring.definition import MetricSpec
from scoring.definition.slices import RIGHT
from scoring.metrics.loaded_gold import LoadedGold
from scoring.metrics.registry import parts_of
from scoring.metrics.slices import Where, in_slice


@dataclass(frozen=True, slots=True)
class SampleSize:
    """The numbers of independent items that behave like a metric's samples.

    With `drawn` items, resampling underestimates the variance as much. With `averaged` items, a mean has the same
    variance. `freedom` is the number of degrees of freedom of the standard error.
    """

    drawn: float
    averaged: float
    freedom: float


def sample_size(spec: MetricSpec, gold: LoadedGold) -> SampleSize:
    """Return the sample size of a metric. Without slices, all three numbers follow from the number of items.

    All slices count as equally variable. A score that depends on a single slice, such as a minimum, has the size of the
    smallest slice. The degrees of freedom are those of Satterthwaite (1946).
    """
    counts = Counter(_slices(spec, gold))
    sizes = {where: _items(gold, where) for where in counts}
    depends_on_one = spec.of and spec.options["by"] in ("minimum", "maximum", "gap")
    if len(sizes) < 2 or depends_on_one:
        items = min(sizes.values(), default=len(gold))
        return SampleSize(items, items, items - 1)
    total = sum(counts.values())
    known = [(count / total, sizes[where]) for where, count in counts.items() if sizes[where]]
    variance = sum(share**2 / items for share, items in known)
    bias = sum(share**2 / items**2 for share, items in known)
    spread = sum((share**2 / items) ** 2 / max(1, items - 1) for share, items in known)
    return SampleSize(variance / bias, sum(share for share, _ in known) ** 2 / variance, variance**2 / spread)


def _slices(spec: MetricSpec, gold: LoadedGold) -> Iterator[Where | None]:
    """Yield the slice of each metric in a combined score, or None if it is computed on all items."""
    if spec.where is None and spec.of:
        for part in parts_of(spec, gold):
            yield from _slices(part, gold)
    else:
        yield spec.where if spec.where is not None and spec.where[0] != RIGHT else None


def _items(gold: LoadedGold, where: Where | None) -> int:
    return len(gold) if where is None else len(in_slice(gold, where))
