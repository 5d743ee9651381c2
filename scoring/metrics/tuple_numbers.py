"""Precision, recall and F1 of tuples with numbers: the closer the numbers, the higher the credit (DimABSA)."""

from collections import defaultdict

import numpy as np

from scoring.definition import MetricSpec
from scoring.metrics.comparison import TupleComparison
from scoring.metrics.metric import (
    TUPLES,
    AnyNumber,
    Contributions,
    Example,
    Metric,
    Numbers,
    Options,
    Part,
    SomeColumns,
    Sums,
    number,
)
from scoring.metrics.tuples import CASE, MEASURES, UNDEFINED, Cells, column_places, sides

_LOW, _HIGH = 1.0, 9.0  # the scale of valence and arousal in DimABSA
_ENDS = AnyNumber(-1_000_000.0, 1_000_000.0)
_OPTIONS: Options = {"numbers": SomeColumns(several=True, required=True), "low": _ENDS, "high": _ENDS, **CASE}
_SEPARATOR = "#"

Key = tuple[int, Cells]  # gold row, and the cells without numbers


def _counts(comparison: TupleComparison, spec: MetricSpec) -> Numbers:
    """Return counts (items, 3): the total credit, and the number of tuples in the run and in the gold."""
    columns = comparison.gold.tuples.columns
    numeric = column_places(columns, spec.options["numbers"])
    others = [place for place in column_places(columns, spec.part) if place not in numeric]
    gold, run = sides(comparison, others + numeric, spec)
    counts = np.zeros((len(comparison.gold), 3))
    for at, pairs in ((1, run), (2, gold)):
        np.add.at(counts[:, at], np.array([owner for owner, _ in pairs], np.intp), 1)
    given: defaultdict[Key, list[Cells]] = defaultdict(list)
    for owner, cells in run:
        given[owner, cells[: len(others)]].append(cells[len(others) :])
    owners, found = list[int](), list[tuple[Cells, Cells]]()
    for owner, cells in gold:
        same = given.get((owner, cells[: len(others)]), ())
        if len(same) == 1:
            owners.append(owner)
            found.append((cells[len(others) :], same[0]))
    np.add.at(counts[:, 0], np.array(owners, np.intp), _credits(found, spec))
    return counts


def _credits(pairs: list[tuple[Cells, Cells]], spec: MetricSpec) -> Numbers:
    """Return the credit of each pair of a gold tuple's numbers and a run tuple's numbers."""
    low, high = number(spec, "low", _LOW), number(spec, "high", _HIGH)
    credits = np.array([float(gold == run) for gold, run in pairs])  # of cells without numbers
    rows: defaultdict[int, list[int]] = defaultdict(list)  # the pairs by how many numbers they have
    read = [(_numbers_in(gold), _numbers_in(run)) for gold, run in pairs]
    for row, (gold_numbers, run_numbers) in enumerate(read):
        if gold_numbers and len(gold_numbers) == len(run_numbers):
            rows[len(gold_numbers)].append(row)
    for width, own in rows.items():
        gold_side, run_side = (np.array([read[row][side] for row in own]) for side in (0, 1))
        with np.errstate(over="ignore"):  # a number that is too large is too far away
            distances = np.sqrt(((gold_side - run_side) ** 2).sum(axis=1))
        inside = ((run_side >= low) & (run_side <= high)).all(axis=1)
        longest = max(high - low, np.finfo(np.float64).tiny) * np.sqrt(width)
        credits[own] = np.where(inside, np.maximum(0.0, 1 - distances / longest), 0.0)
    return credits


def _numbers_in(cells: Cells) -> list[float]:
    """Return the finite numbers in the cells, or an empty list if a cell contains something else."""
    try:
        found = [float(text) for cell in cells for text in cell.split(_SEPARATOR)]
    except ValueError:
        return []
    return found if np.isfinite(found).all() else []


_FORMULA = (
    "A gold tuple gets credit from the only run tuple of the item with the same values in the other columns: 1 − "
    "distance / greatest distance. The distance is Euclidean, √Σ (g − a)², over the numbers in the columns that the "
    "`numbers` option names, and the greatest distance is (high − low) · √(count of numbers); `low` and `high` "
    "default to 1 and 9. There is no credit if several run tuples have the same values in the other columns, or if a "
    "number of the run is outside the scale. A cell can have several numbers joined by #, such as 7.5#3.25; cells "
    "without numbers must be equal. With `case: ignore`, differences in case are ignored"
)
_GOLD = {"1": "food 7, staff 2", "2": "price 5"}
_RUN = {"1": "food 5, staff 2, room 1", "2": "price 9"}


def _metric(measure: str) -> Metric:
    title, function, short, formula = MEASURES[measure]
    divided = {"precision": "2.25 / 4", "recall": "2.25 / 3", "f1": "2 · 2.25 / (4 + 3)"}[measure]
    return Metric(
        name=f"tuple_{measure}_numbers",
        title=f"{title}, by numbers",
        short=f"{short}, numbers",
        formula=f"{formula.format('credit')}; computed over all items together. {_FORMULA}",
        source="Yu et al. (2026), SemEval-2026 Task 3 (DimABSA): continuous precision, recall and F1",
        undefined=UNDEFINED[measure],
        compared_with="an independent implementation of DimABSA's formula",
        conventions=("Tuples",),
        compute=Sums(lambda comparison, spec: Contributions(comparison.once(_counts, spec), function)),
        example=Example(
            "tuples",
            _GOLD,
            _RUN,
            {"precision": 2.25 / 4, "recall": 2.25 / 3, "f1": 4.5 / 7}[measure],
            "with `numbers: y` (the second column), the credit is 1 − 2/8 for food, 1 for staff and 1 − 4/8 for price: "
            f"{divided}",
            options={"numbers": "y"},
        ),
        kinds=TUPLES,
        part=Part.COLUMNS,
        options=_OPTIONS,
    )


METRICS = (*(_metric(measure) for measure in MEASURES),)
