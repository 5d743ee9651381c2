"""A leaderboard as plain values, for its page, exports, papers, figures and snapshots of releases."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from portal.models import BoardChange, Phase, ReleasedBoard, Run, Track
from portal.queries.columns import Column
from portal.queries.slices import Scores, SliceChoice

Bracket = Literal["", "only", "first", "middle", "last"]


@dataclass(frozen=True, slots=True)
class Row:
    """A team's run with its rank, or a reference without one. `scores` have full precision; undefined ones are None."""

    rank: int | None
    kind: str  # a Run.Kind
    team: str  # the team's name or alias; empty for baselines and the gold standard
    name: str  # empty for an alias, because it may contain the team's name
    number: int | None
    method: str  # the team's description; may be empty
    system: str  # a Run.SystemType; may be empty
    run_id: UUID
    scores: Scores
    flags: list[str]
    received_at: datetime
    slot: str = ""  # a Run.Slot in phases with slots
    is_own: bool = False  # whether it is the viewer's team
    interval: tuple[float, float] | None = None  # interval of the ranking value
    group: str = ""  # letter of the tie group: runs that the items cannot distinguish
    bracket: Bracket = ""  # the group's bracket, if its rows are adjacent
    change: int | None = None  # ranks gained since the last release
    is_new: bool = False  # not in any earlier release, if there is one

    @property
    def is_team(self) -> bool:
        return self.kind == Run.Kind.TEAM

    @property
    def label(self) -> str:
        """The team's name or the name of a reference."""
        return self.team or self.name

    @property
    def lost(self) -> int:
        """Ranks lost since the last release."""
        return -(self.change or 0)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The methods of the intervals and tie groups; see `portal.evaluation.compare`."""

    metric: str
    rounds: int
    seed: int
    level: float
    method: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardTable:
    """The rows in order, and the gold and scorer of their scores."""

    track: Track
    phase: Phase
    columns: list[Column]  # all columns of the track; on a ladder, only the ranking one
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
    def has_groups(self) -> bool:
        return any(row.group for row in self.rows)

    @property
    def teams(self) -> list[Row]:
        return [row for row in self.rows if row.is_team]

    def best(self, column: Column) -> float | None:
        """Return the best value of any team in that column."""
        values = [row.scores.get(column.key) for row in self.teams]
        defined = [value for value in values if value is not None]
        return (max if column.higher_is_better else min)(defined, default=None)


def content_of(table: BoardTable) -> dict[str, Any]:
    """Return the content of a released board as JSON."""
    rows = [asdict(row) | {"run_id": str(row.run_id), "received_at": row.received_at.isoformat()} for row in table.rows]
    return {
        "rank_by": table.rank_by,
        "columns": [asdict(column) for column in table.columns],
        "rows": rows,
        "comparison": asdict(table.comparison) if table.comparison else None,
        "since": table.since,
    }


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
    """Return the released ranks by team."""
    return {row["team"]: row["rank"] for row in release.content["rows"] if row["kind"] == Run.Kind.TEAM}


def _row(plain: dict[str, Any]) -> Row:
    known = {one.name: plain[one.name] for one in fields(Row) if one.name in plain}  # old releases lack newer fields
    known["run_id"], known["received_at"] = UUID(known["run_id"]), datetime.fromisoformat(known["received_at"])
    known["interval"] = tuple(known["interval"]) if known["interval"] else None
    return Row(**known)
