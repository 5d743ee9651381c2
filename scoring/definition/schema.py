"""The JSON Schema of task.yaml for editors: allowed keys, required keys, and their values.

The schema is only an aid for editing. `load_definition` decides what is valid: it reads scalars as text and also checks
rules that a schema cannot express.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import replace

from scoring.definition.keys import REQUIRED, Key, Schema, keys_of, schema_of
from scoring.definition.kinds import WORD, one_of
from scoring.definition.spec import Definition
from scoring.definition.tracks import COMBINE
from scoring.formats import FORMATS
from scoring.metrics.registry import names


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
    choosing = next((one.when[0] for one in options if one.when), None)
    if choosing is None:
        yield schema_of(options)
        return
    chosen = next(one for one in options if one.name == choosing)
    for word in chosen.kind.schema["enum"]:
        fixed = replace(chosen, kind=one_of(word), default=word if word == chosen.default else REQUIRED)
        yield schema_of([fixed if one is chosen else one for one in options if one.exists({choosing: word})])


def _metric() -> Schema:
    known = "|".join(map(re.escape, names()))  # includes metrics of installed packages
    key = {"type": "string", "pattern": f"^(({known})([:@].+)?|combine:.+)$"}
    named = {"type": "object", "required": ["name"], "properties": {"name": key}, "additionalProperties": WORD.schema}
    return {"anyOf": [key, named]}


def as_text() -> str:
    """Return the schema as JSON, as stored in docs/task.schema.json."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"
