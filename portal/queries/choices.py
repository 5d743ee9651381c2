"""A reader's choices for a board. All of them are in the URL, and only `slice` changes ranks."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

PAGE_SIZE = 200


@dataclass(frozen=True, slots=True)
class Choices:
    """The runs and columns to show, and their order.

    `sort` is a metric's key, or None for the ranking one. `descending` puts high values first; None puts the best
    first. `until` shows the board with only the runs received by then.
    """

    runs: Literal["official", "all"] = "official"
    search: str = ""  # part of a team name, run name or method
    system: str = ""  # a Run.SystemType
    slot: str = ""  # a Run.Slot in phases with slots
    slice: str = ""  # slice of the scored items, e.g. language=es; empty for all items
    baselines: bool = True
    columns: tuple[str, ...] = ()  # keys of metrics in addition to the ranking one; empty for all
    sort: str | None = None
    descending: bool | None = None
    until: datetime | None = None
    page: int = 1
    size: int | None = PAGE_SIZE  # rows per page; None puts all on one page, for files
