"""Submissions and their runs."""

import re
import uuid
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Self

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from portal.models.account import User, Viewer
from portal.models.gold import GoldStandard
from portal.models.lease import Leased, LeaseQuerySet
from portal.models.own_scorer import without_approval
from portal.models.phase import Phase
from portal.models.prepared import PreparedQuery
from portal.models.task import SharedTask, Track
from portal.models.team import Team, web_address
from scoring.uploads.inspection import own_entry, paths_of

TURN = timedelta(minutes=1)  # time between the turns of uploads by the same team or person

one_line = RegexValidator(r"^[^\x00-\x1f\x7f]*\Z", _("Use a single line of text."))


def problem_codes(problems: Iterable[Mapping[str, Any]]) -> str:
    """Return the codes of these problems for a column that is searched for ` code `, each between spaces."""
    codes = sorted({problem["code"] for problem in problems})
    return f" {' '.join(codes)} " if codes else ""


class Evaluated(Leased):
    """An upload, run or gold file to evaluate. `attempts` counts only failures in which the child died on its content.

    `postponed` counts consecutive internal errors. `leases_lost` counts workers that died while evaluating it.
    """

    attempts = models.PositiveSmallIntegerField(default=0, editable=False)
    postponed = models.PositiveIntegerField(default=0, editable=False)
    leases_lost = models.PositiveSmallIntegerField(default=0, editable=False)
    # CPU time of children that timed out because the machine was busy, since the last attempt.
    cpu_seconds = models.FloatField(default=0, db_default=0, editable=False)

    class Meta:
        abstract = True


@PreparedQuery
def _last_turn(team: int, user: int) -> QuerySet["Submission", datetime | None]:
    """The last turn of the uploads of the team or the person that are waiting and not in bulk."""
    own = Submission.objects.unchecked().filter(Q(team=team) | Q(sent_by=user), in_bulk=False)
    return own.order_by("-turn_at").values_list("turn_at", flat=True)[:1]


class SubmissionQuerySet(LeaseQuerySet["Submission"]):
    def rejected_or_fatal(self) -> Self:
        """Select rejected uploads and uploads whose content crashed the child that read it. Outages do not count."""
        runs = Run.objects.filter(submission=OuterRef("pk"))
        is_known = Q(phase__scores=Phase.Scores.AT_ONCE) | Q(state=Run.State.FAILED)  # the team can see it
        fatal_runs = runs.filter(is_known, attempts__gt=0)
        is_fatal = Q(attempts__gt=0) | Exists(fatal_runs)
        return self.filter(is_fatal | Q(state=Submission.State.REJECTED))

    def unchecked(self) -> Self:
        """Select uploads that have not been checked yet."""
        return self.filter(state__in=Submission.UNCHECKED)

    def next_turn(self, team: Team, user: User, at: datetime) -> datetime:
        """Return when it is the turn of an upload that is received now.

        If uploads of the team or the person are still waiting, in any task, it comes after the last of them, so that
        others can go first meanwhile. Turns are times, so no upload can be overtaken forever.
        """
        last = list(_last_turn(team=team.pk, user=user.pk))
        return max([at, *(turn + TURN for turn in last if turn is not None)])

    def counting(self, team: Team, phase: Phase) -> Self:
        """Select the team's uploads that count in this phase."""
        return self.valid().filter(team=team, phase=phase)

    def valid(self) -> Self:
        """Select uploads that were not rejected, failed or replaced."""
        found = self.filter(replaced_by__isnull=True)
        return found.exclude(state__in=(Submission.State.REJECTED, Submission.State.FAILED))

    def visible_to(self, user: Viewer) -> Self:
        """Select uploads of the user's teams in open tasks, and all uploads for tasks that the user organizes."""
        if not user.is_active:
            return self.none()
        own = Q(team__in=Team.objects.filter(members=user.pk), shared_task__state=SharedTask.State.OPEN)
        return self.filter(own | Q(shared_task__in=SharedTask.objects.organized_by(user)))


