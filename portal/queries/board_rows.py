"""The rows of a board: which evaluations, in which order, at which rank, under which name."""

import hashlib
import hmac
from base64 import b32encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any, Literal, NamedTuple
from uuid import UUID

from django.conf import settings
from django.db.models import Case, F, FloatField, OrderBy, Q, QuerySet, Value, When
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast
from django.utils.translation import gettext as _

from portal.models import Board, Evaluation, Phase, Run, Team, Track
from portal.queries.choices import PAGE_SIZE, Choices
from portal.queries.ladder import steps
from portal.queries.languages import Scores

Bracket = Literal["", "only", "first", "middle", "last"]
Keys = Sequence[tuple[int, float | None]]  # evaluation and what ranks it, best first
_KINDS = Case(When(run__kind=Run.Kind.GOLD, then=0), When(run__kind=Run.Kind.BASELINE, then=1), default=Value(2))


@dataclass(frozen=True, slots=True)
class Row:
    """A ranked run of a team, or an unranked reference. `scores` are at full precision, None where undefined."""

    rank: int | None
    kind: str  # one of Run.Kind
    team: str  # or its alias; empty for baselines and the gold standard
    name: str  # empty under an alias, as it may hold the team's name
    number: int | None
    method: str  # as the team calls it; may be empty
    system: str  # one of Run.SystemType; may be empty
    run_id: UUID
    scores: Scores
    flags: list[str]
    received_at: datetime
    slot: str = ""  # one of Run.Slot, where the phase has slots
    is_own: bool = False  # of the viewer's team
    interval: tuple[float, float] | None = None  # of the value that ranks
    group: str = ""  # letter of the runs that the items cannot tell apart
    bracket: Bracket = ""  # the group's, where its rows stand together
    change: int | None = None  # ranks gained since the last release
    is_new: bool = False  # was in no earlier release, where there is one

    @property
    def lost(self) -> int:
        """Ranks lost since the last release."""
        return -(self.change or 0)


class Line(NamedTuple):
    """What is read of an evaluation and its run to make a row."""

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


_RUN = ("kind", "name", "number", "method", "system_type", "received_at", "chosen_at", "team", "team__name")
_FIELDS = ("pk", "scores", "flags", "run", *(f"run__{name}" for name in _RUN))  # in the order of Line


@dataclass(frozen=True, slots=True)
class Names:
    """Whose names a viewer may see: everybody's, or else those of the viewer's team and aliases."""

    phase: Phase
    are_public: bool
    own: Team | None

    def team(self, line: Line) -> str:
        if self.knows(line):
            return line.team or ""
        secret = f"{settings.SECRET_KEY}/alias".encode()
        digest = hmac.new(secret, f"{self.phase.pk}/{line.team_id}".encode(), hashlib.sha256).digest()
        return _("Team %(alias)s") % {"alias": b32encode(digest).decode()[:5]}

    def knows(self, line: Line) -> bool:
        return self.are_public or line.team_id is None or self.owns(line)

    def owns(self, line: Line) -> bool:
        return self.own is not None and self.own.pk == line.team_id


@dataclass(frozen=True, slots=True)
class Page:
    """Some of the lines that were found, in order; `count` is that of all."""

    lines: list[Line]
    count: int
    number: int = 1
    pages: int = 1


@dataclass(frozen=True, slots=True)
class Selection:
    """The evaluations that a board is about; `ranks` by evaluation, None where the metric is undefined.

    `told` has, on a ladder, what is told in the place of what they hold. `scores` stand in the place of theirs, and
    `told` has what ranks by them, where the board is about the items of one language.
    """

    board: Board
    found: QuerySet[Evaluation]
    ranks: Mapping[int, int | None] = field(default_factory=dict)
    told: Mapping[int, float] | None = None
    scores: Mapping[int, Scores] | None = None


def select_steps(board: Board, track: Track, choices: Choices) -> Selection:
    """On a ladder: the last step of each team, or all of them, ranked; and the references."""
    assert board.gold is not None
    here = Evaluation.objects.on_board(board.phase, board.gold, board.scorer, choices.until)
    counted = set(here.values_list("pk", flat=True))
    found = [step for step in steps(board, Run.objects.all()) if step.evaluation in counted]
    if choices.runs == "official":
        found = list({step.owner: step for step in found}.values())
    found.sort(key=lambda step: (step.key, step.received_at))
    told = {step.evaluation: step.key for step in found}
    ranks = ranked([(step.evaluation, step.key) for step in found if step.is_teams], track)
    return Selection(board, here.filter(pk__in=told), ranks, told)


def select(board: Board, track: Track, choices: Choices) -> Selection:
    """The runs that count, ranked by the track's rule, and the references."""
    assert board.gold is not None
    phase, pair = board.phase, (board.phase, board.gold, board.scorer, choices.until)
    here = Evaluation.objects.on_board(*pair)
    is_all = choices.runs == "all" or phase.official == Phase.Official.ALL
    teams = here.filter(team__isnull=False) if is_all else Evaluation.objects.official(*pair)
    in_order = teams.order_by(F("rank_key").asc(nulls_last=True), "run__received_at")
    ranks = ranked(list(in_order.values_list("pk", "rank_key")), track)
    if is_all:
        return Selection(board, here, ranks)
    references = here.filter(team__isnull=True).values_list("pk", flat=True)
    return Selection(board, Evaluation.objects.filter(pk__in=[*ranks, *references]), ranks)


