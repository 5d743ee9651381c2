"""Soft labels (a probability for each class) from any format: check the numbers and their sum."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scoring.definition import FormatSpec
from scoring.definition.keys import Key
from scoring.definition.kinds import NAMES, NUMBER
from scoring.formats.reading import Reading, shown

SHARE_OPTIONS = (
    Key("classes", NAMES, "Class names."),
    Key("sum", NUMBER, "Required sum of an item's probabilities. If omitted, any sum is allowed.", None),
    Key("tolerance", NUMBER, "Maximum deviation from `sum`.", 1e-3),
)


def judge_shares(
    places: Sequence[str],
    values: NDArray[np.float64],
    columns: tuple[str, ...],
    spec: FormatSpec,
    reading: Reading,
    path: Callable[..., str] | None = None,
    others: NDArray[np.float64] | None = None,
) -> None:
    """Report shares outside [0, 1] and invalid sums.

    Args:
        values: the shares, with shape (items, columns).
        path: a function that returns the path of a row, or of a row and column, in a JSON file.
        others: for each item, the sum of its shares that are not in `values`, or NaN if its sum is not known.
    """
    outside = np.argwhere((values < 0) | (values > 1))
    if len(outside):
        first = outside[: reading.report.listed].tolist()
        row, at = first[0]
        reading.report.error(
            "share-out-of-range",
            path=path(row, columns[at]) if path else None,
            expected="a number from 0 to 1",
            **_first_of(places, row, [f"{shown(places[row])}: {columns[at]} {values[row, at]:g}" for row, at in first]),
            count=len(outside),
        )
    total = spec.options["sum"]
    if total is None:
        return
    sums = values.sum(axis=1) + (0 if others is None else others)
    # Allow slightly more than the tolerance, because decimal shares are not exact in binary.
    wrong = np.nonzero(np.abs(sums - total) > spec.options["tolerance"] + 1e-9)[0].tolist()
    if wrong:
        first = wrong[: reading.report.listed]
        reading.report.add(
            reading.strict,
            "wrong-sum",
            path=path(wrong[0]) if path else None,
            expected=f"a sum of {total:g}",
            **_first_of(places, wrong[0], [f"{shown(places[row])}: {sums[row]:.6g}" for row in first]),
            count=len(wrong),
        )


def _first_of(places: Sequence[str], row: int, found: list[str]) -> dict[str, Any]:
    return {"item": shown(places[row]), "found": found[0], "places": tuple(found)}
