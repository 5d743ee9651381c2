"""Find the boards that a worker must update, without reading all boards."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Exists, F, OuterRef, Q

from portal.evaluation.compare import boards_to_refresh
from portal.evaluation.compare_tracks import combined_to_refresh
from portal.evaluation.items import ATTEMPTS, boards_to_publish
from portal.evaluation.limits import COMPARE_AGAIN_SECONDS
from portal.models import Board, RunItems
from portal.models.board import BoardQuerySet

PORTION = 50  # boards per portion, so that a job finishes at least one portion within its time limit


@dataclass(frozen=True, slots=True)
class BoardWork:
    """Keys of boards to compare or save, and of boards whose items must be published or withdrawn.

    `combine` has the keys of overall rankings to compare.
    """

    refresh: list[int]
    publish: list[int]
    combine: list[int]


def find_board_work(at: datetime) -> Iterator[BoardWork]:
    """Yield the work to do, for a portion of the boards at a time.

    Boards that need no work now or soon are marked, so they are skipped until something changes or a day has passed.
    Each portion is marked separately, so a job that is killed does not have to start over.
    """
    boards = Board.objects.filter(gold__isnull=False).unsettled(at)
    # Revisions are read before the work is looked for, so a board that changes in between is not marked.
    seen = list(boards.order_by("pk").values_list("pk", "revision"))
    for start in range(0, len(seen), PORTION):
        portion = dict(seen[start : start + PORTION])
        work, busy = _work_on(Board.objects.filter(pk__in=portion), at)
        Board.objects.settle_at(at, {pk: revision for pk, revision in portion.items() if pk not in busy})
        yield work


def _work_on(among: BoardQuerySet, at: datetime) -> tuple[BoardWork, set[int]]:
    """Return the work to do on these boards, and the keys of those that need work now or soon."""
    combine, phases = combined_to_refresh(among, at)
    work = BoardWork(boards_to_refresh(among, at), boards_to_publish(among, at), combine)
    again = RunItems.objects.unread().filter(failures__lt=ATTEMPTS, evaluation__phase=OuterRef("phase"))
    just_compared = Q(compared_at__gt=at - timedelta(seconds=COMPARE_AGAIN_SECONDS)) & ~Q(
        compared_revision=F("revision")
    )
    soon = among.filter(Exists(again.filter(evaluation__run__track=OuterRef("track"))) | just_compared)
    held = among.exclude(pk__in=among.free(at))
    combined = among.filter(phase__in=phases)
    later = [pk for found in (soon, held, combined) for pk in found.values_list("pk", flat=True)]
    return work, {*work.refresh, *work.publish, *later}
