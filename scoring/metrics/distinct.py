"""The distinct values of an array."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def distinct(values: NDArray[Any]) -> NDArray[Any]:
    """As `np.unique`, which without the counts imports numpy.ma: longer than a whole run takes to be scored."""
    return np.unique(values, return_counts=True)[0]
