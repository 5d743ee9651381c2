"""A task.yaml for a new edition: another slug and title, and all times moved. The rest of the text stays as it is."""

import json
import re
from collections.abc import Iterator
from datetime import date

import yaml

from scoring.definition.dates import PATTERN

_DAY = re.compile(r"(\d{4})-?(\d{2})-?(\d{2})")


def renewed(text: str, *, slug: str, title: str, first_day: date | None = None) -> str:
    """Return the text of a valid task.yaml with this slug and title.

    Args:
        first_day: when the first phase opens, in the time zone that the text gives. All times in the text move by the
            same number of days, and `year` by the same number of years. If it is None, they stay.

    Raises:
        ValueError: a time would be moved beyond the years 1 to 9999.
    """
    root = yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    assert isinstance(root, yaml.MappingNode)  # the text is valid
    values = {key.value: node for key, node in root.value}
    replaced = [(values["slug"], slug), (values["title"], json.dumps(title, ensure_ascii=False))]
    if first_day is not None:
        replaced += _moved(text, root, first_day)
    pieces, end = [], 0
    for node, written in sorted(replaced, key=lambda pair: pair[0].start_mark.index):  # marks count characters
        pieces += [text[end : node.start_mark.index], written]
        end = node.end_mark.index
    return "".join([*pieces, text[end:]])


def _moved(text: str, root: yaml.MappingNode, first_day: date) -> Iterator[tuple[yaml.Node, str]]:
    """Yield the times and how they are written after the move."""
    times = [node for node in _scalars(root) if re.fullmatch(PATTERN, node.value)]
    opening = [_day(node.value) for node in _opens(root)]
    if not opening:
        return
    step = first_day - min(opening)
    for key, node in root.value:
        if key.value == "year" and node.value.isdecimal():
            yield node, str(int(node.value) + first_day.year - min(opening).year)
    for node in times:
        written = text[node.start_mark.index : node.end_mark.index]  # keeps the quotation marks
        try:
            day = _day(node.value) + step
        except OverflowError:
            raise ValueError(f"{node.value} can’t be moved by {step.days} days") from None
        yield node, _DAY.sub(day.strftime("%Y-%m-%d" if "-" in _DAY.search(written)[0] else "%Y%m%d"), written, count=1)  # type: ignore[index]


def _opens(root: yaml.MappingNode) -> Iterator[yaml.ScalarNode]:
    """Yield the times at which phases open."""
    for key, node in root.value:
        if key.value == "phases" and isinstance(node, yaml.SequenceNode):
            for phase in node.value:
                yield from (value for name, value in phase.value if name.value == "opens")


def _scalars(node: yaml.Node) -> Iterator[yaml.ScalarNode]:
    if isinstance(node, yaml.ScalarNode):
        yield node
    elif isinstance(node, yaml.SequenceNode):
        for entry in node.value:
            yield from _scalars(entry)
    elif isinstance(node, yaml.MappingNode):
        for _key, value in node.value:
            yield from _scalars(value)


def _day(written: str) -> date:
    found = _DAY.match(written)
    assert found is not None  # the text matches PATTERN
    return date(*map(int, found.groups()))
