"""The shares of the gold standard's labels in each slice, as in Tables 1 and 2 of HatEval 2019."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from portal.models import Track
from portal.queries.boards.slices import slice_label
from scoring.formats import answer_kind
from scoring.formats.table import values_of


@dataclass(frozen=True, slots=True)
class Share:
    """The share of a label among `answers` items, or None if there are none.

    `is_of_some` tells whether some of the slice's items are left out because the gold standard has no answer for them.
    """

    value: float | None
    answers: float
    is_of_some: bool = False


@dataclass(frozen=True, slots=True)
class LabelShares:
    """The shares of labels in the slices of one column."""

    name: str
    title: str
    items: list[tuple[str, int]]  # slices, and how many items each has
    rows: list[tuple[str, list[Share]]]  # labels, and the share of each in every slice

    @property
    def are_of_some(self) -> bool:
        """Whether some of the shares leave out items without an answer."""
        return any(share.is_of_some for _name, shares in self.rows for share in shares)


@dataclass(frozen=True, slots=True)
class _Row:
    """The share of items that have `label` (or lack it, if `without` is set), among those that have `whole`, if given.

    Labels are given by their positions.
    """

    title: str
    label: int
    whole: int | None = None
    without: bool = False

    def share(self, part: Mapping[str, Any]) -> Share:
        """Compute the share in one slice, of which `part` has the counts."""
        whole = part["items"] if self.whole is None else part["counts"][self.whole]
        answers = whole
        if "answers" in part:
            answers = part["answers"][self.label] if self.whole is None else self._answers_where(part)
        held = part["counts"][self.label]
        value = (answers - held if self.without else held) / answers if answers else None
        return Share(value, answers, is_of_some=answers < whole)

    def _answers_where(self, part: Mapping[str, Any]) -> float:
        return float(part["answers_where"][self.whole][self.label])


def label_shares(labels: Mapping[str, Any], track: Track) -> list[LabelShares]:
    """Return the shares for each of the track's slicings in which any label has an answer.

    `labels` comes from `scoring.analysis.details.field_details`. If a label is part of another label, only items where
    that other label is 1 count. Items without an answer do not count.
    """
    by_slice = labels.get("slices", {})
    rows = list(_rows(labels["classes"], track)) if by_slice else []
    found = []
    for name, slicing in track.definition.slices.items():
        if name in by_slice:
            parts = sorted(by_slice[name].items())
            items = [(slice_label(name, value), part["items"]) for value, part in parts]
            lines = [(row.title, [row.share(part) for _value, part in parts]) for row in rows]
            lines = [(title, shares) for title, shares in lines if any(share.answers for share in shares)]
            if lines:
                found.append(LabelShares(name, slicing.title, items, lines))
    return found


def _rows(classes: list[str], track: Track) -> Iterator[_Row]:
    definition = track.definition
    if answer_kind(definition) != "table":
        yield from (_Row(name, place) for place, name in enumerate(classes))
        return
    options, values = definition.format.options, values_of(definition.format)
    whole: str = options.get("whole", "")
    for place, name in enumerate(classes):
        if values.get(name) != (0, 1):
            continue
        is_part = whole in classes and name in options.get("parts", ())
        for value in (1, 0):
            title = f"{name} {value}"
            yield _Row(
                title=_("%(label)s where %(whole)s is 1") % {"label": title, "whole": whole} if is_part else title,
                label=place,
                whole=classes.index(whole) if is_part else None,
                without=value == 0,
            )
