"""The valid name that was probably meant by an invalid one."""

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from itertools import islice

ALIKE = 0.65  # share of common letters
PIECE = 3  # letters from which a part of a name is enough
LETTERS = 60  # longer names are not compared, as that takes the product of their lengths
NAMES = 200  # more are not compared


def nearest(found: str, names: Iterable[str]) -> str | None:
    """The name most similar to the one found, ignoring case, separators and the order of words.

    Else the only name that begins with it or has it as one of its words. None if no name is near, or if it is too long
    for a typo.
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
    """The letters of the words, in their and in alphabetical order; for a name of signs the name itself."""
    words = _words(name) or [name]
    return "".join(words), "".join(sorted(words))


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other, autojunk=False).ratio()
