"""Find the boards that a worker must update, without reading all boards."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Exists, F, OuterRef, Q

from portal.evaluation.compare import boards_to_refresh
from portal.evaluation.items import ATTEMPTS, boards_to_publish
from portal.evaluation.limits import COMPARE_AGAIN_SECONDS
from portal.models import Board, RunItems


@dataclass(frozen=True, slots=True)
class BoardWork:
    """Keys of boards to compare or save, and of boards whose items are to be published or withdrawn."""

    refresh: list[int]
    publish: list[int]


def find_board_work(at: datetime) -> BoardWork:
    """Find the work to do. Boards that need no work now or soon are skipped until something changes."""
    boards = Board.objects.filter(gold__isnull=False).unsettled(at)
    seen = list(boards.values_list("pk", "revision"))
    among = Board.objects.filter(pk__in=[pk for pk, _revision in seen])
    work = BoardWork(boards_to_refresh(among, at), boards_to_publish(among, at))
    again = RunItems.objects.unread().filter(failures__lt=ATTEMPTS, evaluation__phase=OuterRef("phase"))
    just_compared = Q(compared_at__gt=at - timedelta(seconds=COMPARE_AGAIN_SECONDS)) & ~Q(
        compared_revision=F("revision")
    )
    soon = among.filter(Exists(again.filter(evaluation__run__track=OuterRef("track"))) | just_compared)
    busy = {*work.refresh, *work.publish, *soon.values_list("pk", flat=True)}
    busy |= {*among.exclude(pk__in=among.free(at)).values_list("pk", flat=True)}
    Board.objects.settle_at(at, [(pk, revision) for pk, revision in seen if pk not in busy])
    return work
