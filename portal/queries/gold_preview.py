"""The effects of a gold standard that has not been applied yet: each run's old and new score, rank and tie group."""

from copy import copy
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import Http404
from django.utils.translation import gettext as _

from portal.models import Board, Evaluation, GoldStandard, GoldUpload, Phase, Run, SharedTask, User
from portal.models.official import official_runs_of_teams
from portal.queries.boards.choices import Choices
from portal.queries.boards.rows import counted_key, ranked, select
from portal.queries.boards.slices import Scores
from portal.queries.boards.ties import letter

LISTED = 500  # maximum number of a board's runs on one page


@dataclass(frozen=True, slots=True)
class PlaceOnBoard:
    """A run on a board. `scores` may be None, and only official runs have a rank and a tie group."""

    scores: Scores | None
    rank: int | None
    group: str

    def value(self, metric: str) -> float | None:
        return None if self.scores is None else self.scores.get(metric)


@dataclass(frozen=True, slots=True)
class PreviewedRun:
    """A run before and after the change."""

    run: Run
    before: PlaceOnBoard
    after: PlaceOnBoard
    rank_by: str

    @property
    def values(self) -> tuple[float | None, float | None]:
        """The old and the new ranking value."""
        return self.before.value(self.rank_by), self.after.value(self.rank_by)


@dataclass(frozen=True, slots=True)
class PreviewedBoard:
    """A board before and after the change. Runs are in their old order, with unranked ones last."""

    phase: Phase
    is_public: bool
    runs: list[PreviewedRun]

    @property
    def rescored(self) -> int:
        """The number of runs whose scores differ."""
        return sum(run.before.scores != run.after.scores for run in self.runs)

    @property
    def reranked(self) -> int:
        """The number of runs whose rank differs, or that have a rank only before or only after the change."""
        return sum(run.before.rank != run.after.rank for run in self.runs)

    @property
    def regrouped(self) -> int:
        """The number of runs whose tie group differs."""
        return sum(run.before.group != run.after.group for run in self.runs)

    @property
    def listed(self) -> list[PreviewedRun]:
        """The runs that fit on a page."""
        return self.runs[:LISTED]

    @property
    def unlisted(self) -> int:
        return max(len(self.runs) - LISTED, 0)

    @property
    def lost(self) -> int:
        """The number of runs that cannot be scored with the new gold."""
        return sum(run.after.scores is None for run in self.runs)


@dataclass(frozen=True, slots=True)
class GoldPreview:
    """An upload, with the items that it changes and the boards that it affects.

    `changes` maps each kind of change to its `count`, and to the first ids in `items`.
    """

    upload: GoldUpload
    changes: dict[str, dict[str, Any]]
    boards: list[PreviewedBoard]
    is_stale: bool  # whether the gold, scorer, rules or runs of closed phases have changed since the preview

    @property
    def kinds(self) -> list[tuple[str, dict[str, Any]]]:
        """The kinds of changes that occur, with their names."""
        words = {"changed": _("Changed items"), "added": _("Added items"), "removed": _("Removed items")}
        return [(words[kind], part) for kind, part in self.changes.items() if part["count"]]

    @property
    def can_be_applied(self) -> bool:
        return self.upload.state == GoldUpload.State.READY and not self.is_stale


def find_preview(shared_task: SharedTask, key: UUID, organizer: User, at: datetime) -> GoldPreview:
    """Return the preview of an upload that the person may see. `boards` is empty until the preview has been computed.

    Raises:
        Http404: there is no such upload.
    """
    found = GoldUpload.objects.visible_to(organizer).filter(track__shared_task=shared_task, pk=key)
    upload = found.select_related("track__shared_task", "sent_by", "gold").first()
    if upload is None:
        raise Http404
    is_ready = upload.state == GoldUpload.State.READY
    return GoldPreview(
        upload=upload,
        changes=upload.preview.get("changes", {}),
        boards=[_board(upload, kept, organizer, at) for kept in upload.preview.get("boards", [])],
        is_stale=is_ready and (not upload.sealed_sha256 or upload.basis != upload.basis_at(at)),
    )


def _board(upload: GoldUpload, kept: dict[str, Any], organizer: User, at: datetime) -> PreviewedBoard:
    track, gold = upload.track, GoldStandard.objects.get(pk=kept["gold"])
    board = copy(Board.objects.select_related("phase").defer("comparison").get(track=track, phase=kept["phase"]))
    board.track, board.gold, board.scorer = track, gold, kept["scorer"]
    seen = Evaluation.objects.visible_to(organizer, at).on_board(board.phase, gold, board.scorer)
    in_order = seen.select_related("run__team").defer("details").order_by("run__received_at")
    shown = [evaluation for evaluation in in_order if str(evaluation.run_id) in kept["runs"]]
    ranks, new_ranks = select(board, track, Choices(), organizer, at).ranks, _ranks(upload, board.phase, shown, kept)
    rank_by = track.definition.rank_by
    runs = [
        PreviewedRun(
            run=evaluation.run,
            before=PlaceOnBoard(evaluation.scores, ranks.get(evaluation.pk), _group(kept["groups_before"], evaluation)),
            after=PlaceOnBoard(
                kept["runs"][str(evaluation.run_id)], new_ranks.get(evaluation.pk), _group(kept["groups"], evaluation)
            ),
            rank_by=rank_by,
        )
        for evaluation in sorted(
            shown, key=lambda evaluation: (ranks.get(evaluation.pk) or len(shown) + 1, evaluation.run.name)
        )
    ]
    return PreviewedBoard(board.phase, board.phase.scores_are_public(at), runs)


def _group(groups: dict[str, int], evaluation: Evaluation) -> str:
    return letter(groups.get(str(evaluation.run_id), 0))


def _ranks(upload: GoldUpload, phase: Phase, shown: list[Evaluation], kept: dict[str, Any]) -> dict[int, int | None]:
    """Return the ranks of the runs that are official according to the new scores, by evaluation.

    `shown` are in the order in which the runs were received.
    """
    scores = {evaluation.run_id: kept["runs"][str(evaluation.run_id)] for evaluation in shown}
    keys = {run: None if found is None else upload.track.rank_key(found) for run, found in scores.items()}
    chosen = set(official_runs_of_teams(phase.official, [evaluation.run for evaluation in shown], keys))
    official = [(evaluation, evaluation.run.team) for evaluation in shown if evaluation.run in chosen]
    found = [
        (evaluation.pk, counted_key(keys[evaluation.run_id], team.unranked_at if team else None))
        for evaluation, team in official
    ]
    return ranked(found, upload.track)
