"""A shared task and the header of its pages. Every upload reads these rows, too, so their SQL is prepared."""

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from django.db.models import QuerySet

from portal.models import ExtraTime, Membership, Phase, SharedTask, Team, Track, Viewer
from portal.models.clock import database_clock
from portal.models.prepared import PreparedQuery, set_related


@dataclass(frozen=True)
class TaskPage:
    """A shared task as one person sees it.

    `current_phase` is the open phase that closes first or, if no open phase has an end, the one that opened last.
    """

    shared_task: SharedTask
    user: Viewer
    tracks: list[Track]
    phases: list[Phase]
    open_phases: list[Phase]
    current_phase: Phase | None
    closes: datetime | None  # when the current phase closes for this person's team
    next_phase: Phase | None
    membership: Membership | None
    team: Team | None

    @property
    def participating_team(self) -> Team | None:
        """The user's team, or None if it does not take part in the task, for example because it was withdrawn."""
        return self.team if self.team is not None and self.team.takes_part else None

    @cached_property
    def organizes(self) -> bool:
        """Whether the user organizes the task, with or without a second factor.

        Computed lazily: requests that only accept an upload never need it, and this saves them a query.
        """
        return self.shared_task.is_assigned_to(self.user)

    @cached_property
    def is_organizer(self) -> bool:
        """Whether the user sees the task as an organizer, which requires a second factor."""
        return self.organizes and self.shared_task.is_organized_by(self.user)

    def track(self, slug: str) -> Track:
        return next(track for track in self.tracks if track.slug == slug)

    def phases_of(self, track: Track) -> list[Phase]:
        """Return the phases that accept runs for the track."""
        return [phase for phase in self.phases if phase.accepts(track)]

    def phase(self, slug: str) -> Phase:
        return next(phase for phase in self.phases if phase.slug == slug)

    @property
    def lacks_second_factor(self) -> bool:
        """Whether the user organizes the task but cannot act as an organizer yet, for lack of a second factor."""
        return self.organizes and not self.is_organizer


def visible_task(slug: str, user: Viewer) -> tuple[SharedTask, datetime] | None:
    """Return the shared task with its tracks, and the database's time, or None if the user may not see the task."""
    found = _tasks.first(slug=slug)
    if found is None or not found.is_visible_to(user):
        return None
    set_related(found, "tracks", _tracks(shared_task=found.pk))
    return found, found.now  # type: ignore[attr-defined]


def task_page(shared_task: SharedTask, user: Viewer, at: datetime) -> TaskPage:
    """Return the task with its tracks and phases in order, and the user's role in it."""
    phases = _phases_with_extra_time(shared_task)
    ahead = [phase for phase in phases if phase.opens > at]
    membership = _memberships.first(shared_task=shared_task.pk, user=user.pk) if user.is_authenticated else None
    team = membership.team if membership else None
    team_id = team.pk if team else None
    open_phases = [phase for phase in phases if phase.is_open(at, team_id)]
    open_phases.sort(key=lambda phase: phase.closing_order(team_id))
    current = next(iter(open_phases), None)
    return TaskPage(
        shared_task=shared_task,
        user=user,
        tracks=list(shared_task.tracks.all()),
        phases=phases,
        open_phases=open_phases,
        current_phase=current,
        closes=current.closes_for(team_id) if current else None,
        next_phase=min(ahead, key=lambda phase: phase.opens, default=None),
        membership=membership,
        team=team,
    )


def _phases_with_extra_time(shared_task: SharedTask) -> list[Phase]:
    phases = _phases(shared_task=shared_task.pk)
    extra_times = _extra_times(shared_task=shared_task.pk)
    for phase in phases:
        phase.shared_task = shared_task
        set_related(phase, "extra_times", [extra_time for extra_time in extra_times if extra_time.phase_id == phase.pk])
    return phases


@PreparedQuery
def _tasks(slug: str) -> QuerySet[SharedTask]:
    return SharedTask.objects.filter(slug=slug).annotate(now=database_clock())


@PreparedQuery
def _tracks(shared_task: int) -> QuerySet[Track]:
    return Track.objects.filter(shared_task=shared_task)


@PreparedQuery
def _phases(shared_task: int) -> QuerySet[Phase]:
    return Phase.objects.filter(shared_task=shared_task)


@PreparedQuery
def _extra_times(shared_task: int) -> QuerySet[ExtraTime]:
    return ExtraTime.objects.filter(phase__shared_task=shared_task).select_related("team")


@PreparedQuery
def _memberships(shared_task: int, user: int) -> QuerySet[Membership]:
    return Membership.objects.filter(shared_task=shared_task, user=user).select_related("team")
