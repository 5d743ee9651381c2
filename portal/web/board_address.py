"""The filters in a leaderboard's URL, and the links in its column headings."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Literal

from django.http import QueryDict

from portal.models import Run
from portal.parameters import LAST_PAGE, whole_number
from portal.queries.boards.choices import PAGE_SIZE, Choices
from portal.queries.boards.columns import Column
from portal.queries.boards.table import BoardTable
from portal.queries.items import ItemChoice
from portal.times_and_numbers import AOE


@dataclass(frozen=True, slots=True)
class Head:
    """A column heading with its current sort order and its link."""

    column: Column
    ranks: bool
    sorted: Literal["ascending", "descending", ""]
    link: str


def choices_of(query: QueryDict) -> Choices:
    """Return the filters in a URL. Invalid values are ignored.

    `sort=-icm` sorts from high to low, `sort=icm` from low to high. Browsers send nothing for an unchecked checkbox, so
    a missing `baselines` means "off" only if the form was submitted. `slot` filters all runs, not just official ones.
    `as_of` is a day in AoE.
    """
    sort = query.get("sort", "")
    slot = slot if (slot := query.get("slot", "")) in Run.Slot.values else ""
    return Choices(
        runs="all" if query.get("runs") == "all" or slot else "official",
        search=query.get("search", "").strip(),
        system=system if (system := query.get("system", "")) in Run.SystemType.values else "",
        papers="papers" in query,
        slot=slot,
        slice=query.get("slice", ""),
        baselines="baselines" in query or "runs" not in query,
        columns=tuple(query.getlist("column")),
        sort=sort.lstrip("-") or None,
        descending=sort.startswith("-") if sort else None,
        until=_end_of(query.get("as_of", "")),
        page=whole_number(query.get("page", ""), LAST_PAGE) or 1,
        size=None if "format" in query else PAGE_SIZE,
    )


def item_choice(query: QueryDict, which: str = "") -> ItemChoice:
    """Return the filter for items. `which` is the default for `items`."""
    return ItemChoice(query.get("items", which), query.get("label", ""), query.get("page", ""))


def _end_of(day: str) -> datetime | None:
    try:
        last = date.fromisoformat(day)
        return datetime(last.year, last.month, last.day, tzinfo=AOE).astimezone(UTC) + timedelta(days=1)
    except (ValueError, OverflowError):
        return None


def heads(board: BoardTable, choices: Choices) -> list[Head]:
    """Return headings for the ranking metric and the selected metrics.

    The first click on a heading sorts the best values first. The second click reverses the order.
    """
    keys = {column.key for column in board.columns}
    sorted_by = choices.sort if choices.sort in keys else board.rank_by
    picked = set(choices.columns) & keys or set(board.default_columns)
    shown = [column for column in board.columns if column.key in picked and column.key != board.rank_by]
    return [_head(column, column.key == sorted_by, board, choices) for column in (board.ranking_column, *shown)]


def _head(column: Column, is_sorted: bool, board: BoardTable, choices: Choices) -> Head:
    best_is_highest = column.higher_is_better
    down = best_is_highest if not is_sorted or choices.descending is None else choices.descending
    next_down = not down if is_sorted else best_is_highest
    order: Literal["ascending", "descending", ""] = "" if not is_sorted else "descending" if down else "ascending"
    return Head(column, column.key == board.rank_by, order, f"{'-' if next_down else ''}{column.key}")
