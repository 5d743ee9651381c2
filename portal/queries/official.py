"""Which run stands for a team, and why: the one rule for leaderboards and for the team's own pages."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from portal.models import Phase, Run, Track, Viewer
from portal.queries.columns import Column, Order, ranking_column

Scores = Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class Standing:
    """What counts for one team in one track and phase.

    `run` is None where no run may stand yet, where all do (rule `all`), and where the rule is `best` and the viewer
    must not see scores: which run is best would tell about them. `chosen` says that somebody chose it, else the rule.
    """

    phase: Phase
    track: Track
    run: Run | None
    rule: str  # one of Phase.Official
    best_by: Column
    is_hidden: bool
    in_steps: bool  # the viewer sees scores on a ladder: of best runs the last step
    may_choose: bool  # the team, now

    @property
    def chosen(self) -> bool:
        return self.run is not None and self.run.chosen_at is not None and self.rule == Phase.Official.CHOSEN

    @property
    def is_settled_choice(self) -> bool:
        """Whether a choice was possible and is no more."""
        return self.rule == Phase.Official.CHOSEN and not self.may_choose


def first(phase: Phase, order: Order) -> Callable[[Run, Scores], tuple[Any, ...]]:
    """A sort key: of a team's eligible runs, the one that stands for it comes first.

    A team that chose none is stood for by its last.
    """
    if phase.official == Phase.Official.BEST:
        return lambda run, scores: (order(scores), run.received_at)
    if phase.official == Phase.Official.CHOSEN:
        return lambda run, _scores: (run.chosen_at is None, *_newest(run))
    return lambda run, _scores: _newest(run)


def standings(runs: Iterable[Run], scores: Mapping[UUID, Scores], viewer: Viewer, at: datetime) -> list[Standing]:
    """One entry for each phase and track of one team's runs; `scores` are those that the viewer may see, by run."""
    groups: dict[tuple[Phase, Track], list[Run]] = defaultdict(list)
    for run in runs:
        groups[run.phase, run.track].append(run)
    phases = {phase for phase, _track in groups}
    visible = {phase: phase.scores_are_visible_to(viewer, at) for phase in phases}
    in_steps = {phase: phase.step_for(viewer, at) is not None for phase in phases}
    found = [
        _standing(phase, track, mine, scores, at, is_visible=visible[phase], in_steps=in_steps[phase])
        for (phase, track), mine in groups.items()
    ]
    return sorted(found, key=lambda one: (-one.phase.position, one.track.position))


def _standing(
    phase: Phase,
    track: Track,
    runs: list[Run],
    scores: Mapping[UUID, Scores],
    at: datetime,
    *,
    is_visible: bool,
    in_steps: bool,
) -> Standing:
    column = ranking_column(track)
    is_best = phase.official == Phase.Official.BEST
    candidates = [run for run in runs if run.is_eligible and (not is_best or run.pk in scores)]
    key = first(phase, Order(column.key, column.higher_is_better))
    is_one = phase.official != Phase.Official.ALL
    return Standing(
        phase=phase,
        track=track,
        run=min(candidates, key=lambda run: key(run, scores.get(run.pk, {})), default=None) if is_one else None,
        rule=phase.official,
        best_by=column,
        is_hidden=is_best and not is_visible,
        in_steps=in_steps,
        may_choose=phase.official == Phase.Official.CHOSEN and phase.is_open(at, runs[0].team_id),
    )


def _newest(run: Run) -> tuple[float, int]:
    return -run.received_at.timestamp(), -(run.number or 0)
