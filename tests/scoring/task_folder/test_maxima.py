"""Maxima in task.yaml: for every list and mapping, for texts, and for totals. Stored definitions may exceed them."""

import copy
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from time import process_time
from typing import Any

import pytest
import yaml

from agon.errors import RunInvalid
from agon.task_folder import checked_folder
from scoring import DefinitionError, limits, load_definition
from scoring.definition.keys import Key, keys_of
from scoring.definition.spec import Definition
from scoring.formats import FORMATS
from scoring.metrics import tree
from scoring.reports.problems import Problem
from scoring.task_folder.reader import DOWNLOADED
from scoring.task_folder.schema import schema
from tests.scoring.conftest import DEFINITION
from tests.scoring.task_folder.test_schema import EVERY_KEY, as_yaml

SECONDS = 2.0  # a definition at its maxima needs a quarter of it, and rules that are not linear far more
TRIES = 3
Path_ = tuple[str | int, ...]


def errors_of(folder: Path) -> list[Problem]:
    with pytest.raises(DefinitionError) as raised:
        load_definition(folder)
    return raised.value.report.errors


def without_maximum(part: Any, path: str = "") -> Iterator[str]:
    """Yield the paths of all lists and mappings with free keys in a schema that have no maximum."""
    if isinstance(part, dict):
        if part.get("type") == "array" and "maxItems" not in part:
            yield path
        if isinstance(part.get("additionalProperties"), dict) and "maxProperties" not in part:
            yield path
        for name, below in part.items():
            yield from without_maximum(below, f"{path}/{name}")
    elif isinstance(part, list):
        for below in part:
            yield from without_maximum(below, path)


def test_every_list_and_mapping_has_a_maximum() -> None:
    """The schema is made of the declarations of the keys, so it has all of them."""
    assert not list(without_maximum(schema()))


