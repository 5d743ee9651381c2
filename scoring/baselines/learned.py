"""Learned baselines for a track.

The format defines the classes to predict, and the hierarchy or table defines the order in which to predict them.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from scoring.answers import Matrix
from scoring.baselines.classifiers import Scheme, chance, classify, svm
from scoring.baselines.material import Material, UnavailableError, UnsuitedError, labels_of
from scoring.baselines.tfidf import tfidf
from scoring.baselines.word_vectors import averaged, read_vectors, subword_vectors
from scoring.definition import Track
from scoring.extras import install_command
from scoring.formats import answer_kind
from scoring.formats.table import values_of

Texts = tuple[str, ...]


def learn(material: Material, features: str, hierarchical: bool) -> Matrix:
    """Learn from the material's training answers, and return answers for its items.

    Args:
        features: `tfidf` (words), `ngram` (the 10,000 most frequent n-grams of one to three words), `subword` (the mean
            of untrained word vectors made of character n-grams) or `fasttext` (the mean of word vectors that are read
            from a file or trained on the training texts).

    Raises:
        UnavailableError: data is missing.
        UnsuitedError: the baseline is hierarchical, but the track has no hierarchy.
    """
    if answer_kind(material.track) == "table":
        material.columns()
    scheme = scheme_of(material.track, hierarchical)
    train = labels_of(material.train, "--train")
    texts, others = material.texts_of(train.ids), material.texts_of(material.ids)
    try:
        known, asked = FEATURES[features](tuple(texts), tuple(others), material.vectors, material.seed)
    except ValueError as error:
        raise UnavailableError(str(error)) from None
    return classify(train, material.ids, scheme, svm(known, asked))


def draw(material: Material) -> Matrix:
    """Make each decision in the hierarchy at random, with the shares in the known answers as probabilities."""
    if answer_kind(material.track) == "table":
        material.columns()
    known, scheme = material.known(), scheme_of(material.track, hierarchical=True)
    return classify(known, material.ids, scheme, chance(scheme.single, material.seed))


def scheme_of(track: Track, hierarchical: bool) -> Scheme:
    """Return a scheme with a decision tree or, if not hierarchical, a flat scheme.

    The tree comes from the label hierarchy, or from a table's `whole` and `parts`. If a table has a single column,
    there is only one decision.
    """
    options, kind = track.format.options, answer_kind(track)
    if kind == "labels":
        if hierarchical and not track.hierarchy:
            raise UnsuitedError("the track has no hierarchy")
        tree = {name: below for name, below in (track.hierarchy or {}).items() if below} if hierarchical else {}
        return Scheme(tree, single=not options.get("multi", False), some=options.get("empty") != "allowed")
    if kind != "table":
        raise UnsuitedError("this baseline requires labels, or tables of zeros and ones")
    whole, parts = options.get("whole"), options.get("parts", ())
    if hierarchical and not whole and len(values_of(track.format)) > 1:
        raise UnsuitedError("the track's format does not define implies")
    return Scheme({whole: parts}) if hierarchical and whole else Scheme({}, whole=whole, parts=parts)


# The results are cached because tracks with the same texts share features. The cache is large enough for a few splits.


@lru_cache(maxsize=4)
def _tfidf(texts: Texts, others: Texts, _vectors: Path | None, _seed: int) -> tuple[Any, Any]:
    return tfidf(texts, others)


@lru_cache(maxsize=4)
def _ngrams(texts: Texts, others: Texts, _vectors: Path | None, _seed: int) -> tuple[Any, Any]:
    return tfidf(texts, others, longest=3, most=10_000)


@lru_cache(maxsize=4)
def _subwords(texts: Texts, others: Texts, _vectors: Path | None, seed: int) -> tuple[Any, Any]:
    vectors = subword_vectors([*texts, *others], seed)
    return averaged(texts, vectors), averaged(others, vectors)


def _fasttext(texts: Texts, others: Texts, file: Path | None, seed: int) -> tuple[Any, Any]:
    try:
        if file is not None:
            vectors = read_vectors(file, [*texts, *others])
        else:
            from scoring.baselines.fasttext import train_vectors  # noqa: PLC0415 (gensim is an extra that few need)

            vectors = train_vectors(texts, others, seed)
    except ImportError as error:
        raise UnavailableError(f"use --vectors, or install the missing package: {install_command(error)}") from None
    return averaged(texts, vectors), averaged(others, vectors)


FEATURES: Mapping[str, Callable[[Texts, Texts, Path | None, int], tuple[Any, Any]]] = {
    "tfidf": _tfidf,
    "ngram": _ngrams,
    "subword": _subwords,
    "fasttext": _fasttext,
}
