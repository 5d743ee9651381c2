"""Learned baselines: linear support vector machines on TF-IDF or word vectors, flat or along a class hierarchy.

Only this module needs scikit-learn (the extra `learned`). The same data and seed give the same answers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.svm import LinearSVC

from scoring.answers import Matrix

Flags = NDArray[np.bool_]
Features = Any  # one row per text, dense or sparse


@dataclass(frozen=True, slots=True)
class Scheme:
    """The decisions that a classifier makes in each step.

    `children` maps a class to the classes below it. Top-level classes are decided first. A lower class is decided only
    for items with its parent class. Without `children`, all columns are decided in one step (flat). With `single`, a
    step assigns exactly one class, otherwise any number. With `some`, a step assigns at least one class: the most
    likely one if none is likely. `whole` is the column that a flat answer must have if it has one of `parts`.
    """

    children: Mapping[str, Sequence[str]]
    single: bool = False
    some: bool = False
    whole: str | None = None
    parts: Sequence[str] = ()


def tfidf(texts: Sequence[str], others: Sequence[str], *, longest: int = 1, most: int | None = None) -> tuple[Any, Any]:
    """Compute TF-IDF weights of both lists, fitted on the first, with scikit-learn's defaults.

    Args:
        longest: use n-grams of 1 to this many words.
        most: keep only this many features, the most frequent ones.
    """
    vectorizer = TfidfVectorizer(ngram_range=(1, longest), max_features=most)
    return vectorizer.fit_transform(texts), vectorizer.transform(others)


def classify(
    answers: Matrix, features: Features, ids: Sequence[str], others: Features, scheme: Scheme, seed: int
) -> Matrix:
    """Train on `answers` with `features`, and return answers for `ids` with the features `others`.

    In a hierarchy, each class has its own classifiers for the classes below it. They are trained on the items that have
    the class, as in the hierarchical baselines of DETESTS 2022 (Ariza-Casabona et al., 2022, section 5.1).
    """
    columns = answers.columns
    result: NDArray[Any] = np.zeros((len(ids), len(columns)), answers.values.dtype)
    holders = {name: _holders(name, answers, scheme) for name in (*scheme.children, *columns)}
    below = {name for children in scheme.children.values() for name in children}
    steps = [([name for name in holders if name not in below], np.arange(len(answers.ids)), np.arange(len(ids)))]
    while steps:
        names, known, asked = steps.pop()
        targets = np.stack([holders[name][known] for name in names], axis=1)
        says = _decide(_margins(features[known], targets, others[asked], seed), scheme)
        for place, name in enumerate(names):
            chosen = asked[says[:, place]]
            if name in columns:
                result[chosen, columns.index(name)] = 1
            if len(chosen) and scheme.children.get(name):
                steps.append((list(scheme.children[name]), known[targets[:, place]], chosen))
    if scheme.whole:
        parts = [columns.index(name) for name in scheme.parts]
        result[:, columns.index(scheme.whole)] |= result[:, parts].any(axis=1)
    return Matrix(list(ids), columns, result)


def _holders(name: str, answers: Matrix, scheme: Scheme) -> Flags:
    """Return which items have the class or a class below it."""
    family = [name]
    for member in family:
        family.extend(scheme.children.get(member, ()))
    held: Flags = np.any(answers.values[:, [column in family for column in answers.columns]], axis=1)
    return held


def _margins(features: Features, targets: Flags, others: Features, seed: int) -> NDArray[np.float64]:
    """Return how far each of `others` is inside each class (one against the rest).

    The value is infinite if all training items are on one side.
    """
    margins = np.where(targets.any(axis=0), np.inf, -np.inf) * np.ones((others.shape[0], 1))
    if others.shape[0]:
        for place in np.flatnonzero(targets.any(axis=0) & ~targets.all(axis=0)):
            machine = LinearSVC(random_state=seed).fit(features, targets[:, place])
            margins[:, place] = machine.decision_function(others)
    return margins


def _decide(margins: NDArray[np.float64], scheme: Scheme) -> Flags:
    likeliest: Flags = np.arange(margins.shape[1]) == margins.argmax(axis=1)[:, None]
    if scheme.single:
        return likeliest
    likely: Flags = margins > 0
    return likely | likeliest if scheme.some else likely
