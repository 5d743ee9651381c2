"""Read the answers that the gold and the runs give to every item."""

from collections.abc import Sequence
from typing import Any

from portal.evaluation.confined.compare import BoardRules, BoardRun, compared_with_gold
from scoring.analysis.item_answers import item_answers

ITEMS = 50_000  # largest gold standard whose items are published; no one would page through more


def read_items(rules: BoardRules, runs: Sequence[BoardRun]) -> dict[str, Any]:
    """Return the gold's answers, and the runs' answers by evaluation. Empty if the gold has too many items."""
    found: dict[str, Any] = {"runs": {}}
    for key, comparison in compared_with_gold(rules, runs).items():
        if len(comparison.gold) > ITEMS:
            break
        items = item_answers(comparison)
        found |= {"measure": items.measure, "ids": items.ids, "answers": items.gold}
        found["runs"][key] = {"answers": items.run, "values": items.values}
    return found
