"""Paper packs: tables and figures for overview papers.

Workers build packs, which are kept until the boards change.
"""

import uuid
from datetime import datetime
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Exists, F, OuterRef, Q, Subquery, Sum

from portal.models.account import Viewer
from portal.models.board import Board
from portal.models.lease import Leased, LeaseQuerySet
from portal.models.phase import Phase


class PaperPackQuerySet(LeaseQuerySet["PaperPack"]):
    def visible_to(self, viewer: Viewer, at: datetime) -> Self:
        """Select packs of phases whose scores the viewer may see.

        If the viewer sees scores only in steps, select only packs built for everyone.
        """
        exact = Phase.objects.with_visible_scores(viewer, at)
        in_steps = Phase.objects.with_visible_steps(viewer, at)
        return self.filter(Q(phase__in=exact) | Q(phase__in=in_steps, audience=PaperPack.Audience.PUBLIC))


class PaperPack(Leased):
    """A phase's paper pack, built from one state of its boards for one audience."""

    class State(models.TextChoices):
        QUEUED = "queued"
        BUILDING = "building"
        READY = "ready"
        FAILED = "failed"

    class Audience(models.TextChoices):
        PUBLIC = "public"
        ORGANIZERS = "organizers"  # a pack built before the release

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="paper_packs")
    audience = models.CharField(max_length=10, choices=Audience)
    boards = models.CharField(max_length=64)  # digest of the pack's sources, from portal.queries.paper_packs
    revisions = models.PositiveBigIntegerField()  # sum of the revisions of the phase's boards
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, related_name="+")
    state = models.CharField(max_length=8, choices=State, default=State.QUEUED)
    done = models.PositiveSmallIntegerField(default=0)  # number of finished tracks
    total = models.PositiveSmallIntegerField(default=0)
    attempts = models.PositiveSmallIntegerField(default=0, editable=False)
    sha256 = models.CharField(max_length=64, blank=True)
    size = models.PositiveBigIntegerField(default=0)  # in bytes
    requested_at = models.DateTimeField()
    built_at = models.DateTimeField(null=True)

    objects = PaperPackQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=("phase", "audience", "boards"), name="one_pack_a_state"),
            models.UniqueConstraint(fields=("state",), condition=Q(state="building"), name="one_pack_at_a_time"),
        ]

    def __str__(self) -> str:
        return f"{self.phase} for {self.audience}"

    @property
    def is_finished(self) -> bool:
        return self.state in (self.State.READY, self.State.FAILED)


def phases_without_pack(at: datetime) -> models.QuerySet[Phase]:
    """Return released phases that have no public pack for their current boards.

    Phases are left out while their runs are being compared, or while new scores are being computed or waiting to be
    applied.
    """
    unsettled = Board.objects.filter(~Q(compared_revision=F("revision")) | Q(next_gold__isnull=False))
    asked = PaperPack.objects.filter(phase=OuterRef("pk"), audience=PaperPack.Audience.PUBLIC)
    released = Phase.objects.filter(scores=Phase.Scores.ON_RELEASE, released__lte=at)
    boards = Board.objects.filter(phase=OuterRef("pk")).order_by().values("phase")
    total = boards.annotate(total=Sum("revision")).values("total")
    summed = released.annotate(revisions=Subquery(total)).filter(revisions__isnull=False)
    due = summed.exclude(Exists(asked.filter(revisions=OuterRef("revisions"))))
    return due.exclude(Exists(unsettled.filter(phase=OuterRef("pk"), gold__isnull=False)))
