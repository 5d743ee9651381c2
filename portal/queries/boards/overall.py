"""All tracks of a shared task side by side, in one phase, and their overall rankings."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from portal.models import CombinedBoard, Phase, Track, Viewer
from portal.queries.boards.all_runs import AllRuns, all_runs
from portal.queries.boards.choices import Choices
from portal.queries.boards.columns import Column
from portal.queries.boards.leaderboard import Leaderboard, leaderboard
from portal.queries.boards.rank_bounds import mean_ranks_note, rank_bounds
from portal.queries.boards.statistics import StatisticsTable, statistics_of
from portal.queries.boards.table import BoardTable, CombinedRow, Comparison, RankedTable, comparison_of
from portal.queries.boards.ties import bracketed, letter
from portal.queries.boards.whiskers import Scale, scale
from portal.times_and_numbers import language_name, score
from scoring.definition import Overall
from scoring.formats import answer_kind
from scoring.significance import MeanScore


@dataclass(frozen=True, slots=True)
class Group:
    """A group of tracks that can be shown separately."""

    slug: str
    title: str


@dataclass(frozen=True, slots=True)
class TrackResult:
    """A team's official run in a track or, if all its runs are official, its best run. `is_first` means rank 1."""

    rank: int | None
    value: float | None
    is_first: bool
    run: UUID | None = None


Results = dict[str, TrackResult]  # by team


@dataclass(frozen=True, slots=True)
class OverallRow:
    """A team's row. `cells` are in the order of the tracks. A cell is None if the team has no run in the track."""

    team: str
    is_own: bool
    cells: tuple[TrackResult | None, ...]


@dataclass(frozen=True, slots=True)
class Placement:
    """A team's ranked result in a track. `ranked` is the number of ranked teams."""

    rank: int
    value: float
    ranked: int
    run: UUID | None = None


@dataclass(frozen=True, slots=True)
class Combined(RankedTable):
    """An overall ranking, best first."""

    rule: Overall
    rows: tuple[CombinedRow, ...]
    comparison: Comparison | None = None  # None if there are no intervals
    missing_bounds: str = ""  # why ranks by mean score have no bounds, if there will be none

    @property
    def ranks_note(self) -> str:
        """What the ranks' bounds are. Empty if there are none."""
        return mean_ranks_note(self.comparison.items) if self.comparison and self.has_bounds else ""

    @property
    def scale(self) -> Scale | None:
        """The scale of the intervals, if there are any."""
        return scale(self.rows) if self.comparison else None

    def bounds(self, row: CombinedRow) -> str:
        """Return the ends of a row's interval as text."""
        if row.interval is None:
            return ""
        low, high = (score(bound, self.decimals) for bound in row.interval)
        return _("%(low)s to %(high)s") % {"low": low, "high": high}

    @property
    def head(self) -> str:
        """The heading of the values column."""
        return {"borda": _("Points"), "mean-rank": _("Mean rank"), "mean-score": _("Mean score")}[self.rule.by]

    @property
    def weights(self) -> str:
        """The weights of the tracks as text, such as `2 : 1`. Empty if the rule does not define weights."""
        return " : ".join(f"{weight:g}" for weight in self.rule.weights)

    @property
    def included(self) -> str:
        """Which teams a mean score ranks, and how it counts a track in which a team has no ranked run."""
        return {
            "unranked": _("Only teams with a ranked run in every track are included."),
            "zero": _("A track in which a team has no ranked run counts as 0."),
            "skip": _("A track in which a team has no ranked run is skipped: the mean covers the team’s other tracks."),
        }[self.rule.missing]

    @property
    def decimals(self) -> int:
        return {"borda": 2 if self.rule.weights else 0, "mean-rank": 2, "mean-score": 4}[self.rule.by]


