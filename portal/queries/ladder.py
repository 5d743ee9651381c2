"""Which runs made a step in a phase with a ladder, and what is told of them: all that may be seen while it is open.

Every page, file and mail that shows scores reads boards (`leaderboard`) or runs (`runs`), and both ask here.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import takewhile
from typing import NamedTuple
from uuid import UUID

from django.db.models import FilteredRelation, Q, QuerySet

from portal.models import Board, Run
from scoring.ladder import ladder

_UNFINISHED = (Run.State.RECEIVED, Run.State.SCORING)


@dataclass(frozen=True, slots=True)
class Step:
    """A run with what is told of it: the key that ranks (see `Track.rank_key`), rounded."""

    owner: int | UUID  # the team, or the run of nobody
    run: UUID
    evaluation: int
    is_teams: bool
    received_at: datetime
    key: float


class _Sent(NamedTuple):
    run: UUID
    team: int | None
    state: str
    received_at: datetime
    evaluation: int | None
    key: float | None

    @property
    def is_awaited(self) -> bool:
        return self.evaluation is None and self.state in _UNFINISHED


def steps(board: Board, runs: QuerySet[Run]) -> list[Step]:
    """The steps on that board, in order for each owner; `runs` must hold all of an owner's runs there or none.

    A withdrawn run keeps its place in the order, else one could step down and ask again; whether it stands on a board
    is not asked here. A run waits for the scores of those before it: what was told does not change.
    """
    step = board.phase.ladder_step
    assert step is not None
    shown = Q(evaluations__gold=board.gold_id, evaluations__scorer=board.scorer)
    here = runs.filter(track=board.track_id, phase=board.phase_id).order_by("received_at", "number", "pk")
    rows = here.annotate(shown=FilteredRelation("evaluations", condition=shown)).values_list(
        "pk", "team", "state", "received_at", "shown__pk", "shown__rank_key"
    )
    owners: dict[int | UUID, list[_Sent]] = {}
    for sent in map(_Sent._make, rows):
        owners.setdefault(sent.team or sent.run, []).append(sent)
    return [one for owner, own in owners.items() for one in _told(owner, own, step)]


def told(runs: Collection[Run]) -> dict[UUID, float]:
    """The keys that are told of these runs and of their owners' others; without those that made no step."""
    teams, nobodys = {run.team_id for run in runs if run.team_id}, [run.pk for run in runs if not run.team_id]
    own = Run.objects.filter(Q(team__in=teams) | Q(pk__in=nobodys))
    boards = Board.objects.filter(phase__in={run.phase_id for run in runs}, track__in={run.track_id for run in runs})
    found = boards.filter(gold__isnull=False).select_related("phase")
    return {one.run: one.key for board in found for one in steps(board, own)}


def _told(owner: int | UUID, own: Iterable[_Sent], step: float) -> Iterable[Step]:
    known = list(takewhile(lambda sent: not sent.is_awaited, own))
    for sent, key in zip(known, ladder([sent.key for sent in known], step), strict=True):
        if key is not None and sent.evaluation is not None:
            yield Step(owner, sent.run, sent.evaluation, sent.team is not None, sent.received_at, key)
