"""Suggest a valid name for an invalid one."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from difflib import SequenceMatcher
from itertools import islice

ALIKE = 0.65  # minimum share of letters that similar names have in common
SHORT = 3  # names with as many letters are similar only if they differ in a single letter
PIECE = 3  # minimum number of letters for matching part of a name
LETTERS = 60  # longer names are not compared, because the time grows with the product of their lengths
COMPARED = 10  # number of names compared letter by letter, after a quick preselection
NAMES = 200  # maximum number of names to compare


def nearest(found: str, names: Iterable[str]) -> str | None:
    """Return the name that is most similar to `found`, ignoring case, separators and word order.

    If no name is similar enough, return the only name that starts with `found` or contains it as a word. Return None if
    there is no such name, if there are several, or if `found` is too long to compare.
    """
    if len(found) > LETTERS:
        return None
    candidates = [name for name in islice(dict.fromkeys(names), NAMES) if len(name) <= LETTERS]
    matchers = [SequenceMatcher(None, "", spelling, autojunk=False) for spelling in _spellings(found)]
    bounds = {name: _likeness(matchers, name, SequenceMatcher.quick_ratio) for name in candidates}
    likely = sorted(candidates, key=bounds.__getitem__, reverse=True)[:COMPARED]
    likeness = {name: _likeness(matchers, name, SequenceMatcher.ratio) for name in likely if bounds[name] >= ALIKE}
    best = max(likeness, key=likeness.__getitem__, default=None)
    if best is not None and likeness[best] >= ALIKE and not _is_too_short(found, best):
        return best
    words = _words(found)
    piece = "".join(words)
    whole = [name for name in candidates if piece in _words(name) or "".join(_words(name)).startswith(piece)]
    return whole[0] if len(whole) == 1 and len(piece) >= PIECE else None


def _is_too_short(found: str, name: str) -> bool:
    """Return whether one of two names is so short that they are not similar if they differ in more than one letter."""
    letters, others = (Counter("".join(_words(text))) for text in (found, name))
    differing = max((letters - others).total(), (others - letters).total())
    return min(letters.total(), others.total()) <= SHORT and differing > 1


def with_code_points(found: str, meant: str) -> str:
    """Return `found` with code points, such as `\\u0415`, for characters that only look like those in `meant`."""
    plain = unicodedata.normalize("NFC", found)
    if plain == meant and found != meant:
        return "".join(_as_code_point(char) if unicodedata.combining(char) else char for char in found)
    if len(plain) != len(meant):
        return found
    pairs = zip(plain, meant, strict=True)
    return "".join(_as_code_point(one) if _looks_alike(one, other) else one for one, other in pairs)


def _looks_alike(char: str, other: str) -> bool:
    """Return whether a character may be mistaken for another. Accents are visible; letters of other scripts are not."""
    if char == other or char.isascii():
        return False
    base = unicodedata.normalize("NFD", char)[0]
    return not base.isascii()


def _as_code_point(char: str) -> str:
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"


def _words(name: str) -> list[str]:
    return re.findall(r"[^\W_]+", name.casefold())


def _spellings(name: str) -> tuple[str, str]:
    """Return a name's words in lower case without separators, both in their own order and in alphabetical order.

    Return a name without letters or digits unchanged.
    """
    words = _words(name) or [name]
    return "".join(words), "".join(sorted(words))


def _likeness(
    matchers: Iterable[SequenceMatcher[str]], name: str, ratio: Callable[[SequenceMatcher[str]], float]
) -> float:
    """Return how similar two names are in the spelling in which they are most similar."""
    ratios = []
    for matcher, spelling in zip(matchers, _spellings(name), strict=True):
        matcher.set_seq1(spelling)
        ratios.append(ratio(matcher))
    return max(ratios)
