"""Names of languages."""

from collections.abc import Iterable

from django import template

from portal.times_and_numbers import language_name

register = template.Library()


@register.filter
def languages(codes: Iterable[str]) -> str:
    """Return the names of language codes: ["en", "es"] → English, Spanish. Unknown codes are not changed."""
    return ", ".join(language_name(code) for code in codes)


register.filter("language", language_name)
