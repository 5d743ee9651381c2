"""Detection of team names that look the same."""

import unicodedata
from collections.abc import Mapping
from functools import cache

from confusable_homoglyphs.utils import load

# Characters that are shown as nothing or as a blank, although their category does not say so: the other code points
# that Unicode lets programs ignore (Default_Ignorable_Code_Point), and the empty Braille pattern.
_BLANK_RANGES = (
    (0x034F, 0x034F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x2065, 0x2065), (0x2800, 0x2800),
    (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0xE0000, 0xE0FFF),
)  # fmt: skip
_STYLES = "\ufe0e\ufe0f"  # after an emoji, they choose between black and white and color
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
    visible = [character for character in plain if not _is_invisible(character)]
    letters = [character for character in visible if unicodedata.category(character)[0] not in _SEPARATING]
    latin = "".join(character if character.isascii() else _prototype(character) for character in letters or visible)
    skeleton = "".join(_prototype(character) for character in latin.casefold())
    key = skeleton.casefold().replace("i", "l")
    return (key.translate(_SEPARATORS) or key)[:NAME_KEY_LENGTH]  # some letters look like a hyphen


def has_invisible_characters(name: str) -> bool:
    """Return whether the text has characters that are not shown, such as direction marks and fillers."""
    hidden = {character for character in name if _is_invisible(character)}
    return not hidden <= {*_STYLES} or hidden == {*name}


def _is_invisible(character: str) -> bool:
    if unicodedata.category(character) in ("Cc", "Cf"):
        return True
    return any(first <= ord(character) <= last for first, last in _BLANK_RANGES)


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
