"""The paper's five kinds of models, trained on synthetic texts, and the texts that they learn from."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scoring.baselines.linear_svm import margins_of
from scoring.baselines.tfidf import tfidf
from scoring.baselines.word_vectors import averaged, subword_vectors

Labels = NDArray[np.bool_]

# Invented words of a lexicon of offensive terms: always offensive, or offensive only in some contexts.
_ALWAYS = ("zorble", "krantic", "vusker")
_SOMETIMES = ("plimmet", "druskin", "fawber")
# Share of sentences with a word of each kind, among sentences that are not hateful and among hateful ones.
_SHARES = {_ALWAYS: (0.02, 0.55), _SOMETIMES: (0.15, 0.35)}


def with_offenses(rng: np.random.Generator, texts: Sequence[str], hateful: Labels) -> list[str]:
    """Append invented offensive words, which are more frequent in hateful texts."""
    found = [""] * len(texts)
    for words, (rare, often) in _SHARES.items():
        has = rng.random(len(texts)) < np.where(hateful, often, rare)
        chosen = rng.choice(words, size=len(texts)).tolist()
        found = [f"{own} {word}" if is_there else own for own, word, is_there in zip(found, chosen, has, strict=True)]
    return [f"{text} ({own.strip()})" if own else text for text, own in zip(texts, found, strict=True)]


def margins(texts: Sequence[str], hateful: Labels, asked: Sequence[str]) -> dict[str, NDArray[np.float64]]:
    """Return each model's margins for the `asked` texts (positive: hateful), by the model's file name."""
    return {name: margins_of(*_features(make, texts, asked, hateful)) for name, make in _MODELS.items()}


def _features(
    make: Callable[[Sequence[str], Sequence[str]], tuple[Any, Any]],
    texts: Sequence[str],
    asked: Sequence[str],
    hateful: Labels,
) -> tuple[Any, Labels, Any]:
    known, others = make(texts, asked)
    return known, hateful, others


def _bag_of_words(texts: Sequence[str], asked: Sequence[str]) -> tuple[Any, Any]:
    return tfidf(texts, asked)


def _ngrams(texts: Sequence[str], asked: Sequence[str]) -> tuple[Any, Any]:
    return tfidf(texts, asked, longest=3)


def _subwords(texts: Sequence[str], asked: Sequence[str]) -> tuple[Any, Any]:
    vectors = subword_vectors([*texts, *asked], seed=0)
    return averaged(texts, vectors), averaged(asked, vectors)


def _lexicon(texts: Sequence[str], asked: Sequence[str]) -> tuple[Any, Any]:
    return tfidf([_terms(text) for text in texts], [_terms(text) for text in asked])


def _words_and_lexicon(texts: Sequence[str], asked: Sequence[str]) -> tuple[Any, Any]:
    return tfidf(*([f"{text} {_terms(text)}" for text in some] for some in (texts, asked)))


def _terms(text: str) -> str:
    """Return the text's words in the lexicon. Words that are always offensive count twice."""
    words = text.replace("(", " ").replace(")", " ").split()
    return " ".join(word for word in words for _ in range(2 * (word in _ALWAYS) + (word in _SOMETIMES)))


_MODELS: dict[str, Callable[[Sequence[str], Sequence[str]], tuple[Any, Any]]] = {
    "bow": _bag_of_words,
    "ngrams": _ngrams,
    "subwords": _subwords,
    "mol": _lexicon,
    "bow-mol": _words_and_lexicon,
}
