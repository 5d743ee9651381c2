"""The layout of plots: their sizes, the range that an axis shows, and the positions of labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from portal.queries.boards.whiskers import ends

WIDTH, HEIGHT = 520, 340  # pixels
SMALL = 328  # width in pixels of a whole figure on a screen that is 360 pixels wide
PLANE = SMALL - 60  # width in pixels that remains next to the axis
NAME_LIMIT = 110  # maximum width in pixels of a point's label in a small figure
NUMBER = 34  # minimum width in pixels of a cell with a number
LINE = 16  # height in pixels of a line of text
_LETTER, _MARK = 7, 10  # in pixels: width of a letter, size of a mark
_GAP = 4  # pixels between two labels on a line
_ROUNDS = 5  # in which each label's position is chosen again


class LabelPosition(NamedTuple):
    """A label's position next to its mark: alignment, and offset in pixels (y downwards)."""

    align: str
    dx: int
    dy: float

    def of_lines(self, lines: int) -> "LabelPosition":
        """Return the position of the first line of a label with several lines."""
        above = 1 if self.dy < 0 else 0 if self.dy > 0 else 0.5  # part of the other lines that moves the first one up
        return self._replace(dy=self.dy - above * (lines - 1) * LINE)


LABEL_POSITIONS = {
    "right": LabelPosition("left", 10, 0),
    "left": LabelPosition("right", -10, 0),
    "above": LabelPosition("center", 0, -14),
    "below": LabelPosition("center", 0, 15),
    "above left": LabelPosition("right", -6, -11),
    "below right": LabelPosition("left", 6, 12),
    "above right": LabelPosition("left", 6, -11),
    "below left": LabelPosition("right", -6, 12),
}


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis from `low` to `high` that is `pixels` long."""

    low: float
    high: float
    pixels: int

    def holds(self, value: float) -> bool:
        return self.low <= value <= self.high

    def pixel(self, value: float) -> float:
        return (value - self.low) / (self.high - self.low) * self.pixels


def axis(main: Sequence[float], others: Sequence[float], pixels: int) -> Axis:
    """Return an axis that includes all main values, and any others that are close enough; see `whiskers.ends`."""
    low, high = ends(main, others)
    margin = 0.08 * max(high - low, 0.02)
    return Axis(low - margin, high + margin, pixels)


def narrowed(drawing: Mapping[str, Any]) -> dict[str, Any]:
    """Return the drawing for a small screen: narrower, with text of the same size."""
    if isinstance(drawing["width"], int):
        return dict(drawing) | {"width": SMALL, "autosize": {"type": "fit-x", "contains": "padding"}}
    x, y = drawing["encoding"]["x"], drawing["encoding"]["y"]
    heads, sides = (max((len(name) for name in axis["sort"]), default=0) * _LETTER for axis in (x, y))
    room = SMALL - sides - 0.7 * heads - 2 * _MARK  # column headings are slanted
    step = min(drawing["width"]["step"], max(room // max(len(x["sort"]), 1), NUMBER))
    aslant = x | {"axis": x["axis"] | {"labelAngle": -35}}
    return dict(drawing) | {"width": {"step": step}, "encoding": {"x": aslant, "y": y}}


def label_positions(points: Sequence[tuple[float, float]], texts: Sequence[str], width: int = WIDTH) -> list[str]:
    """Choose one of LABEL_POSITIONS for each point, so that labels overlap as little as possible.

    Points are in pixels, with y downwards. Texts may have several lines.
    """
    limit = width if width == WIDTH else NAME_LIMIT
    marks = [_box(x, y, _MARK, _MARK) for x, y in points]
    choices = [
        {place: _label(x, y, text, place, limit) for place in LABEL_POSITIONS}
        for (x, y), text in zip(points, texts, strict=True)
    ]

    def cost(number: int, place: str, places: dict[int, str]) -> tuple[bool, float]:
        box = choices[number][place]
        others = [choices[other][taken] for other, taken in places.items() if other != number]
        return _outside(box, width), sum(_meet(box, other) for other in marks + others)

    def settled(order: Sequence[int]) -> dict[int, str]:
        places: dict[int, str] = {}
        for number in list(order) * _ROUNDS:  # several rounds, because a label may have to give way to a later one
            places[number] = min(LABEL_POSITIONS, key=lambda place: cost(number, place, places))
        return places

    numbers = range(len(points))
    found = (settled(numbers), settled(numbers[::-1]))
    best = min(found, key=lambda places: sum(sum(cost(number, places[number], places)) for number in numbers))
    return [best[number] for number in numbers]


Box = tuple[float, float, float, float]  # left, top, right, bottom


def _box(x: float, y: float, width: float, height: float) -> Box:
    return x - width / 2, y - height / 2, x + width / 2, y + height / 2


def _label(x: float, y: float, text: str, place: str, limit: int) -> Box:
    lines = text.split("\n")
    height = LINE * len(lines)
    align, dx, dy = LABEL_POSITIONS[place].of_lines(len(lines))
    width = min(_LETTER * max(map(len, lines)), limit) + _GAP
    middle = {"left": width / 2, "right": -width / 2}.get(align, 0)
    return _box(x + dx + middle, y + dy + (height - LINE) / 2, width, height)


def _outside(box: Box, width: int) -> bool:
    return box[0] < 0 or box[2] > width or box[1] < 0 or box[3] > HEIGHT


def _meet(box: Box, other: Box) -> float:
    """Return the area where two boxes overlap, in square pixels."""
    width = min(box[2], other[2]) - max(box[0], other[0])
    height = min(box[3], other[3]) - max(box[1], other[1])
    return max(width, 0) * max(height, 0)
