"""Decisions of learned and random baselines, either flat or along a class hierarchy.

The same data and seed always give the same answers.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scoring.answers import Matrix
from scoring.baselines.linear_svm import Features, margins_of

Flags = NDArray[np.bool_]
Places = NDArray[np.int64]
# Functions that return how likely each class is for each item to answer (above 0: likely). The arguments are the
# indexes of the known items, their classes (items, classes), and the indexes of the items to answer.
Learner = Callable[[Places, Flags, Places], NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Scheme:
    """The classes that a classifier chooses between in each step.

    `children` maps a class to the classes below it. Top-level classes are predicted first. A lower class is predicted
    only for items with its parent class. If `children` is empty, all columns are predicted in one step (flat). With
    `single`, a step assigns exactly one class. Otherwise, it can assign any number or, with `some`, at least one: the
    most likely one if none reaches the threshold. `whole` is the column that must be 1 in a flat answer if any of
    `parts` is.
    """

    children: Mapping[str, Sequence[str]]
    single: bool = False
    some: bool = False
    whole: str | None = None
    parts: Sequence[str] = ()


def classify(answers: Matrix, ids: Sequence[str], scheme: Scheme, learner: Learner) -> Matrix:
    """Learn from `answers`, and return answers for `ids`.

    In a hierarchy, each class makes its own decisions about the classes below it. They are learned from the items that
    have the class, as in the hierarchical baselines of DETESTS 2022 (Ariza-Casabona et al., 2022, section 5.1).
    """
    columns = answers.columns
    result: NDArray[Any] = np.zeros((len(ids), len(columns)), answers.values.dtype)
    holders = {name: _holders(name, answers, scheme) for name in (*scheme.children, *columns)}
    below = {name for children in scheme.children.values() for name in children}
    steps = [([name for name in holders if name not in below], np.arange(len(answers.ids)), np.arange(len(ids)))]
    while steps:
        names, known, asked = steps.pop()
        targets = np.stack([holders[name][known] for name in names], axis=1)
        says = _decide(learner(known, targets, asked), scheme)
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


def svm(features: Features, others: Features) -> Learner:
    """Return a learner that trains linear support vector machines, one class against the rest.

    `features` has a row for each known item, and `others` for each item to answer. If all known items have a class, or
    none do, the same is predicted for all items to answer.
    """

    def learner(known: Places, targets: Flags, asked: Places) -> NDArray[np.float64]:
        margins = np.where(targets.any(axis=0), np.inf, -np.inf) * np.ones((len(asked), 1))
        if len(asked):
            for place in np.flatnonzero(targets.any(axis=0) & ~targets.all(axis=0)):
                margins[:, place] = margins_of(features[known], targets[:, place], others[asked])
        return margins

    return learner


def chance(single: bool, seed: int) -> Learner:
    """Return a learner that draws classes at random, as frequently as they occur in the training answers.

    With `single`, the class with the largest value is drawn (the Gumbel-max trick). Otherwise, each class is drawn
    independently, and drawn classes have values above 0.
    """
    rng = np.random.default_rng(seed)

    def learner(_: Places, targets: Flags, asked: Places) -> NDArray[np.float64]:
        shares, size = targets.mean(axis=0), (len(asked), targets.shape[1])
        with np.errstate(divide="ignore"):
            noise = rng.gumbel(size=size) if single else rng.logistic(size=size) - np.log1p(-shares)
            return np.asarray(np.log(shares) + noise)

    return learner


def _holders(name: str, answers: Matrix, scheme: Scheme) -> Flags:
    """Return which items have the class or a class below it."""
    family = [name]
    for member in family:
        family.extend(scheme.children.get(member, ()))
    return np.asarray(answers.values[:, [column in family for column in answers.columns]].any(axis=1))


def _decide(margins: NDArray[np.float64], scheme: Scheme) -> Flags:
    likeliest: Flags = np.arange(margins.shape[1]) == margins.argmax(axis=1)[:, None]
    if scheme.single:
        return likeliest
    likely: Flags = margins > 0
    return likely | likeliest if scheme.some else likely
