"""Imported shared tasks and their tracks."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Exists, Q
from django.utils.translation import gettext_lazy as _

from portal.models.account import User, Viewer
from portal.objects.interface import data_objects
from scoring import load_definition
from scoring.definition import Dataset, Definition
from scoring.definition import Track as TrackDefinition
from scoring.metrics import describe

DatasetDefinition = Dataset  # named like the portal's other aliases, such as `TrackDefinition`


def definition_name(sha256: str) -> str:
    """Return the name under which the imported folder with this digest is stored."""
    return f"definitions/{sha256}"


@dataclass(frozen=True, slots=True)
class StoredDataset:
    """A dataset's stored file."""

    sha256: str
    size: int  # in bytes
    instead_of: str = ""  # SHA-256 of the task folder's file, if organizers replaced it
    since: str = ""  # time of the replacement, in ISO 8601 format

    @property
    def replaced_at(self) -> datetime | None:
        return datetime.fromisoformat(self.since) if self.since else None


def with_own_scorer(engine: str, own_scorer_sha256: str = "") -> str:
    """Return what scores depend on apart from run, gold and rules: the engine's version, and the own scorer if any."""
    return f"{engine}+{own_scorer_sha256[:12]}" if own_scorer_sha256 else engine


def engine_of(scorer: str) -> str:
    """Return the engine's version in a version that `with_own_scorer` returns."""
    return scorer.partition("+")[0]


def by_engine(engine: str, field: str = "scorer") -> Q:
    """Return the condition for rows whose scorer version has this version of the engine."""
    return Q(**{field: engine}) | Q(**{f"{field}__startswith": f"{engine}+"})


def definition_of(sha256: str) -> Definition:
    """Return the imported definition with this digest."""
    return _definition(data_objects().folder(definition_name(sha256)))


@lru_cache(maxsize=64)
def _definition(folder: Path) -> Definition:
    """Load the definition in this folder.

    The result is cached indefinitely, because the folder's name is the digest of its content.
    """
    return load_definition(folder, is_imported=True)


class SharedTaskQuerySet(models.QuerySet["SharedTask"]):
    def assigned_to(self, user: Viewer) -> Self:
        """Select tasks that the user organizes, with or without a second factor. Administrators organize all tasks."""
        if not user.is_active:
            return self.none()
        return self if user.is_staff else self.filter(organizers=user.pk)

    def organized_by(self, user: Viewer) -> Self:
        """Select tasks that the user may see and change as an organizer. Empty without a second factor.

        If the user acts with a token for one task, only that task is selected.
        """
        found = self.assigned_to(user).filter(Exists(User.objects.with_second_factor(user)))
        token = user.token if isinstance(user, User) else None
        return found if token is None or token.shared_task_id is None else found.filter(pk=token.shared_task_id)

    def public(self) -> Self:
        """Select open tasks, which everyone can see."""
        return self.filter(state=SharedTask.State.OPEN)

    def visible_to(self, user: Viewer) -> Self:
        """Select tasks that the user may see. Drafts and hidden tasks are visible only to their organizers."""
        return self.filter(Q(state=SharedTask.State.OPEN) | Q(pk__in=SharedTask.objects.organized_by(user)))


