"""The tasks that a person's teams take part in: deadline, runs left, last result, and what is missing."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter

from django.db.models import OuterRef, Subquery
from django.utils.translation import gettext as _

from portal.models import ExtraRuns, Phase, Quota, Run, SharedTask, Signature, Team, User, Viewer
from portal.models.quota import quota_day, whole_phase
from portal.queries.home import OPEN, UPCOMING, deciding_phase
from portal.queries.runs import RunLine, run_lines

MOST = 10  # tasks on the home page
_TIGHTEST = float("inf")


@dataclass(frozen=True, slots=True)
class Missing:
    """What the person or the team should do next, and the URL name of the page where it is done."""

    text: str
    page: str


@dataclass(frozen=True, slots=True)
class MyTask:
    """A task that has not ended, for one of the person's teams.

    `phase` is the open phase that closes first or, if none is open, the next one. `deadline` is when it closes for the
    team, or opens. `left` is the number of runs left in all tracks of the phase, or None if there is no limit.
    """

    team: Team
    phase: Phase
    deadline: datetime | None
    is_open: bool
    left: int | None
    last: RunLine | None  # the newest run
    missing: Missing | None

    @property
    def shared_task(self) -> SharedTask:
        return self.team.shared_task


def my_tasks(user: Viewer, at: datetime) -> list[MyTask]:
    """Return the person's tasks that are open or upcoming, by deadline. The number of queries is constant."""
    if not isinstance(user, User):
        return []
    in_order = ("-received_at", "-phase__position", "track__position", "name")
    newest = Run.objects.filter(team=OuterRef("pk")).order_by(*in_order).values("pk")[:1]
    teams = Team.objects.filter(members=user.pk, shared_task__state=SharedTask.State.OPEN)
    shown = teams.exclude(state=Team.State.WITHDRAWN).select_related("shared_task")
    own = list(
        shown.prefetch_related("shared_task__tracks", "shared_task__phases__extra_times").annotate(
            newest=Subquery(newest)
        )
    )
    found = [(team, *deciding_phase(list(team.shared_task.phases.all()), at)) for team in own]
    running = [(team, phase, state == OPEN) for team, state, phase in found if phase and state in (OPEN, UPCOMING)]
    if not running:
        return []
    phases = [phase for _team, phase, is_open in running if is_open]
    signed = set(Signature.objects.filter(user=user.pk).values_list("shared_task", "version"))
    used = _used(user, [team for team, *_rest in running], phases)
    granted = ExtraRuns.objects.filter(team__in=[team for team, *_rest in running], phase__in=phases)
    extra = {(team, phase): runs for team, phase, runs in granted.values_list("team", "phase", "runs")}
    valid = _with_valid_runs([team for team, *_rest in running], phases)
    newest_runs = [team.newest for team, *_rest in running if team.newest]
    last = {line.run.team_id: line for line in run_lines(Run.objects.filter(pk__in=newest_runs), user, at)}
    mine = [
        MyTask(
            team=team,
            phase=phase,
            deadline=phase.closes_for(team.pk) if is_open else phase.opens,
            is_open=is_open,
            left=_left(team, phase, used, extra.get((team.pk, phase.pk), 0), at) if is_open else None,
            last=last.get(team.pk),
            missing=_missing(team, phase if is_open else None, signed, valid),
        )
        for team, phase, is_open in running
    ]
    mine.sort(key=lambda task: (not task.is_open, task.deadline is None, task.deadline or at, task.team.pk))
    return mine[:MOST]


Used = dict[tuple[int | None, int, int, str], int]  # team (None: the person), phase, track and day → runs


def _used(user: User, teams: Sequence[Team], phases: Sequence[Phase]) -> Used:
    rows = Quota.objects.filter(phase__in=phases).values_list("team", "phase", "track", "day", "used")
    used: Used = {}
    for found in (rows.filter(team__in=teams), rows.filter(user=user)):
        used |= {(team, phase, track, day): count for team, phase, track, day, count in found}
    return used


def _left(team: Team, phase: Phase, used: Used, extra: int, at: datetime) -> int | None:
    """Return the number of runs left in all tracks. None without a limit, or if an upload replaces the last one."""
    if phase.max_submissions is not None:
        return None
    in_phase = None if phase.runs_per_track is None else phase.runs_per_track + extra
    limits = {whole_phase(phase, at): in_phase, quota_day(at): phase.runs_per_day}
    total = 0.0
    for track in team.shared_task.tracks.all():
        if phase.accepts(track):
            total += min(
                _TIGHTEST if limit is None else max(0, limit - used.get((owner, phase.pk, track.pk, day), 0))
                for day, limit in limits.items()
                for owner in (team.pk, None)
            )
    return None if total == _TIGHTEST else int(total)


def _with_valid_runs(teams: Iterable[Team], phases: Iterable[Phase]) -> dict[tuple[int, int], set[int]]:
    """Return the tracks in which each team has a valid run, by team and phase."""
    runs = Run.objects.eligible().filter(team__in=teams, phase__in=phases, state__in=Run.CHECKED)
    found: dict[tuple[int, int], set[int]] = defaultdict(set)
    for team, phase, track in runs.order_by().values_list("team", "phase", "track").distinct():
        found[team or 0, phase].add(track)
    return found


def _missing(
    team: Team, phase: Phase | None, signed: set[tuple[int, str]], valid: dict[tuple[int, int], set[int]]
) -> Missing | None:
    agreement = team.shared_task.definition.agreement
    if team.state == Team.State.DECLINED:
        return Missing(_("The organizers declined your team"), "team")
    if agreement is not None and (team.shared_task_id, agreement.version) not in signed:
        return Missing(_("Sign the data agreement"), "agreement")
    if team.state == Team.State.PENDING:
        return Missing(_("Waiting for approval"), "team")
    if phase is None:
        return None
    tracks = [track for track in team.shared_task.tracks.all() if phase.accepts(track)]
    without = [track for track in tracks if track.pk not in valid[team.pk, phase.pk]]
    if not without:
        return None
    if len(without) == len(tracks):
        return Missing(_("No valid run yet"), "submit")
    titles = ", ".join(map(str, map(attrgetter("slug"), without[:3])))
    text = _("No valid run in %(tracks)s") % {"tracks": titles + (" …" if len(without) > 3 else "")}
    return Missing(text, "submit")
