"""Learned baselines for a track: the format defines the decisions, the hierarchy or table defines their order."""

from collections.abc import Callable, Sequence
from typing import Any

from scoring.answers import Matrix
from scoring.baselines.classifiers import Scheme, classify, tfidf
from scoring.baselines.material import Material, UnavailableError, UnsuitedError, labels_of
from scoring.baselines.word_vectors import averaged, read_vectors
from scoring.definition import Track
from scoring.extras import install_command
from scoring.formats import answer_kind


def learn(material: Material, features: str, hierarchical: bool) -> Matrix:
    """Learn from the material's training answers, and return answers for its items.

    Args:
        features: `tfidf` (scikit-learn's defaults), `ngram` (the 10,000 most frequent n-grams of one to three words) or
                `fasttext` (the mean of the word vectors, which are read from a file or trained on the training texts).

    Raises:
        UnavailableError: data are missing.
        UnsuitedError: the track has no hierarchy.
    """
    if answer_kind(material.track) == "table":
        material.columns()
    scheme = scheme_of(material.track, hierarchical)
    train = labels_of(material.train, "--train")
    texts, others = material.texts_of(train.ids), material.texts_of(material.ids)
    known, asked = FEATURES[features](texts, others, material)
    return classify(train, known, material.ids, asked, scheme, material.seed)


def scheme_of(track: Track, hierarchical: bool) -> Scheme:
    """Return a scheme with a decision tree or, if not hierarchical, a flat scheme.

    The tree comes from the label hierarchy, or from the whole and parts of a table.
    """
    options, kind = track.format.options, answer_kind(track)
    if kind == "labels":
        if hierarchical and not track.hierarchy:
            raise UnsuitedError("the track has no hierarchy")
        tree = {name: below for name, below in (track.hierarchy or {}).items() if below} if hierarchical else {}
        return Scheme(tree, single=not options.get("multi", False), some=True)
    if kind != "table":
        raise UnsuitedError("this baseline needs labels or tables of zeros and ones")
    whole, parts = options.get("whole"), options.get("parts", ())
    if hierarchical and not whole:
        raise UnsuitedError("the track's table does not define a whole with parts")
    return Scheme({whole: parts}) if hierarchical and whole else Scheme({}, whole=whole, parts=parts)


def _tfidf(texts: Sequence[str], others: Sequence[str], _: Material) -> tuple[Any, Any]:
    return tfidf(texts, others)


def _ngrams(texts: Sequence[str], others: Sequence[str], _: Material) -> tuple[Any, Any]:
    return tfidf(texts, others, longest=3, most=10_000)


def _fasttext(texts: Sequence[str], others: Sequence[str], material: Material) -> tuple[Any, Any]:
    try:
        if material.vectors is not None:
            vectors = read_vectors(material.vectors, [*texts, *others])
        else:
            from scoring.baselines.fasttext import train_vectors  # noqa: PLC0415 (gensim is an extra that few need)

            vectors = train_vectors(texts, others, material.seed)
    except ImportError as error:
        raise UnavailableError(f"use --vectors, or install the missing package: {install_command(error)}") from None
    except ValueError as error:
        raise UnavailableError(str(error)) from None
    return averaged(texts, vectors), averaged(others, vectors)


FEATURES: dict[str, Callable[[Sequence[str], Sequence[str], Material], tuple[Any, Any]]] = {
    "tfidf": _tfidf,
    "ngram": _ngrams,
    "fasttext": _fasttext,
}
