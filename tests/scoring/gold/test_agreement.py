from itertools import combinations

import krippendorff
import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from scoring.gold.agreement import (
    MISSING,
    Ratings,
    agreement_by_class,
    agreement_table,
    fleiss_kappa,
    krippendorff_alpha,
    mean_cohen_kappa,
    pairwise_agreement,
)
from scoring.gold.votes import VoteRules

# Ten items, fourteen raters, five labels: a well-known worked example of Fleiss' kappa (0.210).
COUNTS = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]
FOURTEEN = np.array([np.repeat(np.arange(5), row) for row in COUNTS])

_ = MISSING
# Krippendorff (2011), section C: four observers and twelve units, some of them unrated.
FOUR = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3],
        [_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _],
    ]
).T


def random_ratings(seed: int, missing: float) -> Ratings:
    """Create ratings of 60 items by five annotators, who choose the item's usual label at least 60% of the time."""
    rng = np.random.default_rng(seed)
    leaning = rng.integers(4, size=(60, 1))
    ratings = np.where(rng.random((60, 5)) < 0.6, leaning, rng.integers(4, size=(60, 5)))
    return np.where(rng.random((60, 5)) < missing, MISSING, ratings)


def test_fleiss_on_the_known_example() -> None:
    assert fleiss_kappa(FOURTEEN) == pytest.approx(0.20993, abs=5e-6)


def test_alpha_on_its_authors_example() -> None:
    assert krippendorff_alpha(FOUR) == pytest.approx(0.743, abs=5e-4)
    assert krippendorff_alpha(FOUR, "ordinal") == pytest.approx(0.815, abs=5e-4)
    assert krippendorff_alpha(FOUR, "interval") == pytest.approx(0.849, abs=5e-4)


def test_two_annotators_by_hand() -> None:
    """Check kappa against values computed by hand.

    50 items, 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no: p_o = 0.7, p_c = 0.5 · 0.6 + 0.5 · 0.4 = 0.5, κ = 0.4.
    """
    first, second = np.repeat([1, 1, 0, 0], [20, 5, 10, 15]), np.repeat([1, 0, 1, 0], [20, 5, 10, 15])
    both = np.stack([first, second], axis=1)
    assert mean_cohen_kappa(both) == pytest.approx(0.4)
    assert pairwise_agreement(both) == pytest.approx(0.7)


@pytest.mark.parametrize("missing", [0, 0.3, 0.8])
@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_alpha_as_an_independent_implementation_has_it(level: str, missing: float) -> None:
    ratings = random_ratings(3, missing)
    theirs = np.where(ratings == MISSING, np.nan, ratings.astype(float)).T
    expected = krippendorff.alpha(theirs, level_of_measurement=level)
    assert krippendorff_alpha(ratings, level) == pytest.approx(expected, abs=1e-12)  # type: ignore[arg-type]


@pytest.mark.parametrize("missing", [0, 0.3])
def test_cohen_and_pairwise_agreement_over_pairs_as_an_independent_implementation_has_them(missing: float) -> None:
    ratings = random_ratings(4, missing)
    kappas, shares = [], []
    for first, second in combinations(ratings.T, 2):
        common = (first != MISSING) & (second != MISSING)
        kappas.append(cohen_kappa_score(first[common], second[common]))
        shares.append(np.mean(first[common] == second[common]))
    assert mean_cohen_kappa(ratings) == pytest.approx(np.mean(kappas), abs=1e-12)
    assert pairwise_agreement(ratings) == pytest.approx(np.mean(shares), abs=1e-12)


def test_fleiss_follows_from_alpha_when_nothing_is_missing() -> None:
    """The relation is 1 − α = (1 − κ)(1 − 1 / number of ratings)."""
    ratings = random_ratings(5, 0)
    alpha, kappa = krippendorff_alpha(ratings), fleiss_kappa(ratings)
    assert alpha is not None
    assert kappa is not None
    assert 1 - alpha == pytest.approx((1 - kappa) * (1 - 1 / ratings.size), abs=1e-12)


def test_what_has_no_meaning_is_undefined() -> None:
    for ratings in (np.full((3, 4), MISSING), np.array([[1, MISSING], [MISSING, 2]]), np.zeros((0, 3), int)):
        for coefficient in (pairwise_agreement, mean_cohen_kappa, fleiss_kappa, krippendorff_alpha):
            assert coefficient(ratings) is None
    always = np.ones((5, 3), int)
    assert pairwise_agreement(always) == 1
    assert [mean_cohen_kappa(always), fleiss_kappa(always), krippendorff_alpha(always)] == [None, None, None]


def test_names_of_labels_and_order_of_items_and_annotators_do_not_matter() -> None:
    ratings = random_ratings(6, 0.3)
    renamed = np.where(ratings == MISSING, MISSING, np.array([7, 2, 9, 4])[ratings])[::-1, ::-1]
    for coefficient in (pairwise_agreement, mean_cohen_kappa, fleiss_kappa, krippendorff_alpha):
        assert coefficient(renamed) == pytest.approx(coefficient(ratings), abs=1e-12)


def test_the_table_has_a_row_a_class_and_one_of_whole_answers() -> None:
    rules = VoteRules(("A", "B", "NO"), threshold=0, multi=True)
    votes = {"1": [["A"], ["A", "B"], ["A"]], "2": [["NO"], ["NO"], ["UNKNOWN"]], "3": [["B"], [], []]}
    rows = {row.name: row for row in agreement_by_class(votes, rules)}
    assert list(rows) == ["A", "B", "NO", "whole answers"]
    # A: the pair (1, 2) agrees on both items, and the pairs with annotator 3 agree on their only item. B: 1/2, 1/1,
    # 0/1.
    assert (rows["A"].pairwise, rows["A"].fleiss, rows["A"].items) == (1, 1, 2)
    assert rows["B"].pairwise == pytest.approx((1 / 2 + 1 + 0) / 3)
    assert rows["whole answers"].pairwise == pytest.approx((1 / 2 + 1 + 0) / 3)


def test_the_table_as_text_and_csv() -> None:
    votes = {"1": [["A"], ["A"]], "2": [["B"], ["A"]], "3": [["B"], ["B"]]}
    table = agreement_table(agreement_by_class(votes, VoteRules(("A", "B", "C"))))
    text, lines = table.as_text().splitlines(), table.as_csv().splitlines()
    assert text[0] == "Annotator agreement"
    assert text[2].split() == ["A", "3", "0.6667", "0.3333", "0.4000", "0.4444"]
    assert text[4].split() == ["C", "3", "1.0000"]
    assert lines[0] == "class,items,pairwise agreement,Fleiss' kappa,mean Cohen's kappa,Krippendorff's alpha"
    assert lines[3] == "C,3,1.0,,,"
