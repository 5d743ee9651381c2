"""Numbers as printed in a journal: minus signs, commas between thousands, fixed decimals."""

from collections.abc import Sequence

from django import template

from portal.times_and_numbers import count, file_size, score

register = template.Library()

for printed in (count, score, file_size):
    register.filter(printed)


@register.filter
def digest(sha256: str) -> str:
    """A SHA-256 in groups of eight digits, for comparing by eye."""
    return " ".join(sha256[start : start + 8] for start in range(0, len(sha256), 8))


@register.filter
def position(values: Sequence[object], place: int) -> object:
    """A list's entry at an index in a template variable."""
    return values[place]


@register.filter
def at(values: dict[str, object], key: str) -> object:
    """A dictionary's value for a key in a template variable; None without one."""
    return values.get(key)
