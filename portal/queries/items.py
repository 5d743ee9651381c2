"""Published answers to every item, by one or more runs, and the items that the best runs missed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.core.paginator import Page, Paginator

from portal.models import GoldItems, Phase, RunItems, Track

PAGE_SIZE = 50
LABELS = 100  # maximum number of labels that can be chosen from


@dataclass(frozen=True, slots=True)
class ItemChoice:
    """The reader's filter for items. Unknown values are ignored."""

    which: str = ""  # "wrong": some run is not fully correct; "missed": no run is; "differ": answers differ
    label: str = ""  # a label that the gold's answer or a run's answer must contain
    page: str = ""  # page number


@dataclass(frozen=True, slots=True)
class Answer:
    """A run's answer to an item, in parts, and its value from 0 to 1 (None if it has none)."""

    parts: list[str]
    value: float | None


@dataclass(frozen=True, slots=True)
class Item:
    """A row of the table, with `answers` in the order of the runs."""

    id: str
    gold: list[str]
    answers: list[Answer]


@dataclass(frozen=True, slots=True)
class ItemTable:
    """The items of one or more runs. `measure` is a `scoring.analysis.item_answers.Measure`."""

    measure: str
    runs: list[str]
    right: list[int]  # how many items each run answered fully correctly
    judged: int
    labels: list[str]  # labels to filter by; empty for weights and spans
    choice: ItemChoice
    page: Page[int]
    items: list[Item]  # items on the requested page


def item_table(
    track: Track, phase: Phase, evaluations: Mapping[str, int], choice: ItemChoice, at: datetime
) -> ItemTable | None:
    """Return the items of these runs, which are given by name. None unless the items are public and stored."""
    found = _found(track, phase, evaluations.values(), at)
    if found is None:
        return None
    gold, by_evaluation = found
    runs = {name: by_evaluation[pk] for name, pk in evaluations.items() if pk in by_evaluation}
    if not runs:
        return None
    labels = _labels(gold) if gold.measure == "right" else []
    wanted = _wanted(gold, list(runs.values()), choice, set(labels))
    page = Paginator(wanted, PAGE_SIZE).get_page(choice.page)
    return ItemTable(
        measure=gold.measure,
        runs=list(runs),
        right=[row.values.count(1) for row in runs.values()],
        judged=sum(value is not None for value in next(iter(runs.values())).values),
        labels=labels,
        choice=choice,
        page=page,
        items=[_item(place, gold, runs.values()) for place in page.object_list],
    )


def items_are_unread(track: Track, phase: Phase, evaluation: int, at: datetime) -> bool:
    """Return whether the run's items are missing only because a worker could not read them."""
    return RunItems.objects.public(track, phase.split, at).unread().filter(pk=evaluation).exists()


def missed_items(track: Track, phase: Phase, evaluations: Iterable[int], at: datetime) -> list[str]:
    """Return the ids of items that none of these runs answered correctly. Empty unless items are public and stored."""
    wanted = set(evaluations)
    found = _found(track, phase, wanted, at)
    if found is None or found[1].keys() != wanted:
        return []
    gold, runs = found
    return [gold.ids[place] for place in _wanted(gold, list(runs.values()), ItemChoice("missed"), set())]


def _found(
    track: Track, phase: Phase, evaluations: Iterable[int], at: datetime
) -> tuple[GoldItems, dict[int, RunItems]] | None:
    """Return the gold's answers, and the runs' answers by evaluation, all for the same gold version."""
    rows = RunItems.objects.public(track, phase.split, at).filter(evaluation__in=list(evaluations))
    rows = rows.select_related("evaluation__gold__items")
    runs = {row.pk: row for row in rows.order_by("-evaluation__gold__version") if row.answers}
    standards = {row.evaluation.gold_id: row.evaluation.gold for row in runs.values()}
    gold = next(iter(standards.values()), None)
    if gold is None or not hasattr(gold, "items"):
        return None
    return gold.items, {pk: row for pk, row in runs.items() if row.evaluation.gold_id == gold.pk}


def _labels(gold: GoldItems) -> list[str]:
    """Return the labels in the gold standard. Empty if there are too many to choose from."""
    labels = sorted({part for answer in gold.answers for part in answer})
    return labels if len(labels) <= LABELS else []


def _wanted(gold: GoldItems, runs: list[RunItems], choice: ItemChoice, labels: set[str]) -> list[int]:
    """Return the indexes of the items that match the filter, in the gold's order."""

    def is_wanted(place: int) -> bool:
        values = [run.values[place] for run in runs]
        answers = [run.answers[place] for run in runs]
        if choice.label in labels and not any(choice.label in answer for answer in (gold.answers[place], *answers)):
            return False
        wrong = [value is not None and value < 1 for value in values]
        match choice.which:
            case "wrong":
                return any(wrong)
            case "missed":
                return all(wrong)
            case "differ":
                return any(answer != answers[0] for answer in answers)
        return True

    return [place for place in range(len(gold.ids)) if is_wanted(place)]


def _item(place: int, gold: GoldItems, runs: Iterable[RunItems]) -> Item:
    answers = [Answer(run.answers[place], run.values[place]) for run in runs]
    return Item(gold.ids[place], gold.answers[place], answers)
