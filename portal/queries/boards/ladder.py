"""Ladders: which runs improve the shown scores while the phase is open, and the rounded scores shown for them.

Every page, file and email with scores uses `leaderboard` or `runs`, and both use this module. Steps are computed from
scores that the viewer must not see, so these scores never leave this module.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django.db.models import Q, QuerySet

from portal.models import Board, Evaluation, Run, Submission, Viewer
from scoring.analysis.ladder import ladder


@dataclass(frozen=True, slots=True)
class LadderStep:
    """A run that improved its owner's shown score by more than a step, and the rounded ranking key shown for it.

    See `Track.rank_key`.
    """

    owner: int | UUID  # the team or, for a baseline, the run itself
    run: UUID
    evaluation: int
    is_teams: bool
    received_at: datetime
    key: float


class _Sent(NamedTuple):
    run: UUID
    team: int | None
    sender: int | None
    state: str
    received_at: datetime
    evaluation: int | None
    key: float | None

    @property
    def is_awaited(self) -> bool:
        return self.evaluation is None and self.state in Run.UNFINISHED

    @property
    def owners(self) -> tuple[tuple[str, int | UUID | None], ...]:
        """The team and the person who uploaded the run. A baseline is its own owner."""
        return (("run", self.run),) if self.team is None else (("team", self.team), ("sender", self.sender))


def steps(board: Board, runs: QuerySet[Run], viewer: Viewer, at: datetime) -> list[LadderStep]:
    """Return the steps on this board that the viewer may see, in order.

    `runs` must contain either all or none of an owner's runs. A run's owners are its team and its sender, so a person
    who changes teams does not get a second ladder. Withdrawn runs still count, so that withdrawing a run does not reset
    the ladder; the caller must leave them out of the board. A run is not shown until the scores of its owners' earlier
    runs are known, so that scores that have been shown do not change.
    """
    step = board.phase.ladder_step
    assert step is not None
    here = runs.filter(track=board.track_id, phase=board.phase_id)
    seen = Evaluation.objects.visible_in_steps(viewer, at).filter(gold=board.gold_id, scorer=board.scorer)
    scored = {run: (pk, key) for run, pk, key in seen.filter(run__in=here).values_list("run", "pk", "rank_key")}
    fields = ("pk", "team", "submission__sent_by", "state", "received_at")
    rows = here.order_by("received_at", "number", "pk").values_list(*fields)
    unscored: tuple[None, None] = (None, None)
    everything = (_Sent(*row, *(scored.get(row[0]) or unscored)) for row in rows)
    known = list(_known(everything))
    keys = ladder([sent.key for sent in known], step, [sent.owners for sent in known])
    return [
        LadderStep(sent.team or sent.run, sent.run, sent.evaluation, sent.team is not None, sent.received_at, key)
        for sent, key in zip(known, keys, strict=True)
        if key is not None and sent.evaluation is not None
    ]


def shown_keys(runs: Collection[Run], viewer: Viewer, at: datetime) -> dict[UUID, float]:
    """Return the rank keys shown for these runs and their owners' other runs. Runs that made no step are left out."""
    phases, tracks = {run.phase_id for run in runs}, {run.track_id for run in runs}
    teamless = {run.pk for run in runs if run.team_id is None}
    teams = _connected({run.team_id for run in runs if run.team_id is not None}, phases)
    own = Run.objects.filter(Q(team__in=teams) | Q(pk__in=teamless))
    boards = Board.objects.filter(phase__in=phases, track__in=tracks, gold__isnull=False).select_related("phase")
    return {step.run: step.key for board in boards for step in steps(board, own, viewer, at)}


def _connected(teams: set[int], phases: Collection[int]) -> set[int]:
    """Return these teams, and all teams connected to them through people who uploaded for several teams."""
    found: set[int] = set()
    sent = Submission.objects.filter(phase__in=phases)
    while teams - found:
        found |= teams
        senders = sent.filter(team__in=found).values("sent_by")
        teams = set(sent.filter(sent_by__in=senders).order_by().values_list("team", flat=True).distinct())
    return found


def _known(runs: Iterable[_Sent]) -> Iterator[_Sent]:
    """Yield the runs in order, leaving out unfinished ones and any that follow an unfinished run of the same owner."""
    waiting: set[object] = set()
    for sent in runs:
        if sent.is_awaited or not waiting.isdisjoint(sent.owners):
            waiting.update(sent.owners)
        else:
            yield sent
