"""A reader's choices for a board, all of which are in its URL."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

PAGE_SIZE = 200


@dataclass(frozen=True, slots=True)
class Choices:
    """The runs and columns to show, and their order.

    `sort` is a metric's key, or None for the ranking metric. `descending` puts high values first; None puts the best
    values first. `until` leaves out runs received later.
    """

    runs: Literal["official", "all"] = "official"
    search: str = ""  # part of a team name, run name or method
    system: str = ""  # a Run.SystemType
    papers: bool = False  # only teams with a paper; ignored while aliases are shown
    slot: str = ""  # a Run.Slot in phases with slots
    slice: str = ""  # slice of the scored items, such as language=es; empty for all items
    baselines: bool = True
    columns: tuple[str, ...] = ()  # keys of metrics to show after the ranking metric; empty for the default ones
    sort: str | None = None
    descending: bool | None = None
    until: datetime | None = None
    page: int = 1
    size: int | None = PAGE_SIZE  # rows per page; None puts all rows on one page, as in files
