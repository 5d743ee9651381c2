"""Characters that gold and run mark: precision, recall and F1 over all items together, and each item's IoU."""

from functools import partial

import numpy as np

from scoring.definition import MetricSpec
from scoring.metrics.comparison import SpanComparison
from scoring.metrics.entities import Measure, f1, precision, recall
from scoring.metrics.metric import SPANS, Contributions, Example, Mean, Metric, Numbers, Sums, per_row, ratios
from scoring.metrics.spans import both_marked


def _counts(comparison: SpanComparison) -> Numbers:
    """Return counts (items, 3): the characters that both sides mark, those of the run, and those of the gold."""
    both, items = comparison.once(both_marked), len(comparison.gold)
    gold, run = both.gold_united, both.run_united
    hits = per_row(run.owners, run.covered_by(gold), items)
    return np.column_stack([hits, per_row(run.owners, run.lengths, items), per_row(gold.owners, gold.lengths, items)])


@Mean
def _iou(comparison: SpanComparison, spec: MetricSpec) -> Numbers:
    hits, run, gold = comparison.once(_counts).T
    return ratios(hits, run + gold - hits, 1.0)


_NONE = "if the gold has no spans"
_example = partial(Example, "spans", {"1": "0 1 2 3", "2": "5 6", "3": ""}, {"1": "2 3 4", "2": "5", "3": ""})
_MEASURES: dict[str, tuple[str, str, Measure, str, str | None, float, str]] = {
    "precision": (
        "Character precision",
        "P",
        precision,
        "characters marked by both / characters marked by the run; 0 if the run marks none",
        None,
        3 / 4,
        "3 of the run's 4 characters",
    ),
    "recall": (
        "Character recall",
        "R",
        recall,
        "characters marked by both / characters marked by the gold; undefined if the gold marks none",
        _NONE,
        1 / 2,
        "3 of the gold's 6 characters",
    ),
    "f1": (
        "Character F1",
        "F1",
        f1,
        "2 · characters marked by both / (characters marked by the run + characters marked by the gold); undefined if "
        "the gold marks none",
        _NONE,
        3 / 5,
        "2 · 3 / (4 + 6)",
    ),
}


def _micro(name: str) -> Metric:
    title, short, measure, formula, undefined, value, why = _MEASURES[name]
    return Metric(
        name=f"span_{name}_micro",
        title=f"{title}, micro",
        short=f"Micro {short}",
        formula=f"{formula}; computed over all items together",
        source="UNLP 2025, span identification of manipulative text; sklearn.metrics.precision_recall_fscore_support "
        "on one label per character",
        undefined=undefined,
        compared_with="scikit-learn",
        conventions=("Spans",),
        compute=Sums(lambda comparison, _: Contributions(comparison.once(_counts), measure)),
        example=_example(value, why),
        kinds=SPANS,
    )


METRICS = (
    *(_micro(name) for name in _MEASURES),
    Metric(
        name="span_iou",
        title="Character IoU, mean over items",
        short="IoU",
        formula="mean over items of |A ∩ G| / |A ∪ G| on character offsets; 1 if both are empty",
        source="Vázquez et al. (2025), SemEval-2025 Task 3 (Mu-SHROOM); scikit-learn, jaccard_score",
        compared_with="scikit-learn",
        conventions=("Spans",),
        compute=_iou,
        example=_example((2 / 5 + 1 / 2 + 1) / 3, "2/5 in item 1, 1/2 in item 2, and 1 in item 3"),
        kinds=SPANS,
    ),
)
