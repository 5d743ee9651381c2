"""Runs as seen by their team and the organizers."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from portal.models import Board, Evaluation, GoldStandard, Phase, Run, Submission, Team, Viewer
from portal.models.official import official_runs_of_teams
from portal.models.run import RunQuerySet
from portal.queries.boards.columns import Score, scores, shown_score
from portal.queries.boards.ladder import shown_keys
from portal.queries.boards.official import OfficialRun, official_runs, organized_tasks
from portal.queries.line import Place, place_of
from portal.queries.quota import TrackLimits, remaining
from portal.queries.task_folder import home_command, items_option


@dataclass(frozen=True, slots=True)
class RunLine:
    """A run in a table. If it has no scores, `scores_are_hidden` says whether the reason is that they are hidden.

    If they are, nothing here depends on scoring: a valid run stays valid, and it was finished when it was checked. If
    the viewer sees scores on a ladder, `step` is set, only runs that improved the shown score have a score, and the
    times are not those of scoring, either.
    """

    run: Run
    state: str  # a Run.State, as the viewer may know it
    started_at: datetime | None  # when scoring began
    finished_at: datetime | None
    scores: list[Score]
    flags: list[str]
    scores_are_hidden: bool
    step: float | None = None
    waits_for_gold: bool = False  # whether the run will be scored once organizers add the gold standard

    @property
    def is_finished(self) -> bool:
        if self.state == Run.State.VALID:
            return self.scores_are_hidden or self.waits_for_gold
        return self.state not in (Run.State.RECEIVED, Run.State.CHECKING)

    @property
    def ranking_score(self) -> Score | None:
        return next((score for score in self.scores if score.ranks), None)


@dataclass(frozen=True, slots=True)
class SubmissionView:
    """An upload with its runs and problems.

    `finished` means that the evaluation of the upload and all its runs has ended or, if `scores_are_hidden`, its check.
    """

    submission: Submission
    state: str  # a Submission.State
    runs: list[RunLine]
    problems: list[dict[str, Any]]  # problems in the upload and all its runs
    finished: bool
    remaining: list[TrackLimits]
    errors: int  # number of errors in the upload and all its runs
    warnings: int
    scored: int  # number of scored runs
    scores_are_hidden: bool
    place: Place | None  # None unless the upload is waiting for its check and the place is asked for
    replaces: Submission | None  # the team's submission that this one replaces, now or once it is accepted

    @property
    def report(self) -> dict[str, Any]:
        """The problems, in the format of `agon check --json`."""
        return {"ok": self.state != Submission.State.REJECTED, "state": self.state, "problems": self.problems}

    @property
    def tracks_without_gold(self) -> list[str]:
        """The titles of tracks whose runs wait for a gold standard."""
        return list(dict.fromkeys(line.run.track.title for line in self.runs if line.waits_for_gold))

    @property
    def is_delayed(self) -> bool:
        """Whether the upload or one of its runs is waiting because of an internal error."""
        waiting = [self.submission, *(line.run for line in self.runs if not line.is_finished)]
        return not self.finished and any(work.postponed for work in waiting)


@dataclass(frozen=True, slots=True)
class RunView:
    """A run, with everything that its page shows. `evaluation` is None if the viewer may not see it."""

    line: RunLine
    official: OfficialRun | None  # the team's official run; None for a baseline
    may_be_chosen: bool  # whether its team may choose it now
    may_be_withdrawn: bool
    may_be_described: bool
    submission: Submission | None
    evaluation: Evaluation | None
    command: str  # repeats the check on the reader's computer; empty for a baseline, which has no file name
    score_command: str  # the same for scoring, for people who have the gold standard


def team_runs(team: Team, viewer: Viewer, at: datetime) -> list[RunLine]:
    """Return all runs of a team, newest first."""
    return run_lines(Run.objects.filter(team=team), viewer, at)


def official_runs_of(lines: Iterable[RunLine], viewer: Viewer, at: datetime) -> list[OfficialRun]:
    """Return the official run of each team in each phase and track, newest phase first."""
    lines = list(lines)
    values = {line.run.pk: {score.column.key: score.value for score in line.scores} for line in lines if line.scores}
    return official_runs([line.run for line in lines], values, viewer, at)


def official_among(lines: Iterable[RunLine], viewer: Viewer, at: datetime) -> set[UUID]:
    """Return the ids of those runs that are official, as far as the viewer may know.

    With the rule `best`, the scores of the teams' other runs are read only if the viewer can see these runs' scores.
    """
    by_rule: dict[str, list[RunLine]] = defaultdict(list)
    for line in lines:
        if line.run.team_id is not None and line.run.is_eligible:
            by_rule[line.run.phase.official].append(line)
    of_all = {line.run.pk for line in by_rule.pop(Phase.Official.ALL, [])}
    best = [line.run for line in by_rule.pop(Phase.Official.BEST, []) if line.scores]
    found = official_runs_of(run_lines(_same_board(best), viewer, at), viewer, at) if best else []
    official = of_all | {official_run.run.pk for official_run in found if official_run.run}
    columns = ("team", "phase", "track", "received_at", "number", "chosen_at")
    for rule, some in by_rule.items():  # the other rules need no scores
        runs = _same_board(line.run for line in some).eligible().only(*columns)
        official |= {run.pk for run in official_runs_of_teams(rule, runs, {})}
    return official


def _same_board(runs: Iterable[Run]) -> RunQuerySet:
    """Return all runs from the same teams in the same phases and tracks."""
    teams, phases, tracks = zip(*((run.team_id, run.phase_id, run.track_id) for run in runs), strict=True)
    return Run.objects.filter(team__in=set(teams), phase__in=set(phases), track__in=set(tracks))


def submission_view(submission: Submission, viewer: Viewer, at: datetime, *, with_place: bool = True) -> SubmissionView:
    """Return an upload that the viewer may see, with its problems and its progress.

    The answer to the upload itself does without the place in line, which takes several queries.
    """
    lines = run_lines(Run.objects.filter(submission=submission).order_by("track__position", "number"), viewer, at)
    problems = [*submission.problems, *(problem for line in lines for problem in line.run.problems)]
    severities = Counter(problem["severity"] for problem in problems)
    is_checked = submission.state not in Submission.UNCHECKED
    tracks = {line.run.track_id for line in lines}
    limits = remaining(submission.team, viewer, submission.phase, at)
    return SubmissionView(
        submission=submission,
        state=submission.state,
        runs=lines,
        finished=is_checked and all(line.is_finished for line in lines),
        remaining=[limit for limit in limits if limit.track.pk in tracks or not tracks],
        problems=problems,
        errors=severities["error"],
        warnings=severities["warning"],
        scored=sum(line.state == Run.State.SCORED for line in lines),
        scores_are_hidden=any(line.scores_are_hidden for line in lines),
        place=place_of(submission, at) if with_place else None,
        replaces=_replaces(submission),
    )


def _replaces(submission: Submission) -> Submission | None:
    """Return the newest submission that this one replaced or, if it is not accepted yet, would replace."""
    is_rejected = submission.state in (Submission.State.REJECTED, Submission.State.FAILED)
    if submission.phase.max_submissions is None or is_rejected:
        return None
    if submission.state == Submission.State.ACCEPTED:
        earlier = submission.replaces.all()
    else:
        counting = Submission.objects.counting(submission.team, submission.phase)
        same_time = Q(received_at=submission.received_at, pk__lt=submission.pk)
        earlier = counting.filter(Q(received_at__lt=submission.received_at) | same_time)
    return earlier.order_by("received_at", "pk").last()


def run_view(run: Run, viewer: Viewer, at: datetime) -> RunView:
    """Return a run that the viewer may see, with the details for its page."""
    same = Q(pk=run.pk) if run.team_id is None else Q(team=run.team_id, phase=run.phase_id, track=run.track_id)
    lines = run_lines(Run.objects.filter(same), viewer, at)
    line = next(line for line in lines if line.run == run)
    official = None if run.team_id is None else official_runs_of(lines, viewer, at)[0]
    is_eligible = official is not None and line.run.is_eligible
    return RunView(
        line=line,
        official=official,
        may_be_chosen=is_eligible and line.run.chosen_at is None and bool(official and official.may_choose),
        may_be_withdrawn=is_eligible and not line.run.phase.is_settled(at),
        may_be_described=official is not None and not line.run.phase.is_settled(at),
        submission=run.submission,
        evaluation=None if line.scores_are_hidden else _shown_evaluations([line.run], viewer, at).get(run.pk),
        command=_check_command(run),
        score_command=_score_command(run),
    )


def run_lines(found: QuerySet[Run], viewer: Viewer, at: datetime) -> list[RunLine]:
    """Return lines for these runs, which the viewer may see, with whatever scores the viewer may see."""
    runs = list(
        found.select_related(
            "track__shared_task", "phase__shared_task", "submission", "team", "chosen_by", "withdrawn_by"
        )
    )
    phases = {run.phase for run in runs}
    organized = organized_tasks(phases, viewer, at)
    visible = {phase: phase.scores_are_public(at) or phase.shared_task_id in organized for phase in phases}
    step = {phase: None if phase.shared_task_id in organized else phase.step_at(at) for phase in phases}
    evaluations = _shown_evaluations([run for run in runs if visible[run.phase]], viewer, at)
    keys = shown_keys([run for run in runs if visible[run.phase] and step[run.phase] is not None], viewer, at)
    exact = {phase for phase in phases if visible[phase] and step[phase] is None}
    states = {run.pk: run.state_shown(visible[run.phase]) for run in runs}
    golden = _gold_of([run for run in runs if states[run.pk] in Run.UNFINISHED])
    return [
        RunLine(
            run=run,
            state=states[run.pk],
            started_at=run.started_at if run.phase in exact else None,
            finished_at=_finished_at(run, run.phase in exact),
            scores=_scores(run, evaluations.get(run.pk), keys.get(run.pk), step[run.phase]),
            flags=evaluations[run.pk].flags if run.pk in evaluations else [],
            scores_are_hidden=not visible[run.phase],
            step=step[run.phase],
            waits_for_gold=states[run.pk] in Run.UNFINISHED and (run.track_id, run.phase.split) not in golden,
        )
        for run in runs
    ]


def _gold_of(runs: Iterable[Run]) -> set[tuple[int, str]]:
    """Return the tracks and splits of these runs that have a gold standard."""
    tracks = {run.track_id for run in runs}
    return set(GoldStandard.objects.filter(track__in=tracks).values_list("track", "split")) if tracks else set()


def _finished_at(run: Run, is_exact: bool) -> datetime | None:
    if is_exact or run.state in Run.NOT_COUNTED:
        return run.finished_at
    return run.received_at if run.submission is None else run.submission.checked_at


def _scores(run: Run, evaluation: Evaluation | None, key: float | None, step: float | None) -> list[Score]:
    """Return the run's scores or, on a ladder, the part of them that is shown."""
    if evaluation is not None:
        return scores(run.track, run.phase.split, evaluation.scores)
    return [] if key is None or step is None else [shown_score(run.track, key, step)]


