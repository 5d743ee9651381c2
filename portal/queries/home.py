"""The home page: every shared task, by what it asks of a reader now, and the reader's next step."""

from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter

from django.db.models import Count, F, Q

from portal.models import Phase, Run, SharedTask, Team, Track, Viewer


@dataclass(frozen=True, slots=True)
class TaskLine:
    """One shared task in a list.

    `deadline` is the moment that matters next: the closing of `phase` where that is open, its opening where it is to
    come, and its past closing otherwise; both are None where the task has no phase that closes. `is_taking_runs` also
    holds in a phase that stays open. `boards` are the tracks whose leaderboard shows scores to everybody.
    """

    task: SharedTask
    tracks: list[Track]
    teams: int  # approved ones
    runs: int
    phase: Phase | None
    deadline: datetime | None
    is_taking_runs: bool
    boards: list[Track]


@dataclass(frozen=True, slots=True)
class HomeLists:
    """Tasks with a deadline ahead in an open phase, by deadline; tasks still to open; the rest, newest first.

    `languages` and `years` are those of all tasks, whatever was asked for.
    """

    open: list[TaskLine]
    coming: list[TaskLine]
    past: list[TaskLine]
    languages: list[str]
    years: list[int]

    @property
    def count(self) -> int:
        return len(self.open) + len(self.coming) + len(self.past)


@dataclass(frozen=True, slots=True)
class Wish:
    """Which tasks a reader looks for; empty: all."""

    words: str = ""  # part of a title, subtitle, venue, or of the slug
    language: str = ""
    year: str = ""

    def holds(self, task: SharedTask) -> bool:
        text = f"{task.title} {task.subtitle} {task.venue} {task.slug}".casefold()
        is_language = not self.language or self.language in task.languages
        return self.words.casefold() in text and is_language and self.year in ("", str(task.year))


def shared_tasks(viewer: Viewer, at: datetime, wish: Wish | None = None) -> HomeLists:
    """All shared tasks that this person sees; five queries, whatever their number."""
    lists = HomeLists([], [], [], [], [])
    runs = dict(
        Run.objects.filter(kind=Run.Kind.TEAM)
        .exclude(state=Run.State.REJECTED)
        .values_list("track__shared_task")
        .annotate(Count("pk"))
    )
    tasks = SharedTask.objects.visible_to(viewer).annotate(
        approved_teams=Count("teams", filter=Q(teams__state="approved"))
    )
    # In so many words: Django drops a model's own order where a query groups.
    for task in tasks.order_by("-year", "title").prefetch_related("tracks", "phases__graces"):
        lists.languages.extend(code for code in task.languages if code not in lists.languages)
        lists.years.extend([task.year] if task.year not in lists.years else [])
        if wish is not None and not wish.holds(task):
            continue
        phases = list(task.phases.all())
        phase = _deciding_phase(phases, at)
        list_, deadline = _place(lists, phase, at)
        has_public_scores = any(phase.scores_are_public(at) for phase in phases)
        tracks = list(task.tracks.all())
        list_.append(
            TaskLine(
                task=task,
                tracks=tracks,
                teams=task.approved_teams,
                runs=runs.get(task.pk, 0),
                phase=phase,
                deadline=deadline,
                is_taking_runs=any(phase.is_open(at) for phase in phases),
                boards=tracks if has_public_scores else [],
            )
        )
    lists.open.sort(key=attrgetter("deadline"))
    lists.coming.sort(key=attrgetter("deadline"))
    return lists


def _deciding_phase(phases: list[Phase], at: datetime) -> Phase | None:
    """Of the phases that close: the open one that closes first, else the next to open, else the last to have closed."""
    closing = [phase for phase in phases if phase.closes is not None]
    running = [phase for phase in closing if phase.is_open(at)]
    ahead = [phase for phase in closing if phase.opens > at]
    if running:
        return min(running, key=attrgetter("closes"))
    if ahead:
        return min(ahead, key=attrgetter("opens"))
    return max(closing, key=attrgetter("closes"), default=None)


def _place(lists: HomeLists, phase: Phase | None, at: datetime) -> tuple[list[TaskLine], datetime | None]:
    if phase is None:
        return lists.past, None
    if phase.opens > at:
        return lists.coming, phase.opens
    return (lists.open if phase.is_open(at) else lists.past), phase.closes


@dataclass(frozen=True, slots=True)
class NextStep:
    """An open phase of a task in which the reader's team takes part, and how many scored runs it has there."""

    team: Team
    shared_task: SharedTask
    phase: Phase
    scored_runs: int


def next_step(user: Viewer, at: datetime) -> NextStep | None:
    """Of all open phases of the user's approved teams, the one that closes first; None where there is none."""
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
    scored = Run.objects.filter(team=team, phase=phase, state=Run.State.SCORED)
    return NextStep(team, phase.shared_task, phase, scored.count())
