"""The exported schema: it is up to date, accepts the included tasks, and never allows more than the reader."""

import copy
import json
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st

from scoring import DefinitionError, load_definition
from scoring.definition import Definition
from scoring.definition.dates import MOMENT
from scoring.definition.keys import Key, keys_of
from scoring.definition.teams import REGULAR_EXPRESSION
from scoring.definition.yaml_values import path_to
from scoring.formats import FORMATS
from scoring.metrics import table as metrics_table
from scoring.reports.messages.table import as_markdown
from scoring.task_folder import reference, schema

ROOT = Path(__file__).parents[3]
TASKS = sorted(ROOT.glob("tasks/*/task.yaml"))
EVERY_KEY = yaml.safe_load(Path(__file__).with_name("every_key.yaml").read_text(encoding="utf-8"))
SCHEMA = schema.schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
Edit = tuple[tuple[str | int, ...], Any]


def as_yaml(document: dict[str, Any]) -> str:
    return str(yaml.dump(document, Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper)))


def test_the_documents_made_of_the_code_are_up_to_date() -> None:
    hint = "python -m scoring schema > docs/task.schema.json"
    assert (ROOT / "docs/task.schema.json").read_text(encoding="utf-8") == schema.as_text(), hint
    hint = "python -m scoring.task_folder.reference > docs/task-yaml.md"
    assert (ROOT / "docs/task-yaml.md").read_text(encoding="utf-8") == reference.as_markdown(), hint
    hint = "python -m scoring.reports.messages.table > docs/problem-codes.md"
    assert (ROOT / "docs/problem-codes.md").read_text(encoding="utf-8") == as_markdown(), hint
    hint = "python -m scoring.metrics.table > docs/metrics.md"
    assert (ROOT / "docs/metrics.md").read_text(encoding="utf-8") == metrics_table.as_markdown(), hint


@pytest.mark.slow
def test_it_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads(schema.as_text()))


@pytest.mark.parametrize("path", TASKS, ids=lambda path: path.parent.name)
def test_the_tasks_that_ship_satisfy_it(path: Path) -> None:
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    VALIDATOR.validate(document)
    document["tracks"][0]["metrics"] = ["no_such_metric"]
    assert not VALIDATOR.is_valid(document)


@pytest.mark.parametrize(
    "text",
    [
        "{name: jensen_shannon, base: 2}", "{name: jensen_shannon, base: e}", "{name: icm, alpha1: 1.5}",
        '{name: "precision:A@NAME=x", unpredicted: skip}', "{name: ter, punctuation: no}",
    ],
)  # fmt: skip
def test_a_metric_has_the_options_that_it_declares(text: str) -> None:
    document = copy.deepcopy(EVERY_KEY)
    document["tracks"][0]["metrics"] = [yaml.safe_load(text)]
    VALIDATOR.validate(document)


def declared(keys: Iterable[Key], path: str = "") -> Iterator[str]:
    for key in keys:
        yield path + key.name
        is_by_name = isinstance(key.kind.schema.get("additionalProperties"), dict)
        yield from declared(key.kind.keys, f"{path}{key.name}.{'NAME.' if is_by_name else ''}")


def test_a_definition_with_every_key_is_valid(tmp_path: Path) -> None:
    (tmp_path / "task.yaml").write_text(as_yaml(EVERY_KEY), encoding="utf-8")
    load_definition(tmp_path)
    VALIDATOR.validate(EVERY_KEY)

    def written(node: Any, path: str = "") -> Iterator[str]:
        for name, value in node.items():
            yield path + name
            for below in value if isinstance(value, list) else [value]:
                if isinstance(below, dict):
                    yield from written(below, f"{path}{name}.")

    instead = {"scorer.function"}  # of `scorer.command`
    assert set(declared(keys_of(Definition))) <= set(written(EVERY_KEY)) | instead
    formats = [part["format"] for part in EVERY_KEY["tracks"] + EVERY_KEY["gold"] if "format" in part]
    assert {one["kind"] for one in formats} == FORMATS.keys()
    assert {key.name for spec in FORMATS.values() for key in spec.options} <= {name for one in formats for name in one}


