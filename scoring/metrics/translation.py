"""BLEU, chrF, chrF++ and TER as computed by sacrebleu, from 0 to 100.

sacrebleu counts the matches in each item. This module turns sums of these counts into scores, so that samples of items
can be scored without counting again.
"""

from collections.abc import Callable, Mapping
from functools import cache, partial
from itertools import zip_longest
from typing import Any

import numpy as np

from scoring.definition import MetricSpec
from scoring.extras import load
from scoring.metrics.comparison import TextComparison
from scoring.metrics.edit_rate import edits_of
from scoring.metrics.metric import TEXTS, Example, Metric, Numbers, Options, ratios, sums_of
from scoring.metrics.text_distance import MOST_SQUARED

_ITEMS_AT_ONCE = 500  # items per batch; sacrebleu keeps the n-grams of all their references in memory
_MOST = 1_000_000  # characters that are scored in about two seconds
_MOST_IN_CHRF = 400_000
_MOST_SQUARED_WORDS = 1_600_000  # of TER
_ORDERS = 4  # highest order of n-grams in BLEU
_CHARACTERS = 6  # highest order of character n-grams in chrF
_BETA = 2  # weight of recall in chrF
_SMOOTHING = {"floor": 0.1, "add-k": 1.0}
_TOKENIZERS = ("13a", "intl", "zh", "char", "none")
_CASE: Options = {"case": ("mixed", "lc")}
_BLEU: Options = {**_CASE, "tokenize": _TOKENIZERS, "smooth": ("exp", "floor", "add-k", "none")}
_TER: Options = {"case": ("lc", "mixed"), "normalized": ("no", "yes"), "punctuation": ("yes", "no")}


def _choice(spec: MetricSpec, allowed: Options, name: str) -> str:
    """Return the value of an option. The first allowed value is the default."""
    values = allowed[name]
    assert isinstance(values, tuple)
    return str(spec.options.get(name, values[0]))


def _bleu_arguments(spec: MetricSpec) -> dict[str, Any]:
    return {
        "lowercase": _choice(spec, _BLEU, "case") == "lc",
        "tokenize": _choice(spec, _BLEU, "tokenize"),
        "smooth_method": _choice(spec, _BLEU, "smooth"),
        "force": True,  # disables warnings about texts that look tokenized
    }


def _chrf_arguments(spec: MetricSpec) -> dict[str, Any]:
    return {"lowercase": _choice(spec, _CASE, "case") == "lc", "word_order": _word_order(spec)}


def _word_order(spec: MetricSpec) -> int:
    return 2 if spec.name == "chrf_pp" else 0


def _ter_arguments(spec: MetricSpec) -> dict[str, Any]:
    return {
        "case_sensitive": _choice(spec, _TER, "case") == "mixed",
        "normalized": _choice(spec, _TER, "normalized") == "yes",
        "no_punct": _choice(spec, _TER, "punctuation") == "no",
    }


_SCORERS: Mapping[str, tuple[str, Callable[[MetricSpec], dict[str, Any]]]] = {
    "bleu": ("BLEU", _bleu_arguments),
    "chrf": ("CHRF", _chrf_arguments),
    "chrf_pp": ("CHRF", _chrf_arguments),
}


def _counts(comparison: TextComparison, spec: MetricSpec) -> Numbers:
    """Return sacrebleu's counts for each item, with shape (items, counts)."""
    # Importing the library takes as long as starting the whole engine.
    library = load("sacrebleu.metrics", f"{spec.name} requires")
    kind, arguments = _SCORERS[spec.name]
    scorer = getattr(library, kind)(**arguments(spec))
    references, found = comparison.gold.texts.texts, list[list[float]]()
    for start in range(0, len(references), _ITEMS_AT_ONCE):
        part = slice(start, start + _ITEMS_AT_ONCE)
        streams = [list(stream) for stream in zip_longest(*references[part])]
        found += scorer._extract_corpus_statistics(comparison.outputs[part], streams)
    return np.array(found, np.float64)


