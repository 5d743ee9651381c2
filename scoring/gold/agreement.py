"""Annotator agreement: pairwise agreement, Cohen's and Fleiss' kappa, Krippendorff's alpha, and all of these by class.

Ratings are whole numbers with shape (items, annotators): one number per label, or `MISSING` if there is no rating. A
coefficient is None if it is undefined because no item was rated twice or everyone always used the same label.
"""

from dataclasses import astuple, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from scoring.gold.votes import VoteRules, Votes, collect
from scoring.reports.tables import TextTable

MISSING = -1

Ratings = NDArray[np.integer[Any]]
Numbers = NDArray[np.float64]
Level = Literal["nominal", "ordinal", "interval"]


@dataclass(frozen=True, slots=True)
class AnnotatorAgreement:
    """The four coefficients for one class, as in the DETESTS overview.

    `items` is the number of items with two or more ratings.
    """

    name: str
    items: int
    pairwise: float | None
    fleiss: float | None
    cohen: float | None
    alpha: float | None


def pairwise_agreement(ratings: Ratings) -> float | None:
    """Return the mean, over all pairs of annotators, of the share of their common items that both rated alike."""
    pairs = _pairs(ratings)
    return _mean(pairs.same / pairs.both)


def mean_cohen_kappa(ratings: Ratings) -> float | None:
    """Return the mean of Cohen's kappa over all pairs of annotators for which it is defined (Light, 1971).

    Source: Cohen (1960), A coefficient of agreement for nominal scales, eq. 1: κ = (p_o − p_c) / (1 − p_c).
    """
    pairs = _pairs(ratings)
    observed, chance = pairs.same / pairs.both, pairs.chance / pairs.both**2
    defined = chance < 1
    return _mean((observed[defined] - chance[defined]) / (1 - chance[defined]))


def fleiss_kappa(ratings: Ratings) -> float | None:
    """Return Fleiss' kappa: agreement beyond chance, for any number of annotators.

    Items may have different numbers of ratings. Items with a single rating are left out.

    Source: Fleiss (1971), Measuring nominal scale agreement among many raters, eq. 3, 6 and 7.
    """
    counts = _counts(ratings)[0]
    raters = counts.sum(axis=1)
    if not len(counts):
        return None
    agreeing = ((counts**2).sum(axis=1) - raters) / (raters * (raters - 1))
    shares = counts.sum(axis=0) / raters.sum()
    by_chance = float((shares**2).sum())
    return (float(agreeing.mean()) - by_chance) / (1 - by_chance) if (shares > 0).sum() > 1 else None


def krippendorff_alpha(ratings: Ratings, level: Level = "nominal") -> float | None:
    """Return 1 − observed disagreement / expected disagreement. Ratings may be missing.

    Args:
        level: how to measure the distance between labels: nominal (different or not), ordinal, or interval (squared
            difference).

    Source: Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, section C and the metrics of section D.
    """
    counts, labels = _counts(ratings)
    if not len(counts):
        return None
    weights = 1 / (counts.sum(axis=1) - 1)
    together = counts.T @ (counts * weights[:, None]) - np.diag(weights @ counts)
    totals = counts.sum(axis=0)
    distances = _distances(labels, totals, level)
    expected = float((np.outer(totals, totals) * distances).sum())
    observed = float((together * distances).sum())
    return 1 - (float(totals.sum()) - 1) * observed / expected if expected > 0 else None


def agreement(name: str, ratings: Ratings) -> AnnotatorAgreement:
    """Compute all coefficients for one set of nominal ratings."""
    return AnnotatorAgreement(
        name=name,
        items=int(((ratings != MISSING).sum(axis=1) > 1).sum()),
        pairwise=pairwise_agreement(ratings),
        fleiss=fleiss_kappa(ratings),
        cohen=mean_cohen_kappa(ratings),
        alpha=krippendorff_alpha(ratings),
    )


def agreement_by_class(votes: Votes, rules: VoteRules) -> list[AnnotatorAgreement]:
    """Return one row per class (assigned or not), and one row for whole answers.

    In whole answers, each set of labels counts as one label. An annotator is identified by the position in each item's
    list of votes. A vote without any class counts as missing.
    """
    ballots = collect(votes, rules)
    cast = ballots.cast
    width = int(ballots.places.max(initial=-1)) + 1
    _, whole = np.unique(ballots.holds, axis=0, return_inverse=True)
    by_name = dict(zip(rules.classes, ballots.holds.T, strict=True)) | {"whole answers": whole}
    rows = []
    for name, values in by_name.items():
        ratings = np.full((len(votes), width), MISSING, np.int64)
        ratings[ballots.items[cast], ballots.places[cast]] = values[cast]
        rows.append(agreement(name, ratings))
    return rows


def agreement_table(rows: list[AnnotatorAgreement]) -> TextTable:
    """Return the rows as a table, laid out as in DETESTS 2022 (Ariza-Casabona et al., 2022)."""
    head = ("class", "items", "pairwise agreement", "Fleiss' kappa", "mean Cohen's kappa", "Krippendorff's alpha")
    return TextTable("Annotator agreement", head, tuple(map(astuple, rows)))


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Arrays over all pairs of annotators: the number of common items, the agreements, and Σ_c n_1c · n_2c."""

    both: Numbers
    same: Numbers
    chance: Numbers


def _pairs(ratings: Ratings) -> _Pairs:
    rated = (ratings != MISSING).astype(np.float64)
    upper = np.triu_indices(ratings.shape[1], 1)
    both = (rated.T @ rated)[upper]
    same, chance = np.zeros_like(both), np.zeros_like(both)
    for label in np.unique(ratings[ratings != MISSING]):
        gave = (ratings == label).astype(np.float64)
        given_in_common = gave.T @ rated  # how often annotator i used the label on items that annotator j also rated
        same += (gave.T @ gave)[upper]
        chance += (given_in_common * given_in_common.T)[upper]
    common = both > 0
    return _Pairs(both[common], same[common], chance[common])


def _counts(ratings: Ratings) -> tuple[Numbers, Numbers]:
    """Return how often each item got each label (items, labels), and the labels.

    Only items with two or more ratings are included.
    """
    labels = np.unique(ratings[ratings != MISSING])
    counts = np.stack([(ratings == label).sum(axis=1) for label in labels], axis=1) if len(labels) else np.zeros((0, 0))
    paired = counts.sum(axis=1) > 1
    return counts[paired].astype(np.float64), labels.astype(np.float64)


def _distances(labels: Numbers, totals: Numbers, level: Level) -> Numbers:
    if level == "nominal":
        return 1 - np.eye(len(labels))
    if level == "interval":
        return np.subtract.outer(labels, labels) ** 2
    # The distance is the sum of the totals between two labels, including half of each label's own total.
    middles = np.cumsum(totals) - totals / 2
    return np.subtract.outer(middles, middles) ** 2


def _mean(values: Numbers) -> float | None:
    return float(values.mean()) if len(values) else None
