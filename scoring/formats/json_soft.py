"""Soft labels as JSON: `[{"id": "1", "value": {"YES": 0.8, "NO": 0.2}}, …]`, with a probability per class."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, TypeGuard

import msgspec
import numpy as np
from numpy.typing import NDArray

from scoring import limits
from scoring.answers import Matrix
from scoring.definition import FormatSpec
from scoring.formats.class_forms import classes_by_number, report_class_numbers
from scoring.formats.decimals import is_decimal
from scoring.formats.format import Format
from scoring.formats.json_options import RECORD_OPTIONS, records_suffix, shape_of, write_records
from scoring.formats.json_records import Records, object_type, read_records
from scoring.formats.json_text import RepeatedKeys, in_json
from scoring.formats.reading import Problems, Reading, are_too_many, check_ids, shown
from scoring.formats.shares import SHARE_OPTIONS, judge_shares
from scoring.reports.nearest import nearest

NUMBERS = frozenset({int, float})
PLAIN = NUMBERS | {type(None)}
OPTIONS = (*SHARE_OPTIONS, *RECORD_OPTIONS)


def read(data: bytes, spec: FormatSpec, reading: Reading) -> Matrix | None:
    """Read shares into a float matrix with one column per class. `absent` marks missing shares."""
    classes: tuple[str, ...] = spec.options["classes"]
    shape = shape_of(spec, _shares_type(classes), dict.fromkeys(classes[:2], 0.5))
    records = read_records(data, shape, reading, strings_in=lambda values: len(values) * len(classes))
    if records is None:
        return None
    columns, absent, others = classes, None, None
    if records.typed:
        shares = chain.from_iterable(map(msgspec.structs.astuple, records.values))
        values = np.fromiter(shares, float, len(records.ids) * len(classes)).reshape(-1, len(classes))
    else:
        _judge_values(records, classes, reading)
        # When reading strictly, extra labels have already been reported, and only their sum is needed.
        if reading.lenient:
            given = {name for value in records.values if isinstance(value, dict) for name in value}
            columns = (*classes, *sorted(given.difference(classes)))
        if are_too_many(len(columns) * len(records.ids), limits.CELLS, reading.report):
            return None
        values, absent = _matrix_of(records.values, columns)
        others = None if reading.lenient else _sums_beyond(records.values, classes)
    judge_shares(records.places or records.ids, values, columns, spec, reading, records.path, others)
    check_ids(records.ids, reading)
    if reading.has_errors:
        return None
    return Matrix(records.ids, columns, values, absent if absent is not None and absent.any() else None)


_TYPES: dict[tuple[str, ...], Any] = {}


def _shares_type(classes: tuple[str, ...]) -> Any:
    """Return the type of an object with one float per class.

    The same classes always give the same type, because decoders are cached by type.
    """
    if classes not in _TYPES:
        keys = {f"share{place}": name for place, name in enumerate(classes)}
        _TYPES[classes] = object_type(dict.fromkeys(keys, float), keys)
    return _TYPES[classes]


def _judge_values(records: Records, classes: tuple[str, ...], reading: Reading) -> None:
    if _has_class_numbers(records, classes, reading):
        return
    problems, expected = Problems(reading.report), "an object with a number for each of " + ", ".join(classes)
    names = dict.fromkeys(classes)  # an ordered set
    for row, (place, value) in enumerate(zip(records.places, records.values, strict=True)):
        path = partial(records.path, row)
        if isinstance(value, dict):
            _judge_value(value, place, path, names, reading, problems)
        else:
            records.report_value(row, "value-not-shares", expected, problems)
    problems.report()


def _has_class_numbers(records: Records, classes: tuple[str, ...], reading: Reading) -> bool:
    """Report shares of numbers of classes, such as LABEL_3, if there are no others, and return True."""
    if reading.lenient:
        return False
    values = [(row, value) for row, value in enumerate(records.values) if isinstance(value, dict)]
    names = classes_by_number((name for _, value in values for name in value), classes)
    if names:
        found = [(records.places[row], next(iter(value))) for row, value in values if value]
        first = next(row for row, value in values if value)
        report_class_numbers(found, names, classes, reading, path=records.path(first))
    return bool(names)


def _judge_value(
    value: dict[str, Any],
    place: str,
    path: Callable[..., str],
    classes: Mapping[str, None],
    reading: Reading,
    problems: Problems,
) -> None:
    if isinstance(value, RepeatedKeys) and not problems.has_counted("json-duplicate-key"):
        problems.add("json-duplicate-key", place, path=path(), item=place)
    unknown = [] if value.keys() <= classes.keys() else [name for name in value if name not in classes]
    count = len(classes) - len(value) + len(unknown)
    if count and not problems.has_counted("missing-label", count):
        _report_missing([name for name in classes if name not in value], place, path(), classes, reading, problems)
    if NUMBERS.issuperset(map(type, value.values())) and reading.inner_classes.isdisjoint(unknown):
        for at, name in enumerate(unknown):
            if problems.has_counted("label-outside-domain", len(unknown) - at):
                break
            _unknown_class(name, place, path, classes, reading, problems)
        return
    for name, share in value.items():
        if name not in classes:
            _unknown_class(name, place, path, classes, reading, problems)
        if not _is_number(share) and not problems.has_counted("share-not-a-number"):
            _not_a_number(name, share, place, path(shown(name)), problems)


def _report_missing(
    lacking: Sequence[str], place: str, path: str, classes: Collection[str], reading: Reading, problems: Problems
) -> None:
    for at, name in enumerate(lacking):
        if problems.has_counted("missing-label", len(lacking) - at):
            break
        missing, expected = f"{place} ({name})", ", ".join(classes)
        problems.add("missing-label", missing, severity=reading.strict, path=path, item=place, expected=expected)


def _not_a_number(name: str, share: object, place: str, path: str, problems: Problems) -> None:
    """Report a value that is not a number. If it is a number in quotes, say so."""
    in_quotes = isinstance(share, str) and is_decimal(share.strip())
    problems.add(
        "share-not-a-number",
        f"{place} ({shown(name)}): {in_json(share)}",
        path=path,
        item=place,
        found=in_json(share),
        expected="a number from 0 to 1" + (", without quotes" if in_quotes else ""),
        suggestion=str(share).strip() if in_quotes else None,
    )


def _unknown_class(
    name: str, place: str, path: Callable[..., str], classes: Collection[str], reading: Reading, problems: Problems
) -> None:
    code = "inner-class" if name in reading.inner_classes else "label-outside-domain"
    if problems.has_counted(code):
        return
    problems.add(
        code,
        f"{place}: {shown(name)}",
        severity=reading.strict,
        path=path(shown(name)),
        item=place,
        found=shown(name),
        expected=", ".join(classes),
        suggestion=partial(nearest, name, classes),
    )


def _matrix_of(values: Sequence[Any], columns: tuple[str, ...]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the shares (0 for missing ones) and which shares are missing, both with shape (items, columns)."""
    numbers = np.full((len(values), len(columns)), np.nan)
    for row, value in enumerate(values):
        if isinstance(value, dict):
            shares = list(map(value.get, columns))
            # numpy converts None to NaN
            is_plain = PLAIN.issuperset(map(type, shares))
            numbers[row] = np.array(shares if is_plain else list(map(_number, shares)), float)
    absent = np.isnan(numbers)
    numbers[absent] = 0.0
    return numbers, absent


