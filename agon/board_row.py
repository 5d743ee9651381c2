"""A row of a leaderboard, which both the response and its DataFrame consist of."""

from datetime import datetime

from agon.answer import Answer


class BoardRow(Answer, frozen=True, kw_only=True):
    """A team's run with its rank, or a reference without a rank. `interval` is for the ranking metric.

    `rank_low` and `rank_high` are the ends of the rank's 95% confidence interval. `tie_group` is deprecated.

    Fields are in the order of the CSV's columns, which `agon.frames.board` repeats.
    """

    rank: int | None
    kind: str
    team: str
    run: str
    number: int | None
    method: str
    system_type: str
    slot: str | None
    fields: dict[str, str] = {}
    received_at: datetime
    scores: dict[str, float | None]
    interval: list[float] | None
    rank_low: int | None = None
    rank_high: int | None = None
    tie_group: str
    flags: list[str]
    run_id: str
