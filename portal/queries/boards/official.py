"""A team's official runs by track and phase, and why they are official, for the team's own pages."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from portal.models import Phase, Run, SharedTask, Track, Viewer
from portal.models.official import official_run
from portal.queries.boards.columns import Column, ranking_column

Scores = Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class OfficialRun:
    """A team's official run in one track and phase.

    `run` is None if the team has no run yet, or if all its runs are official (rule `all`). With the rule `best`, it is
    also None if the viewer must not see scores, because which run is best would reveal something about them. `chosen`
    is true if a person chose the run, rather than the rule.
    """

    phase: Phase
    track: Track
    run: Run | None
    rule: str  # a Phase.Official
    best_by: Column
    is_hidden: bool
    in_steps: bool  # whether the viewer sees scores on a ladder; if so, the best run is the last step
    may_choose: bool  # whether the team can choose now

    @property
    def chosen(self) -> bool:
        return self.run is not None and self.run.chosen_at is not None and self.rule == Phase.Official.CHOSEN

    @property
    def is_settled_choice(self) -> bool:
        """Whether teams could choose, but this team no longer can."""
        return self.rule == Phase.Official.CHOSEN and not self.may_choose


def organized_tasks(phases: Iterable[Phase], viewer: Viewer, at: datetime) -> set[int]:
    """Return those of the phases' tasks that the viewer organizes, if it matters: if some scores are not public."""
    hidden = [phase for phase in phases if not phase.scores_are_public(at) or phase.step_at(at) is not None]
    tasks = {phase.shared_task_id for phase in hidden}
    if not tasks:
        return set()
    return set(SharedTask.objects.filter(pk__in=tasks).organized_by(viewer).values_list("pk", flat=True))


def official_runs(
    runs: Iterable[Run], scores: Mapping[UUID, Scores], viewer: Viewer, at: datetime
) -> list[OfficialRun]:
    """Return an entry for each team, phase and track that these runs belong to.

    `scores` maps runs to the scores that the viewer may see.
    """
    groups: dict[tuple[int | None, Phase, Track], list[Run]] = defaultdict(list)
    for run in runs:
        groups[run.team_id, run.phase, run.track].append(run)
    phases = {phase for _team, phase, _track in groups}
    organized = organized_tasks(phases, viewer, at)
    visible = {phase: phase.scores_are_public(at) or phase.shared_task_id in organized for phase in phases}
    in_steps = {phase: phase.shared_task_id not in organized and phase.step_at(at) is not None for phase in phases}
    found = []
    for (team, phase, track), mine in groups.items():
        is_best = phase.official == Phase.Official.BEST
        candidates = [run for run in mine if run.is_eligible and (not is_best or run.pk in scores)]
        rank_keys = {run.pk: track.rank_key(scores[run.pk]) for run in candidates} if is_best else {}
        official = OfficialRun(
            phase=phase,
            track=track,
            run=official_run(phase.official, candidates, rank_keys),
            rule=phase.official,
            best_by=ranking_column(track),
            is_hidden=is_best and not visible[phase],
            in_steps=in_steps[phase],
            may_choose=phase.official == Phase.Official.CHOSEN and phase.is_open(at, team),
        )
        found.append(official)
    return sorted(found, key=lambda entry: (-entry.phase.position, entry.track.position))