class Submission(Evaluated):
    """An upload: one file, or an archive with several runs. It is committed before it is acknowledged."""

    class State(models.TextChoices):
        RECEIVED = "received", _("received")
        CHECKING = "checking", _("being checked")
        ACCEPTED = "accepted", _("accepted")
        REJECTED = "rejected", _("rejected")
        FAILED = "failed", _("failed on our side")

    UNCHECKED = (State.RECEIVED, State.CHECKING)

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    shared_task = models.ForeignKey(SharedTask, on_delete=models.PROTECT, related_name="submissions")
    phase = models.ForeignKey(Phase, on_delete=models.PROTECT, related_name="submissions")
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="submissions")
    sent_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="submissions")
    file_name = models.CharField(max_length=255)
    size = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64, db_index=True)
    idempotency_key = models.CharField(max_length=64, blank=True)
    slot = models.CharField(max_length=12, blank=True)  # the Run.Slot that the sender chose, or empty
    state = models.CharField(max_length=10, choices=State, default=State.RECEIVED)
    problems = models.JSONField(default=list)  # problems with the upload as a whole; each run also has its own
    problem_codes = models.TextField(default="", db_default="", editable=False)  # of the upload and all its runs
    received_at = models.DateTimeField()
    turn_at = models.DateTimeField(null=True, editable=False)  # see `SubmissionQuerySet.next_turn`
    in_bulk = models.BooleanField(default=False, db_default=False, editable=False)  # whether all other uploads go first
    started_at = models.DateTimeField(null=True, editable=False)  # when a worker last claimed it
    definition_sha256 = models.CharField(max_length=64, blank=True)  # the rules at upload time, for the receipt
    scorer = models.CharField(max_length=32, blank=True)  # scoring.__version__ at the time of the upload
    checked_at = models.DateTimeField(null=True)
    # The newer upload that counts instead of this one, in phases with one submission per team.
    replaced_by = models.ForeignKey("self", on_delete=models.PROTECT, null=True, related_name="replaces")

    objects = SubmissionQuerySet.as_manager()

    class Meta:
        ordering = ("-received_at",)
        constraints = [
            models.UniqueConstraint(
                fields=("team", "sent_by", "idempotency_key"),
                condition=~Q(idempotency_key=""),
                name="one_submission_a_key",
            )
        ]
        indexes = [
            models.Index(fields=("state", "lease_ends"), name="submission_work"),
            models.Index(fields=("received_at",), name="submission_received"),
            models.Index(fields=("shared_task", "-received_at"), name="submission_of_task"),
            models.Index(fields=("shared_task", "started_at"), name="submission_served"),
            models.Index(fields=("shared_task", "state", "in_bulk", "turn_at", "received_at"), name="submission_line"),
        ]

    def __str__(self) -> str:
        return f"{self.file_name} of {self.team}"

    @property
    def audit_subject(self) -> str:
        return f"submission {self.pk}"


class RunQuerySet(LeaseQuerySet["Run"]):
    def visible_to(self, user: Viewer) -> Self:
        """Select runs of submissions that the user may see, and the baselines and references of visible tasks."""
        own = Submission.objects.visible_to(user)
        of_tasks = Q(track__shared_task__in=SharedTask.objects.visible_to(user))
        return self.filter(Q(~Q(kind=Run.Kind.TEAM), of_tasks) | Q(submission__in=own))

    def pending(self, track_id: int, phase_id: int) -> Self:
        """Select runs of the track and phase that are waiting to be scored."""
        return self.unfinished().filter(track=track_id, phase=phase_id, withdrawn_at__isnull=True)

    def unfinished(self) -> Self:
        """Select runs that have not been scored, rejected or given up."""
        return self.filter(state__in=Run.UNFINISHED)

    def with_hidden_scores(self, at: datetime) -> Self:
        """Select runs in phases whose scores only organizers may see now."""
        return self.exclude(phase__in=Phase.objects.with_public_scores(at))

    def holding_numbers(self, team: Team, phase: Phase) -> Self:
        """Select the team's runs whose numbers cannot be used again in this phase.

        Select none if the phase allows reusing numbers.
        """
        if phase.run_numbers != Phase.RunNumbers.ONCE:
            return self.none()
        return self.filter(team=team, phase=phase).exclude(state__in=Run.NOT_COUNTED)

    def replaceable(self, team: Team, phase: Phase) -> Self:
        """Select the team's runs that a new submission would replace. Select none if submissions are not limited."""
        if phase.max_submissions is None:
            return self.none()
        counting = self.filter(submission__in=Submission.objects.counting(team, phase))
        return counting.exclude(state__in=Run.NOT_COUNTED)

    def numbers_by_track(self) -> set[tuple[str, int | None]]:
        """Return the track slug and number of each run."""
        return set(self.values_list("track__slug", "number"))

    def scorable(self) -> Self:
        """Select runs that have a gold standard and whose upload, if any, was accepted.

        If the task has an own scorer, an administrator must have approved it.
        """
        accepted = Q(submission__isnull=True) | Q(submission__state=Submission.State.ACCEPTED)
        gold = GoldStandard.objects.filter(track=OuterRef("track"), split=OuterRef("phase__split"))
        return self.filter(accepted, ~without_approval(), Exists(gold))

    def rescorable(self) -> Self:
        """Select the runs that get new scores after a change to the gold standard or the scorer.

        Rejected runs are excluded. So are failed runs from teams, because another run may have taken their quota and
        number.
        """
        given_up = Q(state=Run.State.FAILED) & ~Q(kind=Run.Kind.TEAM)
        return self.filter(Q(state__in=(*Run.UNFINISHED, Run.State.SCORED, Run.State.UNSCORABLE)) | given_up)

    def eligible(self) -> Self:
        """Select runs that may be official, that is, were not withdrawn, rejected or failed."""
        return self.filter(withdrawn_at__isnull=True).exclude(state__in=Run.NOT_COUNTED)


