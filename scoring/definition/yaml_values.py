"""A YAML document as text: every scalar stays a string until a reader types it, and every fault is kept.

YAML itself reads a bare `YES` as true, `1_0` as ten and the last of two equal keys; none of that happens here.
"""

import re
from collections.abc import Callable
from typing import TypeVar

import yaml

from scoring.reports.nearest import nearest
from scoring.reports.problems import Report

T = TypeVar("T")
D = TypeVar("D")
NULLS = frozenset({"", "~", "null", "Null", "NULL"})
SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def path_to(path: str, *steps: str | int) -> str:
    """A path and what follows it, as `tracks[2].format.classes`."""
    for step in steps:
        path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else step
    return path


class Value:
    """One node of the document and the path of keys that leads to it, as `tracks[2].format.classes`.

    Each reader returns the typed value; on a fault it reports and returns an empty one, so that reading goes on.
    """

    def __init__(self, node: yaml.Node, path: str, report: Report) -> None:
        self.node = node
        self.path = path
        self.report = report

    def fault(self, code: str, **fields: str | None) -> None:
        self.report.error(code, file="task.yaml", line=self.node.start_mark.line + 1, item=self.path or "/", **fields)

    def wrong(self, expected: str, suggestion: str | None = None) -> None:
        """Report that something else was expected here."""
        kind = "a list" if isinstance(self.node, yaml.SequenceNode) else "a mapping of keys"
        found = self.node.value or "nothing" if self.is_scalar else kind
        self.fault("definition-value", found=str(found), expected=expected, suggestion=suggestion)

    def at(self, *steps: str | int) -> "Value":
        """What these keys and places lead to, or the last of it that is there."""
        value = self
        for step in steps:
            below = value._below(step)
            if below is None:
                break
            value = below
        return value

    def _below(self, step: str | int) -> "Value | None":
        if isinstance(self.node, yaml.SequenceNode) and isinstance(step, int):
            return self.values()[step]
        if isinstance(self.node, yaml.MappingNode):
            named = {str(key.value): node for key, node in self.node.value}
            return Value(named[str(step)], path_to(self.path, step), self.report) if step in named else None
        return None

    @property
    def is_scalar(self) -> bool:
        return isinstance(self.node, yaml.ScalarNode)

    @property
    def is_mapping(self) -> bool:
        return isinstance(self.node, yaml.MappingNode)

    @property
    def is_null(self) -> bool:
        return isinstance(self.node, yaml.ScalarNode) and self.node.style is None and self.node.value in NULLS

    def text(self) -> str:
        if not isinstance(self.node, yaml.ScalarNode) or not self.node.value.strip():
            self.wrong("a text")
            return ""
        return str(self.node.value)

    def matching(self, pattern: str, expected: str) -> str:
        """A text that matches the regular expression in full, or an empty one."""
        text = self.text()
        if text and not re.fullmatch(pattern, text):
            self.wrong(expected)
            return ""
        return text

    def slug(self) -> str:
        return self.matching(SLUG.pattern, "lower-case letters, digits and single hyphens, as in task1-hard")

    def integer(self) -> int:
        return int(self.matching("[0-9]{1,9}", "a whole number") or 0)

    def number(self) -> float:
        return float(self.matching(r"-?[0-9]{1,9}(\.[0-9]{1,9})?(e-?[0-9]{1,2})?", "a number") or 0)

    def flag(self) -> bool:
        return self.matching("true|false", "true or false") == "true"

    def values(self) -> list["Value"]:
        """The entries of a list."""
        if not isinstance(self.node, yaml.SequenceNode):
            self.wrong("a list")
            return []
        return [Value(node, path_to(self.path, place), self.report) for place, node in enumerate(self.node.value)]

    def texts(self) -> tuple[str, ...]:
        """The entries of a list of texts, each once."""
        texts = tuple(value.text() for value in self.values())
        if len(set(texts)) < len(texts):
            self.wrong("each entry once")
        return texts

    def keys(self) -> "Keys":
        return Keys(self)


class Keys:
    """A mapping: `need` and `read` take its keys one by one, `close` reports those that nobody asked for."""

    def __init__(self, value: Value) -> None:
        self.value = value
        self._values: dict[str, Value] = {}
        self._asked: set[str] = set()
        if not isinstance(value.node, yaml.MappingNode):
            value.wrong("a mapping of keys")
            return
        for key_node, node in value.node.value:
            name = str(key_node.value)
            path = path_to(value.path, name)
            if name in self._values:
                Value(key_node, path, value.report).fault("definition-key-twice", found=name)
            self._values[name] = Value(node, path, value.report)

    def names(self) -> list[str]:
        """The keys in their order, for a mapping whose keys are free; all count as asked for."""
        self._asked.update(self._values)
        return list(self._values)

    def need(self, name: str, reader: Callable[[Value], T], blank: D) -> T | D:
        """The key's value through a reader; `blank`, and a fault, when it is not there."""
        if name not in self._values:
            self.value.fault("definition-key-missing", expected=name)
        return self.read(name, reader, blank)

    def read(self, name: str, reader: Callable[[Value], T], default: D) -> T | D:
        """The key's value through a reader; the default when the key is absent or null."""
        self._asked.add(name)
        value = self._values.get(name)
        return default if value is None or value.is_null else reader(value)

    def close(self) -> None:
        """Report unknown keys, each with the nearest known one."""
        for name in [name for name in self._values if name not in self._asked]:
            known = sorted(self._asked)
            free = [key for key in known if key not in self._values]
            suggestion = nearest(name, free)
            self._values[name].fault(
                "definition-key-unknown", found=name, expected=", ".join(known), suggestion=suggestion
            )


def one_of(*allowed: T) -> Callable[[Value], T]:
    """A reader for one of the given words."""

    def read(value: Value) -> T:
        text = value.text()
        for word in allowed:
            if word == text:
                return word
        if text:
            words = [str(word) for word in allowed]
            value.wrong(" or ".join(words), nearest(text, words))
        return allowed[0]

    return read


def parse_document(text: str, report: Report) -> Value | None:
    """The document's root; None, with the fault reported, when it is no YAML or uses anchors."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        shared = any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=loader))
        root = yaml.compose(text, Loader=loader)
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else None
        report.error("definition-yaml", file="task.yaml", line=line, found=str(getattr(error, "problem", error)))
        return None
    if root is None or shared:
        found = "an alias (*name)" if shared else "nothing"
        report.error("definition-yaml", file="task.yaml", found=found)
        return None
    return Value(root, "", report)
