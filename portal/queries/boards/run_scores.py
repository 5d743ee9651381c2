"""A run's rank and its earlier scores, for the run's page."""

from dataclasses import dataclass
from datetime import datetime

from portal.models import AuditEntry, Evaluation, Run, Viewer
from portal.queries.boards.choices import Choices
from portal.queries.boards.leaderboard import Leaderboard, leaderboard
from portal.queries.boards.table import Row


@dataclass(frozen=True, slots=True)
class RowOnBoard:
    """A run's row on its board, and the board itself."""

    row: Row
    board: Leaderboard


@dataclass(frozen=True, slots=True)
class Earlier:
    """A score from an earlier gold or scorer version. `reason` explains why the run was later rescored."""

    evaluation: Evaluation
    value: float | None  # by the ranking metric
    reason: str


def place(run: Run, viewer: Viewer, at: datetime) -> RowOnBoard | None:
    """Return the run's row on the board of official runs, or None if it has none or the viewer must not see it."""
    board = leaderboard(run.track, run.phase, viewer, at, Choices(search=run.name, size=None))
    return next((RowOnBoard(row, board) for row in board.rows if row.run_id == run.pk), None)


def earlier_scores(run: Run, shown: Evaluation | None, viewer: Viewer, at: datetime) -> list[Earlier]:
    """Return the scores from before the evaluation that is shown, newest first. Empty if none is shown."""
    if shown is None:
        return []
    before = (
        Evaluation.objects.visible_to(viewer, at)
        .filter(run=run, pk__lt=shown.pk)
        .select_related("gold")
        .order_by("-created_at")
    )
    rank_by = run.track.definition.rank_by
    return [
        Earlier(evaluation, evaluation.scores.get(rank_by), _reason(run, evaluation, shown)) for evaluation in before
    ]


def _reason(run: Run, before: Evaluation, shown: Evaluation) -> str:
    if before.gold_id != shown.gold_id and before.scorer == shown.scorer:
        return ""  # the new gold version explains the change
    asked = AuditEntry.objects.filter(
        shared_task=run.track.shared_task,
        verb=AuditEntry.Event.RESCORE,
        at__gte=before.created_at,
        at__lte=shown.created_at,
    )
    newest = asked.first()
    return str(newest.detail.get("reason", "")) if newest else ""
