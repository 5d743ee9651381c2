"""Language codes by name."""

from collections.abc import Iterable

from django import template

from portal.times_and_numbers import language_name

register = template.Library()


@register.filter
def languages(codes: Iterable[str]) -> str:
    """["en", "es"] → English, Spanish; a code that Django does not know stays as it is."""
    return ", ".join(language_name(code) for code in codes)


register.filter("language", language_name)
