"""The upper tail of the normal distribution, 1 − cdf, computed fast but with the rounding of the plain formula.

Official scores contain the rounding errors of 1 − (1 + erf(q)) / 2. Far out in the tail, these errors change the
information by whole bits. Therefore, erfc cannot be used, and beyond `_SAFE` only the C library's erf is used. Below
that, a tail is at least 1e-5, so the last bit of erf changes its logarithm by less than 2e-11. Nearly all weights are
in this range, where erf is computed from its Taylor series about the nearest of the points k / 64.
"""

from functools import cache
from math import erf, exp, pi, sqrt

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

_STEPS = 64  # points per unit
_TERMS = 10  # half a step from a point, the next term is below 1e-18
_LOW, _SAFE, _HIGH = -6.0, 3.0, 6.0  # erf is −1 below _LOW, comes from the C library above _SAFE, and is 1 above _HIGH
_BLOCK = 1 << 14  # values per block, so that intermediate results stay in the cache


def upper_tail(quotients: Numbers) -> Numbers:
    """Return 1 − (1 + erf(q)) / 2 for each q = (x − mean) / (deviation · √2)."""
    flat = quotients.ravel()
    result = np.empty(flat.shape)
    for start in range(0, len(flat), _BLOCK):
        result[start : start + _BLOCK] = 1.0 - 0.5 * (1.0 + _erf(flat[start : start + _BLOCK]))
    return result.reshape(quotients.shape)


def _erf(values: Numbers) -> Numbers:
    near = np.clip(values, _LOW, _SAFE)
    places = np.rint((near - _LOW) * _STEPS).astype(np.intp)
    away = near - (places / _STEPS + _LOW)
    series = _series()
    result = series[-1][places]
    for terms in series[-2::-1]:
        result *= away
        result += terms[places]
    far = np.flatnonzero(values > _SAFE)
    if far.size:
        given, repeated = np.unique(np.minimum(values[far], _HIGH), return_inverse=True)
        result[far] = np.array(list(map(erf, given.tolist())))[repeated]
    return result


@cache
def _series() -> list[Numbers]:
    """Return the Taylor series of erf about each point. `result[n][i]` is the coefficient of the nth power at point i.

    f' = 2 / √π · exp(−x²) and f'' = −2 x f'. Each higher derivative follows from the two previous ones: f⁽ⁿ⁺¹⁾ = −2 x
    f⁽ⁿ⁾ − 2 (n − 1) f⁽ⁿ⁻¹⁾.
    """
    points = np.arange(round((_SAFE - _LOW) * _STEPS) + 1) / _STEPS + _LOW
    before = np.zeros(len(points))
    derivative = np.array([2 / sqrt(pi) * exp(-point * point) for point in points.tolist()])
    result, factorial = [np.array([erf(point) for point in points.tolist()])], 1.0
    for order in range(1, _TERMS):
        factorial *= order
        result.append(derivative / factorial)
        before, derivative = derivative, -2 * points * derivative - 2 * (order - 1) * before
    return result
