"""Phases: when they accept runs (deadlines and extra time), and when their scores are public (the embargo)."""

from datetime import datetime
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext_lazy as _

from portal.models.account import Viewer
from portal.models.task import SharedTask


class PhaseQuerySet(models.QuerySet["Phase"]):
    def open(self, at: datetime, team_id: int | None = None) -> Self:
        """Phases that accept the team's runs at that time: within the window [opens, closes) or extra time."""
        grace = Grace.objects.filter(Q(team__isnull=True) | Q(team=team_id), phase=OuterRef("pk"), until__gt=at)
        return self.filter(Q(closes__isnull=True) | Q(closes__gt=at) | Exists(grace), opens__lte=at)

    def of_public_tasks(self) -> Self:
        """Phases of tasks that everyone can see, so neither drafts nor hidden tasks."""
        return self.filter(shared_task__state=SharedTask.State.OPEN)

    def with_events(self, after: datetime, until: datetime) -> Self:
        """Phases that opened, closed, were released or taken back, or whose dates were changed, in that period."""
        then = (after, until)
        moments = ("opens", "closes", "released", "taken_back", "graces__until", "graces__granted_at", "changes__at")
        happened = Q(*((f"{moment}__range", then) for moment in moments), _connector=Q.OR)
        return self.filter(happened)

    def with_public_scores(self, at: datetime) -> Self:
        """Phases whose scores everyone may see now, at least in steps. The same rule as `Phase.scores_are_public`."""
        at_once = Q(scores=Phase.Scores.AT_ONCE, opens__lte=at)
        return self.filter(at_once | Q(scores=Phase.Scores.ON_RELEASE, released__lte=at))

    def in_steps(self, at: datetime) -> Self:
        """Phases whose scores move in steps now. The same rule as `Phase.step_at`."""
        extra_time = Exists(Grace.objects.filter(phase=OuterRef("pk"), until__gt=at))
        return self.filter(Q(closes__isnull=True) | Q(closes__gt=at) | extra_time, ladder_step__isnull=False)

    def with_visible_scores(self, viewer: Viewer, at: datetime) -> Self:
        """Phases whose exact scores the viewer may see at that time. The embargo is defined here."""
        exact = Phase.objects.of_public_tasks().with_public_scores(at).exclude(pk__in=Phase.objects.in_steps(at))
        organized = SharedTask.objects.organized_by(viewer)
        return self.filter(Q(pk__in=exact) | Q(shared_task__in=organized))

    def with_visible_steps(self, viewer: Viewer, at: datetime) -> Self:
        """Phases whose scores the viewer may see only in steps of a ladder at that time."""
        found = self.filter(pk__in=Phase.objects.of_public_tasks().with_public_scores(at).in_steps(at))
        return found.exclude(shared_task__in=SharedTask.objects.organized_by(viewer))


