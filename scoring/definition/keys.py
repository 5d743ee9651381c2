"""The keys of task.yaml. Each key is declared once, with its kind of value, default and description.

Reading, the JSON Schema and the reference page all use the declaration. A class declares its keys as fields (`slug: str
= declare(SLUG, "…")`), so that mypy can check that kind and type match. A run format lists its options as `Key`.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import islice
from typing import Any, Generic, TypeVar, overload

from scoring import limits
from scoring.definition.yaml_values import Value
from scoring.reports.nearest import nearest

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
D = TypeVar("D")
Schema = dict[str, Any]
Values = dict[str, Any]
# A function of the values read so far: those of the same mapping, and those of the root.
Default = Callable[[Values, Values], T]
REQUIRED: Any = object()


@dataclass(frozen=True, slots=True)
class Kind(Generic[T_co]):
    """A kind of value: how to read it, its JSON Schema, and its name on the reference page.

    The plural of the name must be formed by adding an s.
    """

    read: Callable[[Value], T_co]
    schema: Schema
    name: str
    keys: Sequence["Key"] = ()  # keys of the mapping, or of each mapping in the list


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a mapping. `when` limits the key to mappings in which another key has certain values.

    A default may be a function. In that case, the reference page shows the function's docstring as the default.
    """

    name: str
    kind: Kind[Any]
    doc: str
    default: Any = REQUIRED
    when: tuple[str, ...] = ()  # the other key, followed by its values
    attribute: str = ""  # the attribute that holds the value, if its name differs from the key

    def exists(self, values: Values) -> bool:
        return not self.when or values[self.when[0]] in self.when[1:]


@overload
def declare(kind: Kind[T], doc: str, *, name: str = "") -> T: ...
@overload
def declare(kind: Kind[T], doc: str, *, default: Default[T], name: str = "") -> T: ...
@overload
def declare(kind: Kind[T], doc: str, *, default: D, name: str = "") -> T | D: ...
def declare(kind: Kind[Any], doc: str, *, default: Any = REQUIRED, name: str = "") -> Any:
    """Declare a field of a class as a key of task.yaml. The key is named after the field unless `name` is given."""
    metadata = {"key": Key(name, kind, doc, default)}
    if default is REQUIRED or callable(default):
        return field(metadata=metadata)
    return field(default_factory=lambda: default, metadata=metadata)


def keys_of(part: type) -> list[Key]:
    """Return the keys that a class declares."""
    declared = [
        (attribute.name, attribute.metadata["key"]) for attribute in fields(part) if "key" in attribute.metadata
    ]
    return [replace(found, name=found.name or name, attribute=name) for name, found in declared]


def mapping(
    keys: Sequence[Key],
    make: Callable[..., T],
    finish: Callable[[Value, Values], None] | None = None,
    *,
    never_both: Sequence[str] = (),
) -> Kind[T]:
    """Return a kind for a mapping with these keys.

    Args:
        finish: checks the values, may change them, and reports problems.
        never_both: two keys that cannot be used together. The schema forbids them; `finish` must report them.
    """

    def read(value: Value) -> T:
        values = read_keys(value, keys)
        if finish:
            finish(value, values)
        return make(**values)

    schema = schema_of(keys)
    if never_both:
        schema["not"] = {"required": list(never_both)}
    return Kind(read, schema, "mapping", tuple(keys))


def part(
    make: type[T], finish: Callable[[Value, Values], None] | None = None, *, never_both: Sequence[str] = ()
) -> Kind[T]:
    """Return a kind for a mapping whose keys a class declares."""
    return mapping(keys_of(make), make, finish, never_both=never_both)


def read_keys(value: Value, keys: Iterable[Key], values: Values | None = None) -> Values:
    """Read a mapping into a dict keyed by attribute name.

    Report missing, unknown and repeated keys, and read the rest.

    Args:
        values: the dict to fill, if any. Keys read later can depend on values read earlier.
    """
    values = {} if values is None else values
    given = value.keys()
    if not value.is_mapping:
        value = value.nothing
    free, known = [], []
    for key in keys:
        if not key.exists(values):
            continue
        known.append(key.name)
        found = given.pop(key.name, None)
        if found is None:
            free.append(key.name)
        values[key.attribute or key.name] = _read_key(key, found, value, values)
    for name, unknown in islice(given.items(), limits.LISTED):
        expected, suggestion = ", ".join(sorted(known)), nearest(name, sorted(free))
        unknown.error("definition-key-unknown", found=name, expected=expected, suggestion=suggestion)
    if (more := len(given) - limits.LISTED) > 0:
        value.error("definition-rule", found=f"{more} more keys do not exist")
    return values


def _read_key(key: Key, found: Value | None, value: Value, values: Values) -> Any:
    if found is not None:
        return key.kind.read(found)
    if key.default is REQUIRED:
        value.error("definition-key-missing", expected=key.name)
        return key.kind.read(value.nothing)
    return key.default(values, value.document.parts) if callable(key.default) else key.default


def schema_of(keys: Iterable[Key]) -> Schema:
    """Return the JSON Schema of a mapping with these keys and no others."""
    keys = list(keys)
    return {
        "type": "object",
        "required": [key.name for key in keys if key.default is REQUIRED],
        "properties": {key.name: _described(key) for key in keys},
        "additionalProperties": False,
    }


def _described(key: Key) -> Schema:
    default = {"default": key.default} if isinstance(key.default, str | int) and key.default != "" else {}
    return {**key.kind.schema, "description": key.doc, **default}
