"""The baselines by name.

Baselines that copy a distribution use the training answers or, if there are none, the gold standard.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from scoring.answers import Answers, Entities, Matrix, Ranking, Spans, Texts, Tuples
from scoring.baselines import trivial
from scoring.baselines.known_entities import found_again, most_frequent_types
from scoring.baselines.learned import draw, learn
from scoring.baselines.material import Material, UnavailableError, UnsuitedError, labels_of
from scoring.formats import answer_kind
from scoring.metrics.loaded_gold import LoadedGold

Recipe = Callable[[Material], Answers]


def _gold(material: Material) -> Answers:
    """Return the gold standard as a complete run.

    Items missing from it get the majority answer or, in formats for spans (typed or not), tuples and texts, an empty
    answer.
    """
    gold = material.gold
    if gold is None:
        raise UnavailableError("this baseline requires a gold standard")
    rest = sorted(set(material.ids) - set(gold.ids))
    if isinstance(gold, Spans):
        return LoadedGold(gold).covering(rest).answers
    if isinstance(gold, Tuples) or (isinstance(gold, Entities) and gold.lengths is None):
        return LoadedGold(gold).covering(material.ids).answers
    if isinstance(gold, Ranking | Entities):
        if rest:
            raise UnavailableError("the gold standard has no answer for some items")
        return gold
    if isinstance(gold, Texts):
        return Texts([*gold.ids, *rest], [texts[:1] for texts in gold.texts] + [("",)] * len(rest))
    labels = labels_of(gold, "a gold standard")
    if labels.absent is not None:
        raise UnavailableError("the gold standard has cells without a label")
    if not rest:
        return labels
    filled = np.concatenate([labels.values, trivial.majority(rest, labels).values])
    return Matrix([*labels.ids, *rest], labels.columns, filled)


def _constant(value: int) -> Recipe:
    return lambda material: trivial.constant(material.ids, material.columns(), value)


def _median(material: Material) -> Answers:
    if not material.track.format.options.get("numbers"):
        raise UnsuitedError("this baseline requires tables of numbers")
    return trivial.median(material.ids, material.known())


def _random(material: Material) -> Answers:
    if answer_kind(material.track) == "spans":
        texts = dict(zip(material.ids, material.texts_of(material.ids), strict=True))
        return trivial.random_spans(texts, material.seed)
    return trivial.weighted_random(material.ids, material.known(), material.seed)


def _nothing(material: Material) -> Answers:
    kind = answer_kind(material.track)
    if kind == "entities":
        return found_again(material, {})
    if kind == "tuples":
        return Tuples.of_sets(tuple(material.track.format.options["columns"]), dict.fromkeys(material.ids, ()))
    if kind != "spans":
        raise UnsuitedError("this baseline requires spans, entities or tuples")
    return trivial.empty_spans(material.ids)


def _known_forms(material: Material) -> Answers:
    """Mark every occurrence of a training entity's text with that text's most frequent type."""
    if answer_kind(material.track) != "entities":
        raise UnsuitedError("this baseline requires entities")
    train = material.train
    if not isinstance(train, Entities):
        raise UnavailableError("this baseline requires --train")
    if train.texts is None:
        train = replace(train, texts=dict(zip(train.ids, material.texts_of(train.ids), strict=True)))
    return found_again(material, most_frequent_types(train))


def _everything(material: Material) -> Answers:
    if answer_kind(material.track) != "spans":
        raise UnsuitedError("this baseline requires spans")
    return trivial.every_character(dict(zip(material.ids, material.texts_of(material.ids), strict=True)))


def _learned(features: str, hierarchical: bool = False) -> Recipe:
    return lambda material: learn(material, features, hierarchical)


BASELINES: Mapping[str, Recipe] = {
    "gold": _gold,
    "all-ones": _constant(1),
    "all-zeros": _constant(0),
    "majority": lambda material: trivial.majority(material.ids, material.classes()),
    "minority": lambda material: trivial.minority(material.ids, material.classes()),
    "median": _median,
    "random": _random,
    "random-hierarchical": draw,
    "nothing": _nothing,
    "everything": _everything,
    "known-entities": _known_forms,
    "tfidf-svc": _learned("tfidf"),
    "tfidf-svc-hierarchical": _learned("tfidf", hierarchical=True),
    "ngram-svc": _learned("ngram"),
    "ngram-svc-hierarchical": _learned("ngram", hierarchical=True),
    "subword-svc": _learned("subword"),
    "subword-svc-hierarchical": _learned("subword", hierarchical=True),
    "fasttext-svc": _learned("fasttext"),
    "fasttext-svc-hierarchical": _learned("fasttext", hierarchical=True),
}
