"""For organizers: the states of runs, and what a release would show."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count

from portal.models import GoldStandard, GoldUpload, Phase, Run, SharedTask, Track, User
from portal.queries.boards.choices import Choices
from portal.queries.boards.leaderboard import Leaderboard, leaderboard

_STATES = (Run.State.RECEIVED, Run.State.VALID, Run.State.SCORED, Run.State.REJECTED, Run.State.FAILED)


@dataclass(frozen=True, slots=True)
class RunStates:
    """The number of team runs in each of `_STATES`, for one phase and track. Every one of them has an entry."""

    track: Track
    phase: Phase
    counts: dict[str, int]
    has_gold: bool

    @property
    def unscored(self) -> int:
        return self.counts[Run.State.RECEIVED] + self.counts[Run.State.VALID]


def run_states(shared_task: SharedTask) -> list[RunStates]:
    """Return an entry for each phase and each of its tracks, in the task's order."""
    return run_states_by_task([shared_task])[shared_task.pk]


def run_states_by_task(shared_tasks: Sequence[SharedTask]) -> dict[int, list[RunStates]]:
    """Return the `run_states` of each task, by its key. The number of queries is constant."""
    runs = Run.objects.filter(track__shared_task__in=shared_tasks, kind=Run.Kind.TEAM)
    rows = runs.values_list("track", "phase", "state").annotate(Count("pk"))
    counts: Counter[tuple[int, int, str]] = Counter()
    for track_id, phase_id, state, count in rows:
        counts[track_id, phase_id, Run.State.FAILED if state == Run.State.UNSCORABLE else state] += count
    found: dict[int, list[RunStates]] = {task.pk: [] for task in shared_tasks}
    tracks: dict[int, list[Track]] = defaultdict(list)
    for track in Track.objects.filter(shared_task__in=shared_tasks).prefetch_related("shared_task", "gold_standards"):
        tracks[track.shared_task_id].append(track)
    for phase in Phase.objects.filter(shared_task__in=shared_tasks).prefetch_related("shared_task", "extra_times"):
        for track in tracks[phase.shared_task_id]:
            if phase.accepts(track):
                line = RunStates(
                    track=track,
                    phase=phase,
                    counts={state.value: counts[track.pk, phase.pk, state.value] for state in _STATES},
                    has_gold=any(gold.split == phase.split for gold in track.gold_standards.all()),
                )
                found[phase.shared_task_id].append(line)
    return found


def failed_on_our_side(shared_task: SharedTask) -> int:
    """Count the runs (including baselines) and gold files that failed because of the portal and can be retried."""
    given_up = (Run.State.FAILED, Run.State.UNSCORABLE)
    runs = Run.objects.filter(track__shared_task=shared_task, state__in=given_up)
    gold = GoldUpload.objects.filter(track__shared_task=shared_task, state=GoldUpload.State.FAILED)
    return runs.count() + gold.count()


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
