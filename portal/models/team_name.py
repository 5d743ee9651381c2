"""Names of teams that look the same."""

import unicodedata

from confusable_homoglyphs.confusables import confusables_data

NAME_KEY_LENGTH = 255  # characters; a letter may look like several: m like rn


def name_key(name: str) -> str:
    """One text for all names that differ only by case, width, invisible characters or look-alike letters.

    NFKC, then the prototype of each character (Unicode TR 39, section 4, "skeleton"), without case. Letters of other
    scripts are replaced first: a Greek capital may look like a Latin one, its small letter need not. `i` counts as `l`,
    since `I` and its look-alikes have that prototype.
    """
    plain = unicodedata.normalize("NFKC", name)
    visible = [character for character in plain if unicodedata.category(character) != "Cf"]
    latin = "".join(character if character.isascii() else _prototype(character) for character in visible)
    skeleton = "".join(_prototype(character) for character in latin.casefold())
    return skeleton.casefold().replace("i", "l")[:NAME_KEY_LENGTH]


def has_invisible_characters(name: str) -> bool:
    """Whether the text has control or format characters, such as direction marks."""
    return any(unicodedata.category(character) in ("Cc", "Cf") for character in name)


def _prototype(character: str) -> str:
    """The character's prototype. The table lists a look-alike with its prototype, and a prototype with all of them."""
    alike = confusables_data.get(character, ())
    if len(alike) != 1:
        return character
    other: str = alike[0]["c"]
    return min(character, other) if len(confusables_data.get(other, ())) == 1 else other
