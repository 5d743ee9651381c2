"""The organizers' overview: what needs attention, the states of runs, and what a release would show."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain

from django.db.models import Count
from django.utils.translation import gettext as _
from django.utils.translation import ngettext_lazy as _n

from portal.models import (
    Board,
    GoldStandard,
    GoldUpload,
    OutgoingMail,
    Phase,
    Run,
    SharedTask,
    Team,
    Track,
    User,
    Viewer,
)
from portal.queries.boards.choices import Choices
from portal.queries.boards.leaderboard import Leaderboard, leaderboard
from portal.queries.gold import gold_lines

_NOT_USED = (GoldUpload.State.REJECTED, GoldUpload.State.CONFLICT, GoldUpload.State.FAILED)
_SOON = timedelta(hours=72)
_A_WEEK = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class RunStates:
    """The number of team runs in each state, for one phase and track. Every state has an entry."""

    track: Track
    phase: Phase
    counts: dict[str, int]
    has_gold: bool

    @property
    def unscored(self) -> int:
        return self.counts[Run.State.RECEIVED] + self.counts[Run.State.SCORING]


def run_states(shared_task: SharedTask) -> list[RunStates]:
    """Return an entry for each phase and each track that has items in it, in the task's order."""
    runs = Run.objects.filter(track__shared_task=shared_task, kind=Run.Kind.TEAM)
    rows = runs.values_list("track", "phase", "state").annotate(Count("pk"))
    counts = {(track, phase, state): count for track, phase, state, count in rows}
    tracks = list(shared_task.tracks.prefetch_related("gold_standards"))
    golden = {(track.pk, gold.split) for track in tracks for gold in track.gold_standards.all()}
    return [
        RunStates(
            track=track,
            phase=phase,
            counts={state.value: counts.get((track.pk, phase.pk, state.value), 0) for state in Run.State},
            has_gold=(track.pk, phase.split) in golden,
        )
        for phase in shared_task.phases.all()
        for track in tracks
        if phase.split in track.definition.items
    ]


def failed_on_our_side(shared_task: SharedTask) -> int:
    """Count the runs (including baselines) and gold files that failed because of the portal and can be retried."""
    runs = Run.objects.filter(track__shared_task=shared_task, state=Run.State.FAILED)
    gold = GoldUpload.objects.filter(track__shared_task=shared_task, state=GoldUpload.State.FAILED)
    return runs.count() + gold.count()


@dataclass(frozen=True, slots=True)
class ToDo:
    """A to-do for an organizer. `page` is the URL name of the page where it can be done."""

    state: str  # a state that pages show as an icon
    text: str
    page: str


@dataclass(frozen=True, slots=True)
class TrackLook:
    """What a release would show on a track's board."""

    track: Track
    gold_version: int | None
    teams: int  # number of teams with a run on the board
    unscored: int  # number of runs that would be missing because they have no score yet
    failed: int


_TEAMS = Choices(baselines=False, size=None)


@dataclass(frozen=True, slots=True)
class ReleaseLook:
    """A phase whose scores are shown on release, and what the release shows or would show."""

    phase: Phase
    is_public: bool
    is_closed: bool
    tracks: list[TrackLook]

    @property
    def unscored(self) -> int:
        return sum(look.unscored + look.failed for look in self.tracks)


def release_looks(shared_task: SharedTask, organizer: User, at: datetime) -> list[ReleaseLook]:
    """Return an entry for each phase whose scores are shown on release, in the task's order."""
    states = {(line.phase, line.track): line for line in run_states(shared_task)}
    return [
        ReleaseLook(
            phase=phase,
            is_public=phase.scores_are_public(at),
            is_closed=phase.last_closing is not None and phase.last_closing <= at,
            tracks=[
                _track_look(line, leaderboard(track, phase, organizer, at, _TEAMS))
                for (there, track), line in states.items()
                if there == phase
            ],
        )
        for phase in shared_task.phases.prefetch_related("extra_times")
        if phase.scores == Phase.Scores.ON_RELEASE
    ]


