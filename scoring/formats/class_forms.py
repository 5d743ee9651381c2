"""Other forms of labels, as models and libraries write them: numbers of classes, and a 0 or 1 for each class."""

import re
from collections.abc import Iterable, Mapping, Sequence

from scoring.formats.reading import Reading, shown
from scoring.limits import LISTED

NUMBER = re.compile(r"(?:(?:label|class)[_ -]?)?([0-9]{1,4})", re.IGNORECASE)  # 3, LABEL_3
NEGATIVE = re.compile("(?:no|not|non|false|neg|negative)(?![^\\W_])", re.IGNORECASE)


def classes_by_number(labels: Iterable[object], classes: Sequence[str]) -> dict[object, str]:
    """Map numbers of classes to the classes in their order. Return an empty mapping if any label is no such number.

    The numbers begin at 0 or, if one of them is as large as the number of classes, at 1.
    """
    numbers = dict[object, int]()
    for label in labels:
        match = NUMBER.fullmatch(str(label)) if type(label) in (str, int) else None
        if match is None:
            return {}
        numbers[label] = int(match[1])
    first = 1 if len(classes) in numbers.values() else 0
    are_in_range = all(first <= number < len(classes) + first for number in numbers.values())
    if not numbers or len(classes) < 2 or not are_in_range or any(map(NUMBER.fullmatch, classes)):
        return {}
    ordered = sorted(numbers, key=numbers.__getitem__)
    # 0 usually means no.
    right = classes[::-1] if len(classes) == 2 and first == 0 and NEGATIVE.match(classes[1]) else classes
    return {label: right[numbers[label] - first] for label in ordered}


def report_class_numbers(
    found: Sequence[tuple[str, object]],
    names: Mapping[object, str],
    classes: Sequence[str],
    reading: Reading,
    line: int | None = None,
    path: str | None = None,
) -> None:
    """Report numbers in place of the names of classes.

    Args:
        found: where each of them was found, and how it is written.
        names: the class for each of them.
        line, path: the line or the JSON path of the first one.
    """
    pairs = [f"{shown(label)} → {name}" for label, name in names.items()]
    place, label = found[0]
    reading.report.error(
        "class-numbers",
        line=line,
        path=path,
        item=shown(place),
        found=shown(label),
        expected=", ".join(classes[:LISTED]),
        suggestion=", ".join(pairs[:LISTED]) + ", …" * (len(pairs) > LISTED),
        count=len(found),
        places=tuple(f"{shown(place)}: {shown(label)}" for place, label in found[:LISTED]),
    )


def is_one_hot(value: object, classes: Sequence[str]) -> bool:
    """Return whether a value has a 0 or 1 for each class, in a list or by its name."""
    marks: Sequence[object] = ()
    if isinstance(value, list):
        marks = value
    elif isinstance(value, dict) and list(value) and set(value) == set(classes):
        marks = list(value.values())
    return len(marks) == len(classes) > 1 and all(type(mark) in (int, bool, float) and mark in (0, 1) for mark in marks)


def report_one_hot(
    places: Sequence[str], found: str, example: str, reading: Reading, line: int | None = None, path: str | None = None
) -> None:
    """Report a 0 or 1 for each class in place of labels. `example` is the first one's label, or where labels belong."""
    reading.report.error(
        "labels-one-hot",
        line=line,
        path=path,
        item=shown(places[0]) if places else None,
        found=found,
        expected=example,
        count=len(places) or 1,
        places=tuple(map(shown, places[:LISTED])),
    )
