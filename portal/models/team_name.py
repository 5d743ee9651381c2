"""Detection of team names that look the same."""

import unicodedata
from collections.abc import Mapping
from functools import cache

from confusable_homoglyphs.utils import load

_SEPARATING = ("P", "Z")  # punctuation and spaces, by the first letter of their category
_SEPARATORS = str.maketrans("", "", " -_.'")
NAME_KEY_LENGTH = 255  # characters; the key can be longer than the name, because `m` becomes `rn`


def name_key(name: str) -> str:
    """Return the same text for all names that differ only in case, width, punctuation or look-alike letters.

    Spaces, hyphens and other punctuation are left out, unless the name has nothing else: `Race-E` is `RaceE`.
    The text is normalized to NFKC. Then each character is replaced by its prototype, ignoring case (Unicode TR 39,
    section 4, "skeleton"). Letters other than ASCII are replaced before case is removed, because a Greek capital letter
    may look like a Latin one even if its lowercase form does not. `i` becomes `l`, because `l` is the prototype of `I`
    and its look-alikes.
    """
    plain = unicodedata.normalize("NFKC", name)
    visible = [character for character in plain if unicodedata.category(character) not in ("Cc", "Cf")]
    letters = [character for character in visible if unicodedata.category(character)[0] not in _SEPARATING]
    latin = "".join(character if character.isascii() else _prototype(character) for character in letters or visible)
    skeleton = "".join(_prototype(character) for character in latin.casefold())
    key = skeleton.casefold().replace("i", "l")
    return (key.translate(_SEPARATORS) or key)[:NAME_KEY_LENGTH]  # some letters look like a hyphen


def has_invisible_characters(name: str) -> bool:
    """Return whether the text has control or format characters, such as direction marks."""
    return any(unicodedata.category(character) in ("Cc", "Cf") for character in name)


def _prototype(character: str) -> str:
    return _prototypes().get(character, character)


@cache
def _prototypes() -> Mapping[str, str]:
    """Return each look-alike's prototype. The table is loaded only when needed, because this takes a while.

    In the package's table, look-alikes are listed under their prototype, and prototypes under their look-alikes. A
    character with exactly one entry may be either. If two characters list only each other, the smaller one is the
    prototype.
    """
    table: dict[str, list[dict[str, str]]] = load("confusables.json")
    found = {}
    for character, alike in table.items():
        if len(alike) == 1:
            other = alike[0]["c"]
            found[character] = min(character, other) if len(table.get(other, ())) == 1 else other
    return found