@dataclass(frozen=True, slots=True)
class OverallBoard:
    """The teams on the boards of all tracks, or of a group of tracks.

    If `visible` is False, there are no rows. `hidden_reason` is the same as for a board.
    """

    phase: Phase
    visible: bool
    hidden_reason: str
    groups: tuple[Group, ...]
    boards: tuple[Leaderboard, ...]
    rows: tuple[OverallRow, ...]
    combined: tuple[Combined, ...]
    statistics: StatisticsTable
    all_runs: AllRuns | None
    step: float | None  # step of the ladder, if the viewer sees scores in steps

    @property
    def pending(self) -> int:
        """The number of runs that are waiting for their first score, in all tracks."""
        return sum(board.pending for board in self.boards)

    @property
    def heads(self) -> list[tuple[Track, Column]]:
        return [(board.track, board.ranking_column) for board in self.boards]

    @property
    def lines(self) -> list[tuple[OverallRow, list[tuple[TrackResult | None, tuple[Track, Column]]]]]:
        """Each row with its cells, and each cell with its track and column."""
        return [(row, list(zip(row.cells, self.heads, strict=True))) for row in self.rows]


def overall(tracks: list[Track], phase: Phase, viewer: Viewer, at: datetime, group: str = "") -> OverallBoard:
    """Return the official runs in a group of tracks, or in all tracks.

    Teams with runs in the most tracks come first, then teams are sorted by name.
    """
    groups = _groups(tracks)
    chosen = [track for track in tracks if group in _groups_of(track)] or tracks
    boards = [leaderboard(track, phase, viewer, at, Choices(size=None)) for track in chosen]
    results = [_results(board) for board in boards]
    first = boards[0]
    return OverallBoard(
        phase=phase,
        visible=first.visible,
        hidden_reason=first.hidden_reason,
        groups=groups,
        boards=tuple(boards),
        rows=_rows(boards, results),
        combined=_combined(boards, results, viewer, at),
        statistics=statistics_of(boards),
        all_runs=all_runs(boards),
        step=first.step,
    )


def _rows(boards: list[Leaderboard], results: list[Results]) -> tuple[OverallRow, ...]:
    own = {row.team: row.is_own for board in boards for row in board.teams}
    rows = [OverallRow(team, is_own, tuple(column.get(team) for column in results)) for team, is_own in own.items()]
    return tuple(sorted(rows, key=lambda row: (row.cells.count(None), row.team.casefold())))


def _results(board: BoardTable) -> Results:
    """Return the result of each team. If all runs are official, each team's best run counts."""
    found: Results = {}
    for row in board.teams:
        found.setdefault(row.team, TrackResult(row.rank, row.scores.get(board.rank_by), row.rank == 1, row.run_id))
    return found


def _combined(boards: list[Leaderboard], results: list[Results], viewer: Viewer, at: datetime) -> tuple[Combined, ...]:
    """Return the task's overall rankings, except those that include a track that is not shown."""
    by_slug = {board.track.slug: board for board in boards}
    rules = boards[0].track.shared_task.definition.overall
    places: dict[str, dict[str, Placement]] = {}
    for slug, cells in zip(by_slug, results, strict=True):
        ranked = sum(cell.rank is not None for cell in cells.values())
        for team, cell in cells.items():
            if cell.rank is not None and cell.value is not None:
                places.setdefault(team, {})[slug] = Placement(cell.rank, cell.value, ranked, cell.run)
    own = next((row.team for board in boards for row in board.rows if row.is_own), None)
    shown = [
        combined(rule, places, by_slug[rule.tracks[0]].ranking_column.higher_is_better, own)
        for rule in rules
        if set(rule.tracks) <= by_slug.keys()
    ]
    if not any(ranking.rule.by == "mean-score" for ranking in shown):
        return tuple(shown)
    kept = CombinedBoard.objects.visible_to(viewer, at).filter(phase=boards[0].phase)
    comparisons = {ranking.slug: ranking.comparison for ranking in kept}
    return tuple(_with_intervals(ranking, by_slug, places, comparisons.get(ranking.rule.slug, {})) for ranking in shown)


