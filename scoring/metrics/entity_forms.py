"""Precision, recall and F1 of the distinct surface forms of typed entities (WNUT 2017).

A form is the text and type of an entity. Each form counts once, however often it occurs, so that rare names have the
same weight as frequent names.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from scoring.answers import Rows
from scoring.definition import MetricSpec
from scoring.metrics.comparison import EntityComparison
from scoring.metrics.entities import Side, f1, matches_strictly, precision, recall, sides
from scoring.metrics.loaded_gold import LoadedGold
from scoring.metrics.metric import ENTITIES, Contributions, Example, Metric, Numbers, Part, computed, per_row


def _words(gold: LoadedGold) -> list[list[str]] | list[str]:
    """Return each item's tokens or, if entities are character spans, its text.

    Raises:
        ValueError: the texts are not known.
    """
    answers = gold.entities
    if answers.texts is None:
        raise ValueError("surface forms need the items' texts")
    texts = [answers.texts.get(item, "") for item in answers.ids]
    return texts if answers.lengths is None else [text.split() for text in texts]


def _forms(
    texts: list[list[str]] | list[str], owners: Rows, begins: NDArray[np.int64], ends: NDArray[np.int64]
) -> list[str]:
    """Return the text of each entity."""
    rows = zip(owners.tolist(), begins.tolist(), ends.tolist(), strict=True)
    parts = [texts[owner][begin:end] for owner, begin, end in rows]
    return [part if isinstance(part, str) else " ".join(part) for part in parts]


def _gold_forms(gold: LoadedGold) -> list[str]:
    entities = gold.entities
    owners = np.repeat(np.arange(len(gold)), np.diff(entities.starts))
    return _forms(gold.once(_words), owners, entities.begins, entities.ends)


def _counts(comparison: EntityComparison, name: str | None) -> Numbers:
    """Return each item's contribution to the number of correct forms, run forms and gold forms, with shape (items, 3).

    A form that occurs in several items contributes an equal part to each item, 1 in total.
    """
    (gold, run), items = comparison.once(sides), len(comparison.gold)
    forms = {
        "gold": comparison.gold.once(_gold_forms),
        "run": _forms(comparison.gold.once(_words), comparison.owners, comparison.begins, comparison.ends),
    }
    numbers: dict[tuple[str, int], int] = {}
    columns = []
    right = matches_strictly(gold, run) > 0
    for side, own, kept in ((run, "run", right), (run, "run", None), (gold, "gold", None)):
        keep = np.ones(len(side.kinds), np.bool_) if kept is None else kept
        if name is not None:
            keep = keep & (side.kinds == (comparison.types.index(name) if name in comparison.types else -1))
        pairs = zip(forms[own], side.kinds.tolist(), strict=True)
        places = np.fromiter((numbers.setdefault(pair, len(numbers)) for pair in pairs), np.intp, len(side.kinds))
        columns.append(_shared(side, places, keep, items))
    return np.column_stack(columns)


def _shared(side: Side, forms: Rows, keep: NDArray[np.bool_], items: int) -> Numbers:
    """Return, by item, the sum over its distinct forms of 1 / the number of items with the form."""
    pairs = np.unique(np.column_stack([forms[keep], side.owners[keep]]), axis=0)
    spread = np.bincount(pairs[:, 0])
    return per_row(pairs[:, 1], 1 / spread[pairs[:, 0]], items)


def _metric(
    measure: str, short: str, combine: Callable[[Numbers], Numbers], value: float, formula: str, why: str
) -> Metric:
    def contributions(comparison: EntityComparison, spec: MetricSpec) -> Contributions:
        return Contributions(comparison.once(_counts, spec.part), combine)

    return Metric(
        name=f"entity_{measure}_surface",
        title=f"Entity {measure if measure != 'f1' else 'F1'} of surface forms",
        short=f"{short} of forms",
        formula=f"{formula}; forms are pairs of text and type, each counted once; a form is correct if the run has one "
        "of its occurrences, with the same boundaries and type",
        source="Derczynski et al. (2017), WNUT 2017 shared task, section 5; its scorer, wnuteval.py",
        compute=computed(contributions),
        contributions=contributions,
        example=Example(
            "entities",
            {"1": "PER 0-2, LOC 3-4", "2": "PER 0-2", "3": "LOC 5-6"},
            {"1": "PER 0-2", "2": "PER 0-2, LOC 6-8", "3": ""},
            value,
            why,
        ),
        kinds=ENTITIES,
        part=Part.TYPE,
        needs_texts=True,
    )


_FORMS = "the sentence is `w0 w1 … w9` three times, and PER `w0 w1` is one form"
METRICS = (
    _metric(
        "precision",
        "P",
        precision,
        1 / 2,
        "correct forms / forms of the run, 0 if the run has none",
        f"{_FORMS}; it is correct, and LOC `w6 w7` is not: 1 / 2",
    ),
    _metric(
        "recall",
        "R",
        recall,
        1 / 3,
        "correct forms / forms of the gold, undefined if the gold has none",
        f"{_FORMS}; LOC `w3` and LOC `w5` are missed: 1 / 3",
    ),
    _metric(
        "f1",
        "F1",
        f1,
        2 / 5,
        "2 · correct forms / (forms of the run + forms of the gold), undefined if the gold has none",
        f"{_FORMS}, the only correct one of 2 and 3: 2 · 1 / (2 + 3)",
    ),
)
