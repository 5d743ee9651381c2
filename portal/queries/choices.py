"""What a reader can choose on a board. All of it is in the URL; only `slice` changes ranks."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

PAGE_SIZE = 200


@dataclass(frozen=True, slots=True)
class Choices:
    """Which runs and columns to show, in which order.

    `sort` is a metric's key (None: the ranking one), `descending` whether high values come first (None: best first).
    `until` shows the board with the runs received by then.
    """

    runs: Literal["official", "all"] = "official"
    search: str = ""  # part of a team's name, a run's name or a method
    system: str = ""  # one of Run.SystemType
    slot: str = ""  # one of Run.Slot, where the phase has slots
    slice: str = ""  # slice of the scored items, as language=es; empty: all
    baselines: bool = True
    columns: tuple[str, ...] = ()  # keys of metrics besides the ranking one; empty: all
    sort: str | None = None
    descending: bool | None = None
    until: datetime | None = None
    page: int = 1
    size: int | None = PAGE_SIZE  # rows per page; None: all on one, for files
