"""The right name that was probably meant by a wrong one."""

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from itertools import islice

ALIKE = 0.65  # of letters in common
PIECE = 3  # letters from which on a part of a name stands for it
LETTERS = 60  # longer names are not compared: that takes the product of their lengths
NAMES = 200  # more are not compared


def nearest(found: str, names: Iterable[str]) -> str | None:
    """The name most like the one found, whatever its case, its separators and the order of its words.

    Else the only name that begins like it or has it as one of its words; None where no name is near, or where what
    was found is too long to be a slip.
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
    """The letters of the words, as they stand and in alphabetical order; of a name of signs the name itself."""
    words = _words(name) or [name]
    return "".join(words), "".join(sorted(words))


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other, autojunk=False).ratio()
