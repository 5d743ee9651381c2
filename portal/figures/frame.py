"""Which part of the plane a scatter plot shows, and where its labels stand."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from portal.queries.whiskers import ends

WIDTH, HEIGHT = 520, 340  # pixels
SMALL = 328  # pixels: a whole figure on a screen of 360
PLANE = SMALL - 60  # pixels: what is left beside the axis
NUMBER = 34  # pixels: the least that a cell needs for its number
_LETTER, _LINE, _MARK = 7, 16, 10  # pixels: a letter's width, a line's height, a mark's


class Place(NamedTuple):
    """Where a label stands beside its mark: how it is aligned, and how far off it is in pixels (y downwards)."""

    align: str
    dx: int
    dy: int


PLACES = {
    "right": Place("left", 10, 0),
    "left": Place("right", -10, 0),
    "above": Place("center", 0, -14),
    "below": Place("center", 0, 15),
    "above left": Place("right", -6, -11),
    "below right": Place("left", 6, 12),
    "above right": Place("left", 6, -11),
    "below left": Place("right", -6, 12),
}


@dataclass(frozen=True, slots=True)
class Axis:
    """From `low` to `high` in a number of pixels."""

    low: float
    high: float
    pixels: int

    def holds(self, value: float) -> bool:
        return self.low <= value <= self.high

    def pixel(self, value: float) -> float:
        return (value - self.low) / (self.high - self.low) * self.pixels


def axis(main: Sequence[float], others: Sequence[float], pixels: int) -> Axis:
    """Shows all main values, and those others that would not squeeze them; see `whiskers.ends`."""
    low, high = ends(main, others)
    margin = 0.08 * max(high - low, 0.02)
    return Axis(low - margin, high + margin, pixels)


def narrowed(drawing: Mapping[str, Any]) -> dict[str, Any]:
    """The same drawing for a small screen: as wide as that, with letters as large as elsewhere."""
    if isinstance(drawing["width"], int):
        return dict(drawing) | {"width": SMALL, "autosize": {"type": "fit-x", "contains": "padding"}}
    x, y = drawing["encoding"]["x"], drawing["encoding"]["y"]
    heads, sides = (max((len(name) for name in axis["sort"]), default=0) * _LETTER for axis in (x, y))
    room = SMALL - sides - 0.7 * heads - 2 * _MARK  # the heads stand aslant
    step = min(drawing["width"]["step"], max(room // max(len(x["sort"]), 1), NUMBER))
    aslant = x | {"axis": x["axis"] | {"labelAngle": -35}}
    return dict(drawing) | {"width": {"step": step}, "encoding": {"x": aslant, "y": y}}


def label_places(points: Sequence[tuple[float, float]], texts: Sequence[str], width: int = WIDTH) -> list[str]:
    """For each point in pixels (y downwards) one of PLACES, chosen in turn to lie over as little as possible."""
    taken = [_box(x, y, _MARK, _MARK) for x, y in points]
    places = []
    for (x, y), text in zip(points, texts, strict=True):
        boxes = {place: _label(x, y, text, place) for place in PLACES}
        covered = {place: sum(_meet(boxes[place], box) for box in taken) for place in PLACES}
        best = min(PLACES, key=lambda place: (_outside(boxes[place], width), covered[place]))
        taken.append(boxes[best])
        places.append(best)
    return places


Box = tuple[float, float, float, float]  # left, top, right, bottom


def _box(x: float, y: float, width: float, height: float) -> Box:
    return x - width / 2, y - height / 2, x + width / 2, y + height / 2


def _label(x: float, y: float, text: str, place: str) -> Box:
    align, dx, dy = PLACES[place]
    width = _LETTER * len(text)
    middle = {"left": width / 2, "right": -width / 2}.get(align, 0)
    return _box(x + dx + middle, y + dy, width, _LINE)


def _outside(box: Box, width: int) -> bool:
    return box[0] < 0 or box[2] > width or box[1] < 0 or box[3] > HEIGHT


def _meet(one: Box, other: Box) -> float:
    """How many square pixels both cover."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    return max(width, 0) * max(height, 0)
