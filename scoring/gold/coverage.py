"""Coverage: the number of a split's items that a gold standard contains."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from scoring.definition import Definition
from scoring.formats import FORMATS
from scoring.limits import LISTED


@dataclass(frozen=True, slots=True)
class Coverage:
    """The items missing from the gold standard. `items` is the number of ids that a run must have."""

    items: int
    missing: list[str]

    @property
    def listed(self) -> int:
        """The number of items in the gold standard."""
        return self.items - len(self.missing)


def coverage(gold: Collection[str], items: Sequence[str]) -> Coverage:
    """Compare the gold standard's ids with the split's ids. Further ids in the gold standard are ignored."""
    listed = set(gold)
    return Coverage(len(items), [item for item in items if item not in listed])


def incomplete(covered: Coverage) -> dict[str, Any]:
    """Return the fields of the problem `gold-incomplete`."""
    missing = covered.missing
    return {
        "found": f"{covered.listed:,}",
        "expected": f"{covered.items:,}",
        "count": len(missing),
        "places": tuple(missing[:LISTED]),
    }


def may_leave_out(definition: Definition, track: str, split: str) -> bool:
    """Whether a gold file may leave items out.

    This is the case if it is declared with `covers: listed`, and for span tracks, where missing items have no spans.
    """
    is_declared = any(gold.covers == "listed" for gold in definition.gold if (gold.track, gold.split) == (track, split))
    return is_declared or FORMATS[definition.track(track).format.kind].leaves_out_empty
