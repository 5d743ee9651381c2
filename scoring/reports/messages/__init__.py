"""The sentences for all problems by code, in every language that reports speak.

A code never changes its meaning. The placeholders are the fields of `scoring.reports.problems.Problem`, with
`places` as a list in words. `found`, `expected` and `places` may hold a few words of English of their own: `PHRASES`
says them otherwise.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

from scoring.reports.messages import en, es, pt

LANGUAGES = ("en", "es", "pt")
TABLES: Mapping[str, Mapping[str, str]] = {"en": en.MESSAGES, "es": es.MESSAGES, "pt": pt.MESSAGES}
PHRASES: Mapping[str, Mapping[str, str]] = {"en": {}, "es": es.PHRASES, "pt": pt.PHRASES}
_WORDS: Mapping[str, Mapping[str, str]] = {"en": {}, "es": es.WORDS, "pt": pt.WORDS}


def word(english: str, language: str) -> str:
    """A word of the printed report."""
    return _WORDS[language].get(english, english)


def phrase(english: str, language: str) -> str:
    """What was found or expected, where it is said in words of ours; all else stays as it is."""
    for pattern, translated in _phrases(language):
        match = pattern.fullmatch(english)
        if match:
            return translated.format(*(phrase(part, language) for part in match.groups()))
    return english


@lru_cache(maxsize=len(LANGUAGES))
def _phrases(language: str) -> list[tuple[re.Pattern[str], str]]:
    """Patterns, the most definite first, so that `{}: {}` takes what no other does."""
    phrases = sorted(PHRASES[language].items(), key=lambda pair: -len(pair[0]))
    return [(re.compile(re.escape(english).replace(r"\{\}", "(.+?)"), re.DOTALL), own) for english, own in phrases]
