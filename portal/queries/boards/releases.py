"""Snapshots of boards, saved when they are released."""

from datetime import datetime

from django.contrib.auth.models import AnonymousUser
from django.db import transaction
from django.db.models import Max

from portal.models import Board, ReleasedBoard
from portal.queries.boards.choices import Choices
from portal.queries.boards.leaderboard import leaderboard
from portal.queries.boards.table import content_of


@transaction.atomic
def keep_release(board: Board, at: datetime) -> ReleasedBoard:
    """Save the board as the public sees it. The first snapshot has the release date, later ones have `at`."""
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
