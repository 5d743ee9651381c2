"""Intervals and tie groups of a board's runs: made in the background, kept with the board, never made in a request."""

from collections.abc import Mapping
from contextlib import ExitStack
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import structlog
from django.db.models import F, Q

from portal.evaluation.child import ChildError, run_limited
from portal.evaluation.limits import COMPARE_AGAIN_SECONDS, COMPARE_SECONDS
from portal.evaluation.opened_gold import opened_gold
from portal.models import Board, Evaluation, Phase, ReleasedBoard, Run
from portal.storage import stored_file
from scoring import __version__ as scorer_version
from scoring.analysis.details import field_details
from scoring.analysis.languages import by_language, read_languages
from scoring.definition import MetricSpec
from scoring.definition import Track as TrackDefinition
from scoring.metrics import Comparison, LoadedGold, compare
from scoring.score import run_answers
from scoring.significance import intervals, leads, rank_ranges, tie_groups
from scoring.uploads.inspection import read_run

log = structlog.get_logger("portal.evaluation")

ROUNDS = 10_000
LEVEL = 0.95
SEED = 1  # any will do, if it stays
FIELD = 30  # of these, what can still be looked at side by side
RUNS = 300  # the best; all pairs of so many are compared in some ten seconds
METHOD = 2  # of intervals and tie groups; 1: percentiles, and tests against the best run alone


def boards_to_refresh(at: datetime) -> list[int]:
    """Boards whose runs have changed, or that are public and not kept yet; none that waits for scores or for its day.

    A board that changes all the time is compared once in a while.
    """
    boards = Board.objects.free(at).filter(gold__isnull=False).select_related("phase", "track__shared_task", "gold")
    boards = boards.defer("comparison")  # of many runs it is long
    rested = Q(compared_at__isnull=True) | Q(compared_at__lte=at - timedelta(seconds=COMPARE_AGAIN_SECONDS))
    stale = boards.filter(rested, scorer=scorer_version).exclude(compared_revision=F("revision"))
    due = [board.pk for board in stale if board.phase.scores_are_public(at) or not board.phase.is_open(at)]
    return [*due, *(board.pk for board in boards.exclude(pk__in=due) if is_to_be_kept(board, at))]


def is_to_be_kept(board: Board, at: datetime) -> bool:
    """Whether a released board stands as it is, and is not kept yet."""
    phase = board.phase
    if phase.scores != Phase.Scores.ON_RELEASE or not phase.scores_are_public(at):
        return False
    if board.scorer == scorer_version and board.compared_revision != board.revision:
        return False  # what an older scorer gave is not compared again
    same = {"gold": board.gold, "scorer": board.scorer, "content__rank_by": board.track.definition.rank_by}
    kept = ReleasedBoard.objects.filter(track=board.track_id, phase=phase, **same)
    waiting = Run.objects.scorable().filter(track=board.track_id, phase=phase)
    return not kept.exists() and not waiting.filter(state__in=(Run.State.RECEIVED, Run.State.SCORING)).exists()


def compare_board(board: Board, at: datetime) -> None:
    """Bring intervals and tie groups in line with the runs that the board shows now."""
    revision = board.revision
    evaluations = _compared_runs(board)
    further = _further_runs(board, evaluations) if board.language_origin else []
    definition = board.track.shared_task.definition
    reference = _reference(board)
    comparison: dict[str, Any] = {
        "metric": definition.track(board.track.slug).rank_by,
        "evaluations": sorted(evaluation.pk for evaluation in evaluations),
        "reference": reference,
        "language_origin": board.language_origin,
        "by_language_alone": sorted(evaluation.pk for evaluation in further),
    }
    mine = Board.objects.filter(pk=board.pk)
    same_method = board.comparison.get("method", 1) == METHOD or board.keeps_scores(at)
    if same_method and all(board.comparison.get(key) == value for key, value in comparison.items()):
        mine.update(compared_revision=revision, compared_at=at)
        return
    try:
        with ExitStack() as files:
            read = [*evaluations, *further]
            paths = {one.pk: files.enter_context(stored_file(one.run.file_sha256)) for one in read}
            gold = board_gold(board)
            work = partial(_compare, board, gold, evaluations, further, paths, reference)
            comparison |= run_limited(work, [definition.folder, *paths.values()], COMPARE_SECONDS)
    except OSError as error:
        log.warning("not compared: it is tried again", board=str(board), error=str(error))
        mine.update(compared_at=at)
        return
    except ChildError as error:
        log.warning("no intervals", board=str(board), error=str(error))
    mine.update(comparison=comparison, compared_at=at, compared_revision=revision + 1, revision=F("revision") + 1)
    log.info("compared", board=str(board), runs=len(evaluations))


def board_gold(board: Board) -> LoadedGold:
    """The board's gold standard, opened by this worker for a child to inherit; `OSError` as `opened_gold`."""
    assert board.gold is not None
    shared_task = board.track.shared_task
    return opened_gold(board.gold, shared_task.definition, shared_task.definition_sha256)