def collections_in(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    if path and isinstance(value, list):
        yield path
    if isinstance(value, dict | list):
        for name, below in value.items() if isinstance(value, dict) else enumerate(value):
            yield from collections_in(below, (*path, name))


def free_mappings(keys: list[Key], value: Any, path: Path_ = ()) -> Iterator[Path_]:
    """Yield the paths of mappings with free keys in a document."""
    for key in keys:
        if isinstance(value, dict) and key.name in value:
            below, here = value[key.name], (*path, key.name)
            if isinstance(below, dict) and not key.kind.keys and "additionalProperties" in str(key.kind.schema):
                yield here
            for at, entry in enumerate(below) if isinstance(below, list) else [(None, below)]:
                yield from free_mappings(list(key.kind.keys), entry, here if at is None else (*here, at))


def each_key_once(paths: Iterable[Path_]) -> list[Path_]:
    """Return the first path to each key, because entries of the same list have the same keys."""
    found: dict[tuple[str, ...], Path_] = {}
    for path in paths:
        found.setdefault(tuple(step for step in path if isinstance(step, str)), path)
    return list(found.values())


GROWING = each_key_once([*collections_in(EVERY_KEY), *free_mappings(keys_of(Definition), EVERY_KEY)])


def too_many(path: Path_) -> int:
    """Return a number of entries above the maximum, but below the maximum for the values of the whole document."""
    entry: Any = EVERY_KEY
    for step in path:
        entry = entry[step]
    entry = next(iter(entry.values() if isinstance(entry, dict) else entry), "")
    return limits.ENTRIES + 50 if isinstance(entry, dict | list) else limits.CLASSES + 1


def grown(path: Path_, count: int) -> dict[str, Any]:
    """Return the document with `count` entries in the list or mapping at the path."""
    document = copy.deepcopy(EVERY_KEY)
    *steps, last = path
    parent: Any = document
    for step in steps:
        parent = parent[step]
    entries = parent[last]
    if isinstance(entries, dict):
        first = next(iter(entries.values()))
        more = {f"k{n}": copy.deepcopy(first) for n in range(count)}  # the same object would be written as an alias
        parent[last] = dict(islice({**entries, **more}.items(), count))
    else:
        is_text = not entries or isinstance(entries[0], str)
        parent[last] = [*entries, *(f"w{n}" if is_text else copy.deepcopy(entries[0]) for n in range(count))][:count]
    return document


def dotted(path: Path_) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


@pytest.mark.slow
@pytest.mark.parametrize("path", GROWING, ids=dotted)
def test_a_list_or_mapping_that_is_too_long_is_an_error(path: Path_, tmp_path: Path) -> None:
    count = too_many(path)
    (tmp_path / "task.yaml").write_text(as_yaml(grown(path, count)), encoding="utf-8")
    began = process_time()
    errors = errors_of(tmp_path)
    assert process_time() - began < SECONDS
    start = f"there are {count} entries; at most "
    [error] = [one for one in errors if str(one.found).startswith(start)]
    assert (error.code, error.item) == ("definition-rule", dotted(path))


def test_the_grown_lists_include_those_of_all_formats() -> None:
    grown_keys = {step for path in GROWING for step in path}
    lists = {
        option.name for one in FORMATS.values() for option in one.options if option.kind.schema.get("type") == "array"
    }
    assert lists <= grown_keys


HOSTILE: dict[str, Callable[[], dict[str, Any]]] = {
    "unknown keys": lambda: {f"k{n}": 1 for n in range(14_000)},
    "a chain of classes": lambda: {"hierarchies": {"h": {f"N{n}": [f"N{n + 1}"] for n in range(5000)}}},
    "classes that are not in the hierarchy": lambda: (
        track({"kind": "json-labels", "classes": [f"X{n}" for n in range(5000)]}, hierarchy="h")
        | {"hierarchies": {"h": {f"N{n}": [f"M{n}"] for n in range(5000)}}}
    ),
    "metrics of classes that do not exist": lambda: track(
        {"kind": "json-labels", "classes": [f"X{n}" for n in range(5000)]}, metrics=[f"f1:Y{n}" for n in range(200)]
    ),
    "combined scores": lambda: track(
        {"kind": "json-labels", "classes": [f"X{n}" for n in range(200)]},
        metrics=[{"combine": f"s{n}", "of": [f"f1:X{at}" for at in range(120)]} for n in range(199)],
    ),
    "many values": lambda: {"sources": list(range(200_000))},
    "a long pattern": lambda: {"naming": {"run": "[x]" * 300_000 + "{team}"}},
    "a long path": lambda: {"agreement": {"version": "1", "file": "a/" * 450_000}},
    "a regular expression": lambda: {"team": {"name": "a?" * 450_000}},
    "many phases and tracks": lambda: {
        "tracks": [
            track({"kind": "json-labels", "classes": ["X", "Y"]})["tracks"][0] | {"slug": f"t{n}"} for n in range(200)
        ],
        "naming": {"run": "{track}_{team}.json"},
        "phases": [yaml.safe_load(DEFINITION)["phases"][0] | {"slug": f"p{n}"} for n in range(60)],
    },
    "run numbers of many tracks": lambda: {
        "tracks": [
            track({"kind": "json-labels", "classes": ["X", "Y"]})["tracks"][0] | {"slug": f"t{n}"} for n in range(200)
        ],
        "naming": {"run": "{track}_{team}_{number}.json", "number": list(range(1000))},
    },
    "questions": lambda: {"team": {"name": "[a-z]{2,30}", "questions": [{"key": f"q{n}"} for n in range(9000)]}},
}


def track(form: dict[str, Any], metrics: list[Any] | None = None, **more: Any) -> dict[str, Any]:
    own = {"slug": "task1-hard", "format": form, "items": "items.txt", "metrics": metrics or ["accuracy"]}
    return {"tracks": [own | {"rank_by": "accuracy"} | more]}


@pytest.mark.parametrize("name", HOSTILE)
def test_an_expensive_definition_is_rejected_quickly(write_task: Callable[[str], Path], name: str) -> None:
    folder = write_task(as_yaml(yaml.safe_load(DEFINITION) | HOSTILE[name]()))
    for _ in range(TRIES):
        began = process_time()
        errors = errors_of(folder)
        if (used := process_time() - began) < SECONDS:
            break
    assert used < SECONDS
    assert len(errors) <= limits.DEFINITION_PROBLEMS + 1
    assert all(len(one.message) < 40_000 for one in errors)


def test_problems_beyond_the_maximum_are_counted(write_task: Callable[[str], Path]) -> None:
    more = "".join(f"k{n}: 1\n" for n in range(25)) + "venue: [1]\n" * 30
    *errors, last = errors_of(write_task(DEFINITION + more))
    assert len(errors) == limits.DEFINITION_PROBLEMS
    assert "more problems; fix these first" in str(last.found) or any("more problems" in str(e.found) for e in errors)


@pytest.mark.parametrize(
    "change",
    [
        {"sources": [f"s{n}" for n in range(limits.ENTRIES + 1)]},
        {"sources": ["x" * (limits.DEFINITION_CHARACTERS + 1)]},
        {"naming": {"run": "{track}_{team}" + "x" * limits.PATTERN_CHARACTERS}},
        {"agreement": {"version": "1", "file": "a/../" * limits.PATH_CHARACTERS + "items.txt"}},
        {"team": {"name": "[a-z]+", "questions": [{"key": f"q{n}", "label": "Q"} for n in range(51)]}},
        {"naming": {"run": "{track}_{team}_{number}.json", "number": list(range(1000))}},
    ],
    ids=lambda change: next(iter(change)),
)
def test_stored_definitions_that_exceed_new_maxima_are_still_read(
    write_task: Callable[[str], Path], change: dict[str, Any]
) -> None:
    folder = write_task(as_yaml(yaml.safe_load(DEFINITION) | change))
    assert {one.code for one in errors_of(folder)} == {"definition-rule"}
    stored = load_definition(folder, is_imported=True)
    assert len(stored.sources) == len(change.get("sources", ()))
    assert len(stored.team.questions) == len(change.get("team", {}).get("questions", ()))


def test_a_downloaded_folder_that_breaks_new_rules_is_still_read_but_not_pushed(
    write_task: Callable[[str], Path],
) -> None:
    folder = write_task(as_yaml(yaml.safe_load(DEFINITION) | {"sources": [f"s{n}" for n in range(limits.ENTRIES + 1)]}))
    with pytest.raises(DefinitionError):
        load_definition(folder)
    (folder / DOWNLOADED).touch()
    assert len(load_definition(folder).sources) == limits.ENTRIES + 1
    with pytest.raises(RunInvalid):
        checked_folder(folder)


def test_a_stored_definition_with_thousands_of_metrics_is_read_completely(write_task: Callable[[str], Path]) -> None:
    classes = [f"X{n}" for n in range(3000)]
    metrics = ["accuracy", *(f"f1:{name}" for name in classes)]
    folder = write_task(
        as_yaml(yaml.safe_load(DEFINITION) | track({"kind": "json-labels", "classes": classes}, metrics))
    )
    assert len(load_definition(folder, is_imported=True).tracks[0].metrics) == 3001
    assert [one.code for one in errors_of(folder)] == ["definition-rule"]


@pytest.mark.parametrize(
    ("parents", "expected"),
    [
        ({"a": ["b"], "b": ["c"], "c": ["a"]}, {"a", "b", "c"}),
        ({"a": ["a", "x"]}, {"a"}),
        ({"top": ["a"], "a": ["b"]}, set()),
        ({"a": ["b"], "b": ["a", "c"], "c": ["d"]}, {"a", "b"}),
    ],
)
def test_only_classes_on_a_cycle_are_their_own_ancestors(parents: dict[str, list[str]], expected: set[str]) -> None:
    found = [sentence for sentence in tree.errors_of_tree(parents) if "ancestor" in sentence]
    assert found == [f"{name} is its own ancestor" for name in sorted(expected)]
