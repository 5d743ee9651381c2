"""All outputs of a board have the same rows, in the same order and with the same values."""

import csv
import io
import json
from datetime import timedelta

import pytest

from portal.evaluation.compare import compare_board
from portal.export import board_csv, board_json
from portal.figures.field import intervals
from portal.models import Board, SharedTask
from portal.paper.latex import Bold
from portal.paper.tables import board_table
from portal.queries.boards.releases import keep_release
from portal.queries.boards.table import BoardTable, released_table
from portal.times_and_numbers import score
from tests.portal.remembered import remembered
from tests.portal.world import GOOD, PERFECT, POOR, RELEASE, board, with_teams

# A row's rank, team or reference, score, ends of the score's interval and of the rank's, and tie group.
RunColumns = tuple[int | None, str, float | None, float | None, float | None, int | None, int | None, str]


@remembered
def released(tiny: SharedTask) -> SharedTask:
    """Four teams, two of which are tied."""
    with_teams(tiny, {"Ostro": PERFECT, "Meltemi": GOOD, "Sirocco": GOOD, "Notus": POOR})
    compare_board(_row(), RELEASE)
    keep_release(_row(), RELEASE + timedelta(minutes=1))
    return tiny


def _row() -> Board:
    boards = Board.objects.select_related("track__shared_task", "phase__shared_task", "gold")
    return boards.get(track__slug="one", phase__slug="evaluation")


def lines(table: BoardTable) -> list[RunColumns]:
    return [
        (
            row.rank,
            row.label,
            row.scores["accuracy"],
            *(row.interval or (None, None)),
            row.rank_low,
            row.rank_high,
            row.group,
        )
        for row in table.rows
    ]


def in_csv(content: bytes) -> list[RunColumns]:
    def number(text: str) -> float | None:
        return float(text) if text else None

    return [
        (
            int(one["rank"]) if one["rank"] else None,
            one["team"] or one["run"],
            number(one["accuracy"]),
            number(one["low"]),
            number(one["high"]),
            int(one["rank_low"]) if one["rank_low"] else None,
            int(one["rank_high"]) if one["rank_high"] else None,
            one["tie_group"],
        )
        for one in csv.DictReader(io.StringIO(content.decode()))
    ]


def in_json(content: bytes) -> list[RunColumns]:
    return [
        (
            one["rank"],
            one["team"] or one["run"],
            one["scores"]["accuracy"],
            *(one["interval"] or (None, None)),
            one["rank_low"],
            one["rank_high"],
            one["tie_group"],
        )
        for one in json.loads(content)["rows"]
    ]


@pytest.mark.slow
def test_csv_json_and_the_kept_release_have_the_rows_of_the_page(released: SharedTask) -> None:
    shown = board(released, RELEASE + timedelta(minutes=2))
    expected = lines(shown)
    assert len(expected) > 4
    assert {line[7] for line in expected} > {""}
    assert in_csv(board_csv(shown)) == in_json(board_json(shown)) == expected
    kept = released_table(shown.releases[0])
    assert lines(kept) == expected
    assert kept.rows == shown.rows
    assert (kept.columns, kept.rank_by, kept.comparison) == (shown.columns, shown.rank_by, shown.comparison)
    assert board_csv(kept) == board_csv(shown)


def test_papers_and_figures_have_them_too(released: SharedTask) -> None:
    shown = board(released, RELEASE)
    column = shown.ranking_column
    place = 4 + shown.columns.index(column)
    printed = [(row[0], row[1], row[place]) for row in board_table(shown).rows]
    assert printed == [
        (
            row.bounds.letters if row.bounds else "",
            "" if row.rank is None else f"{row.rank} ({row.rank_low}–{row.rank_high})",
            score(row.scores[column.key], column.decimals),
        )
        for row in shown.rows
    ]
    bold = {row[2] for row in board_table(shown).rows if isinstance(row[place], Bold)}
    assert bold == {row.team for row in shown.teams if row.scores[column.key] == shown.best(column)} == {"Ostro"}
    figure = intervals(shown)
    assert figure is not None
    assert [(one["name"], one["value"], one["low"], one["high"], one["group"]) for one in figure.data] == [
        (*line[1:5], line[7]) for line in lines(shown) if line[3] is not None
    ]
    assert [one["rank"] for one in figure.data] == [
        "" if low is None else f"{rank} ({low}–{high})"
        for rank, _name, _score, bottom, _top, low, high, _group in lines(shown)
        if bottom is not None
    ]
    assert shown.ranks_note in figure.caption
    assert shown.ranks_note in board_table(shown).caption
