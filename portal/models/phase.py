"""Phases: when they accept runs (deadlines and extra time), and when their scores are public (the embargo)."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Self

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from portal.models.account import Viewer
from portal.models.prepared import PreparedSubquery
from portal.models.task import SharedTask, Track
from scoring.definition import Phase as PhaseDefinition

_ENDLESS = Q(closes__isnull=True) | Q(round_days__isnull=False)


def _in_any(moments: Sequence[str], period: tuple[datetime, datetime]) -> Q:
    """Return the condition that one of these columns is in the period."""
    return Q(*((f"{moment}__range", period) for moment in moments), _connector=Q.OR)


class PhaseQuerySet(models.QuerySet["Phase"]):
    def open(self, at: datetime, team_id: int | None = None) -> Self:
        """Select phases that accept the team's runs now.

        This depends on the window [opens, closes), on extra time, and on whether the phase has rounds.
        """
        extended = ExtraTime.objects.filter(Q(team__isnull=True) | Q(team=team_id), until__gt=at).values("phase")
        return self.filter(_ENDLESS | Q(closes__gt=at) | Q(pk__in=extended), opens__lte=at)

    def of_public_tasks(self) -> Self:
        """Select phases of tasks that everyone can see, that is, not of drafts or hidden tasks."""
        return self.filter(shared_task__state=SharedTask.State.OPEN)

    def with_events(self, after: datetime, until: datetime) -> Self:
        """Select phases that opened, closed, or were released, hidden, extended or rescheduled in this period.

        Each part of the union reads an index, so the time does not depend on the number of phases.
        """
        then = (after, until)
        opened_or_closed = _in_any(("opens", "closes", "released", "taken_back"), then)
        extended = ExtraTime.objects.order_by().filter(_in_any(("until", "granted_at"), then)).values("phase")
        rescheduled = PhaseChange.objects.order_by().filter(at__range=then).values("phase")
        found = Phase.objects.order_by().filter(opened_or_closed).values("pk")
        return self.filter(pk__in=found.union(extended, rescheduled))

    def with_public_scores(self, at: datetime) -> Self:
        """Select phases whose scores everyone may see now, even if only as steps of a ladder.

        This is the same rule as `Phase.scores_are_public`.
        """
        at_once = Q(scores=Phase.Scores.AT_ONCE, opens__lte=at)
        return self.filter(at_once | Q(scores=Phase.Scores.ON_RELEASE, released__lte=at))

    def showing_failures(self, at: datetime) -> Self:
        """Select phases whose teams may learn now that a run could not be scored.

        These are the phases with public scores, and those that never show any, once they have closed for everyone.
        """
        extra_time = Exists(ExtraTime.objects.filter(phase=OuterRef("pk"), until__gt=at))
        never = Q(scores=Phase.Scores.NEVER, closes__lte=at) & ~_ENDLESS & ~extra_time
        return self.filter(Q(pk__in=Phase.objects.with_public_scores(at)) | never)

    def in_steps(self, at: datetime) -> Self:
        """Select phases whose scores are currently shown only in steps. This is the same rule as `Phase.step_at`."""
        extra_time = Exists(ExtraTime.objects.filter(phase=OuterRef("pk"), until__gt=at))
        return self.filter(_ENDLESS | Q(closes__gt=at) | extra_time, ladder_step__isnull=False)

    def with_visible_scores(self, viewer: Viewer, at: datetime) -> Self:
        """Select phases whose exact scores the viewer may see now. This is the definition of the embargo."""
        is_visible = Q(pk__in=_with_exact_scores(at=at))
        if viewer.is_authenticated:
            is_visible |= Q(shared_task__in=SharedTask.objects.organized_by(viewer))
        return self.filter(is_visible)

    def with_visible_steps(self, viewer: Viewer, at: datetime) -> Self:
        """Select phases whose scores the viewer may currently see only in the steps of a ladder."""
        found = self.filter(pk__in=_with_scores_in_steps(at=at))
        if viewer.is_authenticated:
            found = found.exclude(shared_task__in=SharedTask.objects.organized_by(viewer))
        return found


@PreparedSubquery
def _with_exact_scores(at: datetime) -> "QuerySet[Phase, Any]":
    """Select phases whose exact scores everyone may see now."""
    phases = Phase.objects.order_by()
    public = phases.of_public_tasks().with_public_scores(at)
    return public.exclude(pk__in=phases.in_steps(at)).values("pk")


@PreparedSubquery
def _with_scores_in_steps(at: datetime) -> "QuerySet[Phase, Any]":
    """Select phases whose scores everyone may see now, but only in steps."""
    return Phase.objects.order_by().of_public_tasks().with_public_scores(at).in_steps(at).values("pk")


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
    contrastive = models.PositiveIntegerField(null=True, blank=True)  # number of contrastive runs; None if no slots
    max_submissions = models.PositiveSmallIntegerField(null=True, blank=True)  # 1: later uploads replace earlier ones
    runs_per_day = models.PositiveIntegerField(null=True, blank=True)
    scores = models.CharField(max_length=12, choices=Scores)
    released = models.DateTimeField(null=True, blank=True)
    taken_back = models.DateTimeField(null=True, blank=True)  # an earlier public release, which can be restored
    official = models.CharField(max_length=8, choices=Official)
    run_numbers = models.CharField(max_length=4, choices=RunNumbers, default=RunNumbers.ONCE)
    team_names = models.CharField(max_length=10, choices=TeamNames, default=TeamNames.SHOWN)
    ladder_step = models.FloatField(null=True, blank=True)  # see `step_for`; None for exact scores
    round_days = models.PositiveSmallIntegerField(null=True, blank=True)  # see `round_end`; None if no rounds

    objects = PhaseQuerySet.as_manager()

    class Meta:
        ordering = ("position",)
        constraints = [models.UniqueConstraint(fields=("shared_task", "slug"), name="phase_slug_once_a_task")]
        # Regular jobs look for recent and near dates.
        indexes = [
            models.Index(fields=(moment,), name=f"phase_{moment}")
            for moment in ("opens", "closes", "released", "taken_back")
        ]

    def __str__(self) -> str:
        return f"{self.shared_task.slug}/{self.slug}"

    @property
    def audit_subject(self) -> str:
        return f"phase {self.slug}"

    @property
    def definition(self) -> PhaseDefinition | None:
        """The phase's keys in task.yaml, including those without a column.

        None if a push has just added the phase and the task's definition was read before.
        """
        return next((phase for phase in self.shared_task.definition.phases if phase.slug == self.slug), None)

    def accepts(self, track: Track) -> bool:
        """Return whether teams can upload runs for this track. Its gold may follow later."""
        rules = self.definition
        return rules is not None and rules.accepts(track.definition)

    def tracks(self) -> list[Track]:
        """Return the tracks for which teams can upload runs, in the task's order."""
        return [track for track in self.shared_task.tracks.all() if self.accepts(track)]

    @property
    def number_rule(self) -> str:
        """How often a team can use a run number: once in each `upload`, or one of RunNumbers."""
        return "upload" if self.max_submissions else self.run_numbers

    def closes_for(self, team_id: int | None) -> datetime | None:
        """Return when the phase closes for a team, or None if it has no end.

        If `team_id` is None, return when it closes for people without a team.
        """
        if self.closes is None:
            return None
        mine = (extra_time.until for extra_time in self.extra_times.all() if extra_time.team_id in (None, team_id))
        return max([self.closes, *mine])

    def closing_order(self, team_id: int | None) -> tuple[datetime, float]:
        """Return a sort key: first the phase that closes first, or of several, the one that opened last."""
        return self.closes_for(team_id) or datetime.max.replace(tzinfo=UTC), -self.opens.timestamp()

    def is_open(self, at: datetime, team_id: int | None = None) -> bool:
        """Return whether the phase accepts the team's runs. This is the same rule as `Phase.objects.open`."""
        closes = self.closes_for(team_id)
        return self.opens <= at and (closes is None or self.round_days is not None or at < closes)

    def round_end(self, at: datetime) -> datetime | None:
        """Return the deadline of the round in progress at `at`, or None if the phase has no rounds.

        Rounds have equal lengths, and `closes` is the deadline of one of them.
        """
        if self.round_days is None or self.closes is None:
            return None
        length = timedelta(days=self.round_days)
        return self.closes + ((at - self.closes) // length + 1) * length

    def is_settled(self, at: datetime) -> bool:
        """Return whether the results are final.

        If scores are shown on release, results are final once they are released; otherwise, once the phase has closed.
        """
        if self.scores == self.Scores.ON_RELEASE:
            return self.scores_are_public(at)
        return self.has_closed(at)

    @property
    def last_closing(self) -> datetime | None:
        """When the phase closes for everyone, including extra time, or None if it never does."""
        if self.closes is None or self.round_days is not None:
            return None
        return max([self.closes, *(extra_time.until for extra_time in self.extra_times.all())])

    def has_closed(self, at: datetime) -> bool:
        """Return whether the phase no longer accepts runs from anyone."""
        return self.last_closing is not None and self.last_closing <= at

    def scores_are_public(self, at: datetime) -> bool:
        """Return whether everyone may see the phase's scores now, even if only as steps of a ladder.

        `PhaseQuerySet.with_public_scores` implements the same rule.
        """
        if self.scores == self.Scores.AT_ONCE:
            return self.opens <= at
        return self.scores == self.Scores.ON_RELEASE and self.released is not None and self.released <= at

    def keeps_scores(self, at: datetime) -> bool:
        """Return whether the boards show new scores only after organizers have applied them.

        This is true once public scores are final, and stays true if a release is later canceled.
        """
        return self.taken_back is not None or (self.scores_are_public(at) and self.is_settled(at))

    def names_are_public(self, at: datetime) -> bool:
        """Return whether everyone may see team names on the phase's boards now."""
        return self.team_names == self.TeamNames.SHOWN or (self.released is not None and self.released <= at)

    def scores_are_visible_to(self, viewer: Viewer, at: datetime) -> bool:
        """Return whether the person may see scores, even if only in steps. Use this only for texts and states.

        Scores themselves are read through `Evaluation.objects.visible_to`.
        """
        return self.scores_are_public(at) or self.shared_task.is_organized_by(viewer)

    def step_at(self, at: datetime) -> float | None:
        """Return the current step of the scores shown (`scoring.analysis.ladder`), or None for exact scores.

        Scores are shown in steps until the phase has closed for everyone.
        """
        is_over = self.ladder_step is None or self.has_closed(at)
        return None if is_over else self.ladder_step

    def step_for(self, viewer: Viewer, at: datetime) -> float | None:
        """Return the step of the scores shown to this person. None for exact scores, which organizers always see."""
        step = self.step_at(at)
        return None if step is None or self.shared_task.is_organized_by(viewer) else step


class ExtraTime(models.Model):
    """Extra time after a phase closes, for one team or, if `team` is None, for all teams. Everyone can see it."""

    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="extra_times")
    team = models.ForeignKey("portal.Team", on_delete=models.CASCADE, null=True, related_name="extra_times")
    until = models.DateTimeField()
    reason = models.CharField(max_length=300)
    granted_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    granted_at = models.DateTimeField()

    class Meta:
        db_table = "portal_grace"  # processes of an earlier version may still be running after an upgrade
        ordering = ("-granted_at",)
        constraints = [
            models.UniqueConstraint(fields=("phase", "team"), name="one_grace_a_team"),
            models.UniqueConstraint(fields=("phase",), condition=Q(team__isnull=True), name="one_grace_for_all"),
        ]
        indexes = [
            models.Index(fields=("until",), name="grace_until"),
            models.Index(fields=("granted_at",), name="grace_granted_at"),
        ]

    def __str__(self) -> str:
        return f"extra time in {self.phase} for {self.team or 'all'}"


class PhaseChange(models.Model):
    """A change to a phase's opening or closing time. Rows are never changed."""

    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="changes")
    opens_before = models.DateTimeField()
    opens_after = models.DateTimeField()
    closes_before = models.DateTimeField(null=True)
    closes_after = models.DateTimeField(null=True)
    note = models.CharField(max_length=300)
    # None for an import.
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField()

    class Meta:
        ordering = ("-at", "-pk")
        indexes = [models.Index(fields=("at",), name="phase_change_at")]

    def __str__(self) -> str:
        return f"{self.phase} moved"
