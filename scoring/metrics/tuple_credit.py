"""Precision, recall and F1 of tuples with partial credit. Each tuple is paired with at most one on the other side."""

from collections.abc import Mapping, Sequence
from itertools import chain, repeat

import numpy as np
from numpy.typing import NDArray

from scoring.definition import MetricSpec
from scoring.metrics.assignment import Credits, best_totals, greedy_total
from scoring.metrics.comparison import TupleComparison
from scoring.metrics.metric import TUPLES, Contributions, Metric, Numbers, Options, Part, SomeColumns, Sums, ratios
from scoring.metrics.tuples import CASE, MEASURES, UNDEFINED, Cells, column_places, sides, tuple_example

_OPTIONS: Options = {
    "credit": ("columns", "overlap"),
    "assign": ("optimal", "greedy"),
    "same": SomeColumns(several=True),
    **CASE,
}
_PAIRS = (
    "Within an item, each tuple in the run is paired with at most one tuple in the gold so that the total credit is "
    "as large as possible. With `assign: greedy`, the pair with the most credit is always chosen next; ties are "
    "broken by the alphabetical order of the run's tuples, then of the gold's. The credit of a pair is the share of "
    "columns with the same value or, with `credit: overlap`, the mean over columns of the word F1, 2 · words in both "
    "/ words of both sides. If the `same` option names columns, pairs with different values in these columns get no "
    "credit. With `case: ignore`, differences in case are ignored"
)


def _counts(comparison: TupleComparison, spec: MetricSpec) -> Numbers:
    """Return counts (items, 3): the total credit, and the number of tuples in the run and in the gold."""
    columns = comparison.gold.tuples.columns
    places = column_places(columns, spec.part)
    same = column_places(columns, spec.options["same"]) if "same" in spec.options else []
    sets: tuple[dict[int, list[Cells]], ...] = ({}, {})
    for found, pairs in zip(sets, sides(comparison, places + same, spec), strict=True):
        for owner, cells in pairs:
            found.setdefault(owner, []).append(cells)
    gold, run = sets
    credit = _of_words if spec.options.get("credit") == "overlap" else _of_columns
    counts = np.zeros((len(comparison.gold), 3))
    for at, own in ((1, run), (2, gold)):
        counts[list(own), at] = [len(rows) for rows in own.values()]
    both = sorted(gold.keys() & run.keys())
    tables = [credit(run[owner], gold[owner], len(places)) for owner in both]
    is_greedy = spec.options.get("assign") == "greedy"
    counts[both, 0] = [greedy_total(table) for table in tables] if is_greedy else best_totals(tables)
    return counts


def _of_columns(run: Sequence[Cells], gold: Sequence[Cells], width: int) -> Credits:
    """Return the share of equal values in the first `width` columns, with shape (run tuples, gold tuples).

    There is no credit if the other columns differ.
    """
    equal = np.array(run, object)[:, None] == np.array(gold, object)[None]
    credits: Credits = equal[..., :width].mean(axis=-1) * equal[..., width:].all(axis=-1)
    return credits


def _of_words(run: Sequence[Cells], gold: Sequence[Cells], width: int) -> Credits:
    """Return the mean word F1 over the first `width` columns, with shape (run tuples, gold tuples).

    There is no credit if the other columns differ.
    """
    alike = np.zeros((len(run), len(gold)))
    for column in range(width):
        alike += _word_f1([cells[column] for cells in run], [cells[column] for cells in gold])
    if len(gold[0]) > width:
        alike *= [[own[width:] == wanted[width:] for wanted in gold] for own in run]
    return alike / width


def _word_f1(run: Sequence[str], gold: Sequence[str]) -> Credits:
    """Return 2 · shared words / total words of the two texts for each pair, or 1 if both texts are empty."""
    run_words, gold_words = ([text.split() for text in texts] for texts in (run, gold))
    known = {word: number for number, word in enumerate(dict.fromkeys(chain.from_iterable(gold_words)))}
    (given, found), (right, wanted) = (_word_counts(words, known) for words in (run_words, gold_words))
    if found.max(initial=0) > 1 and wanted.max(initial=0) > 1:
        both = np.minimum(found[:, None], wanted[None]).sum(axis=-1)
    else:  # the same numbers, which are exact, in less time
        both = np.minimum(found, 1).astype(np.float64) @ np.minimum(wanted, 1).astype(np.float64).T
    return ratios(2 * both, given[:, None] + right[None], 1.0)


def _word_counts(
    texts: Sequence[Sequence[str]], known: Mapping[str, int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the number of words in each text, and the number of times each known word occurs in it (texts, known)."""
    lengths = np.array([len(words) for words in texts], np.int64)
    width = len(known) + 1  # with a column for all other words
    numbers = map(known.get, chain.from_iterable(texts), repeat(len(known)))
    cells = np.repeat(np.arange(len(texts)) * width, lengths)
    cells += np.fromiter(numbers, np.int64, int(lengths.sum()))
    counts = np.bincount(cells, minlength=len(texts) * width)
    return lengths, counts.reshape(len(texts), width)[:, :-1].astype(np.int64)


def _metric(measure: str) -> Metric:
    title, function, short, formula = MEASURES[measure]
    divided = {"precision": "2.5 / 4", "recall": "2.5 / 3", "f1": "2 · 2.5 / (4 + 3)"}[measure]

    return Metric(
        name=f"tuple_{measure}_partial",
        title=f"{title}, partial credit",
        short=f"{short}, partial",
        formula=f"{formula.format('credit')}; computed over all items together. {_PAIRS}",
        source="scipy.optimize.linear_sum_assignment; Kuhn (1955)",
        undefined=UNDEFINED[measure],
        compared_with="SciPy, linear_sum_assignment",
        conventions=("Tuples",),
        compute=Sums(lambda comparison, spec: Contributions(comparison.once(_counts, spec), function)),
        example=tuple_example(
            {"precision": 2.5 / 4, "recall": 2.5 / 3, "f1": 5 / 7}[measure],
            f"`food good` and `price bad` match completely, and `staff good` matches in one of two columns: {divided}",
        ),
        kinds=TUPLES,
        part=Part.COLUMNS,
        options=_OPTIONS,
    )


METRICS = (*(_metric(measure) for measure in MEASURES),)
