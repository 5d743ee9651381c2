"""Leaderboards and releases, as the API returns them."""

from datetime import datetime

from pydantic import BaseModel, Field

from portal.api.schemas.base import Answer
from portal.api.schemas.tasks import MetricAnswer, RunFieldLabel
from portal.export import BoardRow, ChangeAnswer, IntervalsAnswer


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


class ReleaseAnswer(Answer):
    """A released leaderboard in a list of releases."""

    track: str
    phase: str
    number: int
    at: datetime
    gold_version: int
    scorer: str
    address: str
