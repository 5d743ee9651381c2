"""The distinct values of an array."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def distinct(values: NDArray[Any]) -> NDArray[Any]:
    """Return the same as `np.unique`, but without importing numpy.ma, which takes longer than scoring a run."""
    return np.unique(values, return_counts=True)[0]
