"""Intervals of overall rankings by mean score."""

from datetime import datetime
from typing import Any, Self

from django.db import models

from portal.models.account import Viewer
from portal.models.lease import HeldQuerySet
from portal.models.phase import Phase
from scoring.definition import Overall


class CombinedBoardQuerySet(HeldQuerySet["CombinedBoard"]):
    def visible_to(self, viewer: Viewer, at: datetime) -> Self:
        """Select rankings whose exact scores the viewer may see. All tracks in a phase have the same embargo."""
        return self.filter(phase__in=Phase.objects.with_visible_scores(viewer, at))


class CombinedBoard(models.Model):
    """The comparison of the teams in an overall ranking of one phase, from `portal.evaluation.compare_tracks`.

    `revisions` maps the key of each track's board to the revision for which the comparison was last found up to date.
    `revision` counts changes to the comparison.
    """

    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="combined_boards")
    slug = models.CharField(max_length=50)  # of the ranking in the definition
    comparison = models.JSONField(default=dict)
    revision = models.PositiveBigIntegerField(default=0)
    revisions = models.JSONField(default=dict)
    compared_at = models.DateTimeField(null=True)
    busy_until = models.DateTimeField(null=True)  # set while a worker is comparing the teams

    objects = CombinedBoardQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=("phase", "slug"), name="one_combined_board")]

    def __str__(self) -> str:
        return f"{self.phase} {self.slug}"

    @staticmethod
    def origin_of(rule: Overall) -> list[Any]:
        """Return the parts of a ranking's rule that the comparison depends on, as JSON values."""
        return [list(rule.tracks), list(rule.weights), rule.missing]