def beside_gold(
    board: Board,
    gold: LoadedGold,
    evaluations: list[Evaluation],
    paths: Mapping[int, Path],
    *,
    lenient: bool = False,
) -> dict[str, Comparison]:
    """In the child: each run laid beside the board's gold standard, by evaluation; `paths` has their files.

    With `lenient` those that cannot be read are left out, and cost the others nothing.
    """
    definition = board.track.shared_task.definition
    slug, split = board.track.slug, board.phase.split
    track = definition.track(slug)
    beside = {}
    for one in evaluations:
        try:
            body = read_run(paths[one.pk], one.run.entry)
            is_baseline = one.run.kind == Run.Kind.BASELINE
            answers, _report = run_answers(definition, slug, body, gold, track.items.get(split), is_baseline, split)
            if answers is None:
                raise ValueError("scored, and not to be read any more")
        except Exception:  # whatever a file holds
            if not lenient:
                raise
            continue
        beside[str(one.pk)] = compare(gold, answers, count_outside=track.items_outside_gold == "count")
    return beside


def _compared_runs(board: Board) -> list[Evaluation]:
    """The best of the runs that stand for teams, and the baselines, where the metric is defined."""
    assert board.gold is not None
    pair = (board.phase, board.gold, board.scorer)
    best = Evaluation.objects.official(*pair).order_by("rank_key")
    others = Evaluation.objects.on_board(*pair).filter(run__kind=Run.Kind.BASELINE)
    found = [best.filter(rank_key__isnull=False)[:RUNS], others.filter(rank_key__isnull=False)]
    return [evaluation for part in found for evaluation in part.select_related("run").defer("details")]


def _further_runs(board: Board, compared: list[Evaluation]) -> list[Evaluation]:
    """The best of the runs that stand for nobody: a board of all runs ranks them by the language of items, too."""
    assert board.gold is not None
    here = Evaluation.objects.on_board(board.phase, board.gold, board.scorer)
    found = here.filter(team__isnull=False, rank_key__isnull=False).exclude(pk__in=[one.pk for one in compared])
    return list(found.select_related("run").defer("details").order_by("rank_key", "pk")[:RUNS])


def _reference(board: Board) -> int | None:
    """The evaluation of the gold standard against itself, where it is on the board."""
    assert board.gold is not None
    here = Evaluation.objects.on_board(board.phase, board.gold, board.scorer)
    return here.filter(run__kind=Run.Kind.GOLD).values_list("pk", flat=True).first()


def _compare(
    board: Board,
    gold: LoadedGold,
    evaluations: list[Evaluation],
    further: list[Evaluation],
    paths: Mapping[int, Path],
    reference: int | None,
) -> dict[str, Any]:
    """In the child: bounds, groups and ranges of ranks by evaluation, and what the field says, as plain values."""
    track = board.track.definition
    spec = track.ranking_metric
    laid = beside_gold(board, gold, [*evaluations, *further], paths, lenient=True)
    beside = {str(one.pk): laid[str(one.pk)] for one in evaluations}
    teams = {str(one.pk): beside[str(one.pk)] for one in evaluations if one.run.kind == Run.Kind.TEAM}
    best = dict(list(teams.items())[:FIELD])
    bounds = intervals(beside, spec, seed=SEED, rounds=ROUNDS, level=LEVEL)
    return {
        "method": METHOD,
        "rounds": ROUNDS,
        "seed": SEED,
        "level": LEVEL,
        "intervals": {pk: [found.low, found.high] for pk, found in bounds.items() if found is not None},
        "groups": _groups(teams, spec),
        "ranks": rank_ranges(teams, spec, seed=SEED, rounds=ROUNDS, level=LEVEL),
        "leads": _leads(best, spec),
        "field": field_details(best),
        "languages": _languages(board, track, laid, reference),
    }


def _languages(
    board: Board, track: TrackDefinition, beside: Mapping[str, Comparison], reference: int | None
) -> dict[str, Any]:
    file = track.item_languages.get(board.phase.split)
    if file is None or not beside:
        return {}
    gold = next(iter(beside.values())).gold
    itself = {} if reference is None else {str(reference): compare(gold, gold.answers)}
    return by_language({**beside, **itself}, read_languages(track, file), track.metrics)


def _leads(best: Mapping[str, Comparison], spec: MetricSpec) -> dict[str, dict[str, list[float]]]:
    """Of each run over each later one: lead, lower bound, upper bound, p-value."""
    found = leads(best, spec, seed=SEED, rounds=ROUNDS, level=LEVEL)
    return {
        name: {other: [one.lead, one.low, one.high, one.p_value] for other, one in others.items()}
        for name, others in found.items()
    }


def _groups(teams: Mapping[str, Comparison], spec: MetricSpec) -> dict[str, int]:
    if len(teams) < 2:
        return {}
    standings = tie_groups(teams, spec, seed=SEED, rounds=ROUNDS, alpha=1 - LEVEL)
    return {one.name: one.group for one in standings if one.group is not None}
