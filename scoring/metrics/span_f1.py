"""F1 of marked spans: by character as a mean over the items, and by span (exact or partial) over all items together.

Spans are used as listed in the files: pairs or rows that touch are not joined. In a list of character offsets,
consecutive offsets form one span.
"""

import numpy as np

from scoring.definition import MetricSpec
from scoring.metrics.comparison import SpanComparison
from scoring.metrics.metric import (
    BY_HAND,
    SPANS,
    Contributions,
    Example,
    Mean,
    Metric,
    Numbers,
    Share,
    Sums,
    per_row,
    ratios,
)
from scoring.metrics.spans import Intervals, both_marked, same_ends


def item_f1(comparison: SpanComparison) -> Numbers:
    """Return the F1 of each item's characters, with shape (items,)."""
    both, items = comparison.once(both_marked), len(comparison.gold)
    gold, run = both.gold_united, both.run_united
    marked = per_row(gold.owners, gold.lengths, items) + per_row(run.owners, run.lengths, items)
    hits = per_row(run.owners, run.covered_by(gold), items)
    return ratios(2 * hits, marked, 1.0)


def _counts(comparison: SpanComparison, side: Intervals) -> Numbers:
    return np.bincount(side.owners, minlength=len(comparison.gold)).astype(np.float64)


@Share
def _exact(comparison: SpanComparison, spec: MetricSpec) -> tuple[Numbers, Numbers]:
    """Return, for each item, twice the number of spans that both sides have, and the total number of their spans."""
    both = comparison.once(both_marked)
    hits = per_row(both.run.owners, same_ends(both.gold, both.run), len(comparison.gold))
    return 2 * hits, _counts(comparison, both.gold) + _counts(comparison, both.run)


def _covered(comparison: SpanComparison) -> Numbers:
    """Return an array (items, 4): for the run, the sum of the spans' covered shares and the number of spans.

    The last two columns contain the same for the gold.
    """
    both, items = comparison.once(both_marked), len(comparison.gold)
    columns = []
    for side, other in ((both.run, both.gold_united), (both.gold, both.run_united)):
        shares = side.covered_by(other) / side.lengths
        columns += [per_row(side.owners, shares, items), _counts(comparison, side)]
    return np.column_stack(columns)


def _partial(sums: Numbers) -> Numbers:
    """Return F1 from the sums (…, 4) of `_covered`."""
    run_covered, run, gold_covered, gold = np.moveaxis(sums, -1, 0)
    # This is 2 P R / (P + R) with P = run_covered / run and R = gold_covered / gold.
    below = run_covered * gold + gold_covered * run
    values = np.where(run + gold > 0, 0.0, np.nan)
    np.divide(2 * run_covered * gold_covered, below, out=values, where=below > 0)
    return values


_GOLD = {"1": "0 1 2 3 8 9", "2": ""}
_RUN = {"1": "0 1 8 9", "2": ""}

METRICS = (
    Metric(
        name="span_f1",
        title="Character F1, mean over items",
        short="F1",
        formula="mean over items of 2 |A ∩ G| / (|A| + |G|) on character offsets; 1 if both are empty",
        source="Pavlopoulos et al. (2021), SemEval-2021 Task 5, section 4; Da San Martino et al. (2019)",
        compared_with=BY_HAND,
        conventions=("Spans",),
        compute=Mean(lambda comparison, _: comparison.once(item_f1)),
        example=Example(
            "spans",
            _GOLD,
            _RUN,
            0.9,
            "in item 1, the run marks 4 characters, all of them among the 6 in the gold; item 2 is empty on both "
            "sides: (8/10 + 1) / 2",
        ),
        kinds=SPANS,
    ),
    Metric(
        name="span_f1_exact",
        title="Span F1, exact",
        short="Exact F1",
        formula="2 · (run spans with the same boundaries as a gold span) / (run spans + gold spans); "
        "computed over all items together; undefined if there are no spans",
        source="Tjong Kim Sang and De Meulder (2003), CoNLL-2003 shared task",
        undefined="if neither side has spans",
        compared_with=BY_HAND,
        conventions=("Spans",),
        compute=_exact,
        example=Example(
            "spans", _GOLD, _RUN, 0.5, "one span, 8–9, matches, and each side has two spans: 2 · 1 / (2 + 2)"
        ),
        kinds=SPANS,
    ),
    Metric(
        name="span_f1_partial",
        title="Span F1, partial",
        short="Partial F1",
        formula="2 P R / (P + R); P = mean share of a run span that the gold marks, R = mean share of a gold span "
        "that the run marks; computed over all items together; undefined if there are no spans",
        source="Da San Martino et al. (2020), SemEval-2020 Task 11, section 4.1",
        undefined="if neither side has spans",
        compared_with=BY_HAND,
        conventions=("Spans",),
        compute=Sums(lambda comparison, _: Contributions(comparison.once(_covered), _partial)),
        example=Example("spans", _GOLD, _RUN, 6 / 7, "P = (1 + 1) / 2, R = (1/2 + 1) / 2: 2 · 1 · 0.75 / 1.75"),
        kinds=SPANS,
    ),
)
