"""The tables of an overview paper: one per track, its statistics, and the tracks combined."""

from collections.abc import Sequence

from django.utils.translation import gettext as _

from portal.models import Run
from portal.paper.latex import LatexCell, LatexTable
from portal.queries.board_table import BoardTable, Row
from portal.queries.columns import Column
from portal.queries.insights import Insights, SliceScores
from portal.queries.overall import Combined, OverallBoard, TrackResult
from portal.times_and_numbers import score


def board_table(board: BoardTable) -> LatexTable:
    """Show rank, team, run and every metric. The best teams' values are bold, and letters show tie groups."""
    best = [board.best(column) for column in board.columns]
    return LatexTable(
        label=f"tab:{board.track.slug}",
        caption=_("%(track)s, %(phase)s, ranked by %(metric)s. Runs with the same letter do not differ significantly.")
        % {"track": board.track.title, "phase": board.phase.title, "metric": board.ranking_column.title},
        align="lrll" + "r" * len(board.columns),
        head=[_("Tie"), _("Rank"), _("Team"), _("Run"), *(_head(column) for column in board.columns)],
        rows=[_row(row, board, best) for row in board.rows],
    )


def _head(column: Column) -> str:
    return f"{column.short} {'↑' if column.higher_is_better else '↓'}"


def _row(row: Row, board: BoardTable, best: Sequence[float | None]) -> list[LatexCell]:
    kind = _("reference") if row.kind == Run.Kind.GOLD else _("baseline")
    values = [(row.scores.get(column.key), column, one) for column, one in zip(board.columns, best, strict=True)]
    printed = [
        LatexCell(score(value, column.decimals), bold=row.is_team and value is not None and value == one)
        for value, column, one in values
    ]
    rank = LatexCell("" if row.rank is None else str(row.rank))
    names = (row.team, row.name) if row.is_team else (f"{row.name} ({kind})", "")
    return [LatexCell(row.group), rank, *map(LatexCell, names), *printed]


def statistics_table(found: Insights) -> LatexTable:
    """Show statistics of all runs, with a row per metric, as in Table 3 of HatEval 2019 (Basile et al., 2019)."""
    rows = []
    for column, one in found.statistics:
        values = (one.lowest, one.first_quartile, one.mean, one.median, one.third_quartile, one.highest, one.deviation)
        shape = (one.skewness, one.kurtosis)
        cells = [score(value, column.decimals) for value in values] + [score(value, 2) for value in shape]
        rows.append([LatexCell(column.short), LatexCell(str(one.runs)), *map(LatexCell, cells)])
    head = (
        *(_("Metric"), _("Runs"), _("Min."), "Q1", _("Mean"), _("Median"), "Q3", _("Max.")),
        *(_("Std. dev."), _("Skewness"), _("Kurtosis")),
    )
    return LatexTable(
        label=f"tab:{found.board.track.slug}-statistics",
        caption=_("%(track)s, %(phase)s: statistics of the official runs.")
        % {"track": found.board.track.title, "phase": found.board.phase.title},
        align="l" + "r" * (len(head) - 1),
        head=head,
        rows=rows,
    )


def slices_table(found: Insights, slices: SliceScores) -> LatexTable:
    """Show the official runs on all items and on those of each slice."""
    column = found.board.ranking_column
    return LatexTable(
        label=f"tab:{found.board.track.slug}-slices-{slices.name}",
        caption=_("%(track)s: %(metric)s by %(column)s.")
        % {"track": found.board.track.title, "metric": column.title, "column": slices.title},
        align="lr" + "r" * len(slices.items),
        head=[_("Team"), _head(column), *(label for label, _items in slices.items)],
        rows=[
            [LatexCell(name), *(LatexCell(score(one, column.decimals)) for one in (value, *values))]
            for name, value, values in slices.rows
        ],
    )


def gaps_table(found: Insights) -> LatexTable:
    """Show the most certain gap of each run between the slices of each column."""
    decimals = found.board.ranking_column.decimals
    return LatexTable(
        label=f"tab:{found.board.track.slug}-gaps",
        caption=_("%(track)s: gaps between slices in %(metric)s, with simultaneous 95 %% intervals (max-T).")
        % {"track": found.board.track.title, "metric": found.board.ranking_column.title},
        align="llllrr",
        head=[_("Team"), _("Column"), _("Behind"), _("Ahead"), _("Gap"), _("95 % interval")],
        rows=[
            [
                *map(LatexCell, (gap.run, gap.title, gap.behind, gap.ahead)),
                LatexCell(score(gap.gap, decimals)),
                LatexCell(f"{score(gap.low, decimals)} – {score(gap.high, decimals)}"),
            ]
            for gap in found.gaps
        ],
    )


def agreement_table(found: Insights) -> LatexTable:
    """Show the agreement between annotators, as printed by DETESTS 2022 (Ariza-Casabona et al., 2022)."""
    head = (_("Class"), _("Items"), _("Pairwise"), "Fleiss", "Cohen", "Krippendorff")
    return LatexTable(
        label=f"tab:{found.board.track.slug}-agreement",
        caption=_("%(track)s: annotator agreement.") % {"track": found.board.track.title},
        align="lrrrrr",
        head=head,
        rows=[
            [
                LatexCell(row["name"]),
                LatexCell(str(row["items"])),
                *(LatexCell(score(row[name], 4)) for name in ("pairwise", "fleiss", "cohen", "alpha")),
            ]
            for row in found.agreement
        ],
    )


def overall_table(one: Combined) -> LatexTable:
    """Show one overall ranking, best first."""
    over = _("over %(tracks)s.") % {"tracks": ", ".join(one.rule.tracks)}
    return LatexTable(
        label=f"tab:overall-{one.rule.slug}",
        caption=f"{one.rule.title}: {over} {one.rule.note}".strip(),
        align="rlr",
        head=[_("Rank"), _("Team"), one.head],
        rows=[
            [LatexCell(str(row.rank)), LatexCell(row.team), LatexCell(score(row.value, one.decimals))]
            for row in one.rows
        ],
    )


def combined_table(board: OverallBoard) -> LatexTable:
    """Show the tracks next to each other: value and rank of each team's official run."""
    return LatexTable(
        label="tab:combined",
        caption=_("Official runs in all tracks, %(phase)s: score, with rank in parentheses.")
        % {"phase": board.phase.title},
        align="l" + "r" * len(board.heads),
        head=[_("Team"), *(track.slug for track, _column in board.heads)],
        rows=[
            [LatexCell(row.team), *(_placed(cell, column) for cell, (_track, column) in cells)]
            for row, cells in board.lines
        ],
    )


def _placed(cell: TrackResult | None, column: Column) -> LatexCell:
    if cell is None:
        return LatexCell("")
    rank = "" if cell.rank is None else f" ({cell.rank})"
    return LatexCell(f"{score(cell.value, column.decimals)}{rank}", bold=cell.is_first)
