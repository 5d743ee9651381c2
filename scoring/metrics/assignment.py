"""Select pairs in tables of credits, using each row and each column at most once."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Credits = NDArray[np.float64]

CELLS = 1_000_000  # of the tables that are solved at once


def best_totals(tables: Sequence[Credits]) -> list[float]:
    """Return the largest possible total credit of pairs for each table (n, m). Credits must not be negative.

    Uses shortest augmenting paths with potentials: Jonker and Volgenant (1987), Computing 38. This takes at most
    min(n, m)² steps for each table; many tables take each step at the same time.
    """
    totals = [float(table.max(initial=0.0)) for table in tables]  # right for a single row or column
    wide = [table if table.shape[0] <= table.shape[1] else table.T for table in tables]
    larger = [at for at, table in enumerate(wide) if len(table) > 1]
    larger.sort(key=lambda at: wide[at].shape)
    while larger:
        rows, columns = np.array([wide[at].shape for at in larger]).T
        cells = np.arange(1, len(larger) + 1) * np.maximum.accumulate(rows) * np.maximum.accumulate(columns)
        count = max(1, int(np.searchsorted(cells, CELLS, side="right")))
        chosen, larger = larger[:count], larger[count:]
        for at, total in zip(chosen, _solved([wide[at] for at in chosen]), strict=True):
            totals[at] = total
    return totals


def greedy_total(credits: Credits) -> float:
    """Return the total credit from repeatedly pairing the unused row and column with the largest credit.

    Among equal credits, choose the first row, and then the first column.
    """
    total, rows, columns = 0.0, set[int](), set[int]()
    flat = credits.ravel()
    places = np.flatnonzero(flat)  # pairs without credit add nothing
    for place in places[np.argsort(-flat[places], kind="stable")].tolist():
        row, column = divmod(place, credits.shape[1])
        if row not in rows and column not in columns:
            total += float(flat[place])
            rows.add(row)
            columns.add(column)
            if len(rows) == min(credits.shape):
                break
    return total


def _solved(tables: Sequence[Credits]) -> list[float]:
    """Return the largest total of each table. None has more rows than columns."""
    height, width = (max(table.shape[axis] for table in tables) for axis in (0, 1))
    credits = np.zeros((len(tables), height, max(height, width)))
    for at, table in enumerate(tables):
        credits[at, : table.shape[0], : table.shape[1]] = table
    owners = _Assignment(-credits).owners()
    pairs = [(owners[at, : table.shape[1]], table) for at, table in enumerate(tables)]
    totals = []
    for own, table in pairs:
        columns = np.flatnonzero((own >= 0) & (own < len(table)))  # the other rows are padding
        totals.append(float(table[own[columns], columns].sum()))
    return totals


class _Assignment:
    """Assigns rows to columns in many tables of costs (tables, rows, columns), with at most as many rows as columns.

    Rows are added one by one. `of_rows` and `of_columns` are the potentials. The last column is a placeholder where the
    path of the new row begins.
    """

    def __init__(self, costs: NDArray[np.float64]) -> None:
        self.costs = costs
        tables, rows, self.width = costs.shape
        self.of_rows, self.of_columns = np.zeros((tables, rows)), np.zeros((tables, self.width + 1))
        self.assigned = np.full((tables, self.width + 1), -1, np.intp)

    def owners(self) -> NDArray[np.intp]:
        """Return the row assigned to each column (−1: none), so that the total cost of each table is smallest."""
        for row in range(self.costs.shape[1]):
            self._add(row)
        return self.assigned[:, :-1]

    def _add(self, row: int) -> None:
        """Find the shortest path from the row to a free column in each table, and move the rows on it."""
        tables, width = len(self.costs), self.width
        self.assigned[:, width] = row
        least, before = np.full((tables, width), np.inf), np.full((tables, width), width, np.intp)
        visited, column = np.zeros((tables, width + 1), np.bool_), np.full(tables, width, np.intp)
        active = np.arange(tables)
        while len(active):
            at = column[active]
            visited[active, at] = True
            own, seen = self.assigned[active, at], visited[active, :-1]
            reduced = self.costs[active, own] - self.of_rows[active, own][:, None] - self.of_columns[active, :-1]
            closer = ~seen & (reduced < least[active])
            nearest = np.where(closer, reduced, least[active])
            before[active] = np.where(closer, at[:, None], before[active])
            column[active] = np.where(seen, np.inf, nearest).argmin(axis=1)
            step = nearest[np.arange(len(active)), column[active]]
            least[active] = np.where(seen, nearest, nearest - step[:, None])
            which, passed = np.nonzero(visited[active])
            self.of_rows[active[which], self.assigned[active[which], passed]] += step[which]
            self.of_columns[active[which], passed] -= step[which]
            active = active[self.assigned[active, column[active]] >= 0]
        self._move(before, column)

    def _move(self, before: NDArray[np.intp], column: NDArray[np.intp]) -> None:
        """Give each column on the paths the row of the column before it."""
        active = np.arange(len(column))
        while len(active := active[column[active] != self.width]):
            previous = before[active, column[active]]
            self.assigned[active, column[active]] = self.assigned[active, previous]
            column[active] = previous
