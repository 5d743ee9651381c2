"""The leaderboard's table on the command line."""

from datetime import UTC, datetime

from agon.answers import BoardRow, Intervals, Leaderboard, Metric
from agon.commands.leaderboard import _text


def row(
    team: str, score: float, interval: list[float] | None, group: str, low: int | None = None, high: int | None = None
) -> BoardRow:
    return BoardRow(
        rank=1 if team else None,
        kind="team" if team else "baseline",
        team=team,
        run=f"{team}_1",
        number=1,
        method="",
        system_type="",
        slot=None,
        received_at=datetime(2026, 5, 1, tzinfo=UTC),
        scores={"f1": score},
        interval=interval,
        rank_low=low,
        rank_high=high,
        tie_group=group,
        flags=[],
        run_id="",
    )


def board(*rows: BoardRow, level: float | None = None) -> Leaderboard:
    return Leaderboard(
        shared_task="tiny",
        track="one",
        phase="test",
        rank_by="f1",
        gold_version=1,
        scorer="1",
        metrics=[Metric(key="f1", title="F1", higher_is_better=True)],
        rows=list(rows),
        intervals=None if level is None else Intervals(level=level, rounds=1000, seed=0),
    )


def test_intervals_and_tie_groups_are_columns_if_there_are_any() -> None:
    with_intervals = _text(board(row("Lira", 0.75, [0.7, 0.8], "a"), row("", 0.5, None, ""), level=0.95)).splitlines()
    assert " ".join(with_intervals[0].split()).endswith("f1 95% interval tie group")
    assert with_intervals[1].endswith("0.7000 to 0.8000  a")
    assert with_intervals[2].endswith("0.5000")
    assert _text(board(row("Lira", 0.75, None, ""))).splitlines()[0].endswith("f1")


def test_ranks_have_their_intervals_in_place_of_tie_groups() -> None:
    lines = _text(board(row("Lira", 0.75, [0.7, 0.8], "A", 1, 2), row("", 0.5, None, ""), level=0.95)).splitlines()
    assert "tie group" not in lines[0]
    assert "1 (1–2)" in lines[1]
