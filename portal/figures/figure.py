"""One figure: what it shows, its data as a table, and how it is drawn."""

from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

from portal.figures.frame import narrowed
from portal.figures.theme import config
from portal.queries.board_table import Row
from portal.times_and_numbers import score

CAN_DRAW = find_spec("vl_convert") is not None  # of the extra `figures`

Datum = dict[str, Any]


def run_datum(row: Row, **values: Any) -> Datum:
    """What a figure's data say of a run."""
    return {"name": row.label, "kind": "team" if row.is_team else "baseline", **values}


@dataclass(frozen=True, slots=True)
class Field:
    """A column of a figure's data: its key, its head, and how many decimals its numbers are shown with."""

    key: str
    title: str
    decimals: int | None = None  # None: whole numbers, or text

    def text(self, value: str | float | None) -> str:
        """A value of this column as people read it."""
        if self.decimals is None or isinstance(value, str):
            return "" if value is None else str(value)
        return score(value, self.decimals)

    @property
    def is_number(self) -> bool:
        return self.decimals is not None


@dataclass(frozen=True, slots=True)
class PrintedValue:
    """A value as it is printed."""

    field: Field
    text: str


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing and the very table that it is drawn from.

    `drawing` is a Vega-Lite specification without data and config: marks name styles of `theme.config`. `alt` says
    in words what an image's reader sees, for those who do not see it.
    """

    name: str  # a slug, in its address
    title: str
    caption: str
    alt: str
    fields: tuple[Field, ...]
    data: list[Datum]
    drawing: dict[str, Any] = field(repr=False)

    def spec(self, theme: str, *, is_small: bool = False) -> dict[str, Any]:
        """The whole specification; for a small screen one of its own."""
        return {
            "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
            "description": f"{self.title}. {self.alt}",
            "data": {"values": self.data},
            "config": config(theme),
            "params": [{"name": "place", "value": "small" if is_small else "large"}],  # of labels
            **(narrowed(self.drawing) if is_small else self.drawing),
        }

    @property
    def can_be_drawn(self) -> bool:
        """Whether the packages for it are installed; without them pages show the table alone."""
        return CAN_DRAW

    @property
    def cells(self) -> list[list[PrintedValue]]:
        """The data as rows, in the order of the fields."""
        return [[PrintedValue(one, one.text(datum.get(one.key))) for one in self.fields] for datum in self.data]
