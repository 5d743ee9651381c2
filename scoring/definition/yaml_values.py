"""A YAML document as text. Scalars stay strings until a `Kind` converts them, and all problems are collected.

YAML itself reads `YES` as true and `1_0` as ten, and keeps only the last of two duplicate keys. That cannot happen
here.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import yaml
from yaml.reader import Reader

from scoring import limits
from scoring.reports.problems import Report, Severity

T = TypeVar("T")
START_OF_VALUE = re.compile(r":\s")
ODD_SPACES = {"\t": "tabs", "\N{NO-BREAK SPACE}": "no-break spaces", "\N{IDEOGRAPHIC SPACE}": "wide spaces"}
ODD_INDENTATION = re.compile(f" *([{''.join(ODD_SPACES)}])")
PLACEHOLDER = re.compile(r"\{[a-z_]+\}")


def path_to(path: str, *steps: str | int) -> str:
    """Extend a path by keys or indexes, for example to `tracks[2].format.classes`."""
    for step in steps:
        path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else step
    return path


@dataclass(frozen=True, slots=True)
class Document:
    """Data shared by all values of a document.

    Relative paths start at `folder`. `formats` holds the run formats by name. `parts` holds the values read so far by
    root key. Keys are read in the order in which they are declared. If the document `is_imported`, lists that are too
    long are read completely. Otherwise, the rest is left out, so that checking the document cannot take long.
    """

    report: Report
    folder: Path = Path()
    formats: Mapping[str, Any] = field(default_factory=dict)
    parts: dict[str, Any] = field(default_factory=dict)
    is_imported: bool = False


class Value:
    """One node of the document and its path, for example `tracks[2].format.classes`.

    Each reading method returns a typed value. If there is a problem, the method reports it and returns an empty value,
    so that reading can continue.
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
        """Report that a different value was expected here."""
        kind = "a list" if isinstance(self.node, yaml.SequenceNode) else "a mapping"
        found = self.node.value or "nothing" if self.is_scalar else kind
        self.error("definition-value", found=str(found), expected=expected, suggestion=suggestion)

    def at(self, *steps: str | int) -> "Value":
        """Return the value at these keys and indexes, or the last value on the path that exists."""
        value = self
        for step in steps:
            below = value._below(step)
            if below is None:
                break
            value = below
        return value

    def _below(self, step: str | int) -> "Value | None":
        if isinstance(self.node, yaml.SequenceNode) and isinstance(step, int):
            entries = self.entries()
            return entries[step] if step < len(entries) else None
        if isinstance(self.node, yaml.MappingNode):
            named = {str(key.value): node for key, node in self.node.value}
            return Value(named[str(step)], path_to(self.path, step), self.document) if step in named else None
        return None

    @property
    def nothing(self) -> "Value":
        """An empty value whose problems are not reported. It takes the place of missing or invalid values."""
        return Value(yaml.ScalarNode("", ""), self.path, replace(self.document, report=Report()))

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
        """Return the text if it fully matches the regular expression. If not, report it and return an empty string."""
        text = self.text()
        if text and not re.fullmatch(pattern, text):
            self.invalid(expected)
            return ""
        return text

    def entries(self) -> list["Value"]:
        if not isinstance(self.node, yaml.SequenceNode):
            self.invalid("a list")
            return []
        return [Value(node, path_to(self.path, place), self.document) for place, node in enumerate(self.node.value)]

    def at_most(self, entries: list[T], most: int) -> list[T]:
        """Return the entries. If there are more than `most`, report that."""
        if len(entries) <= most:
            return entries
        self.error("definition-rule", found=f"there are {len(entries)} entries; at most {most} are allowed")
        return entries if self.document.is_imported else entries[:most]

    def keys(self) -> dict[str, "Value"]:
        """Return the values of a mapping by key. If a key is repeated, report it and use its last value."""
        values: dict[str, Value] = {}
        repeated = 0
        if not isinstance(self.node, yaml.MappingNode):
            self.invalid("a mapping")
            return values
        for key, node in self.node.value:
            name = str(key.value)
            path = path_to(self.path, name)
            repeated += name in values
            if name in values and repeated <= limits.LISTED:
                Value(key, path, self.document).error("definition-key-twice", found=name)
            values[name] = Value(node, path, self.document)
        return values


