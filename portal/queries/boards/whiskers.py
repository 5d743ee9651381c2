"""A common scale for a board's intervals, with round numbers as ticks."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from portal.queries.boards.table import CombinedRow, Row

_STEPS = (1, 2, 5, 10)
_TICKS = 5  # maximum number of ticks


@dataclass(frozen=True, slots=True)
class Scale:
    """A scale from `low` to `high` with `ticks`. Positions are percentages of the width."""

    low: float
    high: float
    ticks: tuple[float, ...]
    decimals: int  # decimals of the ticks

    def place(self, value: float) -> float:
        return round(100 * (value - self.low) / (self.high - self.low), 2)

    def holds(self, value: float) -> bool:
        return self.low <= value <= self.high


def scale(rows: Sequence[Row | CombinedRow]) -> Scale | None:
    """Return a scale for the teams' intervals and for those of references that are not too far away."""
    teams = _bounds([row for row in rows if row.is_team])
    others = _bounds([row for row in rows if not row.is_team])
    if not (teams or others):
        return None
    low, high = ends(teams or others, others)
    margin = 0.04 * max(high - low, 1e-9)
    low, high = low - margin, high + margin
    step = _step((high - low) / _TICKS)
    first = math.ceil(low / step)
    ticks = tuple(round(place * step, 12) for place in range(first, math.floor(high / step) + 1))
    return Scale(low, high, ticks, max(0, -math.floor(math.log10(step) + 1e-9)))


def ends(main: Sequence[float], others: Sequence[float]) -> tuple[float, float]:
    """Return ends that include all of the main values, and those of the other values that are close enough."""
    low, high = min(main), max(main)
    reach = max(high - low, 1e-9) * 1.5
    near = [value for value in others if low - reach <= value <= high + reach]
    return min([low, *near]), max([high, *near])


def _bounds(rows: Sequence[Row | CombinedRow]) -> list[float]:
    return [bound for row in rows if row.interval for bound in row.interval]


def _step(rough: float) -> float:
    """Return the smallest round number that is not less than this."""
    unit: float = 10 ** math.floor(math.log10(rough))
    return min(factor * unit for factor in _STEPS if factor * unit >= rough * (1 - 1e-9))
