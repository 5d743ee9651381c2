"""Statistics of the official runs in each track, and how many of them beat each baseline."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from portal.models import Run, Track
from portal.queries.boards.columns import Column
from portal.queries.boards.table import BoardTable
from portal.times_and_numbers import score
from scoring.analysis.field import Summary, summary

DECIMALS = 4  # minimum number of decimals; boards with more use their own


@dataclass(frozen=True, slots=True)
class BaselineResult:
    """A baseline's score by the ranking metric, and how many of the teams' official runs are better."""

    name: str
    value: float
    above: int
    teams: int

    @property
    def share(self) -> float | None:
        """The share of the teams' runs that are better."""
        return self.above / self.teams if self.teams else None


@dataclass(frozen=True, slots=True)
class TrackStatistics:
    """Statistics of the teams' official runs by the ranking metric."""

    track: Track
    column: Column
    summary: Summary
    baselines: tuple[BaselineResult, ...]

    @property
    def decimals(self) -> int:
        return max(DECIMALS, self.column.decimals)


@dataclass(frozen=True, slots=True)
class StatisticsTable:
    """Statistics with a column per track and a row per statistic and baseline, as in Table 3 of HatEval 2019."""

    tracks: Sequence[TrackStatistics]

    @property
    def lines(self) -> list[tuple[str, list[str]]]:
        """The rows as text: the name of the row, and a cell for each track."""
        names = {
            _("Min."): "lowest",
            _("Q1"): "first_quartile",
            _("Mean"): "mean",
            _("Median"): "median",
            _("Std. dev."): "deviation",
            _("Q3"): "third_quartile",
            _("Max."): "highest",
        }
        lines = [
            (name, [score(getattr(track.summary, key), track.decimals) for track in self.tracks])
            for name, key in names.items()
        ]
        baselines = dict.fromkeys(found.name for track in self.tracks for found in track.baselines)
        lines += [(name, [_value(track, name) for track in self.tracks]) for name in baselines]
        lines += [
            (_("Teams above %(name)s") % {"name": name}, [_above(track, name) for track in self.tracks])
            for name in baselines
        ]
        return lines


def statistics_of(boards: Sequence[BoardTable]) -> StatisticsTable:
    """Return the statistics of these boards, including baselines.

    Boards with a single score are left out, because quartiles of one value say nothing.
    """
    found = (track_statistics(board) for board in boards)
    return StatisticsTable([statistics for statistics in found if statistics.summary.runs > 1])


def track_statistics(board: BoardTable) -> TrackStatistics:
    """Return the statistics of one board, including baselines."""
    column = board.ranking_column
    values = [value for row in board.teams if (value := row.scores.get(column.key)) is not None]
    sign = 1 if column.higher_is_better else -1
    baselines = tuple(
        BaselineResult(row.name, value, sum(sign * other > sign * value for other in values), len(values))
        for row in board.rows
        if row.kind == Run.Kind.BASELINE and (value := row.scores.get(column.key)) is not None
    )
    return TrackStatistics(board.track, column, summary(values), baselines)


def _value(track: TrackStatistics, name: str) -> str:
    return next((score(found.value, track.decimals) for found in track.baselines if found.name == name), "")


def _above(track: TrackStatistics, name: str) -> str:
    found = next((found for found in track.baselines if found.name == name), None)
    if found is None or found.share is None:
        return ""
    return _("%(above)d of %(teams)d (%(share)s%%)") % {
        "above": found.above,
        "teams": found.teams,
        "share": score(100 * found.share, 1),
    }
