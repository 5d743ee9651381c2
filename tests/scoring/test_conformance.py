"""Agon compared with the official evaluators: verdicts and values of the conformance cases.

A compact selection in `cases/` always runs. The complete collection runs if `../shared` exists. For each case,
`cases.json` has the gold, the run, the expected result of the validator, and the values of the official evaluator.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from scoring import Definition, Report, check, check_upload, load_definition
from scoring.definition import MetricSpec
from scoring.score import Result, load_gold, score
from tests.conftest import ROOT

SELECTION = Path(__file__).parent / "cases"
SHARED = ROOT.parent / "shared" / "conformance"
TASKS = ("exist2024", "detests2022", "hateval2019", "toxicspans2021", "ssa2023")
# PyEvALL's macro precision omits classes that were never predicted.
OPTIONS = {("exist2024", "precision_macro"): {"unpredicted": "skip"}}
TOLERANCE = 1e-9

ARCHIVES = {
    "hateval_good_en_a": ("accept", ["en-a"]),
    "hateval_folder": ("warn", ["en-a"]),
    "hateval_macosx": ("warn", ["en-a"]),
    "hateval_two_files": ("accept", ["en-a", "en-b"]),
    "traversal": ("reject", []),
    "toxic_good": ("accept", ["spans"]),
    "toxic_in_folder": ("warn", ["spans"]),
    "toxic_extra_files": ("warn", ["spans"]),
}


class Case(NamedTuple):
    """An entry of a cases.json, and the folder to which its paths are relative."""

    task: str
    folder: Path
    entry: dict[str, Any]

    @property
    def track(self) -> str:
        return str(self.entry["subtask"]).replace("_", "-")

    def path(self, key: str) -> Path:
        return self.folder / self.entry[key]


@cache
def _shipped(task: str) -> Definition:
    return load_definition(ROOT / "tasks" / task)


def _cases(root: Path) -> Iterator[Case]:
    for task in TASKS:
        file = root / task / "cases.json"
        if file.is_file():
            yield from (Case(task, file.parent, entry) for entry in json.loads(file.read_text(encoding="utf-8")))


def _parameters() -> Iterator[Any]:
    for place, root in (("selection", SELECTION), ("shared", SHARED)):
        for case in _cases(root):
            yield pytest.param(case, id=f"{place}-{case.task}-{case.entry['id']}")


def _archives() -> Iterator[Any]:
    for place, root in (("selection", SELECTION), ("shared", SHARED)):
        for path in sorted(root.glob("archives/*.zip")):
            yield pytest.param(path, id=f"{place}-{path.stem}")


def _definition(case: Case, **changes: Any) -> Definition:
    """Return the included definition, with the track's metrics limited to those for which the case has values."""
    definition = _shipped(case.task)
    track = definition.track(case.track)
    metrics = tuple(_metric(case.task, name) for name in case.entry.get("scores") or {}) or track.metrics
    # The cases have their own items, which do not include labeled pairs.
    changed = replace(track, metrics=metrics, optional_items={}, **changes)
    return replace(definition, tracks=tuple(changed if one is track else one for one in definition.tracks))


def _metric(task: str, key: str) -> MetricSpec:
    name, _, part = key.partition(":")
    return MetricSpec(name, part or None, OPTIONS.get((task, name), {}))


def _items(case: Case, definition: Definition) -> list[str] | Path:
    if "items" in case.entry:
        return case.path("items")
    return list(load_gold(definition, case.track, case.path("gold")).answers.ids)


def _verdict(report: Report) -> str:
    return "reject" if not report.ok else "warn" if report.warnings else "accept"


def _scored(case: Case, lenient: bool = False, **changes: Any) -> Result:
    definition = _definition(case, **changes)
    items = _items(case, definition)
    return score(definition, case.track, case.path("run"), gold=case.path("gold"), items=items, lenient=lenient)


def _assert_scores(result: Result, expected: dict[str, float]) -> None:
    assert result.report.ok, [problem.message for problem in result.report.errors]
    assert {name: result.scores[name] for name in expected} == pytest.approx(expected, rel=0, abs=TOLERANCE)


@pytest.mark.parametrize("case", list(_parameters()))
def test_verdict_and_values(case: Case) -> None:
    expect = case.entry["expect"]
    if case.entry.get("name_matters"):
        _assert_named_wrong(case)
        return
    definition = _definition(case)
    report = check(definition, case.track, case.path("run"), _items(case, definition))
    verdict = _verdict(report)
    allowed = {
        "accept": {"accept", "warn"},
        "warn": {"warn"},
        "reject": {"reject"},
        "score_only": {"reject"},
        "any": {"accept", "warn", "reject"},
    }[expect]
    assert verdict in allowed, [problem.message for problem in report]
    assert all(problem.message and problem.file for problem in report)
    if case.entry.get("scores") and (expect == "score_only" or verdict != "reject"):
        _assert_scores(_scored(case, lenient=expect == "score_only"), case.entry["scores"])


@pytest.mark.parametrize(
    "case",
    [param for param in _parameters() if "scores_counting_items_outside_gold" in param.values[0].entry],
)
def test_values_when_items_outside_the_gold_count(case: Case) -> None:
    result = _scored(case, lenient=True, items_outside_gold="count")
    _assert_scores(result, case.entry["scores_counting_items_outside_gold"])


def _assert_named_wrong(case: Case) -> None:
    definition = _shipped(case.task)
    gold = "gold/synth_es.tsv" if case.entry["id"] == "fmt_a_named_es" else case.entry["gold"]
    items = [line.split("\t")[0] for line in (case.folder / gold).read_text(encoding="utf-8").splitlines()]
    report = check_upload(definition, case.path("run"), case.path("run").name, None, items=items).report
    codes = {problem.code for problem in report.errors}
    if case.entry["id"] == "fmt_a_named_es":
        assert "unknown-ids" in codes
        return
    assert any(code.startswith("name-") for code in codes), codes
    suggested = re.search(r"suggest (\S+)", case.entry["why"])
    if suggested:
        assert suggested[1] in {problem.suggestion for problem in report.errors}


@pytest.mark.parametrize("path", list(_archives()))
def test_archive(path: Path) -> None:
    name = path.stem
    verdict, tracks = ARCHIVES[name]
    task, items = "hateval2019", [str(number) for number in range(40001, 43001)]
    if name.startswith("toxic"):
        task, items = "toxicspans2021", [str(number) for number in range(690)]
    upload = check_upload(_shipped(task), path, path.name, "Meltemi", items=items)
    assert _verdict(upload.report) == verdict, [problem.message for problem in upload.report]
    assert [run.run.track for run in upload.runs] == tracks
    assert all(run.items == len(items) for run in upload.runs if run.report.ok)


def test_the_whole_collection_is_judged(shared: Path) -> None:
    assert sum(1 for _ in _cases(shared / "conformance")) >= 174


def test_the_selection_has_every_verdict_and_metric_family() -> None:
    cases = list(_cases(SELECTION))
    assert {case.entry["expect"] for case in cases} >= {"accept", "reject", "score_only"}
    families = {name.partition(":")[0] for case in cases for name in case.entry.get("scores") or {}}
    assert families >= {"icm", "icm_soft", "f1_macro", "cross_entropy", "hierarchical_f", "exact_match_ratio", "kappa"}
    assert sum(file.stat().st_size for file in SELECTION.rglob("*") if file.is_file()) < 600_000
