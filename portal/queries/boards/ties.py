"""Tie groups, shown as letters and brackets next to the rows if ranks have no bounds.

This applies to boards that were released before Agon computed bounds. The API still has the groups of all boards.
`scoring/significance/tie_grouping.py` computes them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from string import ascii_uppercase
from typing import TypeVar

from portal.queries.boards.rows import Selection
from portal.queries.boards.table import Bracket, CombinedRow, Row

Line = TypeVar("Line", Row, CombinedRow)


def groups_of(selection: Selection) -> dict[int, str]:
    """Map evaluations to letters. Empty if the groups were computed for different runs than the ranked ones."""
    groups: Mapping[str, int] = selection.board.comparison.get("groups", {})
    ranked = {str(pk) for pk, rank in selection.ranks.items() if rank is not None}
    return {int(pk): letter(group) for pk, group in groups.items()} if ranked == groups.keys() else {}


def letter(group: int) -> str:
    """Return the letters for a group's number: 1 → A, 26 → Z, 27 → AA. Empty for 0, which means no group."""
    name = ""
    while group:
        group, place = divmod(group - 1, len(ascii_uppercase))
        name = ascii_uppercase[place] + name
    return name


def bracketed(rows: Sequence[Line]) -> list[Line]:
    """Return the rows, which must be in order of rank, with their groups' brackets. These extend across references."""
    places: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        if row.group:
            places.setdefault(row.group, []).append(place)
    found = list(rows)
    for own in places.values():
        first, last = own[0], own[-1]
        for place in range(first, last + 1):
            found[place] = replace(found[place], bracket=_part(place, first, last))
    return found


def _part(place: int, first: int, last: int) -> Bracket:
    if first == last:
        return "only"
    if place == first:
        return "first"
    return "last" if place == last else "middle"
