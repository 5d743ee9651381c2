"""The official runs and baselines of several tracks in one table, for tasks whose tracks have the same columns."""

from collections.abc import Sequence
from dataclasses import dataclass

from portal.models import Run, Track
from portal.queries.boards.columns import Column
from portal.queries.boards.table import BoardTable, Row
from scoring.definition import RunField


@dataclass(frozen=True, slots=True)
class AllRuns:
    """One row per run and track. Sorting by name puts the tracks of a team or baseline next to each other.

    `means` has the mean of each column's values, or None for a column without values.
    """

    run_fields: tuple[RunField, ...]
    columns: list[Column]
    rows: list[tuple[Row, Track]]

    @property
    def lines(self) -> list[tuple[Row, Track, list[tuple[Column, float | None]]]]:
        return [
            (row, track, [(column, row.scores.get(column.key)) for column in self.columns]) for row, track in self.rows
        ]

    @property
    def means(self) -> list[tuple[Column, float | None]]:
        return [(column, self.mean(column.key)) for column in self.columns]

    def mean(self, key: str) -> float | None:
        """Return the mean over the rows that have a value, or None if no row has one."""
        values = [value for row, _track in self.rows if (value := row.scores.get(key)) is not None]
        return sum(values) / len(values) if values else None


def all_runs(boards: Sequence[BoardTable]) -> AllRuns | None:
    """Return the runs on all boards, or None if the boards show different columns or fewer than two list a team."""
    filled = [board for board in boards if board.teams]
    shown = {tuple(board.default_columns) for board in boards}
    if len(filled) < 2 or len(shown) > 1:
        return None
    keys = filled[0].default_columns
    columns = [column for key in keys for column in filled[0].columns if column.key == key]
    rows = [(row, board.track) for board in filled for row in board.rows if row.kind != Run.Kind.GOLD]
    return AllRuns(
        filled[0].run_fields, columns, sorted(rows, key=lambda pair: (not pair[0].is_team, pair[0].label.casefold()))
    )
