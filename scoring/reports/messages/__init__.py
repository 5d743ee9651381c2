"""The sentences for all problems by code, in every report language.

A code never changes its meaning. The placeholders are the fields of `scoring.reports.problems.Problem`, with `places`
as a list. `found`, `expected` and `places` may contain English words of our own, which `PHRASES` lists. The English
texts are in the code. The other languages are in the gettext catalogs of `scoring/locale`, which are loaded on demand.
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
    """Return the translations of all English texts. For English, the texts stay as they are."""
    return NullTranslations() if language == "en" else translation("scoring", CATALOGUES, [language])


def sentence(code: str, language: str = "en") -> str:
    """Return the sentence of a code, with placeholders."""
    return catalogue(language).gettext(MESSAGES[code])


def word(english: str, language: str) -> str:
    """Translate a word of the printed report."""
    return catalogue(language).gettext(english)


def phrase(english: str, language: str) -> str:
    """Translate what was found or expected if it is one of our phrases. Any other text stays unchanged."""
    for pattern, known in _patterns() if language != "en" else ():
        if match := pattern.fullmatch(english):
            return word(known, language).format(*(phrase(part, language) for part in match.groups()))
    return english


@cache
def _patterns() -> list[tuple[re.Pattern[str], str]]:
    """Return the phrases as patterns, the longest first, so that `{}: {}` matches only what nothing else matches."""
    phrases = sorted(PHRASES, key=len, reverse=True)
    return [(re.compile(re.escape(known).replace(r"\{\}", "(.+?)"), re.DOTALL), known) for known in phrases]
