"""Leaderboards: which scores each one shows, and snapshots of released boards."""

import hashlib
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db import models, transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from portal.models.account import Viewer
from portal.models.evaluation import Evaluation
from portal.models.gold import GoldStandard
from portal.models.lease import HeldQuerySet
from portal.models.phase import Phase
from portal.models.run import Run, one_line
from portal.models.task import Track
from scoring.definition import Examples
from scoring.definition.slices import Slicing

LOOK_AGAIN = timedelta(days=1)  # how often a board is checked even if it has not changed
PAIRS = ("gold", "scorer", "next_gold", "next_scorer")  # a board's current versions, and the next ones
_A_CHANGE: dict[str, Any] = {"revision": F("revision") + 1, "settled_at": None}


@lru_cache(maxsize=256)
def _sha256(path: Path) -> str:
    """Return the SHA-256 of a file in an imported folder. It is cached because these files never change."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _groups(slicing: Slicing) -> dict[str, list[str]]:
    """Return the values that are merged into each slice, as lists, so that the result equals a copy read from JSON."""
    return {name: list(values) for name, values in slicing.merge.items()}


class BoardQuerySet(HeldQuerySet["Board"]):
    def of(self, run: Run) -> Self:
        return self.filter(track=run.track_id, phase=run.phase_id)

    def visible_to(self, viewer: Viewer, at: datetime) -> Self:
        """Select boards whose exact scores the viewer may see. Their `comparison` is derived from these scores."""
        return self.filter(phase__in=Phase.objects.with_visible_scores(viewer, at))

    def unsettled(self, at: datetime) -> Self:
        """Select boards that a worker may have to update.

        A board is selected if it has changed, if a phase of its task recently opened, closed or changed, or if it has
        not been checked for a day.
        """
        recent = at - LOOK_AGAIN
        tasks = Phase.objects.with_events(recent, at).values("shared_task")
        phases = Phase.objects.filter(shared_task__in=tasks)
        is_fresh = Q(settled_at__gt=recent, settled_at__lte=at)
        return self.filter(~is_fresh | Q(phase__in=phases))

    @transaction.atomic
    def settle_at(self, at: datetime, revisions: Mapping[int, int]) -> None:
        """Mark boards as up to date, unless they have changed.

        `revisions` maps each board's key to the revision that the caller has read.
        """
        locked = self.filter(pk__in=revisions).order_by("pk").select_for_update(of=("self",), no_key=True)
        same = [pk for pk, revision in locked.values_list("pk", "revision") if revisions[pk] == revision]
        self.filter(pk__in=same).update(settled_at=at)

    def changed(self) -> int:
        """Increase the revision of these boards and return the number of boards.

        Call this in the transaction that makes the change, after taking all other locks. Boards are locked in the order
        of their keys to avoid deadlocks.
        """
        list(self.order_by("pk").select_for_update(of=("self",), no_key=True).values_list("pk"))
        return self.update(**_A_CHANGE)

    def settle(self, run: Run, at: datetime, scored: "tuple[GoldStandard, str] | None" = None) -> None:
        """Update the board after a run was scored with this gold and scorer, or failed.

        Call this in the transaction that records the result. The board keeps showing the old scores while any of its
        runs is waiting for a score with the newer gold or scorer version. A released board shows them until organizers
        apply the new scores.
        """
        mine = self.filter(track=run.track_id, phase=run.phase_id)
        # This locks the row, so if the last two runs finish at the same time, one sees the other.
        if not mine.update(**_A_CHANGE):
            Board.objects.bulk_create([Board(track_id=run.track_id, phase_id=run.phase_id)], ignore_conflicts=True)
            mine.update(**_A_CHANGE)
        # `comparison` is deferred because it is large if there are many runs.
        board = mine.defer("comparison").select_related("gold", "next_gold", "phase").get()
        if scored is not None and scored != (board.gold, board.scorer):
            board.next_gold, board.next_scorer = scored
        elif board.next_gold_id is None:
            return
        if not board.keeps_scores(at) and not board.announces_next(at) and not board.waits():
            board.show_next()
        board.save(update_fields=PAIRS)

    def without_waiting_runs(self) -> Self:
        """Select boards none of whose runs is waiting for a new score. This is the same rule as `Board.waits`."""
        shown = Evaluation.objects.filter(
            run=OuterRef("pk"), gold=OuterRef(OuterRef("gold")), scorer=OuterRef(OuterRef("scorer"))
        )
        runs = Run.objects.filter(track=OuterRef("track"), phase=OuterRef("phase"))
        return self.filter(~Exists(runs.unfinished().filter(Exists(shown))))

    def to_announce(self, at: datetime) -> "list[Board]":
        """Return boards whose new scores are complete and can be shown along with the note on their gold standard."""
        found = self.filter(next_gold__isnull=False).exclude(next_gold__note="").exclude(next_gold=F("gold"))
        found = found.select_related("track__shared_task", "phase", "gold", "next_gold")
        return [board for board in found.order_by("pk") if board.announces_next(at) and not board.waits()]

    def with_new_scores(self, at: datetime) -> "list[Board]":
        """Return boards with new scores that organizers can apply now, or once all of them have been computed."""
        found = self.filter(next_gold__isnull=False).select_related("track__shared_task", "phase", "gold", "next_gold")
        return [board for board in found.order_by("phase__position", "track__position") if board.keeps_scores(at)]


class Board(models.Model):
    """The leaderboard of one track in one phase. All of its scores come from the same gold and scorer versions.

    `revision` counts changes to the page. It forms the page's cache key together with the task's and the phase's rules.
    """

    track = models.ForeignKey(Track, on_delete=models.CASCADE, related_name="boards")
    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="boards")
    gold = models.ForeignKey(GoldStandard, on_delete=models.PROTECT, null=True, related_name="+")
    scorer = models.CharField(max_length=32, blank=True)
    # The next gold and scorer versions, whose scores are being computed or waiting to be applied.
    next_gold = models.ForeignKey(GoldStandard, on_delete=models.PROTECT, null=True, related_name="+")
    next_scorer = models.CharField(max_length=32, blank=True)
    revision = models.PositiveBigIntegerField(default=0)
    comparison = models.JSONField(default=dict)  # intervals and ranks, from portal.evaluation.compare
    compared_revision = models.PositiveBigIntegerField(default=0)
    compared_at = models.DateTimeField(null=True)
    busy_until = models.DateTimeField(null=True)  # set while a worker is comparing the runs or publishing the items
    settled_at = models.DateTimeField(null=True)  # when the board was last found up to date; None after a change

    objects = BoardQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=("track", "phase"), name="one_board")]

    def __str__(self) -> str:
        return f"{self.track} {self.phase.slug}"

    @property
    def slices_origin(self) -> list[Any] | None:
        """Return what the scores by slice depend on: rules, tables, gold and scorer. None if there are no slices."""
        slices = self.track.definition.slices
        if not slices:
            return None
        rules = [[name, one.column, one.at_least, _groups(one), self._table(one)] for name, one in slices.items()]
        return [rules, self.gold_id, self.scorer]

    def _table(self, slicing: Slicing | Examples) -> str | None:
        table = slicing.items.get(self.phase.split)
        return None if table is None else _sha256(table)

    @property
    def examples_origin(self) -> list[Any] | None:
        """Return what the examples depend on: columns and table. None if there are no examples."""
        examples = self.track.definition.examples
        return None if examples is None else [list(examples.columns), self._table(examples)]

    def keeps_scores(self, at: datetime) -> bool:
        """Return whether organizers must apply new scores before they are shown."""
        return self.gold_id is not None and self.phase.keeps_scores(at)

    def announces_next(self, at: datetime) -> bool:
        """Return whether the new scores replace public ones, and the new gold standard has a note that explains why.

        If so, `portal.queries.boards.waiting_scores.show_announced` shows the new scores together with the note.
        """
        if self.gold_id is None or self.next_gold is None or self.next_gold_id == self.gold_id:
            return False
        return bool(self.next_gold.note) and self.phase.scores_are_public(at)

    def show_next(self) -> None:
        """Show the scores from the next gold and scorer versions. The caller must save the fields in `PAIRS`."""
        self.gold, self.scorer = self.next_gold, self.next_scorer
        self.next_gold, self.next_scorer = None, ""

    def pending_runs(self) -> QuerySet[Run]:
        """Return the runs that are waiting for their first score on this board."""
        shown = Evaluation.objects.filter(run=OuterRef("pk"), gold=self.gold_id, scorer=self.scorer)
        return Run.objects.pending(self.track_id, self.phase_id).filter(~Exists(shown))

    def waits(self) -> bool:
        """Return whether any run with a score on this board is waiting for a new score."""
        shown = Evaluation.objects.filter(run=OuterRef("pk"), gold=self.gold_id, scorer=self.scorer)
        runs = Run.objects.filter(track=self.track_id, phase=self.phase_id)
        return runs.unfinished().filter(Exists(shown)).exists()


class BoardChange(models.Model):
    """A change to the scores on a released board, with a public reason. This table is append-only."""

    board = models.ForeignKey(Board, on_delete=models.CASCADE, related_name="changes")
    gold_before = models.ForeignKey(GoldStandard, on_delete=models.PROTECT, related_name="+")
    gold_after = models.ForeignKey(GoldStandard, on_delete=models.PROTECT, related_name="+")
    scorer_before = models.CharField(max_length=32)
    scorer_after = models.CharField(max_length=32)
    runs = models.PositiveIntegerField()  # number of runs whose scores changed
    ranks = models.PositiveIntegerField()  # number of official runs whose rank changed
    note = models.CharField(max_length=300, validators=[one_line])
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()

    class Meta:
        ordering = ("-at", "-pk")

    def __str__(self) -> str:
        return f"{self.board} changed"


class ReleasedBoardQuerySet(models.QuerySet["ReleasedBoard"]):
    def public(self, at: datetime) -> Self:
        """Select the boards of releases that everyone may see now.

        If a release was canceled, its boards are hidden even from organizers.
        """
        return self.filter(phase__in=Phase.objects.with_visible_scores(AnonymousUser(), at))


class ReleasedBoard(models.Model):
    """A snapshot of a board from its release or from a later change to its scores. Rows are never changed."""

    track = models.ForeignKey(Track, on_delete=models.PROTECT, related_name="released_boards")
    phase = models.ForeignKey(Phase, on_delete=models.PROTECT, related_name="released_boards")
    number = models.PositiveSmallIntegerField()  # counts from 1 for each track and phase
    gold = models.ForeignKey(GoldStandard, on_delete=models.PROTECT, related_name="+")
    scorer = models.CharField(max_length=32)
    content = models.JSONField()  # columns and rows, from portal.queries.boards.releases
    at = models.DateTimeField()

    objects = ReleasedBoardQuerySet.as_manager()

    class Meta:
        ordering = ("-at", "-number")
        constraints = [models.UniqueConstraint(fields=("track", "phase", "number"), name="released_once")]

    def __str__(self) -> str:
        return f"{self.track} {self.phase.slug} {self.number}"
