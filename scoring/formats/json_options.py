"""The options of formats with JSON objects, the structure of the objects that they declare, and how to write them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scoring.definition import FormatSpec
from scoring.definition.keys import Key, Values
from scoring.definition.kinds import FLAG, WORD, by_name
from scoring.formats.json_keys import ANSWER, ID_OF_ENTRY, KEYS, PLAIN, JsonKeys
from scoring.formats.json_shapes import example_of
from scoring.formats.reading import Reading


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
    written: JsonKeys = PLAIN
    is_text: bool = False  # whether answers are labels or texts, whose types in JSON `keys` declares

    def shown_example(self, reading: Reading) -> str:
        """Return the beginning of a valid file."""
        item = "a1" if reading.items is None or not len(reading.items) else reading.items.ids[0]
        constants = {} if reading.role == "gold" else dict(self.constants)
        if self.written.is_plain:
            return example_of({self.id_key: item, self.value_key: self.example, **constants}, self.lines)
        entry = self.entry(item, self.example, constants)
        return self.written.line(entry) if self.lines else self.written.document([entry, "…"], "")

    def entry(self, item: str, value: Any, constants: Mapping[str, str]) -> str:
        """Return an item's object as JSON."""
        written = self.written.written_value(value) if self.is_text else value
        record = {**constants, self.id_key: self.written.written_id(item), self.value_key: written}
        return self.written.entry(item, record, self.id_key)

    @property
    def keys(self) -> tuple[str, ...]:
        """All keys that an object must have."""
        return (self.id_key, self.value_key, *dict(self.constants))


def value_key_of(values: Values, _parts: Values) -> str:
    """`value`; with `by_id`, none, because the answer itself follows the id"""
    return ANSWER if values["keys"] is not None and values["keys"].by_id else "value"


RECORD_OPTIONS = (
    Key("lines", FLAG, "Whether the file has one object per line instead of a list.", False),
    Key("constants", by_name(WORD), "Additional keys that every object must contain, with their values.", {}),
    Key("keys", KEYS, "How keys, ids and answers are written if they are not strings in a flat list of objects.", None),
    Key("id", WORD, "Key that contains the item id.", "id"),
    Key("value", WORD, "Key that contains the answer.", value_key_of),
)


def write_records(ids: Sequence[str], values: Iterable[Any], spec: FormatSpec, *, is_text: bool = False) -> str:
    """Write a JSON object per item, in a list or one per line, or an object with an entry per item.

    `is_text` is as in `Shape`.
    """
    shape, constants = shape_of(spec, None, None, is_text=is_text), spec.options["constants"]
    entries = [shape.entry(item, value, constants) for item, value in zip(ids, values, strict=True)]
    if shape.lines:
        return "\n".join([*map(shape.written.line, entries), ""])
    return shape.written.document(entries, "\n") + "\n"


def records_suffix(options: Mapping[str, Any]) -> str:
    return ".jsonl" if options["lines"] else ".json"


def shape_of(spec: FormatSpec, value_type: Any, example: Any, *, is_text: bool = False) -> Shape:
    options = spec.options
    constants = tuple(sorted(options["constants"].items()))
    written = options.get("keys") or PLAIN
    id_key = ID_OF_ENTRY if written.by_id else options["id"]
    return Shape(id_key, options["value"], constants, value_type, options["lines"], example, written, is_text)
