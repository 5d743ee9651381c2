"""Soft labels as JSON: `[{"id": "1", "value": {"YES": 0.8, "NO": 0.2}}, …]`, a share or probability a class."""

import math
from collections.abc import Sequence
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scoring.answers import Matrix
from scoring.definition import FormatSpec
from scoring.formats.decimals import is_decimal
from scoring.formats.json_records import (
    MISSING,
    Records,
    RepeatedKeys,
    in_json,
    object_type,
    read_record_options,
    read_records,
    shape_of,
)
from scoring.formats.reading import Faults, Reading, check_ids, shown
from scoring.formats.shares import judge_shares, read_share_options
from scoring.nearest import nearest
from scoring.yaml_values import Keys


def read_options(keys: Keys) -> dict[str, Any]:
    """`classes`, with `sum` and `tolerance`; `constants`, `id` and `value` (the keys' names), `lines`."""
    return read_share_options(keys) | read_record_options(keys)


def read(data: bytes, spec: FormatSpec, reading: Reading) -> Matrix | None:
    """Read shares into a float matrix with one column a class; `absent` marks those that a lenient reading lacks."""
    errors_before = len(reading.report.errors)
    classes: tuple[str, ...] = spec.options["classes"]
    fields = [f"share{place}" for place in range(len(classes))]
    shape = shape_of(spec, _shares_type(classes))
    records = read_records(data, shape, reading, strings_in=lambda values: len(values) * len(classes))
    if records is None:
        return None
    columns, absent = classes, None
    if records.typed:
        shares = [np.fromiter(map(attrgetter(name), records.values), float, len(records.ids)) for name in fields]
        values = np.column_stack(shares)
    else:
        _judge_values(records, classes, reading)
        columns, values, absent = _matrix_of(records.values, classes)
    judge_shares(records.places or records.ids, values, columns, spec, reading, records.path)
    check_ids(records.ids, reading)
    if len(reading.report.errors) > errors_before:
        return None
    return Matrix(records.ids, columns, values, absent if absent is not None and absent.any() else None)


_TYPES: dict[tuple[str, ...], Any] = {}


def _shares_type(classes: tuple[str, ...]) -> Any:
    """An object with one float a class; the same type for the same classes, as decoders are cached by it."""
    if classes not in _TYPES:
        keys = {f"share{place}": name for place, name in enumerate(classes)}
        _TYPES[classes] = object_type(dict.fromkeys(keys, float), keys)
    return _TYPES[classes]


def _judge_values(records: Records, classes: tuple[str, ...], reading: Reading) -> None:
    faults = Faults(reading.report)
    known = frozenset(classes)
    for row, (place, value) in enumerate(zip(records.places, records.values, strict=True)):
        path = partial(records.path, row)
        if value is MISSING:
            continue
        if not isinstance(value, dict):
            expected = "an object with a number for each of " + ", ".join(classes)
            found = in_json(value)
            faults.add("value-not-shares", f"{place}: {found}", path=path(), item=place, found=found, expected=expected)
            continue
        if isinstance(value, RepeatedKeys):
            faults.add("json-duplicate-key", place, path=path(), item=place)
        for name in [name for name in classes if name not in value]:
            missing = f"{place} ({name})"
            expected = ", ".join(classes)
            faults.add("missing-label", missing, severity=reading.strict, path=path(), item=place, expected=expected)
        for name, share in value.items():
            if name not in known:
                _unknown_class(name, place, path(shown(name)), classes, reading, faults)
            if isinstance(share, bool) or not isinstance(share, int | float):
                _not_a_number(name, share, place, path(shown(name)), faults)
    faults.tell()


def _not_a_number(name: str, share: object, place: str, path: str, faults: Faults) -> None:
    """A text may be a number in quotes."""
    in_quotes = isinstance(share, str) and is_decimal(share.strip())
    faults.add(
        "share-not-a-number",
        f"{place} ({shown(name)}): {in_json(share)}",
        path=path,
        item=place,
        found=in_json(share),
        expected="a number from 0 to 1" + (", without quotes" if in_quotes else ""),
        suggestion=str(share).strip() if in_quotes else None,
    )


def _unknown_class(
    name: str, place: str, path: str, classes: tuple[str, ...], reading: Reading, faults: Faults
) -> None:
    faults.add(
        "inner-class" if name in reading.inner_classes else "label-outside-domain",
        f"{place}: {shown(name)}",
        severity=reading.strict,
        path=path,
        item=place,
        found=shown(name),
        expected=", ".join(classes),
        suggestion=nearest(name, classes),
    )


def _matrix_of(
    values: Sequence[Any], classes: tuple[str, ...]
) -> tuple[tuple[str, ...], NDArray[np.float64], NDArray[np.bool_]]:
    """Columns (further labels seen after the classes), shares (0 where there is none) and where they are absent."""
    dicts = [value if isinstance(value, dict) else {} for value in values]
    further = sorted({name for value in dicts for name in value} - set(classes))
    columns = classes + tuple(further)
    numbers = np.array([[_number(value.get(name)) for name in columns] for value in dicts], float)
    numbers = numbers.reshape(len(dicts), len(columns))
    absent = np.isnan(numbers)
    return columns, np.where(absent, 0.0, numbers), absent


def _number(share: object) -> float:
    return float(share) if isinstance(share, int | float) and not isinstance(share, bool) else math.nan
