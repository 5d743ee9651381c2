"""Decimal numbers in text: check a number, or convert many of them quickly."""

import math
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

DECIMAL = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")
CHARACTERS = b"0123456789+-.eE"  # excludes other strings that float() accepts: NaN, infinity, 1_000, spaces


def is_decimal(text: str) -> bool:
    """Return whether a string is a finite decimal number."""
    return DECIMAL.fullmatch(text) is not None and math.isfinite(float(text))


def decimals(texts: Sequence[str]) -> NDArray[np.float64] | None:
    """Convert strings to numbers. Return None if any of them is not a finite number."""
    text = "".join(texts)
    if not text.isascii() or text.encode().translate(None, CHARACTERS):
        return None
    try:
        numbers = np.fromiter(map(float, texts), np.float64, len(texts))
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).all() else None
