"""Released boards as they were: what is kept of a board, and the board that it gives again."""

from dataclasses import asdict, fields
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.auth.models import AnonymousUser
from django.db.models import Max

from portal.models import Board, ReleasedBoard
from portal.queries.board_rows import Row
from portal.queries.choices import Choices
from portal.queries.columns import Column
from portal.queries.leaderboard import Comparison, Leaderboard, leaderboard


def keep_release(board: Board, at: datetime) -> ReleasedBoard:
    """Keep the board as anybody sees it now; the first one is dated as it was released."""
    assert board.gold is not None
    track, phase = board.track, board.phase
    shown = leaderboard(track, phase, AnonymousUser(), at, Choices(size=None))
    before = ReleasedBoard.objects.filter(track=track, phase=phase).aggregate(Max("number"))["number__max"]
    release, _is_new = ReleasedBoard.objects.get_or_create(
        track=track,
        phase=phase,
        number=(before or 0) + 1,
        defaults={
            "gold": board.gold,
            "scorer": board.scorer,
            "at": at if before else phase.released or at,
            "content": content_of(shown),
        },
    )
    Board.objects.filter(pk=board.pk).changed()
    return release


def content_of(board: Leaderboard) -> dict[str, Any]:
    """The board's table as plain values."""
    return {
        "rank_by": board.rank_by,
        "columns": [asdict(column) for column in board.columns],
        "rows": [_plain(row) for row in board.rows],
        "comparison": asdict(board.comparison) if board.comparison else None,
        "since": board.since,
    }


def released_board(release: ReleasedBoard) -> Leaderboard:
    """The board as it was."""
    content = release.content
    made = content["comparison"]
    return Leaderboard(
        track=release.track,
        phase=release.phase,
        visible=True,
        hidden_reason="",
        columns=[Column(**column) for column in content["columns"]],
        rows=[_row(row) for row in content["rows"]],
        rank_by=content["rank_by"],
        gold_version=release.gold.version,
        scorer=release.scorer,
        released=release.at,
        comparison=Comparison(**made) if made else None,
        since=content["since"],
        count=len(content["rows"]),
    )


def _plain(row: Row) -> dict[str, Any]:
    return asdict(row) | {"run_id": str(row.run_id), "received_at": row.received_at.isoformat()}


def _row(plain: dict[str, Any]) -> Row:
    known = {field.name: plain[field.name] for field in fields(Row) if field.name in plain}  # others are newer
    known["run_id"], known["received_at"] = UUID(known["run_id"]), datetime.fromisoformat(known["received_at"])
    known["interval"] = tuple(known["interval"]) if known["interval"] else None
    return Row(**known)