class Described(models.Model):
    """A team's description of the system behind a run. Only the task's own `fields` can be required."""

    class SystemType(models.TextChoices):
        PROMPTED = "prompted", _("prompted language model")
        TUNED = "tuned", _("fine-tuned language model or encoder")
        FEATURES = "features", _("features and a classifier")
        RULES = "rules", _("rules or a lexicon")
        ENSEMBLE = "ensemble", _("ensemble")
        OTHER = "other", _("other")

    method = models.CharField(_("Method"), max_length=80, blank=True, validators=[one_line])
    description = models.TextField(_("Short description"), max_length=1000, blank=True)
    link = models.CharField(_("Link"), max_length=300, blank=True, validators=[web_address])
    # Whether the form that saved the description and the link said that everyone can see them after the release.
    description_is_public = models.BooleanField(default=False, db_default=False)
    system_type = models.CharField(_("System type"), max_length=10, choices=SystemType, blank=True)
    # values of the task's run fields, by key
    fields = models.JSONField(default=dict, db_default={}, blank=True)

    class Meta:
        abstract = True


class Run(Evaluated, Described):
    """A system's output for one track: part of a team's submission, a baseline, or the gold as a reference."""

    class State(models.TextChoices):
        RECEIVED = "received", _("received")
        CHECKING = "checking", _("checking")  # shown while the upload is being checked, but never stored
        VALID = "valid", _("valid")  # the check found no errors
        SCORED = "scored", _("scored")
        REJECTED = "rejected", _("rejected")
        FAILED = "failed", _("failed on our side")
        # Scoring failed while the phase's scores were hidden. Until they are public, the run counts as valid.
        UNSCORABLE = "unscorable", _("failed on our side")

    # Workers of earlier versions, which may still be running during an upgrade, set "scoring".
    UNFINISHED = (State.RECEIVED, State.VALID, "scoring")
    CHECKED = (State.VALID, State.SCORED, State.UNSCORABLE)  # valid, whatever came of scoring
    NOT_COUNTED = (State.REJECTED, State.FAILED)  # they hold no number, slot or quota, and are never official

    class Kind(models.TextChoices):
        TEAM = "team", _("team run")
        BASELINE = "baseline", _("baseline")
        GOLD = "gold", _("reference")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=8, choices=Kind, default=Kind.TEAM)
    track = models.ForeignKey(Track, on_delete=models.PROTECT, related_name="runs")
    phase = models.ForeignKey(Phase, on_delete=models.PROTECT, related_name="runs")
    submission = models.ForeignKey(Submission, on_delete=models.PROTECT, null=True, related_name="runs")
    team = models.ForeignKey(Team, on_delete=models.PROTECT, null=True, related_name="runs")
    name = models.CharField(max_length=255)  # name of the run file or the baseline
    # The path in the archive, or several paths if the run has several files. Empty if the uploaded file is the run
    # itself.
    entry = models.TextField(blank=True)
    number = models.PositiveIntegerField(null=True)
    # Whether the phase allowed each number only once at the time of the upload.
    number_once = models.BooleanField(default=True)
    file_sha256 = models.CharField(max_length=64, blank=True)  # hash of the stored file: the archive or the run
    sha256 = models.CharField(max_length=64, blank=True)  # hash of the run itself; empty before the check
    items = models.PositiveIntegerField(null=True)
    state = models.CharField(max_length=10, choices=State, default=State.RECEIVED)
    problems = models.JSONField(default=list)
    received_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    withdrawn_at = models.DateTimeField(null=True)
    withdrawn_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    withdrawal_reason = models.CharField(max_length=300, blank=True)
    note = models.CharField(_("Note"), max_length=500, blank=True, db_default="")  # only the team sees it
    chosen_at = models.DateTimeField(null=True)
    chosen_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")

    objects = RunQuerySet.as_manager()

    class Slot(models.TextChoices):
        PRIMARY = "primary", _("primary")
        CONTRASTIVE = "contrastive", _("contrastive")

    class Meta:
        ordering = ("-received_at", "name")
        constraints = [
            models.UniqueConstraint(
                fields=("team", "phase", "track", "number"),
                condition=Q(number__isnull=False, number_once=True) & ~Q(state__in=("rejected", "failed")),
                name="run_number_once",
            ),
            models.UniqueConstraint(fields=("track", "phase", "name"), condition=~Q(kind="team"), name="baseline_once"),
            models.UniqueConstraint(
                fields=("team", "phase", "track"), condition=Q(chosen_at__isnull=False), name="one_chosen_run"
            ),
            models.CheckConstraint(
                condition=Q(kind="team", team__isnull=False, submission__isnull=False)
                | (~Q(kind="team") & Q(team__isnull=True, submission__isnull=True)),
                name="team_runs_have_team_and_submission",
            ),
        ]
        indexes = [
            models.Index(fields=("state", "lease_ends"), name="run_work"),
            models.Index(fields=("track", "phase", "state"), name="run_board"),
            models.Index(fields=("team", "phase", "track", "-received_at"), name="run_newest"),
            models.Index(fields=("state", "finished_at"), name="run_finished"),
            models.Index(fields=("received_at",), name="run_received"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def shared_task(self) -> SharedTask:
        return self.track.shared_task

    @property
    def file_name(self) -> str:
        """The file name for downloads, without folders. If the run has several files, it is downloaded as a zip."""
        if not paths_of(self.entry):
            return self.name.rpartition("/")[2]
        name = self.name.rpartition(".")[0] or self.name
        return f"{re.sub(r'[/{}]+', '_', name).strip('_')}.zip"

    @property
    def path_in_upload(self) -> str:
        """The path of the run's file in an archive. It is empty if the upload is the file, or the run has several."""
        return "" if paths_of(self.entry) else own_entry(self.entry)

    @property
    def audit_subject(self) -> str:
        return f"run {self.pk}"

    @property
    def slot(self) -> "Run.Slot | None":
        """The run's slot, in phases with slots. The chosen run is primary, and all others are contrastive."""
        return Run.slot_in(self.phase, self.kind, self.chosen_at)

    @staticmethod
    def slot_in(phase: Phase, kind: str, chosen_at: datetime | None) -> "Run.Slot | None":
        """Return the slot of a run, or None if the phase has no slots or the run is not a team's."""
        if phase.contrastive is None or kind != Run.Kind.TEAM:
            return None
        return Run.Slot.PRIMARY if chosen_at is not None else Run.Slot.CONTRASTIVE

    def state_shown(self, scores_are_visible: bool) -> str:
        """Return the state for people who may or may not see the run's scores.

        Scores that are hidden must not show in any other way, so for those who may not see them, a valid run stays
        valid, however its scoring ends.
        """
        if self.state == Run.State.RECEIVED and self.submission is not None:
            if self.submission.state == Submission.State.CHECKING:
                return Run.State.CHECKING
            if self.submission.state != Submission.State.ACCEPTED:
                return self.state
        if self.state == Run.State.UNSCORABLE and scores_are_visible:
            return Run.State.FAILED
        is_over = self.state in Run.NOT_COUNTED or (scores_are_visible and self.state == Run.State.SCORED)
        return self.state if is_over else Run.State.VALID

    @property
    def is_replaced(self) -> bool:
        """Whether a newer submission by the team counts instead."""
        return self.submission is not None and self.submission.replaced_by_id is not None

    @property
    def is_eligible(self) -> bool:
        """Whether the run may be official. This is the same rule as `RunQuerySet.eligible`."""
        return self.withdrawn_at is None and self.state not in Run.NOT_COUNTED
