"""Suggestions of valid names for an invalid name."""

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from itertools import islice

ALIKE = 0.65  # share of letters that similar names have in common
PIECE = 3  # letters needed to match only a part of a name
LETTERS = 60  # longer names are not compared, as the time grows with the product of their lengths
NAMES = 200  # further names are not compared


def nearest(found: str, names: Iterable[str]) -> str | None:
    """Return the name that is most similar to the one found, ignoring case, separators and word order.

    If no name is similar enough, return the only name that starts with the found text or contains it as a word. Return
    None if there is no such name, or if the found name is too long to be a typo.
    """
    if len(found) > LETTERS:
        return None
    candidates = [name for name in islice(dict.fromkeys(names), NAMES) if len(name) <= LETTERS]
    likeness = {name: max(map(_likeness, _spellings(found), _spellings(name))) for name in candidates}
    best = max(candidates, key=likeness.__getitem__, default=None)
    if best is not None and likeness[best] >= ALIKE:
        return best
    words = _words(found)
    piece = "".join(words)
    whole = [name for name in candidates if piece in _words(name) or "".join(_words(name)).startswith(piece)]
    return whole[0] if len(whole) == 1 and len(piece) >= PIECE else None


def _words(name: str) -> list[str]:
    return re.findall(r"[^\W_]+", name.casefold())


def _spellings(name: str) -> tuple[str, str]:
    """Return the letters of the words in their own order and in alphabetical order.

    A name without letters stays as it is.
    """
    words = _words(name) or [name]
    return "".join(words), "".join(sorted(words))


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other, autojunk=False).ratio()
