"""Intervals of overall rankings by mean score, computed in the background like those of boards."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from datetime import datetime, timedelta
from typing import Any

import structlog

from portal.evaluation.child import run_limited
from portal.evaluation.compare import RUNS, board_rules, board_run
from portal.evaluation.confined.compare_tracks import METHOD, TrackOfTeams, compare_tracks
from portal.evaluation.errors import ChildError
from portal.evaluation.limits import COMPARE_AGAIN_SECONDS, COMPARE_SECONDS
from portal.models import Board, CombinedBoard, Evaluation, Phase
from portal.models.board import BoardQuerySet
from portal.models.lease import has_ended
from portal.models.task import engine_of
from portal.storage import stored_file
from scoring import __version__ as scorer_version
from scoring.definition import Overall
from scoring.metrics import describe
from scoring.significance import MeanScore

log = structlog.get_logger("portal.evaluation")

RUNS_IN_ALL = 1200  # how many runs of all tracks to compare, which limits time and memory

Parts = Sequence[Evaluation | None]  # a team's evaluations, in the order of the tracks


def combined_to_refresh(among: BoardQuerySet, at: datetime) -> tuple[list[int], set[int]]:
    """Select the overall rankings over these boards that have changed since they were compared.

    A ranking is compared once all of its boards have been. The second value contains the keys of the phases with
    rankings to compare, now or soon.
    """
    due: list[int] = []
    waiting: set[int] = set()
    rested = at - timedelta(seconds=COMPARE_AGAIN_SECONDS)
    for phase in Phase.objects.filter(boards__in=among).distinct().select_related("shared_task"):
        rules = [rule for rule in phase.shared_task.definition.overall if rule.by == "mean-score"]
        if not rules or (phase.is_open(at) and not phase.scores_are_public(at)):
            continue
        for rule in rules:
            boards = _boards(phase, rule)
            if not boards or any(
                engine_of(board.scorer) != scorer_version or board.compared_revision != board.revision
                for board in boards.values()
            ):
                continue
            row, _is_new = CombinedBoard.objects.defer("comparison").get_or_create(phase=phase, slug=rule.slug)
            if row.revisions == _revisions(boards):
                continue
            waiting.add(phase.pk)
            if has_ended(row.busy_until, at) and (row.compared_at is None or row.compared_at <= rested):
                due.append(row.pk)
    return due, waiting


def compare_combined(row: CombinedBoard, at: datetime) -> None:
    """Update the comparison of the teams in an overall ranking."""
    phase = row.phase
    rule = next((candidate for candidate in phase.shared_task.definition.overall if candidate.slug == row.slug), None)
    if rule is None or rule.by != "mean-score":
        row.delete()
        return
    boards = _boards(phase, rule)
    revisions = _revisions(boards)
    mean = MeanScore(rule.all_weights, rule.missing)
    teams = _ranked_teams(rule, boards, mean)
    comparison: dict[str, Any] = {
        "method": METHOD,
        "rule": CombinedBoard.origin_of(rule),
        "boards": {slug: [_version(board), board.scorer, _rank_by(board)] for slug, board in boards.items()},
        "runs": {team: [part and str(part.run_id) for part in parts] for team, parts in teams.items()},
    }
    mine = CombinedBoard.objects.filter(pk=row.pk)
    is_kept = any(board.keeps_scores(at) for board in boards.values())
    # Final rankings keep the results of an earlier method.
    known = {**comparison, "method": row.comparison.get("method")} if is_kept and row.comparison else comparison
    if all(row.comparison.get(key) == value for key, value in known.items()):
        mine.update(revisions=revisions, compared_at=at)
        return
    try:
        comparison |= _compared(rule, boards, teams, mean)
    except OSError as error:
        log.warning("comparison failed and will be retried", ranking=str(row), error=str(error))
        mine.update(compared_at=at)
        return
    except ChildError as error:
        log.warning("no intervals", ranking=str(row), error=str(error))
    mine.update(comparison=comparison, revisions=revisions, compared_at=at, revision=row.revision + 1)
    log.info("compared over tracks", ranking=str(row), teams=len(teams))


def _boards(phase: Phase, rule: Overall) -> dict[str, Board]:
    """Return the boards with scores by track, in the order of the ranking's tracks."""
    found = Board.objects.filter(phase=phase, track__slug__in=rule.tracks, gold__isnull=False)
    found = found.select_related("track__shared_task", "phase__shared_task", "gold").defer("comparison")
    by_slug = {board.track.slug: board for board in found}
    return {slug: by_slug[slug] for slug in rule.tracks if slug in by_slug}


def _version(board: Board) -> int:
    assert board.gold is not None
    return board.gold.version


def _revisions(boards: Mapping[str, Board]) -> dict[str, int]:
    return {str(board.pk): board.revision for board in boards.values()}


def _rank_by(board: Board) -> str:
    return board.track.definition.rank_by


def _is_better_high(board: Board) -> bool:
    return describe(board.track.definition.ranking_metric).higher_is_better


def _ranked_teams(rule: Overall, boards: Mapping[str, Board], mean: MeanScore) -> dict[str, Parts]:
    """Return the evaluations of the ranked teams, best team first, up to a limit."""
    parts: dict[str, list[Evaluation | None]] = {}
    for at, slug in enumerate(rule.tracks):
        for evaluation in _official(boards[slug]) if slug in boards else ():
            own = parts.setdefault(str(evaluation.team_id), [None] * len(rule.tracks))
            own[at] = own[at] or evaluation  # if all runs are official, each team's best run counts
    values: dict[str, float] = {}
    for team, own in parts.items():
        scores = [
            None if part is None else part.scores[_rank_by(boards[slug])]
            for slug, part in zip(rule.tracks, own, strict=True)
        ]
        if (value := mean.value(scores)) is not None:
            values[team] = value
    is_better_high = _is_better_high(next(iter(boards.values())))
    best_first = sorted(values, key=lambda team: (-values[team] if is_better_high else values[team], team))
    return {team: parts[team] for team in best_first[: min(RUNS, RUNS_IN_ALL // len(rule.tracks))]}


def _official(board: Board) -> list[Evaluation]:
    assert board.gold is not None
    found = Evaluation.objects.official(board.phase, board.gold, board.scorer).filter(rank_key__isnull=False)
    return list(found.select_related("run").defer("details").order_by("rank_key", "run__received_at", "run__name"))


def _compared(
    rule: Overall, boards: Mapping[str, Board], teams: Mapping[str, Parts], mean: MeanScore
) -> dict[str, Any]:
    """Compare the teams in a confined child; see `run_limited`."""
    with ExitStack() as files:
        tracks = []
        for at, slug in enumerate(rule.tracks):
            own = {team: parts[at] for team, parts in teams.items()}
            runs = {
                team: board_run(evaluation, files.enter_context(stored_file(evaluation.run.file_sha256)))
                for team, evaluation in own.items()
                if evaluation is not None
            }
            tracks.append(TrackOfTeams(board_rules(boards[slug]), runs) if slug in boards else None)
        definition = next(iter(boards.values())).track.shared_task.definition
        return dict(
            run_limited(
                compare_tracks,
                tracks,
                list(teams),
                mean,
                _is_better_high(next(iter(boards.values()))),
                readable=[definition.folder, *(run.file for track in tracks if track for run in track.runs.values())],
                seconds=COMPARE_SECONDS,
            )
        )