def _track_look(line: RunStates, board: Leaderboard) -> TrackLook:
    newest = None if board.gold_version else GoldStandard.objects.newest(line.track, board.phase.split)
    return TrackLook(
        track=line.track,
        gold_version=newest.version if newest else board.gold_version,  # no run may be scored yet
        teams=len({row.team for row in board.rows}),
        unscored=line.unscored,
        failed=line.counts[Run.State.FAILED],
    )


@dataclass(frozen=True, slots=True)
class Duties:
    """An organizer's to-dos in one shared task."""

    shared_task: SharedTask
    steps: list[ToDo]


def duties(user: Viewer, at: datetime) -> list[Duties]:
    """Return an entry for each shared task that the user organizes. Tasks with something to do come first.

    If the user has no second factor, the entries have no to-dos.
    """
    if not user.is_authenticated:
        return []
    own = SharedTask.objects.filter(organizers=user.pk)
    open_to_user = set(own.organized_by(user).values_list("pk", flat=True))
    found = [Duties(task, to_do(task, at) if task.pk in open_to_user else []) for task in own]
    return sorted(found, key=lambda one: (not one.steps, -one.shared_task.year, one.shared_task.title))


def to_do(shared_task: SharedTask, at: datetime) -> list[ToDo]:
    """Return what needs attention, most urgent first."""
    lines = run_states(shared_task)
    failed = sum(line.counts[Run.State.FAILED] for line in lines)
    golden = {(line.track, line.phase.split) for line in lines if not line.has_gold and line.phase.opens <= at + _SOON}
    waiting = shared_task.teams.filter(state=Team.State.PENDING).count()
    uploads = [line.upload for line in gold_lines(shared_task) if line.upload is not None]
    rejected = [one for one in uploads if one.state in _NOT_USED]
    unsent = OutgoingMail.objects.filter(shared_task=shared_task, state=OutgoingMail.State.FAILED).count()
    unscored = sum(line.unscored for line in lines if line.has_gold)
    boards = Board.objects.filter(track__shared_task=shared_task).defer("comparison").with_new_scores(at)
    new = sum(not board.waits() for board in boards)
    counted = [
        ("failed", failed, _n("%d run failed on our side.", "%d runs failed on our side."), "organize_runs"),
        ("rejected", len(rejected), _n("%d gold file was rejected.", "%d gold files were rejected."), "organize_gold"),
        (
            "ready",
            sum(one.state == GoldUpload.State.READY for one in uploads),
            _n("%d gold preview is ready to apply.", "%d gold previews are ready to apply."),
            "organize_gold",
        ),
        ("warning", len(golden), _n("%d gold standard is missing.", "%d gold standards are missing."), "organize_gold"),
        (
            "pending",
            waiting,
            _n("%d team is waiting for your decision.", "%d teams are waiting for your decision."),
            "organize_teams",
        ),
        (
            "pending",
            new,
            _n(
                "%d released leaderboard has new scores to apply.", "%d released leaderboards have new scores to apply."
            ),
            "organize_scores",
        ),
        (
            "warning",
            _recently_withdrawn(shared_task, at),
            _n(
                "%d team with runs withdrew from an open phase this week.",
                "%d teams with runs withdrew from an open phase this week.",
            ),
            "organize_teams",
        ),
        ("failed", unsent, _n("%d email could not be sent.", "%d emails could not be sent."), "organize_mails"),
        (
            "scoring",
            unscored,
            _n("%d run is waiting to be scored.", "%d runs are waiting to be scored."),
            "organize_runs",
        ),
    ]
    found = [ToDo(state, text % count, page) for state, count, text, page in counted if count]
    return found + [step for phase in shared_task.phases.prefetch_related("extra_times") for step in _steps(phase, at)]


def _recently_withdrawn(shared_task: SharedTask, at: datetime) -> int:
    """Count the teams that left the board of an open phase in the last week."""
    recent = shared_task.teams.filter(withdrawn_at__gt=at - _A_WEEK)
    phases = shared_task.phases.open(at)
    gone = [recent.shut_out(phase).filter(runs__phase=phase).values_list("pk", flat=True) for phase in phases]
    return len(set(chain.from_iterable(gone)))


def _steps(phase: Phase, at: datetime) -> Iterator[ToDo]:
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
