"""Labels from any format: check them against the track's classes and convert them to a Boolean matrix."""

import json
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from scoring.answers import Matrix
from scoring.definition.keys import Key, Values
from scoring.definition.kinds import FLAG, NAMES, one_of
from scoring.definition.yaml_values import Value
from scoring.formats.class_forms import classes_by_number, is_one_hot, report_class_numbers, report_one_hot
from scoring.formats.json_text import MISSING, in_json
from scoring.formats.reading import Problems, Reading, shown, shown_cell
from scoring.reports.nearest import nearest, with_code_points

# the way pandas writes whole numbers in columns with missing values, and `savetxt` of NumPy writes 0 and 1
WITH_POINT = re.compile(r"(-?[0-9]{1,9})\.0+(?:e\+00)?")
BETWEEN_LABELS = re.compile("[,;|]")  # in texts with several labels


LABEL_OPTIONS = (
    Key("classes", NAMES, "Class names."),
    Key("multi", FLAG, "Whether an item can have several labels.", False),
    Key(
        "empty",
        one_of("reject", "allowed"),
        "With `multi: true`, whether an item can have no label, written as an empty list or an empty cell.",
        "reject",
    ),
)


def finish_options(value: Value, options: Values) -> None:
    """Report `empty: allowed` where every item has exactly one label."""
    if options["empty"] == "allowed" and not options["multi"]:
        value.at("empty").invalid("reject, because without multi: true every item has exactly one label")


@dataclass(frozen=True, slots=True)
class Labels:
    """One value per item, not checked yet: a list of labels if `multi` is True, otherwise a single label."""

    ids: list[str]
    values: Sequence[Any]
    classes: tuple[str, ...]
    multi: bool
    may_be_empty: bool = False

    def as_matrix(self) -> Matrix | None:
        """Return a matrix that is True where the item has the class.

        The classes come first, followed by any unknown labels, which lenient reading accepts.

        Return None if any item has the same label twice, or no label although it needs one.
        """
        count = len(self.ids)
        labels = list(chain.from_iterable(self.values)) if self.multi else self.values
        columns = self.classes + tuple(sorted(set(labels) - set(self.classes)))
        place = {name: number for number, name in enumerate(columns)}
        matrix = np.zeros((count, len(columns)), np.bool_)
        rows = np.arange(count)
        complete = True
        if self.multi:
            lengths = np.fromiter(map(len, self.values), np.int64, count)
            rows, complete = np.repeat(rows, lengths), self.may_be_empty or bool(lengths.all())
        matrix[rows, np.fromiter(map(place.__getitem__, labels), np.int64, len(labels))] = True
        return Matrix(self.ids, columns, matrix) if complete and np.count_nonzero(matrix) == len(labels) else None

    def judge(
        self,
        places: Sequence[str],
        reading: Reading,
        lines: Sequence[int] | None = None,
        path: Callable[[int], str] | None = None,
    ) -> None:
        """Report every invalid value.

        Args:
            places: the values' names for messages.
            lines: the line of each value.
            path: the path of each value in a JSON file.
        """
        if self._has_other_form(places, reading, lines, path):
            return
        problems, suggestions = Problems(reading.report), dict[str, str | None]()
        known = frozenset(self.classes)
        for row, (place, value) in enumerate(zip(places, self.values, strict=True)):
            problem = None if value is MISSING else _problem_of(value, known, self.multi)
            if problem is None or (problem[0] == "no-label" and self.may_be_empty):
                continue
            code, wrong = problem
            tolerated = code == "label-outside-domain"
            whole = None if tolerated and reading.lenient else _without_point(wrong, known)
            if whole:
                where = {"line": lines[row] if lines else None, "path": path(row) if path else None}
                report_decimal_point(str(wrong), whole, problems, item=shown(place), **where)
                continue
            if tolerated and wrong in reading.inner_classes:
                code = "inner-class"
            if problems.has_counted(code):
                continue
            if in_json(wrong) not in suggestions:
                suggestions[in_json(wrong)] = _suggestion(value, wrong, self.classes, self.multi)
            meant = None if code == "inner-class" else suggestions[in_json(wrong)]
            found = shown_cell(with_code_points(wrong, meant or wrong)) if tolerated else in_json(wrong)
            problems.add(
                code,
                f"{shown(place)}: {found}",
                severity=reading.strict if tolerated else "error",
                line=lines[row] if lines else None,
                path=path(row) if path else None,
                item=shown(place),
                found=found,
                expected=("a list of labels from " if self.multi else "one of ") + ", ".join(self.classes),
                suggestion=meant,
            )
        problems.report()

    def _has_other_form(
        self,
        places: Sequence[str],
        reading: Reading,
        lines: Sequence[int] | None,
        path: Callable[[int], str] | None,
    ) -> bool:
        """Report labels that are all numbers of classes, or a 0 or 1 for each class. Return False for all others."""
        rows = [] if reading.lenient else [row for row, value in enumerate(self.values) if value is not MISSING]
        if not rows:
            return False
        line, where = lines[rows[0]] if lines else None, path(rows[0]) if path else None
        if all(is_one_hot(self.values[row], self.classes) for row in rows):
            first = self.values[rows[0]]
            example = in_json(self._from_one_hot(first))
            report_one_hot([places[row] for row in rows], in_json(first), example, reading, line, where)
            return True
        each = ((places[row], label) for row in rows for label in _each(self.values[row], self.multi))
        names = classes_by_number((label for _, label in each), self.classes)
        if names:
            each = ((places[row], label) for row in rows for label in _each(self.values[row], self.multi))
            report_class_numbers(list(each), names, self.classes, reading, line, where)
        return bool(names)

    def _from_one_hot(self, value: Any) -> Any:
        """Return the label or labels that are marked with 1."""
        marks = value if isinstance(value, list) else [value[name] for name in self.classes]
        labels = [name for name, mark in zip(self.classes, marks, strict=True) if mark]
        return labels if self.multi else (labels or self.classes)[0]


