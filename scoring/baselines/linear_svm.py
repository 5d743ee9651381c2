"""A linear support vector machine with squared hinge loss, which has the same optimum as scikit-learn's LinearSVC."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Features = Any  # a matrix with one row per text, dense or sparse, that supports `@` and `.T`

PENALTY = 1.0  # C, as in LinearSVC
_STEPS, _CLOSE = 100, 1e-8


def margins_of(features: Features, holds: NDArray[np.bool_], others: Features) -> Vector:
    """Train on rows inside (`holds`) and outside a class, and return how far `others` are from the boundary.

    Distances are positive inside the class. The loss is strictly convex, so Newton's method reaches its only minimum on
    every machine. The intercept is the weight of a constant feature.
    """
    weights, intercept = _fit(features, np.where(holds, 1.0, -1.0))
    return np.asarray(others @ weights + intercept)


def _fit(features: Features, signs: Vector) -> tuple[Vector, float]:
    transposed = features.T

    def output(weights: Vector) -> Vector:
        return np.asarray(features @ weights[:-1] + weights[-1])

    def collect(rows: Vector) -> Vector:
        return np.append(transposed @ rows, rows.sum())

    def loss(weights: Vector, outputs: Vector) -> float:
        return float(weights @ weights / 2 + PENALTY * np.sum(np.maximum(0, 1 - signs * outputs) ** 2))

    def curve(inside: NDArray[np.bool_], vector: Vector) -> Vector:
        return vector + 2 * PENALTY * collect(np.where(inside, output(vector), 0))

    weights = np.zeros(features.shape[1] + 1)
    outputs = output(weights)
    goal = _CLOSE * np.linalg.norm(collect(signs))
    for _ in range(_STEPS):
        inside = signs * outputs < 1
        slope = weights + 2 * PENALTY * collect(np.where(inside, outputs - signs, 0))
        if np.linalg.norm(slope) <= goal:
            break
        step = _solve(partial(curve, inside), -slope)
        size, before = 1.0, loss(weights, outputs)
        change = output(step)
        while size > _CLOSE and loss(weights + size * step, outputs + size * change) > before + size * 1e-4 * (
            slope @ step
        ):
            size /= 2
        weights, outputs = weights + size * step, outputs + size * change
    return weights[:-1], float(weights[-1])


def _solve(times: Callable[[Vector], Vector], right: Vector) -> Vector:
    """Solve a system of linear equations with conjugate gradients.

    `times` multiplies a vector by the system's matrix, which is positive definite.
    """
    result = np.zeros_like(right)
    rest = direction = right
    squared = start = float(rest @ rest)
    for _ in range(len(right)):
        if squared <= 1e-6 * start:
            break
        product = times(direction)
        length = squared / float(direction @ product)
        result, rest = result + length * direction, rest - length * product
        before, squared = squared, float(rest @ rest)
        direction = rest + squared / before * direction
    return result
