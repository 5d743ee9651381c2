"""One scale for the intervals of a board: where a value lies between its ends, and round numbers to mark."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from portal.queries.board_table import Row

_STEPS = (1, 2, 5, 10)
_TICKS = 5  # or less


@dataclass(frozen=True, slots=True)
class Scale:
    """From `low` to `high`; `ticks` lie between them. A place is a share of the width, from 0 to 100."""

    low: float
    high: float
    ticks: tuple[float, ...]
    decimals: int  # of the ticks

    def place(self, value: float) -> float:
        return round(100 * (value - self.low) / (self.high - self.low), 2)

    def holds(self, value: float) -> bool:
        return self.low <= value <= self.high


def scale(rows: Sequence[Row]) -> Scale | None:
    """Wide enough for the teams' intervals, and for references that are no farther off than these are wide."""
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
    """What holds all main values, and those others that would not squeeze them."""
    low, high = min(main), max(main)
    reach = max(high - low, 1e-9) * 1.5
    near = [value for value in others if low - reach <= value <= high + reach]
    return min([low, *near]), max([high, *near])


def _bounds(rows: Sequence[Row]) -> list[float]:
    return [bound for row in rows if row.interval for bound in row.interval]


def _step(rough: float) -> float:
    """The smallest round number that is not below."""
    unit: float = 10 ** math.floor(math.log10(rough))
    return min(factor * unit for factor in _STEPS if factor * unit >= rough * (1 - 1e-9))
