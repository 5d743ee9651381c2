"""Lists of JSON objects with an id and a value. A compiled, typed decoder reads valid files.

The decoder stops at the first problem, and if a key is repeated, it keeps only the last value. Therefore, a file that
it rejects, or that may contain a repeated key, is read again more slowly to report every problem with its place.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, cast

import msgspec

from scoring.formats.json_keys import ANSWER, Written, note_entries
from scoring.formats.json_options import Shape
from scoring.formats.json_shapes import as_records, names_of_keys, parse_document
from scoring.formats.json_text import MISSING, RepeatedKeys, in_json, kind_in_words, parse
from scoring.formats.reading import UTF8_MARK, Problems, Reading, are_too_many, decode, shown, shown_id
from scoring.reports.problems import Severity

OBJECTS_AN_ENTRY = 3
TYPES: Mapping[Written, str] = {
    "text": "text in quotes",
    "number": "a number without quotes",
    "boolean": "true or false",
}
EXTRA_KEYS: Mapping[str, tuple[str, Severity]] = {  # what a format says of other keys → how they are reported
    "warn": ("json-unknown-key", "warning"),
    "reject": ("json-extra-key", "error"),
}
NOT_TEXT = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")  # control characters and lone surrogates


@dataclass(frozen=True, slots=True)
class Records:
    """Ids and values in the file's order.

    If `typed` is True, the values have the shape's type. Otherwise, they are plain JSON (or MISSING). `places` are the
    entries' names for messages, and `numbers` are their positions. If the report has an error, some `ids` may be
    missing.
    """

    ids: list[str]
    values: list[Any]
    typed: bool
    value_key: str
    places: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    by_id: bool = False

    def path(self, row: int, *keys: str) -> str:
        """Return the path of a value in the file or, if `keys` are given, of a part of that value."""
        number = self.numbers[row] if self.numbers else row + 1
        steps = (self.places[row] if self.by_id else f"#{number}", self.value_key, *keys)
        return ".".join(step for step in steps if not self.by_id or step != ANSWER)

    def name(self, row: int) -> str:
        """Return an entry's name for messages."""
        return self.places[row] if self.places else shown(self.ids[row])

    def report_value(self, row: int, code: str, expected: str, problems: Problems) -> None:
        """Report a value of the wrong form. Missing values have been reported before."""
        value = self.values[row]
        if value is not MISSING and not problems.has_counted(code):
            name, found = self.name(row), in_json(value)
            problems.add(code, f"{name}: {found}", path=self.path(row), item=name, found=found, expected=expected)


def read_records(data: bytes, shape: Shape, reading: Reading, strings_in: Callable[[list[Any]], int]) -> Records | None:
    """Read the file's objects and report any problems.

    Args:
        strings_in: returns the number of JSON strings, including keys, in the typed values.

    Returns:
        The records, or None if the file is not a list.
    """
    data = data.removeprefix(UTF8_MARK)
    decoder = _decoder(shape) if shape.written.is_plain else None
    try:
        records = _decode(data, decoder, shape.lines) if decoder else []
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _read_patiently(data, shape, reading)
    values = [record.value for record in records]
    strings = len(records) * (3 + 2 * len(shape.constants)) + strings_in(values)
    # Every string has two quotes. If there are more quotes than the decoded strings account for, a key is repeated.
    if b"\\" in data or data.count(b'"') != 2 * strings or not records:
        return _read_patiently(data, shape, reading)
    return Records([record.id for record in records], values, True, shape.value_key)


def _decode(data: bytes, decoder: msgspec.json.Decoder[Any], lines: bool) -> list[Any]:
    """Decode the typed objects. Return an empty list if the file should have one object per line but does not."""
    if not lines:
        return cast(list[Any], decoder.decode(data))
    records = decoder.decode_lines(data)
    return records if data.count(b"\n") + (not data.endswith(b"\n")) == len(records) else []


@lru_cache(maxsize=64)
def _decoder(shape: Shape) -> msgspec.json.Decoder[Any] | None:
    keys = {"id": shape.id_key, "value": shape.value_key}
    types: dict[str, Any] = {"id": str, "value": shape.value_type}
    for place, (name, text) in enumerate(shape.constants):
        keys[f"constant{place}"], types[f"constant{place}"] = name, Literal[text]
    record = object_type(types, keys)
    if record is None or shape.value_type is None:
        return None
    return msgspec.json.Decoder(record if shape.lines else list[record])  # type: ignore[valid-type]


