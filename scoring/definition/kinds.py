"""Kinds of values in task.yaml: texts, numbers, words and paths, and lists and mappings of them."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from scoring import limits
from scoring.definition.keys import Kind, Schema
from scoring.definition.yaml_values import Value
from scoring.reports.nearest import nearest

T = TypeVar("T")
D = TypeVar("D")
SLUG_PATTERN = "[a-z0-9]+(-[a-z0-9]+)*"
SPLIT_PATTERN = "[A-Za-z0-9]+([._-][A-Za-z0-9]+)*"
NUMBER_PATTERN = r"-?[0-9]{1,9}(\.[0-9]{1,17})?(e[+-]?[0-9]{1,3})?"
LARGEST = 999_999_999
_NAME_BYTES = 255  # of UTF-8 in the name of a file or folder

TEXT = Kind(Value.text, {"type": "string", "pattern": r"\S"}, "text")
# Words are read as text, even if YAML would read them as a different type.
WORD = Kind(Value.text, {"type": ["string", "number", "boolean"], "pattern": r"\S"}, "text")


def limited(kind: Kind[str], most: int) -> Kind[str]:
    """Limit a text kind to a maximum number of characters."""

    def read(value: Value) -> str:
        text = kind.read(value)
        if len(text) > most:
            value.error("definition-rule", found=f"the text has {len(text)} characters; at most {most} are allowed")
        return text

    return Kind(read, {**kind.schema, "maxLength": most}, f"{kind.name}, at most {most} characters")


def matching(pattern: str, expected: str, name: str, *, numbers: bool = False) -> Kind[str]:
    """Return a kind for texts that fully match the regular expression. With `numbers`, some of them are numbers."""
    types = ["string", "number"] if numbers else "string"
    return Kind(lambda value: value.matching(pattern, expected), {"type": types, "pattern": f"^({pattern})$"}, name)


SLUG = replace(
    limited(matching(SLUG_PATTERN, "lowercase letters, digits and single hyphens, such as task1-hard", "slug"), 50),
    name="slug",
)


def _split(value: Value) -> str:
    """Read a name that may be part of a path.

    Report an invalid name as a broken rule, not as an invalid value, so that older definitions can still be read.
    """
    text = value.text()
    if text and not re.fullmatch(SPLIT_PATTERN, text):
        value.error(
            "definition-rule",
            found=f"the split name {text} must consist of letters and digits, with single dots, hyphens or "
            "underscores between them, such as test-2026",
        )
    return text


SPLIT = replace(
    limited(Kind(_split, {"type": "string", "pattern": f"^({SPLIT_PATTERN})$"}, "split"), 50), name="split name"
)
MAIL_ADDRESS = matching(
    r"[^\s@<>]+@[a-z0-9-]+(\.[a-z0-9-]+)+", "an email address, such as us@uni.example", "email address"
)
WEB_ADDRESS = matching(r"https?://[^\s<>]+", "a URL, such as https://uni.example/forum", "URL")


def whole(most: int = LARGEST, least: int = 0) -> Kind[int]:
    """Return a kind for whole numbers between a minimum and a maximum."""

    def read(value: Value) -> int:
        number = int(value.matching("[0-9]{1,9}", "a whole number") or 0)
        if number > most:
            value.error("definition-rule", found=f"{number} is too large; the maximum is {most}")
        if number < least:
            value.error("definition-rule", found=f"{number} is too small; the minimum is {least}")
        return number

    name = f"whole number from {least}" if least else "whole number"
    name += "" if most == LARGEST else f" {'to' if least else 'up to'} {most}"
    return Kind(read, {"type": "integer", "minimum": least, "maximum": most}, name)


def number(positive_example: str = "") -> Kind[float]:
    """Return a kind for numbers. If an example of a positive number is given, numbers must be positive."""

    def read(value: Value) -> float:
        text = value.matching(NUMBER_PATTERN, "a number")
        found = float(text or 0)
        if abs(found) > LARGEST:
            value.invalid(f"a number up to {LARGEST}")
        elif text and positive_example and found <= 0:
            value.error("definition-rule", found=f"the number must be greater than 0, such as {positive_example}")
        return found

    schema: Schema = {"type": "number", "minimum": -LARGEST, "maximum": LARGEST}
    if not positive_example:
        return Kind(read, schema, "number")
    return Kind(read, {**schema, "exclusiveMinimum": 0}, "positive number")


WHOLE = whole()
DECIMALS = whole(17)  # floats have at most 17 significant digits
NUMBER = number()
FLAG = Kind(
    lambda value: value.matching("true|false", "true or false") == "true", {"type": "boolean"}, "`true` or `false`"
)


def one_of(*words: T, expected: str = "") -> Kind[T]:
    """Return a kind for one of several words.

    Problems describe the words as `expected` or, by default, list them.
    """
    names = [str(word) for word in words]

    def read(value: Value) -> T:
        text = value.text()
        if text in names:
            return words[names.index(text)]
        if text:
            value.invalid(expected or " or ".join(names), nearest(text, names))
        return words[0]

    return Kind(read, {"enum": list(dict.fromkeys([*words, *names]))}, ", ".join(f"`{name}`" for name in names))


def many(kind: Kind[T], *, least: int = 0, most: int = limits.ENTRIES, each_once: bool = False) -> Kind[tuple[T, ...]]:
    def read(value: Value) -> tuple[T, ...]:
        entries = tuple(kind.read(entry) for entry in value.at_most(value.entries(), most))
        if each_once and len(set(entries)) < len(entries):
            value.invalid("each entry only once")
        if not value.is_scalar and not value.is_mapping and len(entries) < least:
            value.error("definition-rule", found="the list needs at least one entry")
        return entries

    noun, comma, limits_of_entries = kind.name.partition(",")
    schema: Schema = {"type": "array", "items": kind.schema, "maxItems": most}
    schema |= {"minItems": least} if least else {}
    schema |= {"uniqueItems": True} if each_once else {}
    return Kind(read, schema, f"list of {_at_most(most)}{noun}s{comma}{limits_of_entries}", kind.keys)


def _at_most(entries: int) -> str:
    return "" if entries == limits.ENTRIES else f"at most {entries} "


TEXTS = many(TEXT, each_once=True)
WORDS = many(WORD, each_once=True)
NAMES = many(WORD, each_once=True, most=limits.CLASSES)


def by_name(kind: Kind[T], *, most: int = limits.ENTRIES) -> Kind[dict[str, T]]:
    """Return a kind for mappings with arbitrary keys."""

    def read(value: Value) -> dict[str, T]:
        return {name: kind.read(below) for name, below in value.at_most(list(value.keys().items()), most)}

    schema: Schema = {"type": "object", "additionalProperties": kind.schema, "maxProperties": most}
    return Kind(read, schema, f"name → {kind.name}", kind.keys)


def converted(kind: Kind[T], convert: Callable[[T], D]) -> Kind[D]:
    """Return a kind that reads a value with `kind` and then converts it."""
    return Kind(lambda value: convert(kind.read(value)), kind.schema, kind.name, kind.keys)


def either(
    first: Kind[T], second: Kind[D], is_first: Callable[[Value], bool] = lambda value: value.is_scalar
) -> Kind[T | D]:
    """Return a kind that accepts either of two kinds. By default, lists and mappings are read as the second kind."""

    def read(value: Value) -> T | D:
        return first.read(value) if is_first(value) else second.read(value)

    schema: Schema = {"anyOf": [first.schema, second.schema]}
    return Kind(read, schema, f"{first.name}, or {second.name}", (*first.keys, *second.keys))


def path_text(value: Value) -> str:
    """Return a path as text. If its names are too long for file systems, report it and return an empty string."""
    text = value.text()
    if any(len(name.encode()) > _NAME_BYTES for name in text.split("/")):
        value.invalid(f"a path whose names have at most {_NAME_BYTES} bytes in UTF-8")
        return ""
    return text


def _file(value: Value) -> Path:
    """Read a path in the folder and resolve it. Whether the file exists is checked when it is used."""
    text, folder = path_text(value), value.document.folder
    if len(text) > limits.PATH_CHARACTERS:
        sentence = f"the path has {len(text)} characters; at most {limits.PATH_CHARACTERS} are allowed"
        value.error("definition-rule", found=sentence)
        if not value.document.is_imported:
            return folder  # resolving the path would take time quadratic in its length
    path = (folder / text).resolve()
    if text and not (path.is_relative_to(folder) and "\\" not in text and not Path(text).is_absolute()):
        value.error("definition-path", found=text)
    return path


FILE = Kind(_file, {"type": "string", "pattern": r"^(?=.*\S)(?!/)(?!(.*/)?\.\.(/|$))[^\\\0\r\n]+$"}, "file")
FILES_BY_SPLIT = either(converted(FILE, lambda path: {"test": path}), by_name(FILE))
