"""A person's runs and rejected uploads over all tasks."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.core.paginator import Page, Paginator
from django.db.models import Count, QuerySet

from portal.models import Phase, Run, SharedTask, Submission, Team, User
from portal.queries.boards.official import OfficialRun
from portal.queries.runs import RunLine, official_runs_of, run_lines

PAGE_SIZE = 50
STATES = (Run.State.CHECKING, Run.State.VALID, Run.State.SCORED, Run.State.FAILED, "withdrawn")


@dataclass(frozen=True, slots=True)
class RunFilter:
    """The person's choice of runs. Tracks and phases are `task/slug`. Empty fields match all runs."""

    track: str = ""
    phase: str = ""
    state: str = ""  # one of STATES


class Choice(NamedTuple):
    """A value of a filter, and its words."""

    value: str
    words: str


@dataclass(frozen=True, slots=True)
class MyRuns:
    """The person's runs that match the filter, newest first, without those that were rejected.

    `tracks` and `phases` are those of all runs of the person.
    """

    lines: Page[RunLine]
    official_runs: list[OfficialRun]
    tracks: list[Choice]
    phases: list[Choice]
    rejected: int  # number of rejected uploads

    @property
    def official(self) -> set[Run]:
        return {official.run for official in self.official_runs if official.run is not None}

    @property
    def choosing(self) -> set[Phase]:
        """The phases in which the person's team can choose its official run."""
        return {official.phase for official in self.official_runs if official.may_choose}


def my_runs(user: User, at: datetime, wanted: RunFilter, page: str = "1") -> MyRuns:
    """Return the person's runs. The number of queries is constant.

    The state is filtered as it is shown, so that the filter reveals nothing about hidden scores.
    """
    teams = own_teams(user)
    runs = Run.objects.filter(team__in=teams).exclude(state=Run.State.REJECTED)
    places = runs.order_by().values_list(
        "track__shared_task__slug", "track__shared_task__title", "track__slug", "track__title", "phase__slug",
        "phase__title",
    ).distinct()  # fmt: skip
    tracks, phases = set[Choice](), set[Choice]()
    for task, task_title, track, track_title, phase, phase_title in places:
        tracks.add(Choice(f"{task}/{track}", f"{task_title}: {track_title}"))
        phases.add(Choice(f"{task}/{phase}", f"{task_title}: {phase_title}"))
    for field, value in (("track", wanted.track), ("phase", wanted.phase)):
        if value:
            task, _slash, slug = value.partition("/")
            runs = runs.filter(**{f"{field}__slug": slug, f"{field}__shared_task__slug": task})
    lines = run_lines(runs.prefetch_related("phase__extra_times"), user, at)
    official_runs = official_runs_of(lines, user, at)
    shown = [line for line in lines if not wanted.state or _shown_state(line) == wanted.state]
    return MyRuns(
        lines=Paginator(shown, PAGE_SIZE).get_page(page),
        official_runs=official_runs,
        tracks=sorted(tracks, key=lambda choice: choice.words),
        phases=sorted(phases, key=lambda choice: choice.words),
        rejected=_rejected(teams).count(),
    )


def rejected_uploads(teams: Sequence[int], page: str = "1") -> Page[Any]:
    """Return a page of the rejected uploads of these teams, newest first, each with its `run_count`."""
    found = _rejected(teams).select_related("shared_task", "phase", "team", "sent_by")
    return Paginator(found.annotate(run_count=Count("runs")).order_by("-received_at", "pk"), PAGE_SIZE).get_page(page)


def own_teams(user: User) -> list[int]:
    """Return the person's teams in open tasks, whatever their state."""
    teams = Team.objects.filter(members=user.pk, shared_task__state=SharedTask.State.OPEN)
    return list(teams.order_by().values_list("pk", flat=True))


def _rejected(teams: Sequence[int]) -> QuerySet[Submission]:
    return Submission.objects.filter(team__in=teams, state=Submission.State.REJECTED)


def _shown_state(line: RunLine) -> str:
    if line.run.withdrawn_at is not None:
        return "withdrawn"
    return Run.State.CHECKING if line.state == Run.State.RECEIVED else line.state
