"""A YAML document as text. Scalars stay strings until a kind of value converts them, and all problems are collected.

YAML itself reads `YES` as true and `1_0` as ten, and keeps only the last of two equal keys. None of that happens here.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from yaml.reader import Reader

from scoring.reports.problems import Report, Severity


def path_to(path: str, *steps: str | int) -> str:
    """Extend a path with the next keys or indexes, for example to `tracks[2].format.classes`."""
    for step in steps:
        path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else step
    return path


@dataclass(frozen=True, slots=True)
class Document:
    """The data shared by all values of a document.

    Relative paths start at `folder`. `formats` holds the run formats by name. `parts` are the values read so far, by
    root key. Keys are read in the order of their declaration.
    """

    report: Report
    folder: Path = Path()
    formats: Mapping[str, Any] = field(default_factory=dict)
    parts: dict[str, Any] = field(default_factory=dict)


class Value:
    """One node of the document and its path, for example `tracks[2].format.classes`.

    Each method that reads returns a typed value. If there is a problem, the method reports it and returns an empty
    value, so that reading continues.
    """

    def __init__(self, node: yaml.Node, path: str, document: Document) -> None:
        self.node = node
        self.path = path
        self.document = document

    def error(self, code: str, **fields: str | None) -> None:
        self._report("error", code, **fields)

    def warning(self, code: str, **fields: str | None) -> None:
        self._report("warning", code, **fields)

    def _report(self, severity: Severity, code: str, **fields: str | None) -> None:
        line = self.node.start_mark.line + 1 if self.node.start_mark else None
        self.document.report.add(severity, code, file="task.yaml", line=line, item=self.path or "/", **fields)

    def invalid(self, expected: str, suggestion: str | None = None) -> None:
        """Report that another value was expected here."""
        kind = "a list" if isinstance(self.node, yaml.SequenceNode) else "a mapping of keys"
        found = self.node.value or "nothing" if self.is_scalar else kind
        self.error("definition-value", found=str(found), expected=expected, suggestion=suggestion)

    def at(self, *steps: str | int) -> "Value":
        """Return the value at these keys and indexes, or the last existing one on the path."""
        value = self
        for step in steps:
            below = value._below(step)
            if below is None:
                break
            value = below
        return value

    def _below(self, step: str | int) -> "Value | None":
        if isinstance(self.node, yaml.SequenceNode) and isinstance(step, int):
            return self.entries()[step]
        if isinstance(self.node, yaml.MappingNode):
            named = {str(key.value): node for key, node in self.node.value}
            return Value(named[str(step)], path_to(self.path, step), self.document) if step in named else None
        return None

    @property
    def nothing(self) -> "Value":
        """Return an empty value whose problems are not reported. Kinds use it for missing values."""
        document = Document(Report(), self.document.folder, self.document.formats, self.document.parts)
        return Value(yaml.ScalarNode("", ""), self.path, document)

    @property
    def is_scalar(self) -> bool:
        return isinstance(self.node, yaml.ScalarNode)

    @property
    def is_mapping(self) -> bool:
        return isinstance(self.node, yaml.MappingNode)

    def text(self) -> str:
        if not isinstance(self.node, yaml.ScalarNode) or not self.node.value.strip():
            self.invalid("text")
            return ""
        return str(self.node.value)

    def matching(self, pattern: str, expected: str) -> str:
        """Return a text that fully matches the regular expression, or an empty text."""
        text = self.text()
        if text and not re.fullmatch(pattern, text):
            self.invalid(expected)
            return ""
        return text

    def entries(self) -> list["Value"]:
        """Return the entries of a list."""
        if not isinstance(self.node, yaml.SequenceNode):
            self.invalid("a list")
            return []
        return [Value(node, path_to(self.path, place), self.document) for place, node in enumerate(self.node.value)]

    def keys(self) -> dict[str, "Value"]:
        """Return the values of a mapping by key. If a key is repeated, report it and use its last value."""
        values: dict[str, Value] = {}
        if not isinstance(self.node, yaml.MappingNode):
            self.invalid("a mapping of keys")
            return values
        for key, node in self.node.value:
            name = str(key.value)
            path = path_to(self.path, name)
            if name in values:
                Value(key, path, self.document).error("definition-key-twice", found=name)
            values[name] = Value(node, path, self.document)
        return values


def parse_document(
    text: str, report: Report, folder: Path = Path(), formats: Mapping[str, Any] | None = None
) -> Value | None:
    """Return the document's root. If the text is not YAML or uses aliases, report the problem and return None."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        events = yaml.parse(text, Loader=loader)
        wrong = next((problem for problem in map(_problem_of_event, events) if problem is not None), None)
        root = yaml.compose(text, Loader=loader)
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else None
        report.error("definition-yaml", file="task.yaml", line=line, found=str(getattr(error, "problem", error)))
        return None
    if root is None or wrong is not None:
        report.error(file="task.yaml", **(wrong or {"code": "definition-yaml", "found": "nothing"}))
        return None
    return Value(root, "", Document(report, folder, formats or {}))


def _problem_of_event(event: yaml.Event) -> dict[str, Any] | None:
    """Return the fields of a problem: an alias, or a text with a character that YAML only allows as an escape."""
    line = event.start_mark.line + 1 if event.start_mark else None
    if isinstance(event, yaml.AliasEvent):
        return {"code": "definition-yaml", "line": line, "found": "an alias (*name)"}
    if isinstance(event, yaml.ScalarEvent) and (hidden := Reader.NON_PRINTABLE.search(event.value)):
        found = f"a value contains the control character U+{ord(hidden[0]):04X}; remove it"
        return {"code": "definition-rule", "line": line, "item": "/", "found": found}
    return None
