"""One figure: what it shows, its data as a table, and how it is drawn."""

from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

from portal.figures.frame import narrowed
from portal.figures.theme import config
from portal.queries.board_table import Row
from portal.times_and_numbers import score

CAN_DRAW = find_spec("vl_convert") is not None  # with the extra `figures`

Datum = dict[str, Any]


def run_datum(row: Row, **values: Any) -> Datum:
    """A run's part of a figure's data."""
    return {"name": row.label, "kind": "team" if row.is_team else "baseline", **values}


@dataclass(frozen=True, slots=True)
class Field:
    """A column of a figure's data: key, heading, and number of decimals."""

    key: str
    title: str
    decimals: int | None = None  # None: whole numbers, or text

    def text(self, value: str | float | None) -> str:
        """A value of this column as text."""
        if self.decimals is None or isinstance(value, str):
            return "" if value is None else str(value)
        return score(value, self.decimals)

    @property
    def is_number(self) -> bool:
        return self.decimals is not None


@dataclass(frozen=True, slots=True)
class PrintedValue:
    """A value as printed."""

    field: Field
    text: str


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing and the table with its data.

    `drawing` is a Vega-Lite specification without data and config: marks name styles of `theme.config`. `alt` describes
    the image to people who do not see it.
    """

    name: str  # a slug, used in its URL
    title: str
    caption: str
    alt: str
    fields: tuple[Field, ...]
    data: list[Datum]
    drawing: dict[str, Any] = field(repr=False)

    def spec(self, theme: str, *, is_small: bool = False) -> dict[str, Any]:
        """The complete specification; small screens get their own."""
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
        """Whether the packages for drawing are installed; without them pages show only the table."""
        return CAN_DRAW

    @property
    def cells(self) -> list[list[PrintedValue]]:
        """The data as rows, in the order of the fields."""
        return [[PrintedValue(one, one.text(datum.get(one.key))) for one in self.fields] for datum in self.data]