def _each(value: Any, multi: bool) -> list[Any]:
    return value if multi and isinstance(value, list) else [value]


def _without_point(value: object, known: Collection[str]) -> str | None:
    """Return the label that a number such as 1.0, with or without quotes, stands for. Return None if there is none."""
    match = WITH_POINT.fullmatch(str(value)) if isinstance(value, str | float) else None
    return match[1] if match and match[1] in known else None


def report_decimal_point(found: str, whole: str | None, problems: Problems, **where: Any) -> None:
    """Report a number such as 1.0 for 1, but only once per file, because they all have the same cause and fix."""
    if not problems.has("decimal-point"):
        problems.add("decimal-point", found, found=found, suggestion=whole, **where)


def _problem_of(value: object, known: frozenset[str], multi: bool) -> tuple[str, Any] | None:
    """Return the code of a value's problem and the invalid part of the value, or None if the value is valid."""
    if not multi:
        if not isinstance(value, str):
            return "value-not-a-label", value
        return None if value in known else ("label-outside-domain", value)
    if not isinstance(value, list) or not {str}.issuperset(map(type, value)):
        return "value-not-a-list", value
    if not value:
        return "no-label", value
    if len(set(value)) < len(value):
        return "label-twice", value
    return next((("label-outside-domain", label) for label in value if label not in known), None)


def _suggestion(value: object, found: object, classes: tuple[str, ...], multi: bool) -> str | None:
    if multi and isinstance(value, str):
        parts = [part.strip(" '\"[](){}") for part in BETWEEN_LABELS.split(value)]
        if set(parts) <= set(classes):
            return json.dumps(list(dict.fromkeys(parts)), ensure_ascii=False)
        return nearest(value, classes) if len(parts) == 1 else None
    if not multi and isinstance(value, int) and str(value) in classes:
        return f'"{value}"'
    if not multi and isinstance(value, list) and len(value) == 1 and value[0] in classes:
        return f'"{value[0]}"'
    return nearest(found, classes) if isinstance(found, str) else None