def _edits(comparison: TextComparison, spec: MetricSpec) -> Numbers:
    """Return sacrebleu's counts for TER (items, 2): edits for the closest reference, and the mean reference length."""
    # sacrebleu tokenizes references twice.
    tokenize = load("sacrebleu.metrics", "ter requires").TER(**_ter_arguments(spec))._preprocess_segment
    references = [[tokenize(tokenize(text)).split() for text in texts] for texts in comparison.gold.texts.texts]
    outputs = [tokenize(text).split() for text in comparison.outputs]
    pairs = [(own, words) for own, several in zip(outputs, references, strict=True) for words in several]
    edits, found = iter(edits_of(pairs)), list[tuple[float, float]]()
    for several in references:
        fewest = min([next(edits) for _ in several])
        found.append((fewest, sum(map(len, several)) / len(several)))
    return np.array(found, np.float64).reshape(-1, 2)


def _bleu_of(sums: Numbers, spec: MetricSpec) -> Numbers:
    length, wanted = sums[..., 0], sums[..., 1]
    hits, totals = sums[..., 2 : 2 + _ORDERS].copy(), sums[..., 2 + _ORDERS :].copy()
    some = np.count_nonzero(hits, axis=-1, keepdims=True) > 0
    smoothing = _choice(spec, _BLEU, "smooth")
    if smoothing == "add-k":
        hits[..., 1:] += _SMOOTHING[smoothing]
        totals[..., 1:] += _SMOOTHING[smoothing]
    if smoothing == "floor":
        hits = np.where(hits == 0, _SMOOTHING[smoothing], hits)
    if smoothing == "exp":  # half a hit for the first order without hits, a quarter for the next one, …
        empty = (hits == 0) & (totals > 0)
        hits = np.where(empty, 0.5 ** np.cumsum(empty, axis=-1), hits)
    precisions = ratios(hits, totals, 0.0)
    defined = some & np.logical_and.reduce(precisions > 0, axis=-1, keepdims=True)
    logarithms = np.log(np.where(defined, precisions, 1.0)).mean(axis=-1)
    shortness = np.minimum(0.0, 1 - ratios(wanted, length, 1.0))
    return np.where(defined[..., 0], 100 * np.exp(logarithms + shortness), 0.0)


def _chrf_of(sums: Numbers, spec: MetricSpec) -> Numbers:
    own, wanted, hits = (sums[..., place::3] for place in range(3))
    counted = (own > 0) & (wanted > 0)
    orders = np.count_nonzero(counted, axis=-1)
    precision, recall = (
        ratios(np.where(counted, ratios(hits, whole, 0.0), 0.0).sum(axis=-1), orders, 0.0) for whole in (own, wanted)
    )
    return 100 * ratios((1 + _BETA**2) * precision * recall, _BETA**2 * precision + recall, 0.0)


def _ter_of(sums: Numbers, spec: MetricSpec) -> Numbers:
    edits, words = sums[..., 0], sums[..., 1]
    return 100 * np.where(words > 0, ratios(edits, words, 0.0), (edits > 0).astype(np.float64))


@cache
def _version() -> str:
    from importlib import metadata  # noqa: PLC0415 - takes a third of the engine's startup time

    try:
        return f"|version:{metadata.version('sacrebleu')}"
    except metadata.PackageNotFoundError:  # a web server, installed without the `text` extra
        return ""


def _bleu_signature(spec: MetricSpec) -> str:
    case, tokenizer, smoothing = (_choice(spec, _BLEU, name) for name in ("case", "tokenize", "smooth"))
    value = f"[{_SMOOTHING[smoothing]:.2f}]" if smoothing in _SMOOTHING else ""
    return f"signature case:{case}|eff:no|tok:{tokenizer}|smooth:{smoothing}{value}{_version()}"


def _chrf_signature(spec: MetricSpec) -> str:
    case = _choice(spec, _CASE, "case")
    return f"signature case:{case}|eff:yes|nc:{_CHARACTERS}|nw:{_word_order(spec)}|space:no{_version()}"


def _ter_signature(spec: MetricSpec) -> str:
    case, normalized, punctuation = (_choice(spec, _TER, name) for name in ("case", "normalized", "punctuation"))
    return f"signature case:{case}|tok:tercom|norm:{normalized}|punct:{punctuation}|asian:no{_version()}"