def _sums_beyond(values: Sequence[Any], classes: tuple[str, ...]) -> NDArray[np.float64]:
    """Return the sum of each item's shares for unknown labels, or NaN if some of its shares are not numbers."""
    sums, known = np.zeros(len(values)), set(classes)
    for row, value in enumerate(values):
        if not isinstance(value, dict) or not NUMBERS.issuperset(map(type, value.values())):
            sums[row] = np.nan
        elif not value.keys() <= known:
            sums[row] = sum(share for name, share in value.items() if name not in known)
    return sums


def _is_number(share: object) -> TypeGuard[int | float]:
    return isinstance(share, int | float) and not isinstance(share, bool)


def _number(share: object) -> float:
    return float(share) if _is_number(share) else math.nan


def write(answers: Matrix, spec: FormatSpec) -> str:
    """Write each item's shares, leaving out absent ones."""
    rows = (dict(zip(answers.columns, row, strict=True)) for row in answers.cells())
    shares = ({name: share for name, share in row.items() if share is not None} for row in rows)
    return write_records(answers.ids, shares, spec)


JSON_SOFT = Format(
    "json-soft",
    "soft",
    """Soft labels, with a probability for each class: `[{"id": "a1", "value": {"YES": 0.7, "NO": 0.3}}]`.""",
    "classes: [red, blue], sum: 1, tolerance: 0.01",
    OPTIONS,
    read,
    write,
    records_suffix,
)
