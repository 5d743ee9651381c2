"""The sentences for all problems by code, in every language of reports.

A code never changes its meaning. The placeholders are the fields of `scoring.reports.problems.Problem`, with `places`
as a list. `found`, `expected` and `places` may have a few English words of their own: `PHRASES`. English is in the
code, other languages are in the catalogs of `scoring/locale` (gettext), read when needed.
"""

import re
from functools import cache
from gettext import NullTranslations, translation
from pathlib import Path

from scoring.reports.messages.en import MESSAGES, PHRASES

LANGUAGES = ("en", "es", "pt")
CATALOGUES = Path(__file__).parents[2] / "locale"


@cache
def catalogue(language: str) -> NullTranslations:
    """The translations of all English texts; in English each is its own."""
    return NullTranslations() if language == "en" else translation("scoring", CATALOGUES, [language])


def sentence(code: str, language: str = "en") -> str:
    """The sentence of a code, with placeholders."""
    return catalogue(language).gettext(MESSAGES[code])


def word(english: str, language: str) -> str:
    """A word of the printed report."""
    return catalogue(language).gettext(english)


def phrase(english: str, language: str) -> str:
    """The translation of what was found or expected, if these are our words; anything else is unchanged."""
    for pattern, known in _patterns() if language != "en" else ():
        if match := pattern.fullmatch(english):
            return word(known, language).format(*(phrase(part, language) for part in match.groups()))
    return english


@cache
def _patterns() -> list[tuple[re.Pattern[str], str]]:
    """The phrases as patterns, the most specific first, so that `{}: {}` matches what no other does."""
    phrases = sorted(PHRASES, key=len, reverse=True)
    return [(re.compile(re.escape(known).replace(r"\{\}", "(.+?)"), re.DOTALL), known) for known in phrases]