def object_type(types: Mapping[str, Any], keys: Mapping[str, str], default: object = MISSING) -> Any:
    """Return a msgspec type for JSON objects.

    Args:
        types: field → type.
        keys: field → key in the file.
        default: the value of missing keys. By default, no key may be missing.

    Returns:
        The type, or None if msgspec cannot match a key because JSON would escape it, such as `5" or 7"` or a key with a
        tab.
    """
    fields = [(name, own) if default is MISSING else (name, own, default) for name, own in types.items()]
    try:
        return msgspec.defstruct("Object", fields, rename=dict(keys), forbid_unknown_fields=True, gc=False)
    except ValueError:
        return None


def _read_patiently(data: bytes, shape: Shape, reading: Reading) -> Records | None:
    text = decode(data, reading.report)
    if text is None or _is_too_much(text, shape, reading):
        return None
    example = shape.shown_example(reading)
    document = _document(text, shape, reading, example)
    if document is MISSING:
        return None
    if not isinstance(document, list) or not document:
        found = "an empty list" if document == [] else kind_in_words(document)
        reading.report.error("json-not-a-list", found=found, expected=example)
        return None
    if are_too_many(len(document), reading.most_entries, reading.report):
        return None
    problems = Problems(reading.report)
    records = Records([], [], False, shape.value_key, by_id=shape.written.by_id)
    names = names_of_keys(document, shape.keys, reading)
    for number, entry in enumerate(document, 1):
        if isinstance(entry, dict):
            _add(entry, number, shape, names, reading, records, problems)
        elif entry is not MISSING and not problems.has_counted("json-not-an-object"):
            place = f"#{number}"
            found = kind_in_words(entry)
            problems.add("json-not-an-object", place, path=place, item=place, found=found, expected=example)
    problems.report()
    if records.ids and reading.role == "run" and not shape.written.is_plain:
        item, first = shown_id(records.ids[0]), next((value for value in records.values if value is not MISSING), None)
        note_entries(document, item, in_json(first), shape.keys, reading.report)
    return records if records.ids else None


def _document(text: str, shape: Shape, reading: Reading, example: str) -> object:
    """Return the entries of a file or, if it has no list of entries, what it is instead.

    Return MISSING if that was reported.
    """
    written = shape.written
    if written.is_plain:
        document = parse_document(text, shape.lines, shape.id_key, reading, example)
        if isinstance(document, dict) or (isinstance(document, list) and _may_lack_shape(document, shape)):
            document = as_records(document, shape.keys[:2], dict(shape.constants), reading, example)
        return document
    if written.is_list or shape.lines:
        document = parse_document(text, shape.lines, shape.id_key, reading, example)
    else:
        document = parse(text, reading.report)
    if document is MISSING:
        return MISSING
    entries = written.entries(document, shape.lines, shape.value_key, example, reading.report)
    if entries is None:
        return MISSING
    objects = written.objects_of(shape.keys)
    if not objects:
        return entries
    return [written.with_flat_keys(entry, objects) if isinstance(entry, dict) else entry for entry in entries]


def _is_too_much(text: str, shape: Shape, reading: Reading) -> bool:
    """Return whether a text has far more values than a run for this many items needs, and report an error if so.

    In a list, each value may be on its own line.
    """
    lines = reading.most_entries if shape.lines else reading.most_cells
    cells, objects = reading.most_cells, OBJECTS_AN_ENTRY * reading.most_entries
    marks = (("\n", lines), (",", cells), ("[", cells), ("{", objects))
    return any(are_too_many(text.count(mark), limit, reading.report) for mark, limit in marks)


def _may_lack_shape(document: Sequence[object], shape: Shape) -> bool:
    """Return whether a list may have other entries than records: one object on a line, or objects with a single key."""
    first = document[0] if document else None
    return isinstance(first, dict) and (len(first) == 1 if len(document) > 1 else shape.lines)


