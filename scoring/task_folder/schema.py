"""The JSON Schema of task.yaml for editors: allowed keys, required keys, and their values.

The schema is only an aid for editing. `load_definition` decides what is valid: it reads scalars as text and also checks
rules that a schema cannot express.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import yaml

from scoring.definition.keys import REQUIRED, Key, Schema, keys_of, schema_of
from scoring.definition.kinds import WORD, one_of
from scoring.definition.spec import Definition
from scoring.definition.tracks import AS, COMBINE, UNDEFINED
from scoring.formats import FORMATS
from scoring.metrics.metric import AnyNumber, SomeColumns
from scoring.metrics.registry import METRICS, names


def schema() -> Schema:
    """Return the whole schema in the 2020-12 dialect."""
    formats = [variant for kind in FORMATS for variant in _variants(kind)]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "An Agon shared task (task.yaml)",
        **schema_of(keys_of(Definition)),
        "$defs": {"format": {"oneOf": formats}, "metric": _metric(), "combine": COMBINE},
    }


def _variants(kind: str) -> Iterator[Schema]:
    """Yield a schema for the format's options.

    If some options depend on the value of one option, yield a schema for each of its values.
    """
    options = [Key("kind", one_of(kind), FORMATS[kind].doc), *FORMATS[kind].options]
    choosing = next((option.when[0] for option in options if option.when), None)
    if choosing is None:
        yield schema_of(options)
        return
    chosen = next(option for option in options if option.name == choosing)
    for word in chosen.kind.schema["enum"]:
        fixed = replace(chosen, kind=one_of(word), default=word if word == chosen.default else REQUIRED)
        yield schema_of(
            [fixed if option is chosen else option for option in options if option.exists({choosing: word})]
        )


def _metric() -> Schema:
    """Return a schema for a metric: its key, or a mapping with its options.

    Metrics with the same options share a variant. The options of metrics of installed packages are not known here.
    """
    together: dict[str, list[str]] = {}
    for name in names():
        known = (
            {option: _option(allowed) for option, allowed in METRICS[name].options.items()} if name in METRICS else None
        )
        together.setdefault(json.dumps(known), []).append(name)
    named = [_named(group, json.loads(options)) for options, group in together.items()]
    return {"anyOf": [_key(names()), *named]}


def _named(metrics: Sequence[str], options: Schema | None) -> Schema:
    more = WORD.schema if options is None else False
    properties = {"name": _key(metrics), **{key.name: key.kind.schema for key in (AS, UNDEFINED)}, **(options or {})}
    return {"type": "object", "required": ["name"], "properties": properties, "additionalProperties": more}


def _key(metrics: Sequence[str]) -> Schema:
    return {"type": "string", "pattern": f"^(({'|'.join(map(re.escape, metrics))})([:@].+)?|(combine|scorer):.+)$"}


def _option(allowed: tuple[str, ...] | AnyNumber | SomeColumns) -> Schema:
    """Return a schema for an option's values. YAML reads some words, such as `yes` and 2, as other types."""
    match allowed:
        case AnyNumber(low=low):
            return {"type": ["number", "string"], "minimum": low, "pattern": "^[0-9.]+([eE][-+]?[0-9]+)?$"}
        case SomeColumns():
            return WORD.schema
        case words:
            return {"enum": [*words, *(word for word in map(yaml.safe_load, words) if not isinstance(word, str))]}


def as_text() -> str:
    """Return the schema as JSON, as stored in docs/task.schema.json."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"
