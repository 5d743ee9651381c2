"""What a reader asks of a board: all of it stands in the address, and but for `language` it changes no rank."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

PAGE_SIZE = 200


@dataclass(frozen=True, slots=True)
class Choices:
    """Which runs and columns to show, and in which order.

    `sort` is a metric's key (None: the one that ranks), `descending` whether high values come first (None: best first).
    `until` shows the board with the runs that had been received by then.
    """

    runs: Literal["official", "all"] = "official"
    search: str = ""  # part of a team's name, a run's name or a method
    system: str = ""  # one of Run.SystemType
    slot: str = ""  # one of Run.Slot, where the phase has slots
    language: str = ""  # of the items that are scored, where they have several; else all are
    baselines: bool = True
    columns: tuple[str, ...] = ()  # keys of metrics beside the one that ranks; empty: all
    sort: str | None = None
    descending: bool | None = None
    until: datetime | None = None
    page: int = 1
    size: int | None = PAGE_SIZE  # rows on a page; None: all on one, for files
