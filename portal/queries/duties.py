"""What organizers have to do: on the home page for a page of their tasks, and on each task's overview."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import reduce
from operator import or_
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import ngettext_lazy as _n

from portal.models import Board, GoldUpload, OutgoingMail, Phase, Run, SharedTask, Team, Viewer
from portal.queries.home import by_state
from portal.queries.organize import RunStates, run_states_by_task

PAGE_SIZE = 10
_NOT_USED = (GoldUpload.State.REJECTED, GoldUpload.State.CONFLICT, GoldUpload.State.FAILED)
_SOON = timedelta(hours=72)
_A_WEEK = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class ToDo:
    """A to-do for an organizer. `page` is the URL name of the page where it can be done, for a `verb` if it has any."""

    state: str  # a state that pages show as an icon
    text: str
    page: str
    verb: str = ""


@dataclass(frozen=True, slots=True)
class Duties:
    """An organizer's to-dos in one shared task."""

    shared_task: SharedTask
    steps: list[ToDo]


@dataclass(frozen=True, slots=True)
class DutiesPage:
    """A page of the tasks that a person organizes. Tasks with something to do come first."""

    tasks: list[Duties]
    page: Page[int]  # of the tasks' keys


def duties(user: Viewer, at: datetime, page: str = "1") -> DutiesPage | None:
    """Return a page of the tasks that the user organizes, in the order of the home page. None if there are none.

    If the user has no second factor, the entries have no to-dos. The number of queries is constant.
    """
    if not user.is_authenticated:
        return None
    own = SharedTask.objects.filter(organizers=user.pk)
    shown = Paginator(list(by_state(own, at).values_list("pk", flat=True)), PAGE_SIZE).get_page(page)
    if not shown.object_list:
        return None
    steps = to_dos(list(own.filter(pk__in=shown.object_list).organized_by(user)), at)
    known = own.in_bulk(shown.object_list)
    tasks = [Duties(known[pk], steps.get(pk, [])) for pk in shown.object_list if pk in known]
    return DutiesPage(sorted(tasks, key=lambda task: not task.steps), shown)


def to_do(shared_task: SharedTask, at: datetime) -> list[ToDo]:
    """Return what needs attention in this task, most urgent first."""
    return to_dos([shared_task], at)[shared_task.pk]


def to_dos(shared_tasks: Sequence[SharedTask], at: datetime) -> dict[int, list[ToDo]]:
    """Return the to-dos of each task by its key, most urgent first. The number of queries is constant."""
    states = run_states_by_task(shared_tasks)
    uploads = _gold_states(shared_tasks, {line.track.pk: line for lines in states.values() for line in lines})
    phases = list(Phase.objects.filter(shared_task__in=shared_tasks).prefetch_related("extra_times"))
    pending = _counted(Team.objects.filter(shared_task__in=shared_tasks, state=Team.State.PENDING))
    mails = OutgoingMail.objects.filter(shared_task__in=shared_tasks, state=OutgoingMail.State.FAILED)
    unsent = _counted(mails)
    new = _with_new_scores(shared_tasks, at)
    withdrawn = _recently_withdrawn([phase for phase in phases if phase.is_open(at)], at)
    found = {}
    for task in shared_tasks:
        lines = states[task.pk]
        counts = {
            "failed": sum(line.counts[Run.State.FAILED] for line in lines),
            "rejected_gold": sum(uploads[task.pk, state] for state in _NOT_USED),
            "ready_gold": uploads[task.pk, GoldUpload.State.READY],
            "missing_gold": _missing_gold(lines, at),
            "pending_teams": pending[task.pk],
            "new_scores": new[task.pk],
            "withdrawn_teams": withdrawn[task.pk],
            "unsent_mails": unsent[task.pk],
            "unscored": sum(line.unscored for line in lines if line.has_gold),
        }
        steps = [step for phase in phases if phase.shared_task_id == task.pk for step in _dates(phase, at)]
        draft = [ToDo("hidden", _("The task is a draft. Check its pages, then open it."), "organize_state", "open")]
        found[task.pk] = [*_counted_steps(counts), *(draft if task.state == SharedTask.State.DRAFT else []), *steps]
    return found


