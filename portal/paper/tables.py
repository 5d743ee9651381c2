"""The tables for an overview paper: each track's results and statistics, and all tracks side by side."""

from collections.abc import Sequence

from django.utils.translation import gettext as _

from portal.models import Run
from portal.paper.latex import Bold, LatexTable
from portal.queries.boards.all_runs import AllRuns
from portal.queries.boards.columns import Column
from portal.queries.boards.insights import Examples, Insights, MissedByAnswer, SliceScores
from portal.queries.boards.label_shares import LabelShares, Share
from portal.queries.boards.overall import Combined, OverallBoard, TrackResult
from portal.queries.boards.table import BoardTable, CombinedRow, Row
from portal.times_and_numbers import score


def board_table(board: BoardTable) -> LatexTable:
    """Show rank, team, run and every metric. Each column's best team value is bold.

    Letters show which runs do not differ.
    """
    best = [board.best(column) for column in board.columns]
    return LatexTable(
        label=f"tab:{board.track.slug}",
        caption=_("%(track)s, %(phase)s, ranked by %(metric)s. %(ranks)s")
        % {
            "track": board.track.title,
            "phase": board.phase.title,
            "metric": board.ranking_column.title,
            "ranks": _ranks_note(board),
        },
        align="lrll" + "l" * len(board.run_fields) + "r" * len(board.columns),
        head=[
            _("Letters") if board.has_bounds else _("Tie"),
            _("Rank"),
            _("Team"),
            _("Run"),
            *_labels(board),
            *(_head(column) for column in board.columns),
        ],
        rows=[_row(row, board, best) for row in board.rows],
    )


def _ranks_note(found: BoardTable | Combined) -> str:
    """Explain the bounds of ranks, and the letters next to them."""
    if not found.ranks_note:
        return _("Runs with the same letter do not differ significantly.") if found.has_letters else ""
    if not any(row.bounds and row.bounds.letters for row in found.rows):
        return found.ranks_note
    return f"{found.ranks_note} {_('Two rows share a letter if and only if no difference between them was found.')}"


def _rank(row: Row | CombinedRow) -> str:
    rank = "" if row.rank is None else str(row.rank)
    return f"{rank} ({row.bounds.text})" if row.bounds else rank


def _letters(row: Row | CombinedRow) -> str:
    return row.bounds.letters if row.bounds else row.group


def _head(column: Column) -> str:
    return f"{column.short} {'↑' if column.higher_is_better else '↓'}"


def _row(row: Row, board: BoardTable, best: Sequence[float | None]) -> list[str]:
    kind = _("reference") if row.kind == Run.Kind.GOLD else _("baseline")
    printed = []
    for column, best_value in zip(board.columns, best, strict=True):
        value = row.scores.get(column.key)
        text = score(value, column.decimals)
        printed.append(Bold(text) if row.is_team and value is not None and value == best_value else text)
    names = (row.team, row.name) if row.is_team else (f"{row.name} ({kind})", "")
    return [_letters(row), _rank(row), *names, *_texts(row, board), *printed]


def _labels(found: BoardTable | AllRuns) -> list[str]:
    return [field.label for field in found.run_fields]


def _texts(row: Row, found: BoardTable | AllRuns) -> list[str]:
    return [row.fields.get(field.key, "") for field in found.run_fields]


def all_runs_table(board: OverallBoard, found: AllRuns) -> LatexTable:
    """Show the runs in all tracks with their means, as in Table 5 of SSA 2023 (Vargas et al., 2023)."""
    rows = [
        [
            row.label,
            row.method if row.is_team else "",
            *_texts(row, found),
            track.title,
            *(score(value, column.decimals) for column, value in cells),
        ]
        for row, track, cells in found.lines
    ]
    means = [score(value, column.decimals) for column, value in found.means]
    return LatexTable(
        label="tab:all-runs",
        caption=_("Official runs and baselines in all tracks, %(phase)s.") % {"phase": board.phase.title},
        align="lll" + "l" * len(found.run_fields) + "r" * len(found.columns),
        head=[
            _("Team"),
            _("Run"),
            *_labels(found),
            _("Track"),
            *(_head(column) for column in found.columns),
        ],
        rows=[*rows, [_("Mean"), *[""] * (2 + len(found.run_fields)), *means]],
    )


