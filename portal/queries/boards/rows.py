"""The rows of a board: its evaluations with their order, ranks and names."""

import hashlib
import hmac
from base64 import b32encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.conf import settings
from django.db.models import Case, F, FloatField, Q, QuerySet, Value, When
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast
from django.utils.translation import gettext as _

from portal.models import Board, Evaluation, Phase, Run, Team, Track, Viewer
from portal.queries.boards.choices import Choices
from portal.queries.boards.columns import Order, ranking_column
from portal.queries.boards.ladder import steps
from portal.queries.boards.rank_bounds import RankBounds, rank_bounds
from portal.queries.boards.slices import Scores
from portal.queries.boards.table import Row
from portal.queries.papers import HAS_PAPER

_KINDS = Case(When(run__kind=Run.Kind.GOLD, then=0), When(run__kind=Run.Kind.BASELINE, then=1), default=Value(2))


class RunColumns(NamedTuple):
    """The columns that a row needs from an evaluation and its run."""

    pk: int
    scores: Scores
    flags: list[str]
    run_id: UUID
    kind: str
    name: str
    number: int | None
    method: str
    system: str
    received_at: datetime
    chosen_at: datetime | None
    team_id: int | None
    team: str | None
    fields: Mapping[str, str]
    unranked_at: datetime | None


_RUN = (
    "kind", "name", "number", "method", "system_type", "received_at", "chosen_at", "team", "team__name", "fields",
    "team__unranked_at",
)  # fmt: skip
# In the order of the fields of RunColumns.
_FIELDS = ("pk", "scores", "flags", "run", *(f"run__{name}" for name in _RUN))


@dataclass(frozen=True, slots=True)
class Names:
    """The team names that a viewer may see: all names, or the viewer's own team's name, with aliases for the others."""

    phase: Phase
    are_public: bool
    own: Team | None

    def team(self, line: RunColumns) -> str:
        if self.knows(line):
            return line.team or ""
        secret = f"{settings.SECRET_KEY}/alias".encode()
        digest = hmac.new(secret, f"{self.phase.pk}/{line.team_id}".encode(), hashlib.sha256).digest()
        return _("Team %(alias)s") % {"alias": b32encode(digest).decode()[:5]}

    def knows(self, line: RunColumns) -> bool:
        return self.are_public or line.team_id is None or self.owns(line)

    def owns(self, line: RunColumns) -> bool:
        return self.own is not None and self.own.pk == line.team_id


@dataclass(frozen=True, slots=True)
class BoardPage:
    """One page of lines. `count` is the number of lines on all pages."""

    lines: list[RunColumns]
    count: int
    number: int = 1
    pages: int = 1


@dataclass(frozen=True, slots=True)
class Selection:
    """The evaluations on a board. `ranks` maps each to its rank, or to None if the ranking metric is undefined
    or the team has no rank.

    If `scores` is given, it replaces the evaluations' own scores with the steps of a ladder or with scores on one
    slice.
    """

    board: Board
    found: QuerySet[Evaluation]
    ranks: Mapping[int, int | None] = field(default_factory=dict)
    scores: Mapping[int, Scores] | None = None
    in_steps: bool = False

    @property
    def best_first(self) -> Order:
        column = ranking_column(self.board.track)
        return Order(column.key, column.higher_is_better)


def select_steps(board: Board, track: Track, choices: Choices, viewer: Viewer, at: datetime) -> Selection:
    """Select each team's last step on a ladder, or all steps, with their ranks. References are included."""
    assert board.gold is not None
    here = Evaluation.objects.visible_in_steps(viewer, at).on_board(
        board.phase, board.gold, board.scorer, choices.until
    )
    counted = set(here.values_list("pk", flat=True))
    found = [step for step in steps(board, Run.objects.all(), viewer, at) if step.evaluation in counted]
    if choices.runs == "official":
        found = list({step.owner: step for step in found}.values())
    found.sort(key=lambda step: step.received_at)
    scores = {step.evaluation: {track.definition.rank_by: track.score_of(step.key)} for step in found}
    unranked = set(here.filter(team__unranked_at__isnull=False).values_list("pk", flat=True))
    keys = [(step.evaluation, None if step.evaluation in unranked else step.key) for step in found if step.is_teams]
    ranks = ranked(keys, track)
    return Selection(board, here.filter(pk__in=scores), ranks, scores, in_steps=True)


