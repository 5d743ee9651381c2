"""The distinct values of an array."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def distinct(values: NDArray[Any]) -> NDArray[Any]:
    """Return the same as `np.unique`, but without importing numpy.ma, which takes longer than scoring a run."""
    if values.dtype.kind not in "iu":
        return np.unique(values, return_counts=True)[0]
    ordered: NDArray[Any] = np.sort(values, axis=None)  # whole numbers, for which this needs less time and memory
    found: NDArray[Any] = ordered[np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]]
    return found
