"""Coverage: how many of a split's items a gold standard contains."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from scoring.definition import Definition
from scoring.formats import FORMATS
from scoring.limits import LISTED


@dataclass(frozen=True, slots=True)
class Coverage:
    """The items missing from a gold standard. `items` is the number of ids that a run must have."""

    items: int
    missing: list[str]

    @property
    def listed(self) -> int:
        """The number of the split's items that the gold standard contains."""
        return self.items - len(self.missing)


def coverage(gold: Collection[str], items: Sequence[str]) -> Coverage:
    """Compare the gold standard's ids with the split's ids, ignoring additional ids in the gold standard."""
    listed = set(gold)
    return Coverage(len(items), [item for item in items if item not in listed])


def incomplete(covered: Coverage) -> dict[str, Any]:
    """Return the fields of the problem `gold-incomplete`."""
    return {
        "found": f"{covered.listed:,}",
        "expected": f"{covered.items:,}",
        "count": len(covered.missing),
        "places": tuple(covered.missing[:LISTED]),
    }


def is_partial(definition: Definition, track: str, split: str) -> bool:
    """Return whether the gold file is declared with `covers: listed`."""
    return any(gold.covers == "listed" for gold in definition.gold if (gold.track, gold.split) == (track, split))


def may_leave_out(definition: Definition, track: str, split: str) -> bool:
    """Return whether a gold file may leave items out.

    It may if it is declared with `covers: listed`, or if it contains spans or tuples, because a missing item then has
    none.
    """
    return is_partial(definition, track, split) or FORMATS[definition.track(track).format.kind].leaves_out_empty
