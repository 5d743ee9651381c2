"""The keys of task.yaml. Each key is declared once, with its kind of value, default and description.

Reading, the JSON Schema and the reference page all use the declaration. A class declares its keys as fields (`slug: str
= declare(SLUG, "…")`), so that mypy checks that kind and type match. A run format lists its options as `Key`.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Generic, TypeVar, overload

from scoring.definition.yaml_values import Value
from scoring.reports.nearest import nearest

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
D = TypeVar("D")
Schema = dict[str, Any]
Values = dict[str, Any]
Default = Callable[[Values, Values], T]  # gets the values read so far: of the same mapping, and of the root
REQUIRED: Any = object()


@dataclass(frozen=True, slots=True)
class Kind(Generic[T_co]):
    """A kind of value: how to read it, its JSON Schema, and its name on the reference page.

    An s is added for the plural.
    """

    read: Callable[[Value], T_co]
    schema: Schema
    name: str
    keys: Sequence["Key"] = ()  # of the mapping, or of each mapping in the list


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a mapping. `when` limits the key to mappings where another key has one of some values.

    A default may be a function. The reference page then shows the function's docstring as the default.
    """

    name: str
    kind: Kind[Any]
    doc: str
    default: Any = REQUIRED
    when: tuple[str, ...] = ()  # the other key, followed by its values
    attribute: str = ""  # the attribute for the value, if its name differs from the key

    def exists(self, values: Values) -> bool:
        return not self.when or values[self.when[0]] in self.when[1:]


@overload
def declare(kind: Kind[T], doc: str, *, name: str = "") -> T: ...
@overload
def declare(kind: Kind[T], doc: str, *, default: Default[T], name: str = "") -> T: ...
@overload
def declare(kind: Kind[T], doc: str, *, default: D, name: str = "") -> T | D: ...
def declare(kind: Kind[Any], doc: str, *, default: Any = REQUIRED, name: str = "") -> Any:
    """Declare a field of a class as a key of task.yaml. The key has the field's name unless `name` is given."""
    metadata = {"key": Key(name, kind, doc, default)}
    if default is REQUIRED or callable(default):
        return field(metadata=metadata)
    return field(default_factory=lambda: default, metadata=metadata)


def keys_of(part: type) -> list[Key]:
    """Return the keys that a class declares."""
    declared = [(one.name, one.metadata["key"]) for one in fields(part) if "key" in one.metadata]
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
        never_both: two keys that exclude each other, for the schema. `finish` reports the problem.
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
    """Return a kind for a mapping that a class declares."""
    return mapping(keys_of(make), make, finish, never_both=never_both)


def read_keys(value: Value, keys: Iterable[Key], values: Values | None = None) -> Values:
    """Read the values of a mapping by attribute.

    Missing, unknown and repeated keys are reported, and all others are read.

    Args:
        values: the dict to fill. Kinds that are read later can use the earlier values.
    """
    values = {} if values is None else values
    given = value.keys()
    if not value.is_mapping:
        value = value.nothing
    free, known = [], []
    for one in keys:
        if not one.exists(values):
            continue
        known.append(one.name)
        found = given.pop(one.name, None)
        if found is None:
            free.append(one.name)
        values[one.attribute or one.name] = _read_key(one, found, value, values)
    for name, unknown in given.items():
        unknown.error(
            "definition-key-unknown",
            found=name,
            expected=", ".join(sorted(known)),
            suggestion=nearest(name, sorted(free)),
        )
    return values


def _read_key(one: Key, found: Value | None, value: Value, values: Values) -> Any:
    if found is not None:
        return one.kind.read(found)
    if one.default is REQUIRED:
        value.error("definition-key-missing", expected=one.name)
        return one.kind.read(value.nothing)
    return one.default(values, value.document.parts) if callable(one.default) else one.default


def schema_of(keys: Iterable[Key]) -> Schema:
    """Return the JSON Schema of a mapping with these keys and no others."""
    keys = list(keys)
    return {
        "type": "object",
        "required": [one.name for one in keys if one.default is REQUIRED],
        "properties": {one.name: _described(one) for one in keys},
        "additionalProperties": False,
    }


def _described(one: Key) -> Schema:
    default = {"default": one.default} if isinstance(one.default, str | int) and one.default != "" else {}
    return {**one.kind.schema, "description": one.doc, **default}
