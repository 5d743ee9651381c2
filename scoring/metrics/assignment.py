"""Select pairs in a table of credits, using each row and each column at most once."""

import numpy as np
from numpy.typing import NDArray

Credits = NDArray[np.float64]


def best_total(credits: Credits) -> float:
    """Return the largest possible total credit of pairs in a table (n, m).

    Uses shortest augmenting paths with potentials: Jonker and Volgenant (1987), Computing 38. This takes at most
    min(n, m)² steps, each over the longer side.
    """
    if min(credits.shape) <= 1:
        return float(credits.max(initial=0.0))
    table = credits if credits.shape[0] <= credits.shape[1] else credits.T
    owners = _assigned(-table)
    columns = np.flatnonzero(owners >= 0)
    return float(table[owners[columns], columns].sum())


def greedy_total(credits: Credits) -> float:
    """Return the total credit from repeatedly pairing the unused row and column with the largest credit.

    Among equal credits, choose the first row, and then the first column.
    """
    total, rows, columns = 0.0, set[int](), set[int]()
    for place in np.argsort(-credits, axis=None, kind="stable").tolist():
        row, column = divmod(place, credits.shape[1])
        if row not in rows and column not in columns:
            total += float(credits[row, column])
            rows.add(row)
            columns.add(column)
    return total


def _assigned(costs: Credits) -> NDArray[np.intp]:
    """Return the row assigned to each column (−1: none) so that the total cost is smallest.

    There must not be more rows than columns.

    Rows are added one by one. `of_rows` and `of_columns` are the potentials. The last column is a placeholder where the
    path of the new row begins.
    """
    rows, width = costs.shape
    of_rows, of_columns = np.zeros(rows), np.zeros(width + 1)
    owners = np.full(width + 1, -1, np.intp)
    for row in range(rows):
        owners[width] = row
        least, before, visited = np.full(width, np.inf), np.full(width, width, np.intp), np.zeros(width + 1, np.bool_)
        column = width
        while owners[column] >= 0:
            visited[column] = True
            own = owners[column]
            reduced = costs[own] - of_rows[own] - of_columns[:-1]
            closer = ~visited[:-1] & (reduced < least)
            least[closer], before[closer] = reduced[closer], column
            column = int(np.where(visited[:-1], np.inf, least).argmin())
            step = least[column]
            of_rows[owners[visited]] += step
            of_columns[visited] -= step
            least[~visited[:-1]] -= step
        while column != width:
            owners[column] = owners[before[column]]
            column = int(before[column])
    return owners[:-1]
