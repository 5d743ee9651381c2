"""Published answers to every item. They are stored after the release and deleted if the release is canceled."""

from datetime import datetime
from typing import Self

from django.contrib.auth.models import AnonymousUser
from django.db import models

from portal.models.board import Board
from portal.models.evaluation import Evaluation
from portal.models.gold import GoldStandard
from portal.models.phase import Phase
from portal.models.task import Track


def items_are_public(track: Track, split: str, at: datetime) -> bool:
    """Return whether everyone may see the answers to the track's items. They are stored and shown only if this is true.

    The definition must allow publishing them. All phases scored with this gold must have public scores and must have
    closed for everyone, including extra time. Otherwise, someone who knows the answers could upload a run for these
    items.
    """
    if not track.shared_task.definition.publishes_items(track.slug, split):
        return False
    phases = Phase.objects.filter(shared_task=track.shared_task_id, split=split).prefetch_related("extra_times")
    return bool(phases) and all(phase.has_closed(at) and phase.scores_are_public(at) for phase in phases)


class GoldItems(models.Model):
    """The gold's answers, without which `RunItems` cannot be read; see `scoring.analysis.item_answers`."""

    gold = models.OneToOneField(GoldStandard, on_delete=models.CASCADE, primary_key=True, related_name="items")
    measure = models.CharField(max_length=8)  # what the values in `RunItems` measure
    ids = models.JSONField()
    answers = models.JSONField()  # a list of parts for each item

    def __str__(self) -> str:
        return f"items of {self.gold}"


class RunItemsQuerySet(models.QuerySet["RunItems"]):
    def of_board(self, board: Board) -> Self:
        return self.filter(evaluation__run__track=board.track_id, evaluation__phase=board.phase_id)

    def public(self, track: Track, split: str, at: datetime) -> Self:
        """Select rows that everyone may see now. Empty while the track's items are not public."""
        if not items_are_public(track, split, at):
            return self.none()
        seen = Evaluation.objects.visible_to(AnonymousUser(), at)
        return self.filter(evaluation__in=seen, evaluation__run__track=track)

    def unread(self) -> Self:
        return self.filter(answers=[])


class RunItems(models.Model):
    """A run's answers to the items of `GoldItems`, in the same order."""

    evaluation = models.OneToOneField(Evaluation, on_delete=models.CASCADE, primary_key=True, related_name="items")
    answers = models.JSONField()  # a list of parts for each item; empty if the run could not be read
    values = models.JSONField()  # from 0 to 1 for each item, or null if an item has no value
    failures = models.PositiveSmallIntegerField(default=0)  # number of failed attempts to read the answers
    tried_at = models.DateTimeField()

    objects = RunItemsQuerySet.as_manager()

    def __str__(self) -> str:
        return f"items of {self.evaluation}"