# What is counted → its state, its text and the page where it can be done, most urgent first.
_STEPS: dict[str, tuple[str, Promise, str]] = {
    "failed": ("failed", _n("%d run failed on our side.", "%d runs failed on our side."), "organize_runs"),
    "rejected_gold": (
        "rejected", _n("%d gold file was rejected.", "%d gold files were rejected."), "organize_gold"
    ),
    "ready_gold": (
        "ready", _n("%d gold preview is ready to apply.", "%d gold previews are ready to apply."), "organize_gold"
    ),
    "missing_gold": (
        "warning", _n("%d gold standard is missing.", "%d gold standards are missing."), "organize_gold"
    ),
    "pending_teams": (
        "pending",
        _n("%d team is waiting for your decision.", "%d teams are waiting for your decision."),
        "organize_teams",
    ),
    "new_scores": (
        "pending",
        _n("%d released leaderboard has new scores to apply.", "%d released leaderboards have new scores to apply."),
        "organize_scores",
    ),
    "withdrawn_teams": (
        "warning",
        _n(
            "%d team with runs withdrew from an open phase this week.",
            "%d teams with runs withdrew from an open phase this week.",
        ),
        "organize_teams",
    ),
    "unsent_mails": ("failed", _n("%d email could not be sent.", "%d emails could not be sent."), "organize_mails"),
    "unscored": (
        "scoring", _n("%d run is waiting to be scored.", "%d runs are waiting to be scored."), "organize_runs"
    ),
}  # fmt: skip


def _counted_steps(counts: dict[str, int]) -> Iterator[ToDo]:
    for name, (state, text, page) in _STEPS.items():
        if counts[name]:
            yield ToDo(state, text % counts[name], page)


def _counted(rows: QuerySet[Any]) -> Counter[int]:
    return Counter(dict(rows.order_by().values_list("shared_task").annotate(Count("pk"))))


def _missing_gold(lines: list[RunStates], at: datetime) -> int:
    """Count the gold standards that a phase needs within three days."""
    missing = [line for line in lines if not line.has_gold and line.phase.opens <= at + _SOON]
    return len({(line.track, line.phase.split) for line in missing})


def _gold_states(shared_tasks: Sequence[SharedTask], by_track: dict[int, RunStates]) -> Counter[tuple[int, str]]:
    """Count the tracks and splits by their task's key and the state of their last gold upload."""
    rows = GoldUpload.objects.filter(track__shared_task__in=shared_tasks).order_by("received_at")
    last = {(track, split): (task, state) for task, track, split, state in rows.values_list(
        "track__shared_task", "track", "split", "state"
    )}  # fmt: skip
    return Counter(
        key
        for (track, split), key in last.items()
        if track in by_track and split in by_track[track].track.definition.items
    )


def _with_new_scores(shared_tasks: Sequence[SharedTask], at: datetime) -> Counter[int]:
    """Count the released boards whose new scores are complete, by their task's key."""
    boards = Board.objects.filter(track__shared_task__in=shared_tasks).defer("comparison")
    return Counter(board.track.shared_task_id for board in boards.without_waiting_runs().with_new_scores(at))


def _recently_withdrawn(phases: list[Phase], at: datetime) -> Counter[int]:
    """Count the teams that left the board of one of these open phases in the last week, by their task's key."""
    # Found first, and usually none: for all teams, PostgreSQL would compile the dozens of conditions below for seconds.
    withdrawn = Team.objects.filter(shared_task__in={phase.shared_task_id for phase in phases})
    keys = list(withdrawn.filter(withdrawn_at__gt=at - _A_WEEK).values_list("pk", flat=True))
    if not keys:
        return Counter()
    left = [Q(Team.objects.is_shut_out(phase)) & Q(Exists(_runs_of_team(phase))) for phase in phases]
    return _counted(Team.objects.filter(reduce(or_, left), pk__in=keys))


def _runs_of_team(phase: Phase) -> QuerySet[Run]:
    return Run.objects.filter(team=OuterRef("pk"), phase=phase)


def _dates(phase: Phase, at: datetime) -> Iterator[ToDo]:
    names = {"phase": phase.title}
    closing = phase.last_closing
    if closing is not None and at < closing <= at + _SOON and phase.opens <= at:
        yield ToDo("coming", _("%(phase)s closes within three days.") % names, "organize_phases")
    if phase.scores == Phase.Scores.ON_RELEASE and closing is not None and closing <= at:
        if phase.released is None:
            yield ToDo(
                "hidden", _("%(phase)s has closed, but its scores have not been released.") % names, "organize_releases"
            )
        elif phase.released > at:
            yield ToDo("coming", _("The scores of %(phase)s will be released.") % names, "organize_releases")