def ranking_statistics_table(board: OverallBoard) -> LatexTable:
    """Show statistics and baselines, with a column per track, as in Table 3 of HatEval 2019 (Basile et al., 2019)."""
    tracks = board.statistics.tracks
    return LatexTable(
        label="tab:statistics",
        caption=_("%(phase)s: statistics of each track’s official runs by ranking metric, with baseline scores.")
        % {"phase": board.phase.title},
        align="l" + "r" * len(tracks),
        head=["", *(f"{track.track.slug} ({track.column.short})" for track in tracks)],
        rows=[[name, *cells] for name, cells in board.statistics.lines],
    )


def same_errors_table(found: Insights, missed: MissedByAnswer) -> LatexTable:
    """Show the incorrect answers that the best runs share, as in Table 4 of HatEval 2019 (Basile et al., 2019)."""
    return LatexTable(
        label=f"tab:{found.board.track.slug}-same-errors",
        caption=_("%(track)s: items to which all of the best runs gave the same incorrect answer.")
        % {"track": found.board.track.title},
        align="rlrrr",
        head=[_("Best runs"), _("Answer"), _("Items"), _("% of shared errors"), _("% of all items")],
        rows=[
            [
                str(error.best),
                error.answer or _("all answers"),
                str(error.count),
                *(score(100 * share, 1) for share in (error.share, error.of_items)),
            ]
            for error in missed.same
        ],
    )


def examples_table(found: Insights, examples: Examples) -> LatexTable:
    """Show examples, as in Table 3 of SSA 2023 (Vargas et al., 2023).

    For each, list the runs whose labels differ between columns and the runs whose labels are all the same.
    """
    width = 0.8 / (len(examples.columns) + 2)
    return LatexTable(
        label=f"tab:{found.board.track.slug}-examples",
        caption=_("%(track)s: examples with the labels of the official runs and baselines.")
        % {"track": found.board.track.title},
        align="l" + rf"p{{{width:.2f}\textwidth}}" * (len(examples.columns) + 2),
        head=[_("Item"), *examples.columns, _("Different labels"), _("Same label")],
        rows=[[row.id, *row.cells, _runs(row.different), _runs(row.same)] for row in examples.rows],
    )


def _runs(found: Sequence[tuple[str, str]]) -> str:
    return "; ".join(f"{name} ({values})" for name, values in found)


def label_shares_table(found: Insights, shares: LabelShares) -> LatexTable:
    """Show the shares of labels by slice in percent, as in Tables 1 and 2 of HatEval 2019 (Basile et al., 2019)."""
    caption = _("%(track)s: labels by %(column)s, in percent.")
    if shares.are_of_some:
        caption = _(
            "%(track)s: labels by %(column)s, in percent of the items that have an answer, whose number is in brackets."
        )
    return LatexTable(
        label=f"tab:{found.board.track.slug}-labels-{shares.name}",
        caption=caption % {"track": found.board.track.title, "column": shares.title},
        align="l" + "r" * len(shares.items),
        head=[_("Label"), *(label for label, _items in shares.items)],
        rows=[[name, *(_percent(share, shares) for share in values)] for name, values in shares.rows],
    )


def _percent(share: Share, shares: LabelShares) -> str:
    value = score(None if share.value is None else 100 * share.value, 2)
    return f"{value} ({share.answers:,.0f})" if shares.are_of_some else value


