"""The JSON Schema of task.yaml, for editors: which keys there are, which are needed, and what they may hold.

The reader (`scoring.definition.reader`) stays the judge: it reads scalars as text, and sees what no schema can.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

from scoring.metrics.registry import names

Schema = dict[str, Any]

TEXT: Schema = {"type": "string", "minLength": 1}
WORD: Schema = {"type": ["string", "number", "boolean"]}  # read as text, whatever YAML takes it for
WORDS: Schema = {"type": "array", "items": WORD}
TEXTS: Schema = {"type": "array", "items": TEXT}
WHOLE: Schema = {"type": "integer", "minimum": 0}
NUMBER: Schema = {"type": "number"}
FLAG: Schema = {"type": "boolean"}
SLUG: Schema = {"type": "string", "pattern": "^[a-z0-9]+(-[a-z0-9]+)*$"}
MOMENT: Schema = {
    "type": "string",
    "pattern": r"^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}(:[0-9]{2})? \S+$",
    "description": "a date with time of day and zone, as 2024-05-01 00:00 AoE, … UTC or … Europe/Madrid",
}
TEXT_BY_NAME: Schema = {"type": "object", "additionalProperties": WORD}
WORD_OR_WORDS: Schema = {"anyOf": [WORD, WORDS]}
BY_SPLIT: Schema = {"anyOf": [TEXT, TEXT_BY_NAME]}


def one_of(*words: str) -> Schema:
    return {"enum": list(words)}


def mapping(required: Sequence[str], /, **properties: Schema) -> Schema:
    """An object with these keys, of which some are required, and no others."""
    return {"type": "object", "required": list(required), "properties": properties, "additionalProperties": False}


OPTIONS: dict[str, Schema] = {
    "between": {"type": "string"},
    "classes": WORDS,
    "columns": {"anyOf": [WORDS, TEXT_BY_NAME]},
    "constants": TEXT_BY_NAME,
    "depth": WHOLE,
    "end": one_of("exclusive", "inclusive"),
    "extra_columns": one_of("warn", "ignore", "reject"),
    "file": one_of("plain", "table", "json"),
    "group": WORD,
    "header": one_of("required", "optional", "none"),
    "headers": WORDS,
    "high": NUMBER,
    "id": WORD_OR_WORDS,
    "implies": mapping(("whole", "parts"), whole=WORD, parts=WORDS, level=one_of("error", "warning")),
    "label": WORD,
    "layout": WORDS,
    "lines": FLAG,
    "low": NUMBER,
    "multi": FLAG,
    "separator": {"type": "string", "description": "one character, or comma, tab, semicolon, bar, space"},
    "spans": one_of("offsets", "pairs", "rows"),
    "start": WORD,
    "stop": WORD,
    "sum": NUMBER,
    "tolerance": NUMBER,
    "value": WORD,
    "values": {"anyOf": [{"const": "number"}, WORDS]},
}
RECORDS = ("constants", "id", "lines", "value")
LAYOUT = ("extra_columns", "header", "id", "layout", "separator")
KINDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {  # kind → needed options, further ones
    "json-labels": (("classes",), ("multi", *RECORDS)),
    "json-soft": (("classes",), ("sum", "tolerance", *RECORDS)),
    "table": (("columns", "id"), ("group", "high", "implies", "low", "values", *LAYOUT)),
    "table-labels": (("classes", "id"), ("between", "label", "multi", *LAYOUT)),
    "table-soft": (("classes", "id"), ("headers", "sum", "tolerance", *LAYOUT)),
    "spans": ((), ("end", "file", "spans", "start", "stop", *LAYOUT, *RECORDS)),
    "trec-run": ((), ("depth",)),
    "trec-qrels": ((), ()),
}


def _format(kind: str) -> Schema:
    needed, further = KINDS[kind]
    options = {name: OPTIONS[name] for name in sorted({*needed, *further})}
    return mapping(("kind", *needed), kind={"const": kind}, **options)


def _metric() -> Schema:
    known = "|".join(map(re.escape, names()))  # those of installed packages included
    key = {"type": "string", "pattern": f"^({known})(:.+)?$"}
    named = {"type": "object", "required": ["name"], "properties": {"name": key}, "additionalProperties": WORD}
    return {"anyOf": [key, named]}


def _track() -> Schema:
    return mapping(
        ("slug", "format", "items", "metrics", "rank_by"),
        slug=SLUG,
        title=TEXT,
        description=TEXT,
        language={"type": ["string", "null"]},
        format={"$ref": "#/$defs/format"},
        hierarchy=WORD,
        items=BY_SPLIT,
        optional_items=BY_SPLIT,
        texts=BY_SPLIT,
        item_languages=BY_SPLIT,
        missing=one_of("reject", "default"),
        items_outside_gold=one_of("ignore", "count"),
        metrics={"type": "array", "items": _metric(), "minItems": 1},
        rank_by=TEXT,
        decimals=WHOLE,
        ties=one_of("exact", "rounded", "earlier"),
    )


def _phase() -> Schema:
    return mapping(
        ("slug", "opens", "scores", "official"),
        slug=SLUG,
        title=TEXT,
        opens=MOMENT,
        closes=MOMENT,
        split=WORD,
        runs_per_track=WHOLE,
        runs_per_day=WHOLE,
        scores=one_of("at-once", "on-release", "never"),
        released=MOMENT,
        official=one_of("best", "last", "chosen", "all"),
        run_numbers=one_of("once", "free"),
        slots=mapping(("primary", "contrastive"), primary={"enum": [1, "1"]}, contrastive=WHOLE),
        team_names=one_of("shown", "on-release"),
        ladder_step={"type": "number", "exclusiveMinimum": 0},
    )


def _team() -> Schema:
    domains = mapping(("domains",), domains=TEXTS)
    question = mapping(("key", "label"), key=WORD, label=TEXT, required=FLAG, choices=WORDS)
    return mapping(
        ("name",),
        name=TEXT,
        approval={"anyOf": [one_of("automatic", "manual"), domains]},
        questions={"type": "array", "items": question},
        closes_with=SLUG,
    )


def _dataset() -> Schema:
    access = one_of("public", "registered", "approved", "password")
    return mapping(
        ("slug", "file", "access"),
        slug=SLUG,
        title=TEXT,
        file=TEXT,
        access=access,
        licence=TEXT,
        released=MOMENT,
        encrypted=FLAG,
    )


def _gold() -> Schema:
    return mapping(
        ("track", "file"),
        track=WORD,
        split=WORD,
        file=TEXT,
        format={"$ref": "#/$defs/format"},
        covers=one_of("all", "listed"),
        published=FLAG,
    )


def schema() -> Schema:
    """The whole schema, in the dialect of 2020-12."""

    def many(part: Schema) -> Schema:
        return {"type": "array", "items": part}

    hierarchy = {"type": "object", "additionalProperties": WORDS}
    root = mapping(
        ("agon", "slug", "title", "year", "languages", "tracks", "naming", "phases"),
        agon={"enum": [1, "1"]},
        slug=SLUG,
        title=TEXT,
        subtitle=TEXT,
        venue=TEXT,
        year=WHOLE,
        languages=WORDS,
        sources=TEXTS,
        team=_team(),
        agreement=mapping(("version", "file"), version=WORD, file=TEXT),
        pages=TEXT_BY_NAME,
        hierarchies={"type": "object", "additionalProperties": hierarchy},
        decimals=WHOLE,
        tracks=many(_track()),
        naming=mapping(("run",), run=TEXT, archive=TEXT, track=TEXT, number=many(WHOLE)),
        phases=many(_phase()),
        datasets=many(_dataset()),
        gold=many(_gold()),
        votes=many(mapping(("track", "file"), track=WORD, split=WORD, file=TEXT, field=WORD, none=WORD, no_vote=WORDS)),
        baselines=many(mapping(("name",), name=TEXT, files=TEXT)),
        overall=many(
            mapping(
                ("slug", "tracks", "by"),
                slug=SLUG,
                title=TEXT,
                tracks=WORDS,
                by=one_of("mean-rank", "borda", "mean-score"),
                note=TEXT,
            )
        ),
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A shared task of Agon (task.yaml)",
        **root,
        "$defs": {"format": {"oneOf": [_format(kind) for kind in KINDS]}},
    }


def as_text() -> str:
    """The schema as it is printed and kept in docs/task.schema.json."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"
