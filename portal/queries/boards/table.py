"""A leaderboard as plain values, for its page, exports, papers, figures and release snapshots."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from portal.models import BoardChange, Phase, ReleasedBoard, Run, Track
from portal.queries.boards.columns import Column
from portal.queries.boards.rank_bounds import RankBounds, ranks_note
from portal.queries.boards.slices import Scores, SliceChoice
from scoring.definition import RunField

Bracket = Literal["", "only", "first", "middle", "last"]


class Bounded:
    """A row whose rank can have a confidence interval, `bounds`."""

    __slots__ = ()
    bounds: RankBounds | None

    @property
    def rank_low(self) -> int | None:
        return None if self.bounds is None else self.bounds.low

    @property
    def rank_high(self) -> int | None:
        return None if self.bounds is None else self.bounds.high


@dataclass(frozen=True, slots=True)
class Row(Bounded):
    """A team's run with its rank, or a reference without a rank.

    `scores` have full precision. Undefined scores are None.
    """

    rank: int | None
    kind: str  # a Run.Kind
    team: str  # the team's name or alias; empty for baselines and the gold standard
    name: str  # the run's name; empty for an alias, because it may contain the team's name
    number: int | None
    method: str  # the method, as the team describes it; may be empty
    system: str  # a Run.SystemType; may be empty
    run_id: UUID
    scores: Scores
    flags: list[str]
    received_at: datetime
    slot: str = ""  # a Run.Slot in phases with slots
    is_own: bool = False  # whether the run is from the viewer's team
    interval: tuple[float, float] | None = None  # confidence interval of the ranking value
    group: str = ""  # letter of the tie group; shown only by boards without bounds
    bracket: Bracket = ""  # this row's part of the group's bracket, if rows are in order of rank
    bounds: RankBounds | None = None  # confidence interval of the rank
    change: int | None = None  # number of ranks gained since the last release
    fields: Mapping[str, str] = field(default_factory=dict)  # values of run fields, by key
    is_new: bool = False  # whether there is an earlier release that does not list the team
    team_id: int | None = field(default=None, compare=False)  # None for references, aliases and released boards

    @property
    def is_team(self) -> bool:
        return self.kind == Run.Kind.TEAM

    @property
    def label(self) -> str:
        """The team's name or the name of a reference."""
        return self.team or self.name

    @property
    def lost(self) -> int:
        """The number of ranks lost since the last release."""
        return -(self.change or 0)