def select(board: Board, track: Track, choices: Choices, viewer: Viewer, at: datetime) -> Selection:
    """Select the official runs, or all runs, that the viewer may see, and rank them. References are included."""
    assert board.gold is not None
    phase, pair = board.phase, (board.phase, board.gold, board.scorer, choices.until)
    seen = Evaluation.objects.visible_to(viewer, at)
    is_all = choices.runs == "all" or phase.official == Phase.Official.ALL
    teams = seen.on_board(*pair).filter(team__isnull=False) if is_all else seen.official(*pair)
    found = teams.order_by("run__received_at").values_list("pk", "rank_key", "team__unranked_at")
    ranks = ranked([(pk, counted_key(key, since, choices.until)) for pk, key, since in found], track)
    if is_all:
        return Selection(board, seen.on_board(*pair), ranks)
    references = seen.references(*pair).values_list("pk", flat=True)
    return Selection(board, seen.filter(pk__in=[*ranks, *references]), ranks)


def select_slice(chosen: Selection, track: Track, scores: Mapping[int, Scores]) -> Selection:
    """Rank the runs from `select` by these scores. Runs without a score have no rank."""
    in_order = chosen.found.filter(team__isnull=False).order_by("run__received_at", "run__name")
    found = in_order.values_list("pk", "team__unranked_at")
    keys = [(pk, counted_key(track.rank_key(scores.get(pk, {})), since)) for pk, since in found]
    return replace(chosen, ranks=ranked(keys, track), scores=scores)


def counted_key(key: float | None, unranked_at: datetime | None, until: datetime | None = None) -> float | None:
    """Return the rank key, or None if the team had no rank at the time `until` or, without it, has none now."""
    is_unranked = unranked_at is not None and (until is None or unranked_at <= until)
    return None if is_unranked else key


def ranked(keys: Iterable[tuple[int, float | None]], track: Track) -> dict[int, int | None]:
    """Return the rank of each evaluation, best first, using the track's rule for ties.

    `keys` are evaluations with their rank keys, in the order in which their runs were received. Undefined keys have no
    rank. Shared ranks leave gaps (1, 1, 3).
    """
    rule, decimals = track.definition.ties, track.definition.decimals
    ranks: dict[int, int | None] = {}
    last: tuple[float, int] | None = None
    best_first = sorted(keys, key=lambda keyed: (keyed[1] is None, keyed[1] or 0.0))
    for place, (pk, key) in enumerate(best_first, start=1):
        if key is None:
            ranks[pk] = None
            continue
        value = round(key, decimals) if rule == "rounded" else key
        rank = last[1] if last is not None and last[0] == value and rule != "earlier" else place
        ranks[pk], last = rank, (value, rank)
    return ranks


def shown(selection: Selection, choices: Choices, names: Names) -> QuerySet[Evaluation]:
    """Return the evaluations that match the reader's filters."""
    found = selection.found
    if not choices.baselines:
        found = found.filter(team__isnull=False)
    if choices.system:
        found = found.filter(Q(run__system_type=choices.system) | Q(team__isnull=True))
    if choices.papers and names.are_public:
        with_paper = Team.objects.filter(HAS_PAPER, shared_task=selection.board.phase.shared_task_id)
        found = found.filter(Q(team__in=with_paper) | Q(team__isnull=True))
    if choices.slot and selection.board.phase.contrastive is not None:
        is_primary = Q(run__chosen_at__isnull=choices.slot != Run.Slot.PRIMARY)
        found = found.filter(is_primary | Q(team__isnull=True))
    if choices.search:
        found = found.filter(_matches(choices.search, names))
    return found


