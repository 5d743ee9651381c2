"""Areas under ROC curves that show how a group of items compares with the other items (Borkan et al., 2019).

The group is a slice, and the background is all other items. The area within the group, Subgroup AUC, is `roc_auc@…`.
"""

from collections.abc import Callable

import numpy as np

from scoring.definition import MetricSpec
from scoring.metrics.comparison import MatrixComparison
from scoring.metrics.curves import area_under_roc_over, mean_over_classes
from scoring.metrics.metric import SOFT, TABLE, Example, Metric, Part
from scoring.metrics.slices import in_slice


def _area(group_is_positive: bool) -> Callable[[MatrixComparison, MetricSpec], float | None]:
    """Return a function for the AUC on positive group items and negative background items, or vice versa."""

    @mean_over_classes
    def area(comparison: MatrixComparison, spec: MetricSpec, name: str) -> float | None:
        gold, at = comparison.gold, comparison.position(name)
        if at >= len(gold.tree.classes):
            return None
        in_group = np.zeros(len(gold), bool)
        if spec.where is not None:
            in_group[in_slice(gold, spec.where)] = True
        members = (gold.values[:, at] > 0.5) == (in_group == group_is_positive)
        return area_under_roc_over(comparison, name, members)

    return area


_GOLD = {"1": "toxic 1", "2": "toxic 0", "3": "toxic 1", "4": "toxic 0", "5": "toxic 0"}
_RUN = {"1": "toxic 0.9", "2": "toxic 0.6", "3": "toxic 0.5", "4": "toxic 0.1", "5": "toxic 0.7"}
_SLICES = {"1": "a", "2": "a", "3": "b", "4": "b", "5": "b"}


def _metric(name: str, title: str, group: str, others: str, meaning: str, value: float, why: str) -> Metric:
    return Metric(
        name=name,
        title=title,
        short=name.removesuffix("_auc").upper(),
        formula=f"area under the ROC curve over the {group} items of a slice and the {others} items outside it; it "
        f"is low if {meaning}",
        source="Borkan et al. (2019), Nuanced metrics for measuring unintended bias with real data for text "
        "classification",
        undefined=f"if the slice has no {group} items, or the other items are all {group}",
        compared_with="an independent count over all pairs of items",
        compute=_area(group_is_positive=group == "positive"),
        example=Example("soft", _GOLD, _RUN, value, why, part="toxic", slices=_SLICES, where=("group", "a")),
        kinds=SOFT | TABLE,
        numbers=True,
        part=Part.SCORED,
        sees_background=True,
    )


METRICS = (
    _metric(
        name="bpsn_auc",
        title="Background positive, subgroup negative AUC",
        group="negative",
        others="positive",
        meaning="negative items of the slice are mistaken for positive ones",
        value=0.0,
        why="item 3 (positive, outside a) has 0.5, but item 2 (negative, in a) has 0.6, so the only pair is "
        "in reverse order",
    ),
    _metric(
        name="bnsp_auc",
        title="Background negative, subgroup positive AUC",
        group="positive",
        others="negative",
        meaning="positive items of the slice are mistaken for negative ones",
        value=1.0,
        why="item 1 (positive, in a) has 0.9, more than items 4 and 5 (negative, outside a)",
    ),
)