def _add(
    entry: dict[str, Any],
    number: int,
    shape: Shape,
    names: Mapping[str, str],
    reading: Reading,
    records: Records,
    problems: Problems,
) -> None:
    """Add an entry to the records. Report problems with its id or, if the id is unusable, with its position.

    `names` are the keys that stand for others.
    """
    renamed = {old: key for old, key in names.items() if old in entry and key not in entry}
    if renamed:
        entry = type(entry)((renamed.get(key, key), value) for key, value in entry.items())
    identifier = entry.get(shape.id_key, MISSING)
    place = position = f"#{number}"
    item = shape.written.text_of_id(identifier)
    if item and not NOT_TEXT.search(item):
        place = shown_id(item)
        records.ids.append(item)
    elif isinstance(identifier, str) and "text" not in shape.written.ids:
        records.ids.append(identifier)
        _report_type(identifier, f"{position}.{shape.id_key}", place, shape.written.ids, problems)
    elif identifier is not MISSING:
        is_number = isinstance(identifier, int) and not isinstance(identifier, bool)
        records.ids.extend([str(identifier)] if is_number else [])
        if not problems.has_counted("id-not-a-text"):
            problems.add(
                "id-not-a-text",
                f"{place}: {in_json(identifier)}",
                path=f"{position}.{shape.id_key}",
                item=place,
                found=in_json(identifier),
                suggestion=f'"{identifier}"' if is_number else None,
            )
    if isinstance(entry, RepeatedKeys) and not problems.has_counted("json-duplicate-key"):
        problems.add("json-duplicate-key", place, path=position, item=place)
    if renamed and not problems.has_counted("json-missing-key"):
        found, expected = shown(", ".join(renamed)), ", ".join(renamed.values())
        suggestion = ", ".join(f"{shown(old)} → {key}" for old, key in renamed.items())
        problems.add(
            "json-missing-key",
            f"{place} ({expected})",
            path=position,
            item=place,
            found=found,
            expected=expected,
            suggestion=suggestion,
        )
    _judge_keys(entry, place, position, shape, reading, problems)
    value = entry.get(shape.value_key, MISSING)
    records.places.append(place)
    records.numbers.append(number)
    if shape.is_text and not shape.written.is_plain:
        if shape.written.has_other_type(value):
            _report_type(value, records.path(len(records.values)), place, shape.written.values, problems)
        value = shape.written.text_of_value(value)
    records.values.append(value)


def _report_type(value: object, path: str, place: str, types: Iterable[Written], problems: Problems) -> None:
    """Report an id or answer that is text, although only other types are declared."""
    if not problems.has_counted("json-other-type"):
        found, expected = in_json(value), " or ".join(TYPES[name] for name in types)
        problems.add("json-other-type", f"{place}: {found}", path=path, item=place, found=found, expected=expected)


def _judge_keys(
    entry: dict[str, Any], place: str, position: str, shape: Shape, reading: Reading, problems: Problems
) -> None:
    constants, keys = () if reading.role == "gold" else shape.constants, shape.keys
    needed = (shape.id_key, shape.value_key, *dict(constants))
    lacking = [key for key in needed if key not in entry]
    # If the entry lacks one key and has an unknown key instead, the key is misnamed, such as `hard_label` for `value`.
    other = next((key for key in entry if key not in keys), None) if len(lacking) == 1 else None
    is_renamed = other is not None and len(entry) == len(keys)
    for key in lacking:
        if not problems.has_counted("json-missing-key"):
            found, suggestion = shown(", ".join(filter(None, entry))), f"{shown(other)} → {key}" if is_renamed else None
            fields = {"path": position, "item": place, "found": found, "expected": key, "suggestion": suggestion}
            problems.add("json-missing-key", f"{place} ({key})", severity="error", **fields)
    for key, text in constants:
        if key in entry and entry[key] != text and not problems.has_counted("wrong-constant"):
            found, expected, path = in_json(entry[key]), f"{key}: {in_json(text)}", f"{position}.{key}"
            problems.add("wrong-constant", f"{place}: {found}", path=path, item=place, found=found, expected=expected)
    extra = shape.written.extra
    if reading.role == "gold" or extra == "ignore" or len(entry) == sum(key in entry for key in keys):
        return
    code, severity = EXTRA_KEYS[extra]
    for key in entry:
        if key not in keys and not problems.has_counted(code):
            where, path = f"{place} ({shown(key)})", f"{position}.{shown(key)}"
            problems.add(code, where, severity=severity, path=path, item=place, found=shown(key))
