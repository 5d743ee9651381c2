"""The operations of a portal's API, as its specification describes them.

The specification follows from the declarations of the portal's actions, so what it adds can be called without an update
of this package.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from agon.connection import ONCE, Connection
from agon.errors import Unavailable, WrongUsage
from scoring.reports.nearest import nearest

_JSON = "application/json"
_WORDS = {
    "array": 'a list in JSON, such as ["a", "b"]',
    "boolean": "true or false",
    "integer": "a whole number",
    "null": "null",
    "number": "a number",
    "object": 'an object in JSON, such as {"key": "text"}',
}


@dataclass(frozen=True, slots=True)
class Input:
    """An input of an operation. `place` is path, query or body."""

    name: str
    place: str
    required: bool
    types: frozenset[str]  # JSON types

    def read(self, text: str) -> Any:
        """Convert a text to one of the input's types. For inputs without text, it is JSON, such as `17` or `["a"]`.

        Raises:
            WrongUsage: the text is not JSON.
        """
        if "string" in self.types and (text != "null" or "null" not in self.types):
            return text
        try:
            return json.loads(text)
        except ValueError:
            expected = " or ".join(_WORDS[one] for one in sorted(self.types))
            raise WrongUsage(f"{self.name} must be {expected}. Found: {text}") from None


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation that takes and returns JSON. `path` is below `/api/v1` and has the names of inputs in braces."""

    name: str
    method: str
    path: str
    summary: str
    inputs: Mapping[str, Input]

    def input(self, name: str) -> Input:
        """Return the input with this name.

        Raises:
            WrongUsage: there is none.
        """
        if name not in self.inputs:
            raise WrongUsage(f"{self.name} has no input {name}. Available: {', '.join(self.inputs) or 'none'}.")
        return self.inputs[name]

    def require_complete(self, given: Iterable[str]) -> None:
        """Raise WrongUsage if a required input is missing."""
        missing = {one.name for one in self.inputs.values() if one.required} - {*given}
        if missing:
            raise WrongUsage(f"{self.name} also needs: {', '.join(name for name in self.inputs if name in missing)}.")

    def call(self, connection: Connection, given: Mapping[str, Any]) -> Any:
        """Call the operation and return its JSON, or None if the response is empty.

        A request that changes something is sent only once, because a second one could, for example, publish the same
        announcement again.

        Raises:
            WrongUsage: an input is missing or unknown.
            Unavailable: there was no response. A change may have been carried out.
        """
        self.require_complete(given)
        parts: dict[str, dict[str, Any]] = {"path": {}, "query": {}, "body": {}}
        for name, value in given.items():
            parts[self.input(name).place][name] = value
        body = msgspec.json.encode(parts["body"]) if parts["body"] else None
        path, within = self.path.format(**parts["path"]), None if self.method == "GET" else ONCE
        try:
            answer = connection.ask(self.method, path, parts["query"], body, {"Content-Type": _JSON}, within=within)
        except Unavailable as error:
            if within is None:
                raise
            raise Unavailable(f"{error} Before you call {self.name} again, check whether it was carried out.") from None
        return connection.decoded(Any, answer.data) if answer.data else None


def operations(connection: Connection) -> dict[str, Operation]:
    """Return the operations that take and return JSON, by name. Those with files have methods of their own."""
    specification = connection.read(dict[str, Any], "/openapi.json")
    found = sorted(_operations(specification), key=lambda one: one.name)
    return {one.name: one for one in found}


def find(known: Mapping[str, Operation], name: str) -> Operation:
    """Return the operation with this name.

    Raises:
        WrongUsage: there is none.
    """
    if name not in known:
        meant = nearest(name, known)
        hint = f" Did you mean {meant}?" if meant else ""
        raise WrongUsage(
            f"No operation {name} can be called.{hint} “agon call” lists all operations. Files have commands of their "
            "own, such as “agon submit”."
        )
    return known[name]


def _operations(specification: Mapping[str, Any]) -> Iterator[Operation]:
    for path, methods in specification["paths"].items():
        for method, described in methods.items():
            answers = [one for status, one in described["responses"].items() if status.startswith("2")]
            sent = described.get("requestBody", {}).get("content", {})
            returned = [media for one in answers for media in one.get("content", {})]
            if any(media and _JSON not in media for media in (sent, returned)):
                continue
            inputs = [*_parameters(described), *_keys(specification, sent.get(_JSON, {}).get("schema", {}))]
            yield Operation(
                described["operationId"],
                method.upper(),
                path.partition("/api/v1")[2],
                described["summary"],
                {one.name: one for one in inputs},
            )


def _parameters(described: Mapping[str, Any]) -> Iterator[Input]:
    for one in described.get("parameters", ()):
        if one["in"] in ("path", "query"):
            yield Input(one["name"], one["in"], one.get("required", False), _types(one["schema"]))


def _keys(specification: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[Input]:
    """Yield the keys of a request body."""
    schema = next(iter(schema.get("allOf", ())), schema)
    if "$ref" in schema:
        schema = specification["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    for name, own in schema.get("properties", {}).items():
        yield Input(name, "body", name in schema.get("required", ()), _types(own))


def _types(schema: Mapping[str, Any]) -> frozenset[str]:
    """Return the JSON types that the schema allows. References are to lists of words."""
    return frozenset(one.get("type", "string") for one in schema.get("anyOf", (schema,)))
