"""Numbers formatted as in a journal, with minus signs, thousands separators and fixed decimals."""

from collections.abc import Sequence

from django import template

from portal.times_and_numbers import count, file_size, score

register = template.Library()

for printed in (count, score, file_size):
    register.filter(printed)


@register.filter
def percent(share: float | None, decimals: int) -> str:
    """Format a share as a percentage, without the percent sign: 0.191 → 19.1."""
    return score(None if share is None else 100 * share, decimals)


@register.filter
def digest(sha256: str) -> str:
    """Return a SHA-256 in groups of eight digits, which are easier to compare."""
    return " ".join(sha256[start : start + 8] for start in range(0, len(sha256), 8))


@register.filter
def position(values: Sequence[object], place: int) -> object:
    """Return a list's entry at an index, which templates can't do if the index is a variable."""
    return values[place]


@register.filter
def at(values: dict[str, object], key: str) -> object:
    """Return a dictionary's value for a key, or None, which templates can't do if the key is a variable."""
    return values.get(key)
