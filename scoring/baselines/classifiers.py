"""Learned baselines: linear support vector machines on TF-IDF or word vectors, flat or along a tree of classes.

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
    """The decisions of each step.

    `children` maps a class to those below it. Classes below none are decided first; a class below another only for
    items that got that one. Without `children` all columns are decided at once (flat). `single`: one class per step,
    else any number; `some`: at least one, the most likely one where none is likely. `whole` names the column that a
    flat answer must have if it has one of `parts`.
    """

    children: Mapping[str, Sequence[str]]
    single: bool = False
    some: bool = False
    whole: str | None = None
    parts: Sequence[str] = ()


def tfidf(texts: Sequence[str], others: Sequence[str], *, longest: int = 1, most: int | None = None) -> tuple[Any, Any]:
    """TF-IDF weights of both lists, learned from the first, with scikit-learn's defaults.

    Args:
        longest: n-grams of 1 to this many words.
        most: keep only so many features, the most frequent ones.
    """
    vectorizer = TfidfVectorizer(ngram_range=(1, longest), max_features=most)
    return vectorizer.fit_transform(texts), vectorizer.transform(others)


def classify(
    answers: Matrix, features: Features, ids: Sequence[str], others: Features, scheme: Scheme, seed: int
) -> Matrix:
    """Answers for `ids` with the features `others`, learned from `answers` with `features`.

    In a tree, each class has its own classifiers for the classes below it, trained on the items that have the class, as
    in the hierarchical baselines of DETESTS 2022 (Ariza-Casabona et al., 2022, section 5.1).
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
    """Which items have the class or one below it."""
    family = [name]
    for member in family:
        family.extend(scheme.children.get(member, ()))
    held: Flags = np.any(answers.values[:, [column in family for column in answers.columns]], axis=1)
    return held


def _margins(features: Features, targets: Flags, others: Features, seed: int) -> NDArray[np.float64]:
    """How far each of `others` is inside each class (one against the rest); infinite if training has one side only."""
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
