"""Edit distances of texts, computed by rapidfuzz: word error rate, character error rate, Levenshtein distance.

If there are several references, the one with the smallest share of edits counts.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from scoring.definition import MetricSpec
from scoring.extras import load
from scoring.metrics.comparison import TextComparison
from scoring.metrics.metric import BY_HAND, TEXTS, Example, Mean, Metric, Numbers, Options, Share

MOST_CHARACTERS = 4_000_000  # scored in about two seconds
MOST_SQUARED = 20_000_000_000  # as many characters in texts of 5,000 characters
_TIMES = 4  # how many times as long normalizing takes
_RATES: Options = {"case": ("mixed", "lc"), "normalize": ("none", "basic")}

_BRACKETS, _PARENTHESES = re.compile(r"[<\[][^>\]]*[>\]]"), re.compile(r"\([^)]+\)")

Units = Callable[[str], Sequence[str]]


def _distances() -> Any:
    return load("rapidfuzz.distance", "text distances require")


def common_subsequence(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the length of the longest common subsequence."""
    return int(_distances().LCSseq.similarity(first, second))


def _edits(comparison: TextComparison, spec: MetricSpec, units: Units) -> tuple[Numbers, Numbers]:
    """Return each item's number of edits and reference length, for the reference with the smallest share of edits."""
    distance, units = _distances().Levenshtein.distance, _units(spec, units)
    edits, lengths = np.zeros(len(comparison.gold)), np.zeros(len(comparison.gold))
    for row, (output, references) in enumerate(zip(comparison.outputs, comparison.gold.texts.texts, strict=True)):
        own = units(output)
        found = [(distance(own, wanted), len(wanted)) for wanted in map(units, references)]
        edits[row], lengths[row] = min(found, key=lambda pair: (pair[0] / max(1, pair[1]), -pair[1]))
    return edits, lengths


def _units(spec: MetricSpec, units: Units) -> Units:
    """Return the function that normalizes a text as the options say and splits it into its units."""
    if spec.options.get("normalize") == "basic":
        return lambda text: units(normalized(text))
    return (lambda text: units(text.lower())) if spec.options.get("case") == "lc" else units


def normalized(text: str) -> str:
    """Normalize a text as Whisper's basic normalizer does.

    A text that NFKC would make more than three times as long is normalized with NFC, which bounds the cost.
    """
    text = _without(_BRACKETS, text.lower(), ">]")
    text = _without(_PARENTHESES, text, ")")
    if not text.isascii():
        longer = sum(map(_length_in_nfkc, text))
        text = unicodedata.normalize("NFKC" if longer <= 3 * len(text) else "NFC", text)
    return " ".join(text.translate(_REMOVED).lower().split())


class _Removed(dict[int, int]):
    """What replaces each character that was asked for: a space, or the character itself."""

    def __missing__(self, code: int) -> int:
        self[code] = ord(" ") if unicodedata.category(chr(code))[0] in "MSP" else code
        return self[code]


_REMOVED = _Removed()


@lru_cache(maxsize=2**16)
def _length_in_nfkc(letter: str) -> int:
    return len(unicodedata.normalize("NFKC", letter))


def _without(pattern: re.Pattern[str], text: str, ends: str) -> str:
    """Remove what is in brackets. Text after the last closing bracket has no match, and trying would take n² steps."""
    last = max(map(text.rfind, ends)) + 1
    return pattern.sub("", text[:last]) + text[last:]


@Mean
def _levenshtein(comparison: TextComparison, spec: MetricSpec) -> Numbers:
    """Return the minimum number of character edits per item, optionally divided by the length of the longer text."""
    functions = _distances().Levenshtein
    distance = functions.normalized_distance if spec.options.get("scale") == "longer" else functions.distance
    pairs = zip(comparison.outputs, comparison.gold.texts.texts, strict=True)
    return np.array([min(distance(output, text) for text in texts) for output, texts in pairs], np.float64)


_RATE = (
    "Σ inserted, deleted and replaced {0} / Σ {0} in the references; can exceed 1; with `normalize: basic`, texts are "
    "lowercased and normalized with NFKC, text in brackets is removed, and other punctuation, symbols and marks become "
    "spaces"
)
_metric = partial(
    Metric,
    kinds=TEXTS,
    higher_is_better=False,
    high=None,
    most_characters=MOST_CHARACTERS,
    most_squared_characters=MOST_SQUARED,
    conventions=("Texts",),
)
_rate = partial(_metric, options=_RATES, times=lambda spec: _TIMES if spec.options.get("normalize") == "basic" else 1)

METRICS = (
    _rate(
        name="wer",
        title="Word error rate",
        short="WER",
        formula=_RATE.format("words"),
        source="Levenshtein (1966); jiwer, wer, for one reference; Radford et al. (2023), Whisper: basic normalizer",
        undefined="if the references have no words",
        compared_with="jiwer 4.0.0, whisper-normalizer 0.1.15",
        compute=Share(lambda comparison, spec: _edits(comparison, spec, str.split)),
        example=Example(
            kind="texts",
            gold={"1": "the cat sat", "2": "on the mat"},
            run={"1": "the dog sat down", "2": "on the mat"},
            value=1 / 3,
            why="in item 1, one word is replaced and one is inserted: (2 + 0) / (3 + 3)",
        ),
    ),
    _rate(
        name="cer",
        title="Character error rate",
        short="CER",
        formula=_RATE.format("characters"),
        source="Levenshtein (1966); jiwer, cer, for one reference; Radford et al. (2023), Whisper: basic normalizer",
        undefined="if the references have no characters",
        compared_with="jiwer 4.0.0, whisper-normalizer 0.1.15",
        compute=Share(lambda comparison, spec: _edits(comparison, spec, str.strip)),
        example=Example(
            kind="texts",
            gold={"1": "abcd", "2": "xy"},
            run={"1": "abd", "2": "xz"},
            value=1 / 3,
            why="a character is missing in item 1 and another is replaced in item 2: (1 + 1) / (4 + 2)",
        ),
    ),
    _metric(
        name="edit_distance",
        title="Edit distance",
        short="Edits",
        formula="mean over items of the minimum number of characters to insert, delete or replace; with `scale: "
        "longer`, it is divided by the length of the longer text and is 0 if both texts are empty; if "
        "there are several references, the closest one counts",
        source="Levenshtein (1966); rapidfuzz, Levenshtein.distance and normalized_distance",
        compared_with=BY_HAND,
        compute=_levenshtein,
        example=Example(
            kind="texts",
            gold={"1": "kitten", "2": "cat | cut"},
            run={"1": "sitting", "2": "cup"},
            value=2.0,
            why="sitting is 3 edits away from kitten, and cup is 1 edit away from cut: (3 + 1) / 2",
        ),
        options={"scale": ("edits", "longer")},
    ),
)
