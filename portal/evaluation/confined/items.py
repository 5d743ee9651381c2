"""The answers to every item, of the gold and the runs."""

from collections.abc import Sequence
from typing import Any

from portal.evaluation.confined.compare import BoardRules, BoardRun, compared_with_gold
from scoring.analysis.item_answers import item_answers

ITEMS = 50_000  # items of a gold standard; no one pages through more


def read_items(rules: BoardRules, runs: Sequence[BoardRun]) -> dict[str, Any]:
    """The gold's answers, and the runs' by evaluation; nothing for gold that is too long."""
    found: dict[str, Any] = {"runs": {}}
    for key, comparison in compared_with_gold(rules, runs).items():
        if len(comparison.gold) > ITEMS:
            break
        items = item_answers(comparison)
        found |= {"measure": items.measure, "ids": items.ids, "answers": items.gold}
        found["runs"][key] = {"answers": items.run, "values": items.values}
    return found