def statistics_table(found: Insights) -> LatexTable:
    """Show statistics of the official runs, with a row for each metric."""
    rows = []
    for column, summary in found.statistics:
        values = (
            summary.lowest,
            summary.first_quartile,
            summary.mean,
            summary.median,
            summary.third_quartile,
            summary.highest,
            summary.deviation,
        )
        shape = (summary.skewness, summary.kurtosis)
        cells = [score(value, column.decimals) for value in values] + [score(value, 2) for value in shape]
        rows.append([column.short, str(summary.runs), *cells])
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
    """Show the official runs' scores on all items and in each slice."""
    column = found.board.ranking_column
    return LatexTable(
        label=f"tab:{found.board.track.slug}-slices-{slices.name}",
        caption=_("%(track)s: %(metric)s by %(column)s.")
        % {"track": found.board.track.title, "metric": column.title, "column": slices.title},
        align="lr" + "r" * len(slices.items),
        head=[_("Team"), _head(column), *(label for label, _items in slices.items)],
        rows=[
            [name, *(score(cell, column.decimals) for cell in (value, *values))] for name, value, values in slices.rows
        ],
    )


def gaps_table(found: Insights) -> LatexTable:
    """Show, for each run and column, the gap between slices that is most certain."""
    decimals = found.board.ranking_column.decimals
    return LatexTable(
        label=f"tab:{found.board.track.slug}-gaps",
        caption=_("%(track)s: gaps in %(metric)s between slices, with simultaneous 95%% intervals (max-T).")
        % {"track": found.board.track.title, "metric": found.board.ranking_column.title},
        align="llllrr",
        head=[_("Team"), _("Column"), _("Behind"), _("Ahead"), _("Gap"), _("95% interval")],
        rows=[
            [
                *(gap.run, gap.title, gap.behind, gap.ahead),
                score(gap.gap, decimals),
                f"{score(gap.low, decimals)} – {score(gap.high, decimals)}",
            ]
            for gap in found.gaps
        ],
    )


def agreement_table(found: Insights) -> LatexTable:
    """Show the annotator agreement, as in DETESTS 2022 (Ariza-Casabona et al., 2022)."""
    head = (_("Class"), _("Items"), _("Pairwise"), "Fleiss", "Cohen", "Krippendorff")
    return LatexTable(
        label=f"tab:{found.board.track.slug}-agreement",
        caption=_("%(track)s: annotator agreement.") % {"track": found.board.track.title},
        align="lrrrrr",
        head=head,
        rows=[
            [
                row["name"],
                str(row["items"]),
                *(score(row[name], 4) for name in ("pairwise", "fleiss", "cohen", "alpha")),
            ]
            for row in found.agreement
        ],
    )


def overall_table(ranking: Combined) -> LatexTable:
    """Show one overall ranking, with the best team first."""
    over = _("over %(tracks)s.") % {"tracks": ", ".join(ranking.rule.tracks)}
    if ranking.rule.by == "mean-score":
        over += f" {ranking.included}"
    return LatexTable(
        label=f"tab:overall-{ranking.rule.slug}",
        caption=" ".join(filter(None, [f"{ranking.rule.title}: {over}", ranking.rule.note, _ranks_note(ranking)])),
        align="rlr" + ("rl" if ranking.comparison else ""),
        head=[
            _("Rank"),
            _("Team"),
            ranking.head,
            *((_("95% interval"), _("Letters") if ranking.has_bounds else _("Tie")) if ranking.comparison else ()),
        ],
        rows=[
            [
                _rank(row),
                row.team,
                score(row.value, ranking.decimals),
                *((ranking.bounds(row), _letters(row)) if ranking.comparison else ()),
            ]
            for row in ranking.rows
        ],
    )


def combined_table(board: OverallBoard) -> LatexTable:
    """Show the tracks side by side, with the value and rank of each team's official run."""
    return LatexTable(
        label="tab:combined",
        caption=_("Official runs in all tracks, %(phase)s: score, with rank in parentheses.")
        % {"phase": board.phase.title},
        align="l" + "r" * len(board.heads),
        head=[_("Team"), *(track.slug for track, _column in board.heads)],
        rows=[[row.team, *(_placed(cell, column) for cell, (_track, column) in cells)] for row, cells in board.lines],
    )


def _placed(cell: TrackResult | None, column: Column) -> str:
    if cell is None:
        return ""
    rank = "" if cell.rank is None else f" ({cell.rank})"
    text = f"{score(cell.value, column.decimals)}{rank}"
    return Bold(text) if cell.is_first else text