def parse_document(
    text: str,
    report: Report,
    folder: Path = Path(),
    formats: Mapping[str, Any] | None = None,
    *,
    is_imported: bool = False,
) -> Value | None:
    """Return the document's root. If the text is not YAML or uses aliases, report the problem and return None."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        events = yaml.parse(text, Loader=loader)
        problems = _problems_of_events(events if is_imported else _bounded(events))
        wrong = next((problem for problem in problems if problem is not None), None)
        root = yaml.compose(text, Loader=loader) if wrong is None else None
    except _TooLargeError as error:
        line, found = error.args
        report.error("definition-rule", file="task.yaml", line=line, item="/", found=found)
        return None
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line, found = mark.line + 1 if mark else None, str(getattr(error, "problem", error))
        lines = text.splitlines()
        at_mark = lines[mark.line] if mark and mark.line < len(lines) else ""
        before_mark = lines[mark.line - 1] if mark and 0 < mark.line <= len(lines) else ""
        if bare := _bare_placeholder(at_mark):
            found += f"; put the value with {bare} in quotes"
        elif odd := ODD_INDENTATION.match(at_mark) or ODD_INDENTATION.match(before_mark):
            found += f"; the line is indented with {ODD_SPACES[odd[1]]}: indent with spaces"
        report.error("definition-yaml", file="task.yaml", line=line, found=found)
        return None
    if root is None or wrong is not None:
        report.error(file="task.yaml", **(wrong or {"code": "definition-yaml", "found": "nothing"}))
        return None
    return Value(root, "", Document(report, folder, formats or {}, is_imported=is_imported))


def _bare_placeholder(line: str) -> str | None:
    """Return a placeholder such as {split} in an unquoted value. YAML reads its brace as the start of a mapping.

    The time is linear in the length of the line, which can be as long as the whole document.
    """
    for part in re.split("[\"'#]", line):
        start = START_OF_VALUE.search(part)
        if start and (bare := PLACEHOLDER.findall(part, start.end())):
            return str(bare[-1])
    return None


class _TooLargeError(Exception):
    """A document has too many or too long values. The arguments are the problem's fields."""


def _bounded(events: Iterable[yaml.Event]) -> Iterator[yaml.Event]:
    """Yield the events until there are too many keys and values, or one is too long.

    Raises:
        _TooLargeError: that is the case.
    """
    count = 0
    for event in events:
        count += isinstance(event, yaml.NodeEvent)
        line = event.start_mark.line + 1 if event.start_mark else None
        if count > limits.DEFINITION_VALUES:
            raise _TooLargeError(line, f"there are more than {limits.DEFINITION_VALUES} keys and values")
        if isinstance(event, yaml.ScalarEvent) and (length := len(event.value)) > limits.DEFINITION_CHARACTERS:
            most = limits.DEFINITION_CHARACTERS
            raise _TooLargeError(line, f"a text has {length} characters; at most {most} are allowed")
        yield event


def _problems_of_events(events: Iterable[yaml.Event]) -> Iterator[dict[str, Any] | None]:
    """Yield the problem of each event, or None if it has none."""
    depth = 0
    for event in events:
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > limits.DEFINITION_DEPTH:
            found = f"more than {limits.DEFINITION_DEPTH} levels of nested lists or mappings"
            line = event.start_mark.line + 1 if event.start_mark else None
            yield {"code": "definition-yaml", "line": line, "found": found}
        yield _problem_of_event(event)


def _problem_of_event(event: yaml.Event) -> dict[str, Any] | None:
    """Return the fields of a problem if there is an alias, or a character that YAML allows only as an escape."""
    line = event.start_mark.line + 1 if event.start_mark else None
    if isinstance(event, yaml.AliasEvent):
        return {"code": "definition-yaml", "line": line, "found": "an alias (*name)"}
    if isinstance(event, yaml.ScalarEvent) and (hidden := Reader.NON_PRINTABLE.search(event.value)):
        found = f"a value contains the control character U+{ord(hidden[0]):04X}; remove it"
        return {"code": "definition-rule", "line": line, "item": "/", "found": found}
    return None