def page_of(found: QuerySet[Evaluation], selection: Selection, order: Order, choices: Choices) -> BoardPage:
    """Return the requested page, or the nearest one. Among equal values, references come first, then earlier runs.

    Most requests are for the first page, so lines are counted only if that page is full.
    """
    if selection.scores is not None:
        return _sorted_page(_lines(found), selection.scores, order, choices)
    if order == selection.best_first:
        by_value = F("rank_key").asc(nulls_last=True)
    else:
        value = Cast(KeyTextTransform(order.key, "scores"), FloatField())
        by_value = value.desc(nulls_last=True) if order.descending else value.asc(nulls_last=True)
    ordered = found.order_by(by_value, _KINDS, "run__received_at", "run__name")
    lines = _lines(ordered[: choices.size])
    if choices.size is None or len(lines) < choices.size:
        return BoardPage(lines, len(lines))
    count = found.count()
    number, pages = _nearest_page(choices.page, count, choices.size)
    if number > 1:
        lines = _lines(ordered[(number - 1) * choices.size : number * choices.size])
    return BoardPage(lines, count, number, pages)


def _sorted_page(
    lines: Iterable[RunColumns], scores: Mapping[int, Scores], order: Order, choices: Choices
) -> BoardPage:
    """Return a page sorted by scores that are not in columns. SQL would have to search all of them for every row."""
    found = [line._replace(scores=scores.get(line.pk, {})) for line in lines]
    kinds = (Run.Kind.GOLD, Run.Kind.BASELINE, Run.Kind.TEAM)
    found.sort(key=lambda line: (order(line.scores), kinds.index(Run.Kind(line.kind)), line.received_at, line.name))
    if choices.size is None:
        return BoardPage(found, len(found))
    number, pages = _nearest_page(choices.page, len(found), choices.size)
    return BoardPage(found[(number - 1) * choices.size : number * choices.size], len(found), number, pages)


def _nearest_page(page: int, count: int, size: int) -> tuple[int, int]:
    """Return the number of the page to show, and how many pages there are."""
    pages = max(1, -(-count // size))
    return min(max(1, page), pages), pages


def _lines(found: QuerySet[Evaluation]) -> list[RunColumns]:
    return [RunColumns(*values) for values in found.values_list(*_FIELDS)]


def rows(lines: Iterable[RunColumns], selection: Selection, names: Names, groups: Mapping[int, str]) -> list[Row]:
    """Return the rows of a page. `groups` maps each evaluation to the letter of its tie group."""
    intervals = selection.board.comparison.get("intervals", {})
    bounds = _bounds(selection)
    return [
        _row(line, selection, names, intervals.get(str(line.pk)), groups.get(line.pk, ""), bounds.get(str(line.pk)))
        for line in lines
    ]


def _bounds(selection: Selection) -> dict[str, RankBounds]:
    ranks = {str(pk): rank for pk, rank in selection.ranks.items() if rank is not None}
    return rank_bounds(selection.board.comparison.get("ranking", {}), ranks)


def _matches(text: str, names: Names) -> Q:
    """Match the names that the reader sees. If these are aliases, searching for a name must not reveal its row."""
    if names.are_public:
        in_team = Q(run__team__name__icontains=text) | Q(run__name__icontains=text) | Q(run__method__icontains=text)
        return in_team & Q(team__isnull=False)
    own = names.own
    return Q(team=own) if own is not None and text.casefold() in own.name.casefold() else Q(pk__in=())


def _row(
    line: RunColumns, selection: Selection, names: Names, interval: Any, group: str, bounds: RankBounds | None
) -> Row:
    is_known, rank = names.knows(line), selection.ranks.get(line.pk)
    flags = [] if selection.in_steps else line.flags
    if line.unranked_at is not None and rank is None:
        flags = [*flags, _("not ranked: a member is or was an organizer of the task")]
    return Row(
        rank=rank,
        kind=line.kind,
        team=names.team(line),
        name=line.name if is_known else "",
        number=line.number,
        method=line.method if is_known else "",
        system=line.system,
        run_id=line.run_id,
        scores=line.scores,
        flags=flags,
        received_at=line.received_at,
        slot=Run.slot_in(names.phase, line.kind, line.chosen_at) or "",
        is_own=names.owns(line),
        interval=tuple(interval) if interval else None,
        group=group,
        bounds=bounds,
        fields=line.fields if is_known else {},
        team_id=line.team_id if is_known else None,
    )
