"""Porter's stemmer for English words, with the extensions of NLTK, as rouge-score and NLTK's METEOR use it."""

from collections.abc import Callable, Sequence
from functools import lru_cache

from scoring.metrics.metric import Options

STEM: Options = {"stem": ("none", "porter")}
_IRREGULAR = {
    "skies": "sky", "sky": "sky", "dying": "die", "lying": "lie", "tying": "tie", "news": "news", "innings": "inning",
    "inning": "inning", "outings": "outing", "outing": "outing", "cannings": "canning", "canning": "canning",
    "howe": "howe", "proceed": "proceed", "exceed": "exceed", "succeed": "succeed",
}  # fmt: skip
# Suffix and replacement. The first suffix that a word has decides.
Rules = Sequence[tuple[str, str]]
_PLURALS: Rules = (("sses", "ss"), ("ies", "i"), ("ss", "ss"), ("s", ""))
_DERIVED: Rules = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("bli", "ble"),
    ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"), ("ation", "ate"),
    ("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"),
    ("iviti", "ive"), ("biliti", "ble"), ("fulli", "ful"),
)  # fmt: skip
_ENDINGS: Rules = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", ""),
)  # fmt: skip
_REMOVED = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate", "iti",
    "ous", "ive", "ize",
)  # fmt: skip


@lru_cache(maxsize=2**17)
def stem(word: str) -> str:
    """Return the stem of a lowercase word."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    word = _without_y(_without_past(_without_plural(word)))
    return _without_e(_without_suffix(_replaced(_derived(word), _ENDINGS, _has_syllable)))


def _is_consonant(word: str, place: int) -> bool:
    if word[place] != "y":
        return word[place] not in "aeiou"
    run = place  # a y after a consonant is a vowel, and one after a vowel is a consonant
    while run and word[run - 1] == "y":
        run -= 1
    is_first = run == 0 or word[run - 1] in "aeiou"
    return is_first == ((place - run) % 2 == 0)


def _syllables(stem: str) -> int:
    """Count the places where a consonant follows a vowel."""
    count, was_vowel = 0, False
    is_consonant = True
    for place, letter in enumerate(stem):
        is_consonant = (place == 0 or not is_consonant) if letter == "y" else letter not in "aeiou"
        count += is_consonant and was_vowel
        was_vowel = not is_consonant
    return count


def _has_syllable(stem: str) -> bool:
    return _syllables(stem) > 0


def _has_vowel(stem: str) -> bool:
    return any(not _is_consonant(stem, place) for place in range(len(stem)))


def _ends_twice(word: str) -> bool:
    """Return whether a word ends with the same consonant twice."""
    return len(word) >= 2 and word[-1] == word[-2] and _is_consonant(word, len(word) - 1)


def _ends_short(word: str) -> bool:
    """Return whether a word ends with a short syllable, such as `hop`, or is one, such as `at`."""
    if len(word) == 2:
        return not _is_consonant(word, 0) and _is_consonant(word, 1)
    last = len(word) - 1
    return (
        last >= 2
        and _is_consonant(word, last - 2)
        and not _is_consonant(word, last - 1)
        and _is_consonant(word, last)
        and word[last] not in "wxy"
    )


def _replaced(word: str, rules: Rules, condition: Callable[[str], bool]) -> str:
    for suffix, replacement in rules:
        if word.endswith(suffix):
            rest = word.removesuffix(suffix)
            return rest + replacement if condition(rest) else word
    return word


def _without_plural(word: str) -> str:
    if len(word) == 4 and word.endswith("ies"):
        return word[:-1]
    return _replaced(word, _PLURALS, lambda _: True)


def _without_past(word: str) -> str:
    """Remove -ed and -ing."""
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _has_syllable(word[:-3]) else word
    for suffix in ("ed", "ing"):
        rest = word.removesuffix(suffix)
        if rest != word and _has_vowel(rest):
            return _completed(rest)
    return word


def _completed(rest: str) -> str:
    """Return what remains of a word without -ed or -ing as a word: `hop` for `hopp`, `hope` for `hop`."""
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if _ends_twice(rest):
        return rest if rest[-1] in "lsz" else rest[:-1]
    return rest + "e" if _syllables(rest) == 1 and _ends_short(rest) else rest


def _without_y(word: str) -> str:
    is_vowel = word.endswith("y") and len(word) > 2 and _is_consonant(word, len(word) - 2)
    return word[:-1] + "i" if is_vowel else word


def _derived(word: str) -> str:
    if word.endswith("alli") and _has_syllable(word[:-4]):
        return _derived(word[:-2])
    if word.endswith("logi") and not word.endswith(tuple(suffix for suffix, _ in _DERIVED)):
        return word[:-1] if _has_syllable(word[:-3]) else word
    return _replaced(word, _DERIVED, _has_syllable)


def _without_suffix(word: str) -> str:
    for suffix in _REMOVED:
        if word.endswith(suffix):
            rest = word.removesuffix(suffix)
            is_removed = _syllables(rest) > 1 and (suffix != "ion" or rest[-1] in "st")
            return rest if is_removed else word
    return word


def _without_e(word: str) -> str:
    """Remove a last -e, and one l of a last -ll, from long words."""
    if word.endswith("e"):
        syllables = _syllables(word[:-1])
        if syllables > 1 or (syllables == 1 and not _ends_short(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and _syllables(word[:-1]) > 1 else word
