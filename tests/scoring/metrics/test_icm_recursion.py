"""ICM and ICM-Soft on random trees, compared with recursive definitions that use the deepest common ancestors."""

import random
from collections.abc import Callable, Mapping, Sequence
from math import log2
from statistics import NormalDist, fmean

import pytest

from tests.scoring.metrics.answers import labels, soft, value

Assignment = Mapping[str, float]
Information = Callable[[str, float], float]
Parents = Mapping[str, str]


def ancestors(name: str, parents: Parents) -> list[str]:
    """Return the class and its ancestors, bottom up."""
    path = [name]
    while path[-1] in parents:
        path.append(parents[path[-1]])
    return path


def content(given: Sequence[tuple[str, float]], parents: Parents, information: Information) -> float:
    """Return the contribution of the first class beyond what it shares with the others.

    Source: Amigó and Delgado (2022), section 5.
    """
    if not given:
        return 0.0
    (first, weight), rest = given[0], given[1:]
    shared: dict[str, float] = {}
    for other, its_weight in rest:
        above = ancestors(other, parents)
        deepest = next((node for node in ancestors(first, parents) if node in above), None)
        if deepest is not None:
            shared[deepest] = max(shared.get(deepest, 0.0), min(weight, its_weight))
    return (
        information(first, weight)
        + content(rest, parents, information)
        - content(list(shared.items()), parents, information)
    )


def contrast(gold: Assignment, run: Assignment, parents: Parents, information: Information) -> float:
    union = {name: max(gold.get(name, 0.0), run.get(name, 0.0)) for name in {**gold, **run}}
    ours, theirs, both = (content(list(side.items()), parents, information) for side in (run, gold, union))
    return 2 * ours + 2 * theirs - 3 * both


def random_tree(rng: random.Random) -> tuple[list[str], Parents, dict[str, tuple[str, ...]]]:
    classes = [f"c{number}" for number in range(rng.randint(2, 9))]
    parents = {
        name: classes[rng.randrange(index)] for index, name in enumerate(classes) if index and rng.random() < 0.7
    }
    hierarchy = {name: tuple(child for child in classes if parents.get(child) == name) for name in classes}
    return classes, parents, hierarchy


@pytest.mark.parametrize("seed", range(20))
def test_icm(seed: int) -> None:
    rng = random.Random(seed)
    classes, parents, hierarchy = random_tree(rng)

    def draw() -> dict[str, list[str]]:
        return {str(item): rng.sample(classes, rng.randint(1, min(3, len(classes)))) for item in range(12)}

    gold, run = draw(), draw()
    closed = [{above for name in names for above in ancestors(name, parents)} for names in gold.values()]

    def information(name: str, weight: float) -> float:
        return -log2(max(1, sum(name in own for own in closed)) / len(closed))

    expected = fmean(
        contrast(dict.fromkeys(gold[item], 1.0), dict.fromkeys(run[item], 1.0), parents, information) for item in gold
    )
    assert value("icm", labels(gold), labels(run), hierarchy) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_icm_soft(seed: int) -> None:
    rng = random.Random(seed)
    classes, parents, hierarchy = random_tree(rng)

    def draw() -> dict[str, dict[str, float]]:
        return {str(item): {name: rng.randint(0, 6) / 6 for name in classes} for item in range(12)}

    gold, run = draw(), draw()
    below = {name: [other for other in classes if name in ancestors(other, parents)] for name in classes}
    closed = {name: [max(own[other] for other in below[name]) for own in gold.values()] for name in classes}

    def information(name: str, weight: float) -> float:
        mean = fmean(closed[name])
        tail = 1 - NormalDist(mean, fmean(abs(own - mean) for own in closed[name])).cdf(weight)
        return 0.0 if weight == 0 else -log2(tail or 1 / len(gold))

    expected = fmean(contrast(gold[item], run[item], parents, information) for item in gold)
    assert value("icm_soft", soft(gold), soft(run), hierarchy) == pytest.approx(expected, abs=1e-9)