def _with_intervals(
    ranking: Combined,
    boards: Mapping[str, Leaderboard],
    places: Mapping[str, Mapping[str, Placement]],
    made: Mapping[str, Any],
) -> Combined:
    """Add intervals, bounds and groups, unless they come from another rule or from scores that are not shown now.

    A team whose runs have changed has no interval. There are tie groups only if they cover exactly the ranked teams.
    """
    shown = {
        slug: [boards[slug].gold_version, boards[slug].scorer, boards[slug].rank_by]
        for slug in ranking.rule.tracks
        if boards[slug].gold_version is not None
    }
    is_current = made.get("rule") == CombinedBoard.origin_of(ranking.rule) and made.get("boards") == shown
    if ranking.rule.by != "mean-score" or not is_current or not ranking.rows:
        return ranking
    if not made.get("intervals"):
        return replace(ranking, missing_bounds=_missing_bounds(made))
    keys = {tuple(runs): key for key, runs in made["runs"].items()}
    own = {row.team: keys.get(_runs(ranking.rule, places[row.team])) for row in ranking.rows}
    is_complete = None not in own.values() and set(own.values()) == made["groups"].keys()
    ranks = {own[row.team] or f"new {row.team}": row.rank for row in ranking.rows}
    bounds = rank_bounds(made.get("ranking", {}), ranks)
    rows = [
        replace(
            row,
            interval=tuple(made["intervals"][key]) if (key := own[row.team]) in made["intervals"] else None,
            group=letter(made["groups"][key]) if is_complete and key is not None else "",
            bounds=bounds.get(key or ""),
        )
        for row in ranking.rows
    ]
    return replace(ranking, rows=tuple(bracketed(rows)), comparison=comparison_of(made, ranking.rule.by))


def _missing_bounds(made: Mapping[str, Any]) -> str:
    if "intervals" not in made:
        return _("Intervals could not be computed for these runs.")
    return _(
        "Scores and ranks have no confidence intervals, because the tracks share only some of their items or a ranking "
        "metric cannot be broken down by item."
    )


def _runs(rule: Overall, own: Mapping[str, Placement]) -> tuple[str | None, ...]:
    """Return the ids of a team's runs in the ranking's tracks, in the form that the comparison uses."""
    return tuple(str(own[track].run) if track in own else None for track in rule.tracks)


def combined(
    rule: Overall, places: Mapping[str, Mapping[str, Placement]], high_is_good: bool, own: str | None = None
) -> Combined:
    """Rank the teams by this rule. `places` are keyed by team and track. `own` is the name of the viewer's team.

    `borda` adds up the (weighted) number of lower-ranked teams over all tracks. `mean-rank` and, by default,
    `mean-score` include only teams that are ranked in every track. Teams that are ranked in none are left out. Equal
    values share a rank, and the ranks after it are skipped.
    """
    values = {team: value for team, own in places.items() if (value := _value(rule, own)) is not None}
    sign = -1 if rule.by == "borda" or (rule.by == "mean-score" and high_is_good) else 1
    keys = sorted(sign * value for value in values.values())
    rows = [CombinedRow(keys.index(sign * value) + 1, team, value, team == own) for team, value in values.items()]
    return Combined(rule, tuple(sorted(rows, key=lambda row: (row.rank, row.team.casefold()))))


def _value(rule: Overall, own: Mapping[str, Placement]) -> float | None:
    weights = dict(zip(rule.tracks, rule.all_weights, strict=True))
    found = [(weight, own[track]) for track, weight in weights.items() if track in own]
    if rule.by == "borda":
        return float(sum(weight * (place.ranked - place.rank) for weight, place in found)) if found else None
    if rule.by == "mean-score":
        mean = MeanScore(rule.all_weights, rule.missing)
        return mean.value([own[track].value if track in own else None for track in rule.tracks])
    if len(found) < len(rule.tracks):
        return None
    return sum(weight * place.rank for weight, place in found) / sum(weights.values())


def _groups(tracks: list[Track]) -> tuple[Group, ...]:
    """Return groups for hard and soft labels and for languages, if the tracks differ in these."""
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
