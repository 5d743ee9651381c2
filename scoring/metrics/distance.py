"""Distances between places on the globe: mean and median in kilometers, and accuracy within a distance.

Only items with a latitude and a longitude in the gold are used. An item without an answer counts as having the largest
possible distance, half the circumference.
"""

from functools import partial
from math import pi

import numpy as np

from scoring.definition import MetricSpec
from scoring.metrics.comparison import MatrixComparison
from scoring.metrics.metric import TABLE, AnyNumber, Example, Metric, Numbers, Options, Share, SomeColumns, number

RADIUS = 6371.0088  # km, the mean radius of the Earth (IUGG)
KILOMETERS = 161.0  # 100 miles
_ROUNDING = 1e-9  # km, added to the largest distance that is close enough
_COLUMNS: Options = {
    "latitude": SomeColumns(required=True),
    "longitude": SomeColumns(required=True),
    "radius": AnyNumber(0.0),
}


def _distances(comparison: MatrixComparison, spec: MetricSpec) -> tuple[Numbers, Numbers]:
    """Return each item's distance in kilometers and its weight: 1, or 0 if the gold has no place for the item.

    Without a place in the gold, the distance is 0.
    """
    at = [comparison.position(spec.options[name]) for name in ("latitude", "longitude")]
    radius = number(spec, "radius", RADIUS)
    if max(at) >= len(comparison.gold.tree.classes):
        return np.zeros(len(comparison.gold)), np.zeros(len(comparison.gold))
    judged = np.logical_not(comparison.gold.absent[:, at].any(axis=1)).astype(np.float64)
    gold, run = (np.radians(side[:, at].astype(np.float64)).T for side in (comparison.gold.values, comparison.run))
    found = radius * _angles(gold, run)
    found[comparison.absent[:, at].any(axis=1)] = pi * radius
    return found * judged, judged


def _angles(one: Numbers, other: Numbers) -> Numbers:
    """Return the angles between places, in radians.

    The arguments have shape (2, items), with latitude and longitude.
    """
    latitude, longitude = np.sin((one - other) / 2) ** 2
    angles: Numbers = 2 * np.arcsin(
        np.sqrt(np.clip(latitude + np.cos(one[0]) * np.cos(other[0]) * longitude, 0.0, 1.0))
    )
    return angles


@Share
def _within(comparison: MatrixComparison, spec: MetricSpec) -> tuple[Numbers, Numbers]:
    distances, judged = comparison.once(_distances, spec)
    return judged * (distances <= number(spec, "km", KILOMETERS) + _ROUNDING), judged


def _median(comparison: MatrixComparison, spec: MetricSpec) -> float | None:
    distances, judged = comparison.once(_distances, spec)
    return float(np.median(distances[judged > 0])) if judged.any() else None


_GOLD = {"1": "lat 0, lon 0", "2": "lat 0, lon 90", "3": "lat 90, lon 5"}
_RUN = {"1": "lat 0, lon 0", "2": "lat 0, lon 91", "3": "lat -90, lon 5"}
_DEGREE = pi * RADIUS / 180
_WHY = "the distances are 0, one degree (111.2 km) and the distance between the poles (20,015 km)"
_example = partial(Example, "table", _GOLD, _RUN, why=_WHY, options={"latitude": "lat", "longitude": "lon"})
_FORMULA = (
    "d = 2 R arcsin √(sin²((φ_g − φ_a) / 2) + cos φ_g cos φ_a sin²((λ_g − λ_a) / 2)) for the `latitude` φ and the "
    "`longitude` λ in degrees, with `radius` R, by default 6371.0088 km; an item without an answer has d = π R"
)
_SOURCE = "haversine formula, Sinnott (1984), Virtues of the haversine; sklearn.metrics.pairwise.haversine_distances"
_metric = partial(Metric, kinds=TABLE, numbers=True, compared_with="scikit-learn")
METRICS = (
    _metric(
        name="haversine_mean",
        title="Mean distance in km",
        short="Mean km",
        formula=f"mean of d over the items; {_FORMULA}",
        source=_SOURCE,
        compute=Share(_distances),
        example=_example(181 * _DEGREE / 3),
        options=_COLUMNS,
        higher_is_better=False,
        high=None,
    ),
    _metric(
        name="haversine_median",
        title="Median distance in km",
        short="Median km",
        formula=f"median of d over the items; {_FORMULA}",
        source=f"{_SOURCE}; Cheng et al. (2010), You are where you tweet",
        compute=_median,
        example=_example(_DEGREE),
        options=_COLUMNS,
        higher_is_better=False,
        high=None,
    ),
    _metric(
        name="accuracy_within_km",
        title="Accuracy within a distance",
        short="Acc@km",
        formula=f"items with d ≤ `km` / gold items; `km` defaults to 161 (100 miles); {_FORMULA}",
        source=f"{_SOURCE}; Cheng et al. (2010), You are where you tweet: Acc@161",
        compute=_within,
        example=_example(2 / 3),
        options={**_COLUMNS, "km": AnyNumber(0.0)},
    ),
)