def _shown_evaluations(runs: Iterable[Run], viewer: Viewer, at: datetime) -> dict[Any, Evaluation]:
    """Map runs to the evaluation shown on a released board or, if there is none, to the latest with the newest gold."""
    by_id = {run.pk: run for run in runs if run.finished_at is not None}  # no other run has ever been scored
    if not by_id:
        return {}
    released = _released_pairs({run.phase for run in by_id.values()}, at)
    found = Evaluation.objects.visible_to(viewer, at).filter(run__in=by_id).select_related("gold")
    found = found.order_by("gold__version", "created_at")

    def is_shown(evaluation: Evaluation) -> bool:
        pair = evaluation.gold_id, evaluation.scorer
        return released.get((by_id[evaluation.run_id].track_id, evaluation.phase_id), pair) == pair

    return {evaluation.run_id: evaluation for evaluation in found if is_shown(evaluation)}


def _released_pairs(phases: Iterable[Phase], at: datetime) -> dict[tuple[int, int], tuple[int | None, str]]:
    """Return the gold and scorer versions of boards that keep them until organizers apply new scores.

    Keys are the track and phase.
    """
    kept = [phase for phase in phases if phase.keeps_scores(at)]
    boards = Board.objects.filter(phase__in=kept, gold__isnull=False)
    return {(board.track_id, board.phase_id): (board.gold_id, board.scorer) for board in boards.defer("comparison")}


def _check_command(run: Run) -> str:
    if run.submission is None or run.team is None:
        return ""
    words = ("--team", run.team.name, run.submission.file_name)
    return home_command("check", run.track.shared_task, run.phase.split, *words)


def _score_command(run: Run) -> str:
    if run.submission is None:
        return ""
    track, split = run.track, run.phase.split
    words = ("--track", track.slug, "--gold", "GOLD", *items_option(track, split), run.file_name)
    return home_command("score", track.shared_task, split, *words)