@dataclass(frozen=True, slots=True)
class CombinedRow(Bounded):
    """A team in an overall ranking. Only mean scores have intervals, groups and bounds, as in `Row`."""

    rank: int
    team: str
    value: float
    is_own: bool  # whether this is the viewer's team
    interval: tuple[float, float] | None = None
    group: str = ""
    bracket: Bracket = ""
    bounds: RankBounds | None = None

    @property
    def is_team(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class Comparison:
    """How the intervals, and the ranks' bounds or tie groups, were computed; see `portal.evaluation.compare`."""

    metric: str
    rounds: int
    seed: int
    level: float
    method: int = 1
    items: int = 0  # number of items; for several tracks, in the smallest one
    tested: int = 0  # number of runs whose ranks have bounds


def comparison_of(made: Mapping[str, Any], metric: str) -> Comparison:
    """Return how a worker computed the comparison `made`. Older ones lack newer fields."""
    method, items, tested = made.get("method", 1), made.get("items", 0), len(made.get("ranking", ()))
    return Comparison(metric, made["rounds"], made["seed"], made["level"], method, items, tested)


class RankedTable:
    """A table of rows with ranks, which have bounds or, in older comparisons, tie groups."""

    __slots__ = ()
    rows: Sequence[Row | CombinedRow]
    comparison: Comparison | None

    @property
    def has_groups(self) -> bool:
        return any(row.group for row in self.rows)

    @property
    def has_bounds(self) -> bool:
        return any(row.bounds for row in self.rows)

    @property
    def last_rank(self) -> int:
        """The end of the scale for the ranks' bounds."""
        tested = self.comparison.tested if self.comparison else 0
        return max([tested, *(row.bounds.high for row in self.rows if row.bounds)])

    @property
    def has_letters(self) -> bool:
        """Whether tie groups are shown, because ranks have no bounds."""
        return self.has_groups and not self.has_bounds


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardTable(RankedTable):
    """The rows in order, and the gold and scorer versions that their scores come from."""

    track: Track
    phase: Phase
    columns: list[Column]  # all columns of the track; on a ladder, only the ranking column
    rows: list[Row]
    rank_by: str  # key of the ranking column
    gold_version: int | None
    scorer: str
    released: datetime | None
    comparison: Comparison | None = None
    since: int | None = None  # number of the release that `Row.change` refers to
    step: float | None = None  # step of the ladder, if the viewer sees scores in steps
    slices: Sequence[SliceChoice] = ()
    slice: SliceChoice | None = None  # slice of the scored items, or None for all items
    changes: Sequence[BoardChange] = ()  # newest first

    @property
    def ranking_column(self) -> Column:
        return next(column for column in self.columns if column.key == self.rank_by)

    @property
    def default_columns(self) -> list[str]:
        """The keys of the columns that the board shows unless the reader selects others."""
        keys = [column.key for column in self.columns]
        return [key for key in self.track.definition.board_columns if key in keys] or keys

    @property
    def run_fields(self) -> tuple[RunField, ...]:
        return self.track.shared_task.definition.run_fields

    @property
    def untested(self) -> bool:
        """Whether ranks of only some of these rows have bounds."""
        return self.has_bounds and any(row.rank is not None and row.bounds is None for row in self.rows)

    @property
    def ranks_note(self) -> str:
        """What the ranks' bounds are. Empty if there are none."""
        return ranks_note(self.comparison.items) if self.comparison and self.has_bounds else ""

    @property
    def teams(self) -> list[Row]:
        return [row for row in self.rows if row.is_team]

    def best(self, column: Column) -> float | None:
        """Return the best value of any team in the column."""
        values = [row.scores.get(column.key) for row in self.teams]
        defined = [value for value in values if value is not None]
        return (max if column.higher_is_better else min)(defined, default=None)


def content_of(table: BoardTable) -> dict[str, Any]:
    """Return the content to store for a released board, as JSON values."""
    return {
        "rank_by": table.rank_by,
        "columns": [asdict(column) for column in table.columns],
        "rows": [_plain(row) for row in table.rows],
        "comparison": asdict(table.comparison) if table.comparison else None,
        "since": table.since,
    }


def _plain(row: Row) -> dict[str, Any]:
    values = asdict(row) | {"run_id": str(row.run_id), "received_at": row.received_at.isoformat()}
    del values["team_id"]
    return values


def released_table(release: ReleasedBoard) -> BoardTable:
    """Return the table of a released board."""
    content = release.content
    made = content["comparison"]
    return BoardTable(
        track=release.track,
        phase=release.phase,
        columns=[Column(**column) for column in content["columns"]],
        rows=[_row(row) for row in content["rows"]],
        rank_by=content["rank_by"],
        gold_version=release.gold.version,
        scorer=release.scorer,
        released=release.at,
        comparison=Comparison(**made) if made else None,
        since=content["since"],
    )


def released_ranks(release: ReleasedBoard) -> dict[str, int | None]:
    """Return each team's rank in the release."""
    return {row["team"]: row["rank"] for row in release.content["rows"] if row["kind"] == Run.Kind.TEAM}


def _row(plain: dict[str, Any]) -> Row:
    # Old releases lack newer fields.
    known = {column.name: plain[column.name] for column in fields(Row) if column.name in plain}
    known["run_id"], known["received_at"] = UUID(known["run_id"]), datetime.fromisoformat(known["received_at"])
    known["interval"] = tuple(known["interval"]) if known["interval"] else None
    known["bounds"] = RankBounds(**known["bounds"]) if known.get("bounds") else None
    return Row(**known)
