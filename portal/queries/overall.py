"""All tracks of a shared task next to each other, in one phase, and their overall rankings."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from portal.models import Phase, Track, Viewer
from portal.queries.board_table import BoardTable
from portal.queries.choices import Choices
from portal.queries.columns import Column
from portal.queries.leaderboard import Leaderboard, leaderboard
from portal.times_and_numbers import language_name
from scoring.definition import Overall
from scoring.formats import answer_kind


@dataclass(frozen=True, slots=True)
class Group:
    """A group of tracks that can be shown separately."""

    slug: str
    title: str


@dataclass(frozen=True, slots=True)
class TrackResult:
    """A team's official run in a track. `is_first` is true if no team ranks higher."""

    rank: int | None
    value: float | None
    is_first: bool


Results = dict[str, TrackResult]  # by team


@dataclass(frozen=True, slots=True)
class OverallRow:
    """A team's row, with `cells` in the order of the tracks, and None for a track without a run."""

    team: str
    is_own: bool
    cells: tuple[TrackResult | None, ...]


@dataclass(frozen=True, slots=True)
class Placement:
    """A team's result in a track: rank, value, and the number of ranked teams."""

    rank: int
    value: float
    ranked: int


@dataclass(frozen=True, slots=True)
class CombinedRow:
    rank: int
    team: str
    value: float
    is_own: bool  # whether it is the viewer's team


@dataclass(frozen=True, slots=True)
class Combined:
    """An overall ranking, best first."""

    rule: Overall
    rows: tuple[CombinedRow, ...]

    @property
    def head(self) -> str:
        """The heading of the values."""
        return {"borda": _("Points"), "mean-rank": _("Mean rank"), "mean-score": _("Mean score")}[self.rule.by]

    @property
    def decimals(self) -> int:
        return {"borda": 0, "mean-rank": 2, "mean-score": 4}[self.rule.by]


@dataclass(frozen=True, slots=True)
class OverallBoard:
    """The teams on the boards of all tracks. It is empty if `visible` is False. `hidden_reason` is as for a board."""

    phase: Phase
    visible: bool
    hidden_reason: str
    groups: tuple[Group, ...]
    boards: tuple[Leaderboard, ...]
    rows: tuple[OverallRow, ...]
    combined: tuple[Combined, ...]
    step: float | None  # step of the ladder, if the viewer sees scores in steps

    @property
    def heads(self) -> list[tuple[Track, Column]]:
        return [(board.track, board.ranking_column) for board in self.boards]

    @property
    def lines(self) -> list[tuple[OverallRow, list[tuple[TrackResult | None, tuple[Track, Column]]]]]:
        """Return each row, and its cells with their headings."""
        return [(row, list(zip(row.cells, self.heads, strict=True))) for row in self.rows]


def overall(tracks: list[Track], phase: Phase, viewer: Viewer, at: datetime, group: str = "") -> OverallBoard:
    """Return the official runs in a group of tracks, or in all tracks.

    Teams are sorted by number of tracks, then by name.
    """
    groups = _groups(tracks)
    chosen = [track for track in tracks if group in _groups_of(track)] or tracks
    boards = [leaderboard(track, phase, viewer, at, Choices(baselines=False, size=None)) for track in chosen]
    results = [_results(board) for board in boards]
    first = boards[0]
    return OverallBoard(
        phase=phase,
        visible=first.visible,
        hidden_reason=first.hidden_reason,
        groups=groups,
        boards=tuple(boards),
        rows=_rows(boards, results),
        combined=_combined(boards, results),
        step=first.step,
    )


def _rows(boards: list[Leaderboard], results: list[Results]) -> tuple[OverallRow, ...]:
    own = {row.team: row.is_own for board in boards for row in board.rows}
    rows = [OverallRow(team, is_own, tuple(column.get(team) for column in results)) for team, is_own in own.items()]
    return tuple(sorted(rows, key=lambda row: (row.cells.count(None), row.team.casefold())))


def _results(board: BoardTable) -> Results:
    """Return the results by team. If all runs are official, each team's best one counts."""
    found: Results = {}
    for row in board.rows:
        found.setdefault(row.team, TrackResult(row.rank, row.scores.get(board.rank_by), row.rank == 1))
    return found


def _combined(boards: list[Leaderboard], results: list[Results]) -> tuple[Combined, ...]:
    """Return the task's overall rankings whose tracks are all shown."""
    by_slug = {board.track.slug: board for board in boards}
    rules = boards[0].track.shared_task.definition.overall
    places: dict[str, dict[str, Placement]] = {}
    for slug, cells in zip(by_slug, results, strict=True):
        ranked = sum(cell.rank is not None for cell in cells.values())
        for team, cell in cells.items():
            if cell.rank is not None and cell.value is not None:
                places.setdefault(team, {})[slug] = Placement(cell.rank, cell.value, ranked)
    own = next((row.team for board in boards for row in board.rows if row.is_own), None)
    return tuple(
        combined(rule, places, by_slug[rule.tracks[0]].ranking_column.higher_is_better, own)
        for rule in rules
        if set(rule.tracks) <= by_slug.keys()
    )


def combined(
    rule: Overall, places: Mapping[str, Mapping[str, Placement]], high_is_good: bool, own: str | None = None
) -> Combined:
    """Rank the teams by that rule. `places` are by team and track, `own` is the name of the viewer's team.

    `borda` adds up the number of lower-ranked teams over all tracks. The means rank only teams with a rank in every
    track. Equal values share a rank, and the ranks after it are skipped.
    """
    values = {team: value for team, own in places.items() if (value := _value(rule, own)) is not None}
    sign = -1 if rule.by == "borda" or (rule.by == "mean-score" and high_is_good) else 1
    keys = sorted(sign * value for value in values.values())
    rows = [CombinedRow(keys.index(sign * value) + 1, team, value, team == own) for team, value in values.items()]
    return Combined(rule, tuple(sorted(rows, key=lambda row: (row.rank, row.team.casefold()))))


def _value(rule: Overall, own: Mapping[str, Placement]) -> float | None:
    found = [own[track] for track in rule.tracks if track in own]
    if rule.by == "borda":
        return float(sum(place.ranked - place.rank for place in found)) if found else None
    if len(found) < len(rule.tracks):
        return None
    return sum(place.rank if rule.by == "mean-rank" else place.value for place in found) / len(found)


def _groups(tracks: list[Track]) -> tuple[Group, ...]:
    """Return groups by hard and soft labels and by language, if tracks differ in them."""
    slugs = dict.fromkeys(slug for track in tracks for slug in _groups_of(track))
    titles = {"hard": _("Hard labels"), "soft": _("Soft labels")}
    kinds = {slug for slug in slugs if slug in titles}
    languages = slugs.keys() - kinds
    kept = (kinds if len(kinds) > 1 else set()) | (languages if len(languages) > 1 else set())
    return tuple(Group(slug, titles.get(slug) or language_name(slug)) for slug in slugs if slug in kept)


def _groups_of(track: Track) -> tuple[str, ...]:
    definition = track.definition
    kind = "soft" if answer_kind(definition) == "soft" else "hard"
    return (kind, definition.language) if definition.language else (kind,)
