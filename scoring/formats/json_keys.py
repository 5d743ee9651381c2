"""JSON as campaigns write it: how a format's `keys` say where ids and answers are, and how they are written.

Without `keys`, a file is a list of objects (or one object per line) whose ids and labels are strings.
"""

import json
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from scoring.definition.keys import declare, part
from scoring.definition.kinds import FLAG, WORD, many, one_of
from scoring.definition.yaml_values import Value
from scoring.formats.json_text import RepeatedKeys, kind_in_words
from scoring.formats.reading import shown
from scoring.limits import LISTED
from scoring.reports.problems import Report

Written = Literal["text", "number", "boolean"]
Record = dict[str, Any]

ID_OF_ENTRY = ""  # the key under which the entries of an object by id get their id
ANSWER = "answer"  # the key under which they get their answer if it has no key of its own
WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")
BOOLEANS = {"true": True, "false": False}
_IDS: tuple[Written, ...] = ("text", "number")
_VALUES: tuple[Written, ...] = ("text", "number", "boolean")
_TEXT: tuple[Written, ...] = ("text",)


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonKeys:
    """How a file's keys, ids and answers are written. The defaults are those of a format without `keys`."""

    ids: tuple[Written, ...] = declare(
        many(one_of(*_IDS), least=1, each_once=True),
        "How ids are written: as `text` in quotes, as a whole `number`, or in both ways.",
        default=_TEXT,
    )
    values: tuple[Written, ...] = declare(
        many(one_of(*_VALUES), least=1, each_once=True),
        "How labels and texts are written: as `text` in quotes, as a `number` such as 1, as a `boolean`, which stands "
        "for the label `true` or `false`, or in several of these ways.",
        default=_TEXT,
    )
    nested: bool = declare(
        FLAG,
        "Whether dots in names lead to keys of inner objects. With `value: prediction.label`, an entry is "
        '`{"id": "a1", "prediction": {"label": "YES"}}`.',
        default=False,
    )
    by_id: bool = declare(
        FLAG,
        'Whether the file is an object with the ids as its keys: `{"a1": "YES"}` or, with `value: label`, '
        '`{"a1": {"label": "YES"}}`. With `lines`, each line is such an object.',
        default=False,
    )
    inside: str | None = declare(
        WORD,
        "Key of an outer object that contains the entries, such as `predictions` for "
        '`{"predictions": [{"id": "a1", "value": "YES"}]}`.',
        default=None,
    )
    extra: Literal["warn", "ignore", "reject"] = declare(
        one_of("warn", "ignore", "reject"),
        "How to handle additional keys in runs: report a warning, ignore them, or report an error.",
        default="warn",
    )

    @property
    def is_list(self) -> bool:
        """Whether the file is a list of entries, or has one entry per line."""
        return not self.by_id and self.inside is None

    @property
    def is_plain(self) -> bool:
        """Whether the file is written as without `keys`."""
        return self == PLAIN

    def text_of_id(self, value: object) -> str | None:
        """Return an id as text, or None if it is written in another way than declared."""
        if isinstance(value, str):
            return value if "text" in self.ids else None
        is_number = isinstance(value, int) and not isinstance(value, bool)
        return str(value) if is_number and "number" in self.ids else None

    def text_of_value(self, value: object) -> object:
        """Return an answer, or each answer in a list, as text if it is a number or boolean as declared."""
        if isinstance(value, list):
            return [self._text(entry) for entry in value]
        return self._text(value)

    def _text(self, value: object) -> object:
        if isinstance(value, bool):
            return json.dumps(value) if "boolean" in self.values else value
        return str(value) if isinstance(value, int | float) and "number" in self.values else value

    def has_other_type(self, value: object) -> bool:
        """Return whether an answer is text, or a list with text, although the file must not contain text."""
        answers = value if isinstance(value, list) else [value]
        return "text" not in self.values and any(isinstance(answer, str) for answer in answers)

    def written_id(self, item: str) -> str | int:
        """Return an id as files contain it."""
        is_number = self.ids[0] == "number" and WHOLE.fullmatch(item)
        return int(item) if is_number else item

    def written_value(self, value: Any) -> Any:
        """Return an answer, or each answer in a list, as files contain it."""
        if isinstance(value, list):
            return [self.written_value(entry) for entry in value]
        if not isinstance(value, str):
            return value
        for written in self.values:
            found = _as_written(value, written)
            if found is not None:
                return found
        return value

    def objects_of(self, names: Iterable[str]) -> frozenset[str]:
        """Return the inner objects that names such as `prediction.label` lead to, if names are nested."""
        if not self.nested:
            return frozenset()
        return frozenset(name[:place] for name in names for place, char in enumerate(name) if char == ".")

    def with_flat_keys(self, entry: Record, objects: Container[str]) -> Record:
        """Return an entry in which the keys of these inner objects have names such as `prediction.label`.

        An entry that has such a name twice becomes a `RepeatedKeys`.
        """
        pairs, is_repeated = list[tuple[str, Any]](), isinstance(entry, RepeatedKeys)
        waiting = list(reversed(entry.items()))
        while waiting:
            name, value = waiting.pop()
            if isinstance(value, dict) and name in objects:
                is_repeated |= isinstance(value, RepeatedKeys)
                waiting += [(f"{name}.{key}", inner) for key, inner in reversed(value.items())]
            else:
                pairs.append((name, value))
        found = dict(pairs)
        return RepeatedKeys(found) if is_repeated or len(found) < len(pairs) else found

    def entries(self, document: object, lines: bool, value_key: str, example: str, report: Report) -> list[Any] | None:
        """Return the entries of a document as a list of objects. If there is no such list, report it and return None.

        Args:
            document: the document or, if the file has one object per line, the list of the lines' objects.
            example: the beginning of a valid file.
        """
        found = list[Any]()
        is_by_line = lines and isinstance(document, list) and (self.by_id or self.inside is not None)
        for own in document if is_by_line and isinstance(document, list) else [document]:
            inner = own
            if self.inside is not None:
                inner = own.get(self.inside) if isinstance(own, dict) else None
            if self.by_id and isinstance(inner, dict):
                found += self._entries_by_id(inner, value_key)
            elif not self.by_id and isinstance(inner, list):
                found += inner
            else:
                report.error("json-other-shape", found=kind_in_words(own), expected=example)
                return None
            if isinstance(inner, RepeatedKeys):
                report.error("json-repeated-id", found=shown(inner.repeated))
        return found

    def _entries_by_id(self, inner: Mapping[str, Any], value_key: str) -> list[Record]:
        if value_key == ANSWER:
            return [{ID_OF_ENTRY: item, ANSWER: answer} for item, answer in inner.items()]
        return [
            type(entry)({ID_OF_ENTRY: item, **entry}) if isinstance(entry, dict) else {ID_OF_ENTRY: item, ANSWER: entry}
            for item, entry in inner.items()
        ]

    def entry(self, item: str, record: Record, id_key: str) -> str:
        """Return an item's record as JSON. If the ids are keys, the item is its key, and its id is left out."""
        encode = json.JSONEncoder(ensure_ascii=False).encode
        if not self.by_id:
            return encode(as_nested(record) if self.nested else record)
        own = {key: value for key, value in record.items() if key != id_key}
        answer = own[ANSWER] if own.keys() == {ANSWER} else as_nested(own) if self.nested else own
        return f"{encode(item)}: {encode(answer)}"

    def line(self, entry: str) -> str:
        """Return a line with a single entry, for files with one object per line."""
        return entry if self.is_list else self.document([entry], "")

    def document(self, entries: Sequence[str], between: str) -> str:
        """Return a document with entries that are written in JSON, and `between` around them, such as a line break."""
        first, last = "{}" if self.by_id else "[]"
        found = f"{first}{between}" + f",{between or ' '}".join(entries) + f"{between}{last}"
        return found if self.inside is None else f"{{{json.dumps(self.inside, ensure_ascii=False)}: {found}}}"


