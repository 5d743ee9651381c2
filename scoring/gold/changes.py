"""Changes in a corrected gold standard: the ids of the changed items, never their answers."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from scoring.answers import Answers, Entities, Matrix, Ranking, Spans, Texts, Tuples


@dataclass(frozen=True, slots=True)
class GoldChanges:
    """Lists of item ids, each in the order of its file."""

    added: list[str]
    removed: list[str]
    changed: list[str]


def gold_changes(before: Answers, after: Answers) -> GoldChanges:
    """Compare two gold standards for the same track, item by item."""
    old, new = dict(_items(before)), dict(_items(after))
    return GoldChanges(
        added=[item for item in new if item not in old],
        removed=[item for item in old if item not in new],
        changed=[item for item, answer in new.items() if item in old and old[item] != answer],
    )


def _items(answers: Answers) -> Iterator[tuple[str, Any]]:
    """Yield each item's answer as a value that can be compared across files."""
    match answers:
        case Matrix():
            cells = [dict(zip(answers.columns, row, strict=True)) for row in answers.cells()]
            named = {name: answers.extra[name] for name in sorted(answers.extra)}
            further = zip(*named.values(), strict=True) if named else [()] * len(cells)
            yield from zip(answers.ids, zip(cells, further, strict=True), strict=True)
        case Spans():
            yield from ((item, answers.pairs(row)) for row, item in enumerate(answers.ids))
        case Entities():
            lengths = [None] * len(answers.ids) if answers.lengths is None else answers.lengths.tolist()
            for row, (item, length) in enumerate(zip(answers.ids, lengths, strict=True)):
                yield item, (length, answers.of_item(row))
        case Ranking():
            scored = list(zip(answers.documents, answers.scores.tolist(), strict=True))
            for row, item in enumerate(answers.ids):
                yield item, dict(scored[answers.starts[row] : answers.starts[row + 1]])
        case Texts():
            yield from zip(answers.ids, answers.texts, strict=True)
        case Tuples():
            yield from ((item, answers.of_item(row)) for row, item in enumerate(answers.ids))
