"""The message for each problem code, in every report language.

The meaning of a code never changes. The placeholders are the fields of `scoring.reports.problems.Problem`; `places` is
formatted as a list. `found`, `expected` and `places` may contain Agon's own English phrases, which `PHRASES` lists. The
English texts are in the code. The other languages are in the gettext catalogs in `scoring/locale`, which are loaded on
demand.
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
    """Return the translations of all English texts. For English, texts are returned unchanged."""
    return NullTranslations() if language == "en" else translation("scoring", CATALOGUES, [language])


def sentence(code: str, language: str = "en") -> str:
    """Return the sentence for a code, with its placeholders."""
    return catalogue(language).gettext(MESSAGES[code])


def word(english: str, language: str) -> str:
    """Translate a word used in the printed report."""
    return catalogue(language).gettext(english)


def phrase(english: str, language: str) -> str:
    """Translate what was found or expected if it is one of PHRASES. Return any other text unchanged."""
    for pattern, known in _patterns() if language != "en" else ():
        if match := pattern.fullmatch(english):
            return word(known, language).format(*(phrase(part, language) for part in match.groups()))
    return english


@cache
def _patterns() -> list[tuple[re.Pattern[str], str]]:
    """Return the phrases as patterns, longest first, so that `{}: {}` matches only if nothing else does."""
    phrases = sorted(PHRASES, key=len, reverse=True)
    return [(re.compile(re.escape(known).replace(r"\{\}", "(.+?)"), re.DOTALL), known) for known in phrases]