def _as_written(text: str, written: Written) -> Any:
    """Return a text as a JSON value of this type, or None if there is no such value that stands for exactly it."""
    if written == "text":
        return text
    if written == "boolean":
        return BOOLEANS.get(text)
    try:
        number = json.loads(text)
    except ValueError:
        return None
    return number if isinstance(number, int | float) and str(number) == text else None


def note_entries(entries: Sequence[object], item: str, found: str, keys: Sequence[str], report: Report) -> None:
    """Say how many entries were read, what was found for the first item, and which keys are not used."""
    report.note("json-read", count=len(entries), item=item, found=found)
    given = dict.fromkeys(key for entry in entries if isinstance(entry, dict) for key in entry)
    unused = [shown(key) for key in given if key not in keys]
    if unused:
        report.note("json-unused", places=tuple(unused[:LISTED]), count=len(unused))


def as_nested(entry: Mapping[str, Any]) -> Record:
    """Return an entry with inner objects for names such as `prediction.label`."""
    found: Record = {}
    for name, value in entry.items():
        *steps, last = name.split(".")
        inner = found
        for step in steps:
            inner = inner.setdefault(step, {})
        inner[last] = value
    return found


def _finish(value: Value, values: Mapping[str, Any]) -> None:
    if values["by_id"] and values["ids"] != _TEXT:
        value.at("ids").invalid("text, because the keys of objects are always strings")


PLAIN = JsonKeys()
KEYS = part(JsonKeys, _finish)