# One edit for each way in which a kind of value can be invalid. An ellipsis deletes the key.
BROKEN: list[Edit] = [
    (("agon",), 2),
    (("slug",), "Tiny Task"),
    (("slug",), "a" * 51),
    (("title",), ...),
    (("title",), ""),
    (("title",), "a" * 201),
    (("titel",), "Tiny"),
    (("year",), "soon"),
    (("year",), -1),
    (("year",), 12000),
    (("languages",), "en"),
    (("languages",), ["en", "en"]),
    (("languages",), [["en"]]),
    (("contact", "address"), "no address"),
    (("contact", "mailing_list"), "the list"),
    (("contact", "link"), "javascript:alert(1)"),
    (("organizers",), {"name": "Oana"}),
    (("organizers", 0, "name"), ...),
    (("organizers", 0, "link"), "javascript:alert(1)"),
    (("organizers", 0, "address"), "no address"),
    (("team",), "anyone"),
    (("team", "approval"), "never"),
    (("team", "approval"), {"domain": ["uni.example"]}),
    (("team", "approval"), {"domains": ["example"]}),
    (("team", "questions", 0, "label"), ...),
    (("team", "questions", 0, "required"), "yes"),
    (("agreement", "file"), "../terms.md"),
    (("pages", "overview"), "/etc/passwd"),
    (("pages", "overview"), "a\\b.md"),
    (("pages", "overview"), "a\0b.md"),
    (("hierarchies", "kinds", "YES"), "A"),
    (("decimals",), 1.5),
    (("tracks",), []),
    (("tracks",), {}),
    (("tracks", 0), "task1"),
    (("tracks", 0, "format"), ...),
    (("tracks", 0, "format", "kind"), "json"),
    (("tracks", 0, "format", "kind"), ...),
    (("tracks", 0, "format", "classes"), ...),
    (("tracks", 0, "format", "depth"), 3),
    (("tracks", 0, "format", "lines"), "maybe"),
    (("tracks", 0, "metrics"), []),
    (("tracks", 0, "metrics"), [{"unpredicted": "skip"}]),
    (("tracks", 0, "metrics"), ["icm", {"name": "precision_macro", "unpredicted": "never"}]),
    (("tracks", 0, "metrics"), ["icm", {"name": "precision_macro", "tail": "linear"}]),
    (("tracks", 0, "metrics"), ["icm", {"name": "accuracy", "over": "gold"}]),
    (("tracks", 0, "ties"), "none"),
    (("tracks", 3, "format", "id"), ...),
    (("tracks", 3, "format", "separator"), "::"),
    (("tracks", 3, "format", "implies", "parts"), ...),
    (("tracks", 5, "format", "values"), "numbers"),
    (("tracks", 5, "format", "values"), ["half"]),
    (("tracks", 5, "format", "values"), []),
    (("tracks", 5, "format", "high"), "much"),
    (("tracks", 5, "format", "columns"), {"HS": {"kind": "ordinal"}}),
    (("tracks", 5, "format", "columns"), {"HS": {"kind": "number", "values": [1]}}),
    (("tracks", 5, "format", "columns"), {"HS": {"values": [1]}}),
    (("tracks", 7, "format", "id"), ...),
    (("tracks", 8, "format", "spans"), "rows"),
    (("tracks", 8, "format", "header"), "none"),
    (("tracks", 9, "format", "between"), ""),
    (("tracks", 22, "files", "of"), "eng"),
    (("tracks", 22, "files", "of"), {"test": "eng"}),
    (("tracks", 22, "files", "of"), {"test": ["en g"]}),
    (("naming", "run"), ...),
    (("naming", "number"), [1, "two"]),
    (("naming", "aliases", "task"), ["T2"]),
    (("naming", "aliases", "language", "eng"), "eng lish"),
    (("phases", 0, "opens"), "2026-01-01"),
    (("phases", 0, "scores"), "at once"),
    (("phases", 0, "ladder_step"), 0),
    (("phases", 1, "runs_per_track"), 3),
    (("phases", 1, "slots", "primary"), 2),
    (("datasets", 0, "access"), "secret"),
    (("gold", 0, "published"), "yes"),
    (("baselines", 1, "files"), "../b.json"),
    (("baselines", 1, "files"), "b/{team}.json"),
    (("overall", 0, "by"), "median"),
]


def edited(edits: Iterable[Edit]) -> dict[str, Any]:
    document = copy.deepcopy(EVERY_KEY)
    for (*steps, last), value in edits:
        node = document
        for step in steps:
            node = node[step]  # type: ignore[index]
        if value is ...:
            del node[last]  # type: ignore[arg-type]
        else:
            node[last] = value  # type: ignore[index]
    return document


@pytest.mark.parametrize("edit", BROKEN, ids=str)
def test_what_is_broken_is_rejected_by_schema_and_reader(edit: Edit, tmp_path: Path) -> None:
    document = edited([edit])
    assert not VALIDATOR.is_valid(document)
    (tmp_path / "task.yaml").write_text(as_yaml(document), encoding="utf-8")
    with pytest.raises(DefinitionError) as raised:
        load_definition(tmp_path)
    place = path_to("", *edit[0])
    assert any(place.startswith(one.item.strip("/")) or one.item.startswith(place) for one in raised.value.report)


