"""Several tracks as one ranking."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _

from scoring.definition import Overall


@dataclass(frozen=True, slots=True)
class Placement:
    """What a team got in one track: its rank, its value, and how many were ranked there."""

    rank: int
    value: float
    ranked: int


@dataclass(frozen=True, slots=True)
class CombinedRow:
    rank: int
    team: str
    value: float
    is_own: bool  # of the viewer's team


@dataclass(frozen=True, slots=True)
class Combined:
    """One ranking over tracks, best first."""

    rule: Overall
    rows: tuple[CombinedRow, ...]

    @property
    def head(self) -> str:
        """Of the column of values."""
        return {"borda": _("Points"), "mean-rank": _("Mean rank"), "mean-score": _("Mean score")}[self.rule.by]

    @property
    def decimals(self) -> int:
        return {"borda": 0, "mean-rank": 2, "mean-score": 4}[self.rule.by]


def combined(
    rule: Overall, places: Mapping[str, Mapping[str, Placement]], high_is_good: bool, own: str | None = None
) -> Combined:
    """The ranking of that rule; `places` by team and track, `own` the name of the viewer's team.

    `borda` adds, for each track, how many of those ranked there are behind the rank. The means rank only teams that
    are ranked in every track. Equal values share a rank, and the next is left out.
    """
    values = {team: value for team, own in places.items() if (value := _value(rule, own)) is not None}
    sign = -1 if rule.by == "borda" or (rule.by == "mean-score" and high_is_good) else 1
    keys = sorted(sign * value for value in values.values())
    rows = [CombinedRow(keys.index(sign * value) + 1, team, value, team == own) for team, value in values.items()]
    return Combined(rule, tuple(sorted(rows, key=lambda row: (row.rank, row.team.casefold()))))


def _value(rule: Overall, own: Mapping[str, Placement]) -> float | None:
    found = [own[track] for track in rule.tracks if track in own]
    if rule.by == "borda":
        return float(sum(place.ranked - place.rank for place in found)) if found else None
    if len(found) < len(rule.tracks):
        return None
    return sum(place.rank if rule.by == "mean-rank" else place.value for place in found) / len(found)
