"""Answers item by item, where a task publishes them: written after the release, deleted when it is taken back."""

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
    """Whether everybody may see the answers to that track's items: the one rule for what is stored and what is shown.

    The definition publishes them, and every phase that scores by that gold has closed for everyone, extra time
    included, with public scores: whoever knows the answers can no longer upload a run on these items.
    """
    if not track.shared_task.definition.publishes_items(track.slug, split):
        return False
    phases = Phase.objects.filter(shared_task=track.shared_task_id, split=split).prefetch_related("graces")
    return bool(phases) and all(phase.has_closed(at) and phase.scores_are_public(at) for phase in phases)


class GoldItems(models.Model):
    """The gold standard's answers, by which `RunItems` are read; see `scoring.analysis.item_answers`."""

    gold = models.OneToOneField(GoldStandard, on_delete=models.CASCADE, primary_key=True, related_name="items")
    measure = models.CharField(max_length=8)  # what the runs' values say
    ids = models.JSONField()
    answers = models.JSONField()  # one an item: a list of its parts

    def __str__(self) -> str:
        return f"items of {self.gold}"


class RunItemsQuerySet(models.QuerySet["RunItems"]):
    def of_board(self, board: Board) -> Self:
        return self.filter(evaluation__run__track=board.track_id, evaluation__phase=board.phase_id)

    def public(self, track: Track, split: str, at: datetime) -> Self:
        """Those that everyone may see at that moment: none while that track's items are not public."""
        if not items_are_public(track, split, at):
            return self.none()
        seen = Evaluation.objects.visible_to(AnonymousUser(), at)
        return self.filter(evaluation__in=seen, evaluation__run__track=track)

    def unread(self) -> Self:
        return self.filter(answers=[])


class RunItems(models.Model):
    """A run's answers to the items of `GoldItems`, in their order."""

    evaluation = models.OneToOneField(Evaluation, on_delete=models.CASCADE, primary_key=True, related_name="items")
    answers = models.JSONField()  # one an item: a list of its parts; empty where the run could not be read
    values = models.JSONField()  # one an item: from 0 to 1, or null where there is nothing to judge
    failures = models.PositiveSmallIntegerField(default=0)  # how often it could not
    tried_at = models.DateTimeField()

    objects = RunItemsQuerySet.as_manager()

    def __str__(self) -> str:
        return f"items of {self.evaluation}"