MOMENTS = st.sampled_from(
    ["2027-05-01 00:00 AoE", "2027-02-28 23:59:59 UTC", "2027-07-01 12:30 Europe/Madrid", "2027-07-01T12:30+02:00"]
)
CHARACTERS = st.characters(exclude_categories=["Cs"])
SPECIAL = {  # rules that no pattern can express: dates must exist, and regular expressions must be valid
    MOMENT.schema["pattern"]: MOMENTS,
    REGULAR_EXPRESSION.schema["format"]: st.sampled_from(["[a-z]+", "[A-Za-z0-9_-]{2,30}"]),
}


def values(part: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Generate JSON values that satisfy a part of the schema."""
    if "$ref" in part:
        return values(SCHEMA["$defs"][part["$ref"].rsplit("/", 1)[1]])
    for several in ("anyOf", "oneOf"):
        if several in part:
            return st.one_of([values(one) for one in part[several]])
    if "enum" in part:
        return st.sampled_from(part["enum"])
    if isinstance(part["type"], list):
        return st.one_of([values(part | {"type": one}) for one in part["type"]])
    return TYPES[part["type"]](part)


def texts(part: dict[str, Any]) -> st.SearchStrategy[str]:
    special = SPECIAL.get(part.get("format", part.get("pattern")))
    if special is not None:
        return special
    validator = jsonschema.Draft202012Validator(part)
    # Python's $, unlike JSON Schema's, also matches before a final line break.
    free = st.text(CHARACTERS, min_size=1, max_size=8)
    found = st.one_of(st.from_regex(part["pattern"]), free) if "pattern" in part else free
    return found.map(lambda text: text.removesuffix("\n")).filter(validator.is_valid)


def objects(part: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    more = part["additionalProperties"]
    if more is not False and "properties" not in part:
        return st.dictionaries(st.text(CHARACTERS, min_size=1, max_size=5), values(more), max_size=3)
    properties = {name: values(one) for name, one in part["properties"].items()}
    needed = {name: properties.pop(name) for name in part["required"]}
    found = st.fixed_dictionaries(needed, optional=properties)
    return found.filter(jsonschema.Draft202012Validator({"not": part["not"]}).is_valid) if "not" in part else found


def as_read(value: Any) -> str:
    """Return the text that identifies a list entry: the entry itself, or the name of a metric."""
    return str(value["name"]) if isinstance(value, dict) and "name" in value else str(value)


TYPES: dict[str, Callable[[dict[str, Any]], st.SearchStrategy[Any]]] = {
    "object": objects,
    "array": lambda part: st.lists(
        st.deferred(lambda: values(part["items"])), min_size=part.get("minItems", 0), max_size=3, unique_by=as_read
    ),
    "string": texts,
    "boolean": lambda part: st.booleans(),
    "integer": lambda part: st.integers(part["minimum"], part["maximum"]),
    "number": lambda part: st.one_of(st.integers(1, 100), st.floats(0, 1e6, exclude_min=True)),
}


@cache  # creating a strategy or a validator takes longer than using it
def values_of(name: str) -> st.SearchStrategy[Any]:
    return values(SCHEMA["properties"][name])


@cache
def validator_of(name: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(SCHEMA["properties"][name] | {"$defs": SCHEMA["$defs"]})


@pytest.mark.slow
@settings(
    max_examples=150,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # no shrinking: it takes minutes, and examples are small
)
@given(data=st.data())
def test_what_satisfies_it_is_well_formed_for_the_reader(data: st.DataObject, tmp_path: Path) -> None:
    """Replace one part of a complete definition with any value that the schema allows there.

    Problems in hierarchies are ignored, because only the reader checks the names in them.
    """
    name = data.draw(st.sampled_from(sorted(SCHEMA["properties"])))
    value = data.draw(values_of(name), label=name)
    # All other parts are valid, as another test shows, and validating them again would take most of the time.
    assume(validator_of(name).is_valid(value))
    (tmp_path / "task.yaml").write_text(as_yaml(EVERY_KEY | {name: value}), encoding="utf-8")
    try:
        load_definition(tmp_path)
    except DefinitionError as error:
        problems = [problem for problem in error.report.errors if problem.code != "definition-rule"]
        assert [one.message for one in problems if not str(one.item).endswith(".hierarchy")] == []