class SharedTask(models.Model):
    """A shared task.

    The rules are in the imported definition. Some of its values are copied to columns so that pages can list, sort or
    join tasks by them.
    """

    class State(models.TextChoices):
        """The visibility of a task. A draft is opened once or deleted. An open task can be hidden and shown again."""

        DRAFT = "draft", _("draft")
        OPEN = "open", _("open")
        HIDDEN = "hidden", _("hidden")

    slug = models.SlugField(unique=True)
    title = models.CharField(max_length=200)
    subtitle = models.CharField(max_length=200, blank=True)
    venue = models.CharField(max_length=120, blank=True)
    year = models.PositiveSmallIntegerField()
    languages = models.JSONField(default=list)
    state = models.CharField(max_length=6, choices=State, default=State.OPEN, db_default=State.OPEN)  # see `visible_to`
    definition_sha256 = models.CharField(max_length=64)  # hash of the imported folder without gold
    scorer = models.CharField(max_length=32, blank=True)  # from `with_own_scorer`; the task's boards use it
    # Digest of the own scorer that the task's folder has, whether or not it is approved. Empty if there is none.
    own_scorer_sha256 = models.CharField(max_length=64, blank=True, default="", db_default="")
    dataset_files = models.JSONField(default=dict)  # slug of a dataset → its StoredDataset as a dict
    # Why organizers have paused uploads, for teams. Empty if uploads are not paused.
    uploads_paused = models.CharField(max_length=300, blank=True, default="", db_default="")
    papers_closed_at = models.DateTimeField(null=True)  # after this time, teams cannot change their papers
    organizers = models.ManyToManyField(settings.AUTH_USER_MODEL, related_name="organized_tasks", blank=True)
    imported_at = models.DateTimeField()

    objects = SharedTaskQuerySet.as_manager()

    class Meta:
        ordering = ("-year", "title")
        indexes = [models.Index(fields=("imported_at",), name="task_imported_at")]

    def __str__(self) -> str:
        return self.title

    @property
    def audit_subject(self) -> str:
        return f"shared task {self.slug}"

    @cached_property
    def definition(self) -> Definition:
        """The imported definition: naming, formats, items, metrics and pages."""
        return definition_of(self.definition_sha256)

    def dataset(self, slug: str) -> DatasetDefinition | None:
        return next((dataset for dataset in self.definition.datasets if dataset.slug == slug), None)

    def stored_dataset(self, slug: str) -> StoredDataset | None:
        found = self.dataset_files.get(slug)
        return StoredDataset(**found) if found else None

    @property
    def has_password_data(self) -> bool:
        return any(dataset.access == "password" for dataset in self.definition.datasets)

    def closing_of_teams(self) -> datetime | None:
        """Return when registration closes, or None if it never closes."""
        slug = self.definition.team.closes_with
        return self.phases.get(slug=slug).opens if slug else None

    def teams_are_closed(self, at: datetime) -> bool:
        closing = self.closing_of_teams()
        return closing is not None and closing <= at

    def is_visible_to(self, user: Viewer) -> bool:
        """Return whether the task is in `visible_to`."""
        return self.state == self.State.OPEN or self.is_organized_by(user)

    def is_assigned_to(self, user: Viewer) -> bool:
        """Return whether the task is in `assigned_to`. Use this only to explain what else is needed."""
        return SharedTask.objects.filter(pk=self.pk).assigned_to(user).exists()

    def is_organized_by(self, user: Viewer) -> bool:
        """Return whether the task is in `organized_by`, so that the user may act as an organizer."""
        return SharedTask.objects.filter(pk=self.pk).organized_by(user).exists()


class Track(models.Model):
    shared_task = models.ForeignKey(SharedTask, on_delete=models.CASCADE, related_name="tracks")
    slug = models.SlugField()
    title = models.CharField(max_length=200)
    position = models.PositiveSmallIntegerField()
    agreement = models.JSONField(default=dict)  # split → `scoring.gold.agreement.AnnotatorAgreement`

    class Meta:
        ordering = ("position",)
        constraints = [models.UniqueConstraint(fields=("shared_task", "slug"), name="track_slug_once_a_task")]

    def __str__(self) -> str:
        return f"{self.shared_task.slug}/{self.slug}"

    @property
    def audit_subject(self) -> str:
        return f"track {self.slug}"

    @property
    def definition(self) -> TrackDefinition:
        """The track's rules: format, items and metrics."""
        return self.shared_task.definition.track(self.slug)

    def definition_in(self, split: str) -> TrackDefinition:
        """Return the rules for one split, which can have different files from the others."""
        return self.shared_task.definition.track(self.slug, split)

    def rank_key(self, scores: Mapping[str, float | None]) -> float | None:
        """Return the value of the ranking metric, negated if higher is better, or None if it is undefined."""
        value = scores.get(self.definition.rank_by)
        return value if value is None else self._turned(value)

    def score_of(self, rank_key: float) -> float:
        """Return the score that has this rank key."""
        return self._turned(rank_key) + 0.0  # turns -0.0 into 0.0

    def _turned(self, value: float) -> float:
        return -value if describe(self.definition.ranking_metric).higher_is_better else value
