"""Lists of JSON objects with an id and a value. A compiled, typed decoder reads valid files.

The decoder stops at the first problem, and if a key is repeated, it keeps only the last value. Therefore, a file that
it rejects, or that may contain a repeated key, is read again more slowly to report every problem with its place.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, cast

import msgspec

from scoring.definition import FormatSpec
from scoring.definition.keys import Key
from scoring.definition.kinds import FLAG, WORD, by_name
from scoring.formats.json_shapes import as_records, example_of, names_of_keys, parse_document
from scoring.formats.json_text import MISSING, RepeatedKeys, in_json, kind_in_words
from scoring.formats.reading import UTF8_MARK, Problems, Reading, are_too_many, decode, shown, shown_id

OBJECTS_AN_ENTRY = 3
NOT_TEXT = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")  # control characters and lone surrogates


@dataclass(frozen=True, slots=True)
class Shape:
    """The structure of a file's objects: key names, constants, and the type of the value.

    If `value_type` is None, a typed decoder cannot read the values.
    """

    id_key: str
    value_key: str
    constants: tuple[tuple[str, str], ...]
    value_type: Any
    lines: bool  # whether there is one object per line without an enclosing list
    example: Any = field(default="…", compare=False)  # a value for messages

    def shown_example(self, reading: Reading) -> str:
        """Return the beginning of a valid file."""
        item = "a1" if reading.items is None or not len(reading.items) else reading.items.ids[0]
        constants = {} if reading.role == "gold" else dict(self.constants)
        return example_of({self.id_key: item, self.value_key: self.example, **constants}, self.lines)

    @property
    def keys(self) -> tuple[str, ...]:
        """All keys that an object must have."""
        return (self.id_key, self.value_key, *dict(self.constants))


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

    def path(self, row: int, *keys: str) -> str:
        """Return the path of a value in the file or, if `keys` are given, of a part of that value."""
        number = self.numbers[row] if self.numbers else row + 1
        return ".".join((f"#{number}", self.value_key, *keys))

    def name(self, row: int) -> str:
        """Return an entry's name for messages."""
        return self.places[row] if self.places else shown(self.ids[row])

    def report_value(self, row: int, code: str, expected: str, problems: Problems) -> None:
        """Report a value of the wrong form. Missing values have been reported before."""
        value = self.values[row]
        if value is not MISSING and not problems.has_counted(code):
            name, found = self.name(row), in_json(value)
            problems.add(code, f"{name}: {found}", path=self.path(row), item=name, found=found, expected=expected)


RECORD_OPTIONS = (
    Key("lines", FLAG, "Whether the file has one object per line instead of a list.", False),
    Key("constants", by_name(WORD), "Additional keys that every object must contain, with their values.", {}),
    Key("id", WORD, "Key that contains the item id.", "id"),
    Key("value", WORD, "Key that contains the answer.", "value"),
)


def write_records(ids: Sequence[str], values: Iterable[Any], spec: FormatSpec) -> str:
    """Write a JSON object per item, in a list or one per line."""
    options = spec.options
    pairs = zip(ids, values, strict=True)
    records = ({**options["constants"], options["id"]: item, options["value"]: value} for item, value in pairs)
    lines = list(map(json.JSONEncoder(ensure_ascii=False).encode, records))
    return "\n".join([*lines, ""]) if options["lines"] else "[\n" + ",\n".join(lines) + "\n]\n"


def records_suffix(options: Mapping[str, Any]) -> str:
    return ".jsonl" if options["lines"] else ".json"


def shape_of(spec: FormatSpec, value_type: Any, example: Any) -> Shape:
    options = spec.options
    constants = tuple(sorted(options["constants"].items()))
    return Shape(options["id"], options["value"], constants, value_type, options["lines"], example)


def read_records(data: bytes, shape: Shape, reading: Reading, strings_in: Callable[[list[Any]], int]) -> Records | None:
    """Read the file's objects and report any problems.

    Args:
        strings_in: returns the number of JSON strings, including keys, in the typed values.

    Returns:
        The records, or None if the file is not a list.
    """
    data = data.removeprefix(UTF8_MARK)
    decoder = _decoder(shape)
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


def object_type(types: Mapping[str, Any], keys: Mapping[str, str]) -> Any:
    """Return a msgspec type for JSON objects.

    Args:
        types: field → type.
        keys: field → key in the file.

    Returns:
        The type, or None if msgspec cannot match a key because JSON would escape it, such as `5" or 7"` or a key with a
        tab.
    """
    try:
        return msgspec.defstruct("Object", types.items(), rename=dict(keys), forbid_unknown_fields=True, gc=False)
    except ValueError:
        return None


def _read_patiently(data: bytes, shape: Shape, reading: Reading) -> Records | None:
    text = decode(data, reading.report)
    if text is None or _is_too_much(text, shape, reading):
        return None
    example = shape.shown_example(reading)
    document = parse_document(text, shape.lines, shape.id_key, reading, example)
    if document is MISSING:
        return None
    if isinstance(document, dict) or (isinstance(document, list) and _may_lack_shape(document, shape)):
        document = as_records(document, shape.keys[:2], dict(shape.constants), reading, example)
    if not isinstance(document, list) or not document:
        found = "an empty list" if document == [] else kind_in_words(document)
        reading.report.error("json-not-a-list", found=found, expected=example)
        return None
    if are_too_many(len(document), reading.most_entries, reading.report):
        return None
    problems = Problems(reading.report)
    records = Records([], [], False, shape.value_key)
    names = names_of_keys(document, shape.keys, reading)
    for number, entry in enumerate(document, 1):
        if isinstance(entry, dict):
            _add(entry, number, shape, names, reading, records, problems)
        elif entry is not MISSING and not problems.has_counted("json-not-an-object"):
            place = f"#{number}"
            found = kind_in_words(entry)
            problems.add("json-not-an-object", place, path=place, item=place, found=found, expected=example)
    problems.report()
    return records if records.ids else None


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
    if isinstance(identifier, str) and identifier and not NOT_TEXT.search(identifier):
        place = shown_id(identifier)
        records.ids.append(identifier)
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
    records.values.append(entry.get(shape.value_key, MISSING))
    records.places.append(place)
    records.numbers.append(number)


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
            found, suggestion = shown(", ".join(entry)), f"{shown(other)} → {key}" if is_renamed else None
            fields = {"path": position, "item": place, "found": found, "expected": key, "suggestion": suggestion}
            problems.add("json-missing-key", f"{place} ({key})", severity="error", **fields)
    for key, text in constants:
        if key in entry and entry[key] != text and not problems.has_counted("wrong-constant"):
            found, expected, path = in_json(entry[key]), f"{key}: {in_json(text)}", f"{position}.{key}"
            problems.add("wrong-constant", f"{place}: {found}", path=path, item=place, found=found, expected=expected)
    if reading.role == "gold" or len(entry) == sum(key in entry for key in keys):
        return
    for key in entry:
        if key not in keys and not problems.has_counted("json-unknown-key"):
            where, path = f"{place} ({shown(key)})", f"{position}.{shown(key)}"
            problems.add("json-unknown-key", where, severity="warning", path=path, item=place, found=shown(key))
