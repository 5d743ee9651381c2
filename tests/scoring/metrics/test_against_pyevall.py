"""Comparison with PyEvALL to 1e-9 on random trees, label sets, weights and parameters."""

import random
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tests.scoring.metrics.answers import labels, soft, value
from tests.scoring.metrics.conftest import Evaluate
from tests.scoring.metrics.test_icm_recursion import Parents, random_tree

pytestmark = pytest.mark.slow

Case = dict[str, Any]
HARD = {
    "Precision": "precision_macro",
    "Recall": "recall_macro",
    "FMeasure": "f1_macro",
    "ICM": "icm",
    "ICMNorm": "icm_norm",
}
SINGLE = HARD | {"Accuracy": "accuracy", "SystemPrecision": "system_precision", "Kappa": "kappa"}
SOFT = {"ICMSoft": "icm_soft", "ICMSoftNorm": "icm_soft_norm", "CrossEntropy": "cross_entropy", "MAE": "mae"}
CASES = 4  # cases per kind; only a few, because PyEvALL is slow


def nested(classes: list[str], parents: Parents) -> dict[str, Any]:
    """Return the tree in PyEvALL's format."""

    def below(parent: str | None) -> dict[str, Any]:
        return {name: below(name) or [] for name in classes if parents.get(name) == parent}

    return below(None)


def case(rng: random.Random, flat: bool, draw: Callable[[list[str]], Any], drop: float) -> tuple[Case, Any]:
    """Create a gold standard and a run for a random tree or, if `flat`, for its classes without the hierarchy.

    Each item is left out of the run with probability `drop`.
    """
    classes, parents, hierarchy = random_tree(rng)
    ids = [str(number) for number in range(rng.randint(5, 25))]
    gold = {item: draw(classes) for item in ids}
    run = {item: draw(classes) if rng.random() < 0.6 else gold[item] for item in ids if rng.random() >= drop}
    run = run or gold
    # α1 + α2 > β, because otherwise the gold scores no better than an empty run, and PyEvALL's norm divides by 0 or
    # changes its sign.
    parameters = {"alpha_1": rng.choice([1.5, 2.0]), "alpha_2": rng.choice([1.5, 2.5]), "beta": rng.choice([1.0, 2.5])}
    given = {
        "gold": [{"id": item, "value": answer} for item, answer in gold.items()],
        "run": [{"id": item, "value": answer} for item, answer in run.items()],
        "hierarchy": None if flat else nested(classes, parents),
        "parameters": parameters if rng.random() < 0.5 else {},
    }
    return given, (gold, run, None if flat else hierarchy)


def compare(evaluate: Evaluate, cases: list[tuple[Case, Any]], names: Mapping[str, str], read: Any) -> int:
    """Compare every metric for every case, and return the number of compared values."""
    theirs = evaluate([given | {"metrics": list(names)} for given, _ in cases])
    compared = 0
    for (given, (gold, run, hierarchy)), values in zip(cases, theirs, strict=True):
        for name, own in names.items():
            options = {"unpredicted": "skip"} if own == "precision_macro" else {}
            if own.startswith("icm"):
                options = {key.replace("_", ""): str(number) for key, number in given["parameters"].items()}
            ours = value(own, read(gold), read(run), hierarchy, **options)
            if values[name] is None or ours is None:
                continue
            compared += 1
            assert ours == pytest.approx(values[name], rel=1e-9, abs=1e-9), (name, given)
    return compared


def test_one_label(pyevall: Evaluate) -> None:
    rng = random.Random("one")
    cases = [case(rng, flat, rng.choice, drop) for flat in (True, False) for drop in (0.0, 0.1) for _ in range(CASES)]
    assert compare(pyevall, cases, SINGLE, labels) > 6 * len(cases)


def test_several_labels(pyevall: Evaluate) -> None:
    rng = random.Random("several")

    def draw(classes: list[str]) -> list[str]:
        return rng.sample(classes, rng.randint(1, min(4, len(classes))))

    cases = [case(rng, False, draw, drop) for drop in (0.0, 0.1) for _ in range(CASES)]
    assert compare(pyevall, cases, HARD, labels) > 4 * len(cases)


def test_weights(pyevall: Evaluate) -> None:
    """In half of the cases, most weights are near 0, so that the others are in the far tail, where rounding matters."""
    rng = random.Random("weights")

    def draw(classes: list[str]) -> dict[str, float]:
        return {name: rng.randint(0, 6) / 6 if rng.random() < 0.5 else rng.random() for name in classes}

    def draw_rare(classes: list[str]) -> dict[str, float]:
        return {name: weight ** rng.choice([1, 12]) for name, weight in draw(classes).items()}

    cases = [
        case(rng, flat, drawn, drop)
        for flat in (True, False)
        for drawn in (draw, draw_rare)
        for drop in (0.0, 0.1)
        for _ in range(CASES)
    ]
    assert compare(pyevall, cases, SOFT, soft) > 3 * len(cases)