_metric = partial(
    Metric,
    kinds=TEXTS,
    high=100.0,
    compared_with="sacrebleu 2.6.0",
    conventions=("Texts",),
    most_squared_characters=MOST_SQUARED,
)
_CHRF = (
    "100 · 5 P R / (4 P + R); P and R are the means over n of matching n-grams / all n-grams in the outputs (P) or "
    "references (R), for {n}"
)

METRICS = (
    _metric(
        name="bleu",
        most_characters=_MOST,
        title="BLEU",
        short="BLEU",
        formula="100 · min(1, exp(1 − r / c)) · (p_1 p_2 p_3 p_4)^(1/4); p_n = matching word n-grams / word "
        "n-grams of the outputs, over the whole corpus; c is the total length of the outputs, and r that "
        "of the references closest in length; with `smooth: exp`, the first n without a match counts as "
        "1/2 of a match, the next one as 1/4",
        source="Papineni et al. (2002); sacrebleu, BLEU (Post, 2018)",
        compute=sums_of(_counts, _bleu_of),
        signature=_bleu_signature,
        options=_BLEU,
        example=Example(
            kind="texts",
            gold={"1": "the cat sat on the mat"},
            run={"1": "the cat sat on a mat"},
            value=100 * (5 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25,
            why="both texts have 6 words, and 5 of 6 words, 3 of 5 pairs, 2 of 4 triples and 1 of 3 quadruples "
            "match: 100 · (5/6 · 3/5 · 2/4 · 1/3)^(1/4)",
        ),
    ),
    _metric(
        name="chrf",
        most_characters=_MOST_IN_CHRF,
        title="chrF",
        short="chrF",
        formula=_CHRF.format(n="character n-grams with n = 1 … 6")
        + "; whitespace is ignored; if there are several references, the best one counts",
        source="Popović (2015); sacrebleu, CHRF",
        compute=sums_of(_counts, _chrf_of),
        signature=_chrf_signature,
        options=_CASE,
        example=Example(
            kind="texts",
            gold={"1": "xyz | abcd"},
            run={"1": "abc"},
            value=100 * 5 * (23 / 36) / (4 + 23 / 36),
            why="abcd is closer than xyz: it contains all n-grams of abc, so P = 1; 3 of its 4 characters, 2 of "
            "its 3 pairs and 1 of its 2 triples are found, so R = (3/4 + 2/3 + 1/2) / 3 = 23/36; longer "
            "n-grams occur only on one side and are ignored: 100 · 5 · 23/36 / (4 + 23/36)",
        ),
    ),
    _metric(
        name="chrf_pp",
        most_characters=_MOST_IN_CHRF,
        title="chrF++",
        short="chrF++",
        formula=_CHRF.format(n="character n-grams with n = 1 … 6 and word n-grams with n = 1, 2")
        + "; if there are several references, the best one counts",
        source="Popović (2017); sacrebleu, CHRF with word_order=2",
        compute=sums_of(_counts, _chrf_of),
        signature=_chrf_signature,
        options=_CASE,
        example=Example(
            kind="texts",
            gold={"1": "a b"},
            run={"1": "a c"},
            value=100 * 5 * 0.25 * 0.25 / (4 * 0.25 + 0.25),
            why="1 of 2 characters, 0 of 1 pair, 1 of 2 words and 0 of 1 pair of words match: "
            "P = R = (1/2 + 0 + 1/2 + 0) / 4 = 1/4",
        ),
    ),
    _metric(
        name="ter",
        most_characters=_MOST,
        most_squared_words=_MOST_SQUARED_WORDS,
        title="Translation edit rate",
        short="TER",
        formula="100 · Σ edits / Σ words in the references; an edit inserts, deletes or replaces a word, or moves "
        "a phrase; if there are several references, the edits to the closest one and the mean length count",
        source="Snover et al. (2006); sacrebleu, TER",
        compute=sums_of(_edits, _ter_of),
        signature=_ter_signature,
        options=_TER,
        example=Example(
            kind="texts",
            gold={"1": "on the mat sat the cat", "2": "yes"},
            run={"1": "the cat sat on the mat", "2": "no"},
            value=100 * 3 / 7,
            why="two phrases are moved in item 1, and one word is replaced in item 2: 100 · (2 + 1) / (6 + 1)",
        ),
        higher_is_better=False,
        high=None,
    ),
)
