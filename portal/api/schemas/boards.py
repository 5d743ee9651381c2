"""Leaderboards and releases, as the API returns them."""

from datetime import datetime
from uuid import UUID

from pydantic import BaseModel, Field

from portal.api.schemas.base import Answer
from portal.api.schemas.tasks import MetricAnswer, RunFieldLabel


class BoardRow(BaseModel):
    """A team's run with its rank, or a reference without one."""

    rank: int | None
    kind: str = Field(description="team, baseline or gold")
    team: str = Field(description="Team name or alias. Empty for baselines and the gold standard")
    run: str
    number: int | None
    method: str
    system_type: str
    slot: str | None
    fields: dict[str, str] = Field(description="Texts of the task’s run fields, by key")
    scores: dict[str, float | None]
    interval: list[float] | None
    tie_group: str
    flags: list[str]
    received_at: datetime
    run_id: UUID


class ChangeAnswer(BaseModel):
    """New scores that the organizers applied after the release."""

    at: datetime
    note: str
    gold_version: list[int]
    scorer: list[str]
    runs: int
    ranks: int


class IntervalsAnswer(BaseModel):
    """The methods used to compute the intervals."""

    level: float
    rounds: int
    seed: int


class ReleasedBoardAnswer(BaseModel):
    """A leaderboard as it was when released."""

    shared_task: str
    track: str
    phase: str
    rank_by: str
    gold_version: int | None
    scorer: str
    released: datetime | None
    changelog: list[ChangeAnswer]
    ladder_step: float | None
    slice: str | None = Field(default=None, description="Slice to which the scores apply, for example language=es")
    slice_items: int | None = None
    intervals: IntervalsAnswer | None
    run_fields: list[RunFieldLabel]
    metrics: list[MetricAnswer]
    rows: list[BoardRow]


class BoardAnswer(ReleasedBoardAnswer):
    """A page of a leaderboard, with the gold and scorer versions that its scores are based on."""

    count: int = Field(description="Number of rows on all pages")
    next: str | None
    hidden_reason: str = Field(
        description="Why the leaderboard is hidden from some people. Empty if the scores are public"
    )


class CellAnswer(BaseModel):
    """A team's official run in a track."""

    rank: int | None
    value: float | None


class OverallRowAnswer(BaseModel):
    """A team in all tracks."""

    team: str
    tracks: dict[str, CellAnswer]


class OverallTrackAnswer(BaseModel):
    """A track in the overall board."""

    track: str
    rank_by: str
    gold_version: int | None
    scorer: str
    changelog: list[ChangeAnswer]


class CombinedRowAnswer(BaseModel):
    """A team's result in a ranking over several tracks."""

    rank: int | None
    team: str
    value: float | None
    interval: list[float] | None  # only mean scores have intervals and tie groups
    tie_group: str


class CombinedAnswer(BaseModel):
    """A ranking over several tracks."""

    slug: str
    title: str
    tracks: list[str]
    by: str
    weights: list[float]  # in the order of the tracks; empty if all are equal
    missing: str  # how a track counts in which a team has no ranked run
    intervals: IntervalsAnswer | None
    rows: list[CombinedRowAnswer]


class OverallAnswer(BaseModel):
    """The tracks of a phase side by side."""

    shared_task: str
    phase: str
    ladder_step: float | None
    tracks: list[OverallTrackAnswer]
    rows: list[OverallRowAnswer]
    overall: list[CombinedAnswer]


class ReleaseAnswer(Answer):
    """A released leaderboard in a list of releases."""

    track: str
    phase: str
    number: int
    at: datetime
    gold_version: int
    scorer: str
    address: str
