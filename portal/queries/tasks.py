"""The header of a shared task's pages."""

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property

from portal.models import Membership, Phase, SharedTask, Team, Track, Viewer

_NEVER = datetime.max.replace(tzinfo=UTC)


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

    @property
    def lacks_second_factor(self) -> bool:
        """Whether the user organizes the task but cannot act as an organizer yet, for lack of a second factor."""
        return self.organizes and not self.is_organizer


def task_page(shared_task: SharedTask, user: Viewer, at: datetime) -> TaskPage:
    """Return the task with its tracks and phases in order, and the user's role in it."""
    phases = list(shared_task.phases.prefetch_related("graces__team"))
    ahead = [phase for phase in phases if phase.opens > at]
    membership = (
        Membership.objects.filter(shared_task=shared_task, user=user.pk).select_related("team").first()
        if user.is_authenticated
        else None
    )
    team = membership.team if membership else None
    team_id = team.pk if team else None
    open_phases = [phase for phase in phases if phase.is_open(at, team_id)]
    open_phases.sort(key=lambda phase: (phase.closes_for(team_id) or _NEVER, -phase.opens.timestamp()))
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
