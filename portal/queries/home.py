"""The home page: shared tasks grouped by what a reader can do now, and the reader's next step."""

from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Case, Count, F, OuterRef, Q, QuerySet, Subquery, TextField, When
from django.db.models.functions import Cast, Coalesce, Greatest

from portal.models import ExtraTime, Phase, Run, SharedTask, Team, Track, Viewer
from portal.models.task import SharedTaskQuerySet
from portal.parameters import whole_number

PAGE_SIZE = 10
LAST_YEAR = 9999
OPEN, UPCOMING, ENDED = range(3)


@dataclass(frozen=True, slots=True)
class TaskLine:
    """A shared task in a list.

    `phase` is the open phase that closes first, or else an open phase without an end, the next phase to open, or the
    phase that closed last. `deadline` is when it closes, opens or closed, or None if it has no end. `boards` are the
    tracks whose leaderboards show scores to everyone.
    """

    task: SharedTask
    tracks: list[Track]
    teams: int  # number of approved teams
    runs: int
    phase: Phase | None
    deadline: datetime | None
    boards: list[Track]


@dataclass(frozen=True, slots=True)
class HomeLists:
    """One page of the tasks: open tasks by deadline, upcoming tasks by opening date, then all others, newest first.

    `languages` and `years` cover all tasks that the reader may see, regardless of the filter.
    """

    open: list[TaskLine]
    upcoming: list[TaskLine]
    ended: list[TaskLine]
    languages: list[str]
    years: list[int]
    page: Page[int]  # of the tasks' ids

    @property
    def count(self) -> int:
        return self.page.paginator.count


@dataclass(frozen=True, slots=True)
class TaskFilter:
    """The reader's search for tasks. Empty fields match all tasks."""

    words: str = ""  # part of a title, subtitle, venue or slug
    language: str = ""
    year: str = ""

    def apply(self, tasks: SharedTaskQuerySet) -> SharedTaskQuerySet:
        if self.words:
            fields = ("title", "subtitle", "venue", "slug")
            tasks = tasks.filter(Q(*((f"{field}__icontains", self.words) for field in fields), _connector=Q.OR))
        if self.language:
            as_text = Cast("languages", TextField())
            tasks = tasks.annotate(codes=as_text).filter(codes__contains=f'"{self.language}"')
        if self.year:
            year = whole_number(self.year, LAST_YEAR)
            tasks = tasks.none() if year is None else tasks.filter(year=year)
        return tasks


def home_lists(viewer: Viewer, at: datetime, wanted: TaskFilter | None = None, page: str = "1") -> HomeLists:
    """Return a page of the shared tasks that the person may see. The number of queries is constant."""
    visible = SharedTask.objects.visible_to(viewer)
    found = by_state((wanted or TaskFilter()).apply(visible), at)
    shown = Paginator(list(found.values_list("pk", flat=True)), PAGE_SIZE).get_page(page)
    known = SharedTask.objects.prefetch_related("tracks", "phases__extra_times").in_bulk(shown.object_list)
    tasks = [known[pk] for pk in shown.object_list if pk in known]  # a draft may have been deleted since
    teams = _counts(Team.objects.filter(state=Team.State.APPROVED, shared_task__in=tasks), "shared_task")
    valid = Run.objects.filter(kind=Run.Kind.TEAM).exclude(state=Run.State.REJECTED)
    runs = _counts(valid.filter(track__shared_task__in=tasks), "track__shared_task")
    groups: tuple[list[TaskLine], ...] = ([], [], [])
    for task in tasks:
        phases = list(task.phases.all())
        state, phase = deciding_phase(phases, at)
        tracks = list(task.tracks.all())
        has_public_scores = any(phase.scores_are_public(at) for phase in phases)
        groups[state].append(
            TaskLine(
                task=task,
                tracks=tracks,
                teams=teams.get(task.pk, 0),
                runs=runs.get(task.pk, 0),
                phase=phase,
                deadline=deciding_date(state, phase),
                boards=tracks if has_public_scores else [],
            )
        )
    choices = list(visible.order_by().values_list("languages", "year").distinct())
    languages = sorted({code for codes, _year in choices for code in codes})
    years = sorted({year for _codes, year in choices}, reverse=True)
    return HomeLists(groups[OPEN], groups[UPCOMING], groups[ENDED], languages, years, shown)


def _counts(rows: QuerySet[Any], by: str) -> dict[int, int]:
    return dict(rows.values_list(by).annotate(Count("pk")))


def by_state(tasks: SharedTaskQuerySet, at: datetime) -> SharedTaskQuerySet:
    """Sort tasks for the home page, by the same rules as `deciding_phase`.

    Which tasks are open or upcoming is found once for all tasks. Dates are read only for these tasks.
    """
    is_open = Q(pk__in=Phase.objects.open(at).values("shared_task"))
    is_upcoming = Q(pk__in=Phase.objects.filter(opens__gt=at).values("shared_task"))
    phases = Phase.objects.filter(shared_task=OuterRef("pk"))
    extended = Subquery(ExtraTime.objects.filter(phase=OuterRef("pk"), team__isnull=True).values("until"))
    closings = phases.open(at).annotate(until=Greatest("closes", Coalesce(extended, "closes"))).order_by("until")
    closing = Subquery(closings.exclude(closes__isnull=True).values("until")[:1])
    opening = Subquery(phases.filter(opens__gt=at).order_by("opens").values("opens")[:1])
    tasks = tasks.annotate(
        group=Case(When(is_open, then=OPEN), When(is_upcoming, then=UPCOMING), default=ENDED),
        moment=Case(When(is_open, then=closing), When(is_upcoming, then=opening)),
    )
    return tasks.order_by("group", F("moment").asc(nulls_last=True), "-year", "title")


def deciding_phase(phases: list[Phase], at: datetime) -> tuple[int, Phase | None]:
    """Return the task's state (`OPEN`, `UPCOMING` or `ENDED`) and the phase for its `TaskLine`."""
    running = [phase for phase in phases if phase.is_open(at)]
    if running:
        return OPEN, min(running, key=lambda phase: phase.closing_order(None))
    ahead = [phase for phase in phases if phase.opens > at]
    if ahead:
        return UPCOMING, min(ahead, key=attrgetter("opens"))
    return ENDED, max(phases, key=attrgetter("closes"), default=None)


def deciding_date(state: int, phase: Phase | None) -> datetime | None:
    """Return when an upcoming phase opens, or when any other phase closes or closed."""
    if phase is None:
        return None
    return phase.opens if state == UPCOMING else phase.closes_for(None)


@dataclass(frozen=True, slots=True)
class NextStep:
    """An open phase that the reader's team can take part in, and the number of the team's valid runs in it."""

    team: Team
    shared_task: SharedTask
    phase: Phase
    valid_runs: int


def next_step(user: Viewer, at: datetime) -> NextStep | None:
    """Return the open phase that closes first among those of the user's approved teams, if there is one."""
    if not user.is_authenticated:
        return None
    teams = Team.objects.filter(members=user.pk, state=Team.State.APPROVED)
    phases = Phase.objects.of_public_tasks().open(at).filter(shared_task__in=teams.values("shared_task"))
    phase = (
        phases.select_related("shared_task").order_by(F("closes").asc(nulls_last=True), "-shared_task__year").first()
    )
    if phase is None:
        return None
    team = teams.get(shared_task=phase.shared_task)
    valid = Run.objects.filter(team=team, phase=phase, state__in=Run.CHECKED)
    return NextStep(team, phase.shared_task, phase, valid.count())
