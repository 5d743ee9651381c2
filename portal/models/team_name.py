"""Recognizing team names that look the same."""

import unicodedata

from confusable_homoglyphs.confusables import confusables_data

NAME_KEY_LENGTH = 255  # characters; the key can be longer than the name, as m becomes rn


def name_key(name: str) -> str:
    """Return the same text for all names that differ only in case, width, invisible characters or look-alike letters.

    The text is normalized by NFKC. Then each character is replaced by its prototype without case (Unicode TR 39,
    section 4, "skeleton"). Letters of other scripts are replaced first, because a Greek capital may look like a Latin
    one when its small letter does not. `i` becomes `l`, since `I` and its look-alikes have that prototype.
    """
    plain = unicodedata.normalize("NFKC", name)
    visible = [character for character in plain if unicodedata.category(character) != "Cf"]
    latin = "".join(character if character.isascii() else _prototype(character) for character in visible)
    skeleton = "".join(_prototype(character) for character in latin.casefold())
    return skeleton.casefold().replace("i", "l")[:NAME_KEY_LENGTH]


def has_invisible_characters(name: str) -> bool:
    """Return whether the text has control or format characters, such as direction marks."""
    return any(unicodedata.category(character) in ("Cc", "Cf") for character in name)


def _prototype(character: str) -> str:
    """Return the character's prototype.

    The table lists each look-alike with its prototype, and each prototype with all look-alikes.
    """
    alike = confusables_data.get(character, ())
    if len(alike) != 1:
        return character
    other: str = alike[0]["c"]
    return min(character, other) if len(confusables_data.get(other, ())) == 1 else other
