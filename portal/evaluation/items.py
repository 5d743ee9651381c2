"""Publishes the answers to every item, the gold's and the runs', where and when a shared task says so; or not any more.

Web cannot open gold: what it shows of single items a worker has read in the limited child and written down, and never
before everybody may see it.
"""

from collections.abc import Mapping
from contextlib import ExitStack, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import structlog
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from portal.evaluation.child import run_limited
from portal.evaluation.compare import board_rules, board_run
from portal.evaluation.confined.items import read_items
from portal.evaluation.errors import ChildError
from portal.models import Board, Evaluation, GoldItems, Run, RunItems, items_are_public
from portal.storage import stored_file

log = structlog.get_logger("portal.evaluation")

ANSWERS = 200_000  # of all runs that are read at once, so that the child's answer stays small
ATTEMPTS = 3  # at a run that cannot be read: then a person has to look, or another gold or scorer version to come
AGAIN = timedelta(hours=1)  # after a failure: a storage that does not answer may be back by then


def boards_to_publish(at: datetime) -> list[int]:
    """Boards with runs whose answers are public and not written down yet, or written down and not public any more."""
    boards = Board.objects.free(at).filter(gold__isnull=False).select_related("track__shared_task", "phase", "gold")
    boards = boards.defer("comparison")
    written = set(GoldItems.objects.values_list("gold__track", "gold__split"))

    def is_due(board: Board) -> bool:
        split = board.phase.split
        return (
            _lacking(board, at).exists()
            if items_are_public(board.track, split, at)
            else (board.track_id, split) in written
        )

    return [board.pk for board in boards if is_due(board)]


def publish_items(board: Board, at: datetime) -> None:
    """Write down the answers of the best runs that lack them, as many as one child reads; or delete all there are."""
    assert board.gold is not None
    if not items_are_public(board.track, board.phase.split, at):
        _withdraw(board)
        return
    RunItems.objects.of_board(board).exclude(evaluation__gold=board.gold, evaluation__scorer=board.scorer).delete()
    kept = GoldItems.objects.filter(gold=board.gold).first()
    batch = list(_lacking(board, at)[: ANSWERS // max(1, len(kept.ids)) or 1 if kept else 1])
    with ExitStack() as files:
        paths: dict[int, Path] = {}
        for one in batch:
            with suppress(OSError):
                paths[one.pk] = files.enter_context(stored_file(one.run.file_sha256))
        there = [one for one in batch if one.pk in paths]
        try:
            runs = [board_run(one, paths[one.pk]) for one in there]
            readable = [board.track.shared_task.definition.folder, *paths.values()]
            found = run_limited(read_items, board_rules(board), runs, readable=readable)
        except (ChildError, OSError) as error:
            log.warning("no items", board=str(board), error=str(error))
            there = there if isinstance(error, ChildError) else []
            found = {"runs": {}}
    _write(board, batch, there, found, at)


def _lacking(board: Board, at: datetime) -> QuerySet[Evaluation]:
    """The board's evaluations without their items, which may be tried now, the best first."""
    assert board.gold is not None
    shown = Evaluation.objects.on_board(board.phase, board.gold, board.scorer).exclude(run__kind=Run.Kind.GOLD)
    again = RunItems.objects.unread().filter(failures__lt=ATTEMPTS, tried_at__lte=at - AGAIN)
    due = shown.filter(Q(items__isnull=True) | Exists(again.filter(evaluation=OuterRef("pk"))))
    return due.select_related("run").defer("details").order_by("rank_key", "pk")


def _withdraw(board: Board) -> None:
    """Of all phases that score by this gold."""
    track, split = board.track_id, board.phase.split
    RunItems.objects.filter(evaluation__gold__track=track, evaluation__gold__split=split).delete()
    GoldItems.objects.filter(gold__track=track, gold__split=split).delete()


@transaction.atomic
def _write(
    board: Board, batch: list[Evaluation], tried: list[Evaluation], found: Mapping[str, Any], at: datetime
) -> None:
    """Once; for a run without answers an empty row, which counts its failures where its file was there to be read."""
    if not items_are_public(board.track, board.phase.split, at):
        return
    if "ids" in found:
        gold = {name: found[name] for name in ("measure", "ids", "answers")}
        GoldItems.objects.get_or_create(gold=board.gold, defaults=gold)
    nothing: dict[str, list[Any]] = {"answers": [], "values": []}
    rows = [RunItems(evaluation=one, **nothing, tried_at=at) for one in batch]
    RunItems.objects.bulk_create(rows, ignore_conflicts=True)
    for pk, items in found["runs"].items():
        RunItems.objects.filter(pk=pk).update(**items)
    unread = RunItems.objects.unread().filter(pk__in=[one.pk for one in batch])
    unread.filter(pk__in=[one.pk for one in tried]).update(failures=F("failures") + 1)
    if unread.update(tried_at=at):
        log.warning(
            "items not read",
            board=str(board),
            runs=[str(run) for run in unread.values_list("evaluation__run", flat=True)],
        )
