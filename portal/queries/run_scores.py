"""A run's score among others, and what it was before: for the run's page."""

from dataclasses import dataclass
from datetime import datetime

from portal.models import AuditEntry, Evaluation, Run, Viewer
from portal.queries.board_table import Row
from portal.queries.choices import Choices
from portal.queries.leaderboard import Leaderboard, leaderboard


@dataclass(frozen=True, slots=True)
class RowOnBoard:
    """The run's row on its board, and the board; only of a run that appears there."""

    row: Row
    board: Leaderboard


@dataclass(frozen=True, slots=True)
class Earlier:
    """A score that another gold standard or scorer gave; `reason` is why the run was scored again after it."""

    evaluation: Evaluation
    value: float | None  # by the metric that ranks
    reason: str


def place(run: Run, viewer: Viewer, at: datetime) -> RowOnBoard | None:
    """The run's row on the board of official runs, for someone who may see it."""
    board = leaderboard(run.track, run.phase, viewer, at, Choices(search=run.name, size=None))
    return next((RowOnBoard(row, board) for row in board.rows if row.run_id == run.pk), None)


def earlier_scores(run: Run, shown: Evaluation | None, viewer: Viewer, at: datetime) -> list[Earlier]:
    """What the run got before the evaluation that is shown, newest first; nothing where none is."""
    if shown is None:
        return []
    before = (
        Evaluation.objects.visible_to(viewer, at)
        .filter(run=run, pk__lt=shown.pk)
        .select_related("gold")
        .order_by("-created_at")
    )
    rank_by = run.track.definition.rank_by
    return [Earlier(one, one.scores.get(rank_by), _reason(run, one, shown)) for one in before]


def _reason(run: Run, before: Evaluation, shown: Evaluation) -> str:
    if before.gold_id != shown.gold_id and before.scorer == shown.scorer:
        return ""  # the gold standard's version says it
    asked = AuditEntry.objects.filter(
        shared_task=run.track.shared_task, verb="rescore", at__gte=before.created_at, at__lte=shown.created_at
    )
    newest = asked.first()
    return str(newest.detail.get("reason", "")) if newest else ""