def select_language(board: Board, track: Track, choices: Choices, scores: Mapping[int, Scores]) -> Selection:
    """The runs that `select` gives, ranked by these scores of theirs; who has none yet has no rank."""
    chosen = select(board, track, choices)
    told = {pk: key for pk, own in scores.items() if (key := track.rank_key(own)) is not None}
    received = dict(chosen.found.filter(pk__in=chosen.ranks).values_list("pk", "run__received_at"))
    order = sorted(received, key=lambda pk: (pk not in told, told.get(pk, 0.0), received[pk]))
    return replace(chosen, ranks=ranked([(pk, told.get(pk)) for pk in order], track), told=told, scores=scores)


def ranked(keys: Keys, track: Track) -> dict[int, int | None]:
    """Ranks by the track's rule for ties; who shares a rank leaves out the next (1, 1, 3)."""
    rule, decimals = track.definition.ties, track.definition.decimals
    ranks: dict[int, int | None] = {}
    last: tuple[float, int] | None = None
    for place, (pk, key) in enumerate(keys, start=1):
        if key is None:
            ranks[pk] = None
            continue
        value = round(key, decimals) if rule == "rounded" else key
        rank = last[1] if last is not None and last[0] == value and rule != "earlier" else place
        ranks[pk], last = rank, (value, rank)
    return ranks


def shown(selection: Selection, choices: Choices, order: tuple[str, bool] | None, names: Names) -> QuerySet[Evaluation]:
    """The evaluations that the reader asks for, in order: best first, or by (key, whether high values come first).

    At equal values the references come first, then who was earlier.
    """
    found = selection.found
    if not choices.baselines:
        found = found.filter(team__isnull=False)
    if choices.system:
        found = found.filter(Q(run__system_type=choices.system) | Q(team__isnull=True))
    if choices.slot and selection.board.phase.contrastive is not None:
        is_primary = Q(run__chosen_at__isnull=choices.slot != Run.Slot.PRIMARY)
        found = found.filter(is_primary | Q(team__isnull=True))
    if choices.search:
        found = found.filter(_matches(choices.search, names))
    return found.order_by(_order(order, selection), _KINDS, "run__received_at", "run__name")


def page_of(found: QuerySet[Evaluation], choices: Choices) -> Page:
    """The page that is asked for, or the nearest there is; the first page, which most ask for, needs no counting."""
    lean = found.values_list(*_FIELDS)
    size = None if choices.is_whole else PAGE_SIZE
    lines = [Line(*values) for values in lean[:size]]
    if size is None or len(lines) < size:
        return Page(lines, len(lines))
    count = found.count()
    pages = -(-count // size)
    page = min(max(1, choices.page), pages)
    if page > 1:
        lines = [Line(*values) for values in lean[(page - 1) * size : page * size]]
    return Page(lines, count, page, pages)


def rows(lines: Iterable[Line], selection: Selection, names: Names, groups: Mapping[int, str]) -> list[Row]:
    """`groups` has letters by evaluation."""
    intervals = selection.board.comparison.get("intervals", {})
    return [
        _row(one, selection, names, intervals.get(str(one.pk)), groups.get(one.pk, ""))
        for one in map(partial(_told, selection), lines)
    ]


def _told(selection: Selection, line: Line) -> Line:
    """On a ladder with what is told of it as its score; for one language, with those on its items."""
    if selection.scores is not None:
        return line._replace(scores=selection.scores.get(line.pk, {}))
    if selection.told is not None:
        track = selection.board.track
        return line._replace(scores={track.definition.rank_by: track.score_of(selection.told[line.pk])}, flags=[])
    return line


def _matches(text: str, names: Names) -> Q:
    """By what the reader can see: under aliases a search for a name must not tell whose row it is."""
    if names.are_public:
        in_team = Q(run__team__name__icontains=text) | Q(run__name__icontains=text) | Q(run__method__icontains=text)
        return in_team & Q(team__isnull=False)
    own = names.own
    return Q(team=own) if own is not None and text.casefold() in own.name.casefold() else Q(pk__in=())


def _order(order: tuple[str, bool] | None, selection: Selection) -> OrderBy:
    descending = order is not None and order[1]
    value: F | Case | Cast = F("rank_key")
    if selection.told:
        descending, values = _told_order(order, selection)
        value = Case(*(When(pk=pk, then=Value(one)) for pk, one in values.items()), output_field=FloatField())
    elif order is not None:
        value = Cast(KeyTextTransform(order[0], "scores"), FloatField())
    return value.desc(nulls_last=True) if descending else value.asc(nulls_last=True)


def _told_order(order: tuple[str, bool] | None, selection: Selection) -> tuple[bool, Mapping[int, float]]:
    """Whether high values come first, and the values; on a ladder there is one metric, in its key's direction."""
    assert selection.told is not None
    if order is None or selection.scores is None:
        return order is not None, selection.told
    key, descending = order
    return descending, {pk: value for pk, own in selection.scores.items() if (value := own.get(key)) is not None}


def _row(line: Line, selection: Selection, names: Names, interval: Any, group: str) -> Row:
    is_known = names.knows(line)
    return Row(
        rank=selection.ranks.get(line.pk),
        kind=line.kind,
        team=names.team(line),
        name=line.name if is_known else "",
        number=line.number,
        method=line.method if is_known else "",
        system=line.system,
        run_id=line.run_id,
        scores=line.scores,
        flags=line.flags,
        received_at=line.received_at,
        slot=Run.slot_in(names.phase, line.kind, line.chosen_at) or "",
        is_own=names.owns(line),
        interval=tuple(interval) if interval else None,
        group=group,
    )