class Phase(models.Model):
    class Scores(models.TextChoices):
        AT_ONCE = "at-once", _("shown immediately")
        ON_RELEASE = "on-release", _("shown on release")
        NEVER = "never", _("never shown")

    class Official(models.TextChoices):
        BEST = "best", _("best run")
        LAST = "last", _("last run")
        CHOSEN = "chosen", _("chosen run")
        ALL = "all", _("all runs")

    class RunNumbers(models.TextChoices):
        ONCE = "once", _("each number once")
        FREE = "free", _("numbers can be reused")

    class TeamNames(models.TextChoices):
        SHOWN = "shown", _("teams by name")
        ON_RELEASE = "on-release", _("teams by alias until the release")

    shared_task = models.ForeignKey(SharedTask, on_delete=models.CASCADE, related_name="phases")
    slug = models.SlugField()
    title = models.CharField(max_length=120)
    position = models.PositiveSmallIntegerField()
    opens = models.DateTimeField()
    closes = models.DateTimeField(null=True, blank=True)
    split = models.SlugField()
    runs_per_track = models.PositiveIntegerField(null=True, blank=True)
    contrastive = models.PositiveIntegerField(null=True, blank=True)  # number; None without slots
    runs_per_day = models.PositiveIntegerField(null=True, blank=True)
    scores = models.CharField(max_length=12, choices=Scores)
    released = models.DateTimeField(null=True, blank=True)
    taken_back = models.DateTimeField(null=True, blank=True)  # an earlier public release, which can be restored
    official = models.CharField(max_length=8, choices=Official)
    run_numbers = models.CharField(max_length=4, choices=RunNumbers, default=RunNumbers.ONCE)
    team_names = models.CharField(max_length=10, choices=TeamNames, default=TeamNames.SHOWN)
    ladder_step = models.FloatField(null=True, blank=True)  # see `step_for`; None for exact scores

    objects = PhaseQuerySet.as_manager()

    class Meta:
        ordering = ("position",)
        constraints = [models.UniqueConstraint(fields=("shared_task", "slug"), name="phase_slug_once_a_task")]

    def __str__(self) -> str:
        return f"{self.shared_task.slug}/{self.slug}"

    @property
    def audit_subject(self) -> str:
        return f"phase {self.slug}"

    def closes_for(self, team_id: int | None) -> datetime | None:
        """Return when the phase closes for that team, or for people without a team."""
        if self.closes is None:
            return None
        mine = (grace.until for grace in self.graces.all() if grace.team_id in (None, team_id))
        return max([self.closes, *mine])

    def is_open(self, at: datetime, team_id: int | None = None) -> bool:
        """Return whether the phase accepts runs of the team. `Phase.objects.open` decides."""
        closes = self.closes_for(team_id)
        return self.opens <= at and (closes is None or at < closes)

    def is_settled(self, at: datetime) -> bool:
        """Return whether the runs are final: from the release on, or from the closing on if no release is planned."""
        if self.scores == self.Scores.ON_RELEASE:
            return self.scores_are_public(at)
        return self.has_closed(at)

    @property
    def last_closing(self) -> datetime | None:
        """Return when the phase closes for everyone, including extra time."""
        return None if self.closes is None else max([self.closes, *(grace.until for grace in self.graces.all())])

    def has_closed(self, at: datetime) -> bool:
        """Return whether the phase no longer accepts runs from anyone."""
        return self.last_closing is not None and self.last_closing <= at

    def scores_are_public(self, at: datetime) -> bool:
        """Return whether everyone may see scores at that time.

        `PhaseQuerySet.with_public_scores` follows the same rule.
        """
        if self.scores == self.Scores.AT_ONCE:
            return self.opens <= at
        return self.scores == self.Scores.ON_RELEASE and self.released is not None and self.released <= at

    def keeps_scores(self, at: datetime) -> bool:
        """Return whether the boards show new scores only after organizers applied them.

        This is true from the time when public scores are final, even while a release is taken back.
        """
        return self.taken_back is not None or (self.scores_are_public(at) and self.is_settled(at))

    def names_are_public(self, at: datetime) -> bool:
        """Return whether everyone may see team names on a board at that time."""
        return self.team_names == self.TeamNames.SHOWN or (self.released is not None and self.released <= at)

    def scores_are_visible_to(self, viewer: Viewer, at: datetime) -> bool:
        """Return whether the person may see scores, at least in steps. For texts and states only.

        Scores themselves are read through `Evaluation.objects.visible_to`.
        """
        return self.scores_are_public(at) or self.shared_task.is_organized_by(viewer)

    def step_at(self, at: datetime) -> float | None:
        """Return the step by which scores move at that time (`scoring.analysis.ladder`), or None for exact scores.

        Scores move in steps until the phase has closed for everyone.
        """
        is_over = self.ladder_step is None or self.has_closed(at)
        return None if is_over else self.ladder_step

    def step_for(self, viewer: Viewer, at: datetime) -> float | None:
        """Return the step for that person. Organizers see exact scores."""
        step = self.step_at(at)
        return None if step is None or self.shared_task.is_organized_by(viewer) else step


class Grace(models.Model):
    """Extra time after the closing, for one team, or for all teams if `team` is None. It is public."""

    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="graces")
    team = models.ForeignKey("portal.Team", on_delete=models.CASCADE, null=True, related_name="graces")
    until = models.DateTimeField()
    reason = models.CharField(max_length=300)
    granted_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    granted_at = models.DateTimeField()

    class Meta:
        ordering = ("-granted_at",)
        constraints = [
            models.UniqueConstraint(fields=("phase", "team"), name="one_grace_a_team"),
            models.UniqueConstraint(fields=("phase",), condition=Q(team__isnull=True), name="one_grace_for_all"),
        ]

    def __str__(self) -> str:
        return f"grace in {self.phase} for {self.team or 'all'}"


class PhaseChange(models.Model):
    """A change of a phase's window. Rows are never changed."""

    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="changes")
    opens_before = models.DateTimeField()
    opens_after = models.DateTimeField()
    closes_before = models.DateTimeField(null=True)
    closes_after = models.DateTimeField(null=True)
    note = models.CharField(max_length=300)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )  # None for an import
    at = models.DateTimeField()

    class Meta:
        ordering = ("-at", "-pk")

    def __str__(self) -> str:
        return f"{self.phase} moved"
