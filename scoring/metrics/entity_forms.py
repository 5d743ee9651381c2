"""Precision, recall and F1 of the distinct surface forms of typed entities (WNUT 2017).

A form consists of the text and type of an entity. Each form counts once, no matter how often it occurs, so that rare
names have the same weight as frequent ones.
"""

from collections import defaultdict
from functools import partial
from itertools import count, pairwise

import numpy as np
from numpy.typing import NDArray

from scoring.answers import Rows
from scoring.items.texts import tokens_of
from scoring.metrics.comparison import EntityComparison
from scoring.metrics.distinct import distinct
from scoring.metrics.entities import UNDEFINED, Column, Measure, f1, micro_and_macro, precision, recall
from scoring.metrics.entity_matching import Side, matches_strictly, sides
from scoring.metrics.loaded_gold import LoadedGold
from scoring.metrics.metric import ENTITIES, Example, Metric

EVERY = slice(None)


def _words(gold: LoadedGold) -> list[list[str]] | list[str]:
    """Return each item's tokens or, if entities are character spans, its text.

    Raises:
        ValueError: the texts are not known.
    """
    answers = gold.entities
    if answers.texts is None:
        raise ValueError("surface forms require the item texts")
    texts = [answers.texts.get(item, "") for item in answers.ids]
    if answers.lengths is None:
        return texts
    same = dict[str, str]()  # one object for equal tokens, because one for each token would need much memory
    return [list(map(same.setdefault, own, own)) for own in map(tokens_of, texts)]


def _forms(
    texts: list[list[str]] | list[str], owners: Rows, begins: NDArray[np.int64], ends: NDArray[np.int64]
) -> list[str]:
    """Return the entities' texts. `owners` are sorted."""
    forms = list[str]()
    bounds = np.flatnonzero(np.diff(owners, prepend=-1, append=-1))
    for start, stop in pairwise(bounds.tolist()):
        text, own = texts[owners[start]], begins[start:stop].tolist()
        sizes = ends[start:stop] - begins[start:stop]
        if isinstance(text, str):
            forms += [text[begin : begin + size] for begin, size in zip(own, sizes.tolist(), strict=True)]
        elif (sizes == 1).all():  # as in most sentences; a list for each entity would take most of the time
            forms += map(text.__getitem__, own)
        else:
            forms += [" ".join(text[begin : begin + size]) for begin, size in zip(own, sizes.tolist(), strict=True)]
    return forms


def _gold_forms(gold: LoadedGold) -> list[str]:
    entities = gold.entities
    owners = np.repeat(np.arange(len(gold)), np.diff(entities.starts))
    return _forms(gold.once(_words), owners, entities.begins, entities.ends)


def _columns(comparison: EntityComparison) -> tuple[Column, ...]:
    """Return the correct forms, the run's forms and the gold's forms.

    If a form occurs in several items, each of them gets an equal part of 1.
    """
    gold, run = comparison.once(sides)
    own = _forms(comparison.gold.once(_words), comparison.owners, comparison.begins, comparison.ends)
    numbers: dict[tuple[str, int], int] = defaultdict(count().__next__)
    of_run, of_gold = (
        _numbered(forms, side, numbers) for forms, side in ((own, run), (comparison.gold.once(_gold_forms), gold))
    )
    return (
        _shared(run, of_run, matches_strictly(gold, run) > 0),
        _shared(run, of_run),
        _shared(gold, of_gold),
    )


def _numbered(forms: list[str], side: Side, numbers: dict[tuple[str, int], int]) -> NDArray[np.int32]:
    """Return the number of each form with its type. `numbers` gives new ones the next number."""
    pairs = zip(forms, side.kinds.tolist(), strict=True)
    return np.fromiter(map(numbers.__getitem__, pairs), np.int32, len(side.kinds))


def _shared(side: Side, forms: NDArray[np.int32], keep: NDArray[np.bool_] | slice = EVERY) -> Column:
    """Return 1 / (number of items with the form) for each distinct form in each item."""
    kinds = np.zeros(int(forms.max(initial=-1)) + 1, np.intp)
    kinds[forms] = side.kinds
    items = int(side.owners.max(initial=0)) + 1
    form, owners = np.divmod(distinct(forms[keep].astype(np.int64) * items + side.owners[keep]), items)
    spread = np.bincount(form)
    return Column(owners, kinds[form], 1 / spread[form])


_GOLD = {"1": "PER 0-2, LOC 3-4", "2": "PER 0-2", "3": "LOC 5-6"}
_RUN = {"1": "PER 0-2", "2": "PER 0-2, LOC 6-8", "3": ""}
_SOURCE = "Derczynski et al. (2017), WNUT 2017 shared task, section 5; its scorer, wnuteval.py"


def _metrics(measure: str, short: str, combine: Measure, value: float, formula: str, why: str) -> tuple[Metric, Metric]:
    """Return the metric over all forms, with its value in the example, and its mean over types."""
    why_macro = "PER has one form, which is correct, and LOC has no correct form: (1 + 0) / 2"
    return micro_and_macro(
        f"entity_{measure}_surface",
        (f"Entity {measure if measure != 'f1' else 'F1'} of surface forms", f"{short} of forms"),
        f"{formula}; a form is an entity's text and type, and each form counts once; it is correct if at "
        "least one entity with this form is in both the gold and the run, with the same boundaries and type",
        UNDEFINED[measure],
        lambda comparison, spec, apart: comparison.once(_columns),
        combine,
        (Example("entities", _GOLD, _RUN, value, why), Example("entities", _GOLD, _RUN, 1 / 2, why_macro)),
        partial(
            Metric,
            kinds=ENTITIES,
            source=_SOURCE,
            compared_with="wnuteval.py, the scorer of WNUT 2017",
            conventions=("Entities", "Surface forms of entities"),
            needs_texts=True,
        ),
    )


_FORMS = "every sentence is `w0 w1 … w9`, so PER `w0 w1` is a single form"
METRICS = (
    *_metrics(
        "precision",
        "P",
        precision,
        1 / 2,
        "correct forms / forms of the run; 0 if the run has none",
        f"{_FORMS}, which is correct, while LOC `w6 w7` is not: 1 / 2",
    ),
    *_metrics(
        "recall",
        "R",
        recall,
        1 / 3,
        "correct forms / forms in the gold; undefined if the gold has none",
        f"{_FORMS}; LOC `w3` and LOC `w5` are missed: 1 / 3",
    ),
    *_metrics(
        "f1",
        "F1",
        f1,
        2 / 5,
        "2 · correct forms / (forms in the run + forms in the gold); undefined if the gold has none",
        f"{_FORMS}, the only correct form among 2 in the run and 3 in the gold: 2 · 1 / (2 + 3)",
    ),
)
