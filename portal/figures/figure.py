"""A figure: its title, its data as a table, and its drawing."""

from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

from portal.figures.frame import narrowed
from portal.figures.theme import config
from portal.queries.boards.table import Row
from portal.times_and_numbers import score

CAN_DRAW = find_spec("vl_convert") is not None  # whether the `figures` extra is installed

Datum = dict[str, Any]


def run_datum(row: Row, **values: Any) -> Datum:
    """Return a run's entry in a figure's data."""
    return {"name": row.label, "kind": "team" if row.is_team else "baseline", **values}


@dataclass(frozen=True, slots=True)
class Field:
    """A column of a figure's data: its key, heading, and number of decimals."""

    key: str
    title: str
    decimals: int | None = None  # None for whole numbers and text

    def text(self, value: str | float | None) -> str:
        """Format a value in this column."""
        if self.decimals is None or isinstance(value, str):
            return "" if value is None else str(value)
        return score(value, self.decimals)

    @property
    def is_number(self) -> bool:
        return self.decimals is not None


@dataclass(frozen=True, slots=True)
class PrintedValue:
    """A formatted value."""

    field: Field
    text: str


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing and the table of its data.

    `drawing` is a Vega-Lite specification without data and config. Its marks refer to styles in `theme.config`. `alt`
    describes the image for people who cannot see it.
    """

    name: str  # the slug in its URL
    title: str
    caption: str
    alt: str
    fields: tuple[Field, ...]
    data: list[Datum]
    drawing: dict[str, Any] = field(repr=False)

    def spec(self, theme: str, *, is_small: bool = False) -> dict[str, Any]:
        """Return the complete specification, or its version for small screens."""
        return {
            "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
            "description": f"{self.title}. {self.alt}",
            "data": {"values": self.data},
            "config": config(theme, is_small=is_small),
            "params": [{"name": "place", "value": "small" if is_small else "large"}],  # the labels' positions to use
            **(narrowed(self.drawing) if is_small else self.drawing),
        }

    @property
    def can_be_drawn(self) -> bool:
        """Whether the packages for drawing are installed. If not, pages show only the table."""
        return CAN_DRAW

    @property
    def cells(self) -> list[list[PrintedValue]]:
        """The data as rows, with cells in the order of the fields."""
        return [
            [PrintedValue(column, column.text(datum.get(column.key))) for column in self.fields] for datum in self.data
        ]
