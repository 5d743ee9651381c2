from math import erf

import numpy as np

from scoring.metrics.normal import upper_tail


def plain(quotients: list[float]) -> list[float]:
    return [1 - 0.5 * (1 + erf(quotient)) for quotient in quotients]


def test_bits_of_near_tails_are_those_of_the_plain_formula() -> None:
    quotients = np.random.default_rng(0).uniform(-8, 3, 50_000)
    difference = np.log2(upper_tail(quotients)) - np.log2(plain(quotients.tolist()))
    assert np.abs(difference).max() < 2e-11


def test_far_tails_have_the_same_rounding() -> None:
    quotients = [
        3 + 2**-50,
        4.0,
        5.5,
        5.9,
        5.92,
        6.0,
        7.0,
        1e300,
        *np.random.default_rng(0).uniform(3, 7, 1000).tolist(),
    ]
    assert upper_tail(np.array(quotients)).tolist() == plain(quotients)


def test_any_shape_and_length() -> None:
    quotients = np.linspace(-2, 2, 60_000).reshape(3, -1)
    tails = upper_tail(quotients)
    assert tails.shape == quotients.shape
    assert upper_tail(quotients[1, 5:6]) == tails[1, 5]
    assert upper_tail(np.zeros((0, 4))).shape == (0, 4)
