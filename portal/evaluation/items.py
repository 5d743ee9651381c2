"""Publishing and withdrawing the answers that the gold and the runs give to every item, if the task allows it.

Web servers cannot decrypt gold. A worker reads the answers in a confined child, and stores them only once they are
public.
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
from portal.models.board import BoardQuerySet
from portal.storage import stored_file

log = structlog.get_logger("portal.evaluation")

ANSWERS = 200_000  # maximum number of answers read together, so that the child's answer is small
ATTEMPTS = 3  # for a run that cannot be read; after that, an administrator, new gold or a new scorer is needed
AGAIN = timedelta(hours=1)  # delay after a failure, because storage may work again by then


def boards_to_publish(among: BoardQuerySet, at: datetime) -> list[int]:
    """Select boards with public answers that are not stored yet, and those with stored answers that are not public."""
    boards = among.free(at).filter(gold__isnull=False).select_related("track__shared_task", "phase", "gold")
    boards = boards.defer("comparison")

    def is_due(board: Board) -> bool:
        if items_are_public(board.track, board.phase.split, at):
            return _lacking(board, at).exists()
        return GoldItems.objects.filter(gold__track=board.track_id, gold__split=board.phase.split).exists()

    return [board.pk for board in boards if is_due(board)]


def publish_items(board: Board, at: datetime) -> None:
    """Store answers for the best runs that do not have them yet, as many as one child can return.

    If the items are no longer public, delete all answers.
    """
    assert board.gold is not None
    if not items_are_public(board.track, board.phase.split, at):
        _withdraw(board)
        return
    RunItems.objects.of_board(board).exclude(evaluation__gold=board.gold, evaluation__scorer=board.scorer).delete()
    kept = GoldItems.objects.filter(gold=board.gold).first()
    # The first run is read alone, because the number of items is known only afterward.
    batch = list(_lacking(board, at)[: ANSWERS // max(1, len(kept.ids)) or 1 if kept else 1])
    with ExitStack() as files:
        paths: dict[int, Path] = {}
        for evaluation in batch:
            # A missing file must not delay the other runs.
            with suppress(OSError):
                paths[evaluation.pk] = files.enter_context(stored_file(evaluation.run.file_sha256))
        there = [evaluation for evaluation in batch if evaluation.pk in paths]
        try:
            runs = [board_run(evaluation, paths[evaluation.pk]) for evaluation in there]
            readable = [board.track.shared_task.definition.folder, *paths.values()]
            found = run_limited(read_items, board_rules(board), runs, readable=readable)
        except (ChildError, OSError) as error:
            log.warning("no items", board=str(board), error=str(error))
            # Only content can fail permanently. Storage that fails does not count as a try.
            there = there if isinstance(error, ChildError) else []
            found = {"runs": {}}
    _write(board, batch, there, found, at)


def _lacking(board: Board, at: datetime) -> QuerySet[Evaluation]:
    """Return the board's evaluations whose item answers are not stored yet and should be read now, best first."""
    assert board.gold is not None
    shown = Evaluation.objects.on_board(board.phase, board.gold, board.scorer).exclude(run__kind=Run.Kind.GOLD)
    again = RunItems.objects.unread().filter(failures__lt=ATTEMPTS, tried_at__lte=at - AGAIN)
    due = shown.filter(Q(items__isnull=True) | Exists(again.filter(evaluation=OuterRef("pk"))))
    return due.select_related("run").defer("details").order_by("rank_key", "pk")


def _withdraw(board: Board) -> None:
    """Delete the answers of all phases that use this gold."""
    track, split = board.track_id, board.phase.split
    RunItems.objects.filter(evaluation__gold__track=track, evaluation__gold__split=split).delete()
    GoldItems.objects.filter(gold__track=track, gold__split=split).delete()


@transaction.atomic
def _write(
    board: Board, batch: list[Evaluation], tried: list[Evaluation], found: Mapping[str, Any], at: datetime
) -> None:
    """Store the answers. A run that was not read gets an empty row, and a failure is counted if its file existed."""
    # They may have been withdrawn while the child was reading.
    if not items_are_public(board.track, board.phase.split, at):
        return
    if "ids" in found:
        gold = {name: found[name] for name in ("measure", "ids", "answers")}
        GoldItems.objects.get_or_create(gold=board.gold, defaults=gold)
    nothing: dict[str, list[Any]] = {"answers": [], "values": []}
    rows = [RunItems(evaluation=evaluation, **nothing, tried_at=at) for evaluation in batch]
    RunItems.objects.bulk_create(rows, ignore_conflicts=True)
    for pk, items in found["runs"].items():
        RunItems.objects.filter(pk=pk).update(**items)
    unread = RunItems.objects.unread().filter(pk__in=[evaluation.pk for evaluation in batch])
    unread.filter(pk__in=[evaluation.pk for evaluation in tried]).update(failures=F("failures") + 1)
    if unread.update(tried_at=at):
        log.warning(
            "item answers could not be read",
            board=str(board),
            runs=[str(run) for run in unread.values_list("evaluation__run", flat=True)],
        )
