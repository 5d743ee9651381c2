"""Numbers as text: what is accepted, and fast conversion of many."""

import math
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

DECIMAL = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")
CHARACTERS = frozenset("0123456789+-.eE")  # excludes what float() accepts too: NaN, infinity, 1_000, spaces


def is_decimal(text: str) -> bool:
    """Whether a text is a finite number in digits."""
    return DECIMAL.fullmatch(text) is not None and math.isfinite(float(text))


def decimals(texts: Sequence[str]) -> NDArray[np.float64] | None:
    """The numbers of texts that are all finite numbers; None if one is not."""
    if not CHARACTERS.issuperset("".join(texts)):
        return None
    try:
        numbers = np.fromiter(map(float, texts), np.float64, len(texts))
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).all() else None
