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
class Threshold:
    """A score by the ranking metric, such as a baseline's, and how many of the teams' official runs are better."""

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
    quartiles: tuple[Threshold, ...]  # Q1 and Q3; empty without runs
    baselines: tuple[Threshold, ...]

    @property
    def decimals(self) -> int:
        return max(DECIMALS, self.column.decimals)


@dataclass(frozen=True, slots=True)
class StatisticsTable:
    """Statistics with a column per track and a row per statistic and baseline, as in Table 3 of HatEval 2019.

    As in its section 4.2, there is also a row with the number of teams above each quartile.
    """

    tracks: Sequence[TrackStatistics]

    @property
    def lines(self) -> list[tuple[str, list[str]]]:
        """The rows as text: the name of the row, and a cell for each track."""
        tables = [{found.name: found for found in track.baselines} for track in self.tracks]
        quartiles = [{found.name: found for found in track.quartiles} for track in self.tracks]
        names = {
            _("Min."): "lowest",
            _("Q1"): "first_quartile",
            _("Mean"): "mean",
            _("Median"): "median",
            _("Std. dev."): "deviation",
            _("Q3"): "third_quartile",
            _("Max."): "highest",
        }
        lines = [(_("Teams"), [str(track.summary.runs) for track in self.tracks])]
        lines += [
            (name, [score(getattr(track.summary, key), track.decimals) for track in self.tracks])
            for name, key in names.items()
        ]
        baselines = dict.fromkeys(name for table in tables for name in table)
        for name in baselines:
            found = [table.get(name) for table in tables]
            lines.append((name, [_value(*pair) for pair in zip(found, self.tracks, strict=True)]))
        for name, sources in [*((name, quartiles) for name in ("Q1", "Q3")), *((name, tables) for name in baselines)]:
            title = _("Teams above %(name)s") % {"name": name}
            lines.append((title, [_above(source.get(name)) for source in sources]))
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

    def threshold(name: str, value: float) -> Threshold:
        return Threshold(name, value, sum(sign * other > sign * value for other in values), len(values))

    found = summary(values)
    quartiles = {"Q1": found.first_quartile, "Q3": found.third_quartile}
    baselines = [(row.name, row.scores.get(column.key)) for row in board.rows if row.kind == Run.Kind.BASELINE]
    return TrackStatistics(
        track=board.track,
        column=column,
        summary=found,
        quartiles=tuple(threshold(name, value) for name, value in quartiles.items() if value is not None),
        baselines=tuple(threshold(name, value) for name, value in baselines if value is not None),
    )


def _value(found: Threshold | None, track: TrackStatistics) -> str:
    return score(found.value, track.decimals) if found else ""


def _above(found: Threshold | None) -> str:
    if found is None or found.share is None:
        return ""
    return _("%(above)d of %(teams)d (%(share)s%%)") % {
        "above": found.above,
        "teams": found.teams,
        "share": score(100 * found.share, 1),
    }
