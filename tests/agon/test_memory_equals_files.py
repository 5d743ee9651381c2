"""`agon.compute` gives answers in memory the scores of the same answers in files, for every metric and option."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agon
from scoring import load_definition
from scoring.definition import Definition, MetricSpec
from scoring.metrics import METRICS, LoadedGold, compare, compute
from scoring.metrics.metric import AnyNumber, Metric, Part, SomeColumns
from scoring.score import load_gold, run_answers
from tests.for_each import for_each

CLASSES = ["a", "b", "c", "d", "e"]  # d occurs only in the run, and e in neither
ITEMS = [f"i{number}" for number in range(12)]
TEXT = "w0 w1 w2 w3 w4 w5 w6 w7 w8 w9"
HIERARCHY = {"x": ["a", "b"], "y": ["c", "d", "e"]}
NEEDS_GROUPS = {"ssa_accuracy", "ssa_bias", "ssa_reflected", "bpsn_auc", "bnsp_auc"}
SOME_PRODUCTS = 16  # with more combinations of options, each option's values are tried alone


@dataclass(frozen=True)
class Side:
    """The gold's or the run's answers in memory, and the same answers as a file."""

    answers: list[Any]
    file: str


@dataclass(frozen=True)
class Kind:
    """A kind of answers: the format in task.yaml, the two sides, and the classes that the format declares."""

    format: str
    gold: Side
    run: Side
    part: str | None = None
    classes: Sequence[str | int] | Mapping[str, Sequence[int]] | None = None
    gold_format: str = ""
    columns: Sequence[str] = ()


def records(answers: Sequence[Any]) -> Side:
    lines = [{"id": item, "value": value} for item, value in zip(ITEMS, answers, strict=True)]
    return Side(list(answers), json.dumps(lines))


def rows(answers: Sequence[Mapping[str, Any]]) -> Side:
    lines = [["id", *answers[0]], *([item, *row.values()] for item, row in zip(ITEMS, answers, strict=True))]
    return Side(list(answers), "".join(",".join(map(str, line)) + "\n" for line in lines))


def labels(rng: np.random.Generator, known: Sequence[str]) -> Side:
    return records([str(rng.choice(known)) for _ in ITEMS])


def sets(rng: np.random.Generator, known: Sequence[str]) -> Side:
    return records([sorted({str(name) for name in rng.choice(known, rng.integers(1, 4))}) for _ in ITEMS])


def weights(rng: np.random.Generator) -> Side:
    drawn = rng.integers(0, 5, (len(ITEMS), len(CLASSES))) / 4
    return records([dict(zip(CLASSES, row.tolist(), strict=True)) for row in drawn])


def cells(rng: np.random.Generator, high: int) -> Side:
    return rows([{name: int(rng.integers(0, high)) for name in "pqr"} for _ in ITEMS])


def numbers(rng: np.random.Generator) -> Side:
    return rows([{name: float(rng.integers(0, 100) / 100) for name in "pq"} for _ in ITEMS])


def spans(rng: np.random.Generator) -> Side:
    return records([[[at, int(at + rng.integers(1, 4))] for at in (0, 5, 10) if rng.random() < 0.7] for _ in ITEMS])


def entities(rng: np.random.Generator, known: Sequence[str]) -> Side:
    places = [[(at, int(at + rng.integers(1, 4))) for at in (0, 4, 7) if rng.random() < 0.7] for _ in ITEMS]
    return records([[[3 * one, 3 * end - 1, str(rng.choice(known))] for one, end in row] for row in places])


def documents(rng: np.random.Generator, is_run: bool) -> Side:
    found = [{f"d{name}": int(rng.integers(0, 4)) for name in rng.permutation(9)[:5]} for _ in ITEMS]
    lines = [
        f"{item} Q0 {name} {at} {score} tag\n" if is_run else f"{item} 0 {name} {score}\n"
        for item, row in zip(ITEMS, found, strict=True)
        for at, (name, score) in enumerate(sorted(row.items(), key=lambda pair: (pair[1], pair[0]), reverse=True), 1)
    ]
    return Side(found, "".join(lines))


def texts(rng: np.random.Generator) -> Side:
    words = ["a", "cat", "sat", "on", "the", "Mat", "today", "."]
    found = [" ".join(rng.choice(words, rng.integers(4, 9))) for _ in ITEMS]
    return Side(found, "".join(f"{item}\t{text}\n" for item, text in zip(ITEMS, found, strict=True)))


def tuples(rng: np.random.Generator) -> Side:
    drawn = [{(f"word {one}", CLASSES[other]) for one, other in rng.integers(0, 3, (4, 2))} for _ in ITEMS]
    return records([sorted(map(list, own)) for own in drawn])


def kinds() -> dict[str, Kind]:
    rng = np.random.default_rng(1)
    listed, domains = ", ".join(CLASSES), "{p: {V}, q: {V}, r: {V}}".replace("V", "kind: ordinal, values: [0, 1, 2]")
    table = "kind: table, id: id, separator: comma, header: required"
    return {
        "labels": Kind(
            f"kind: json-labels, classes: [{listed}]", labels(rng, CLASSES[:3]), labels(rng, CLASSES[:4]), "a", CLASSES
        ),
        "sets": Kind(
            f"kind: json-labels, multi: true, classes: [{listed}]",
            sets(rng, CLASSES[:3]),
            sets(rng, CLASSES[:4]),
            "a",
            CLASSES,
        ),
        "soft": Kind(f"kind: json-soft, classes: [{listed}]", weights(rng), weights(rng), "a", CLASSES),
        "table": Kind(
            f"{table}, columns: {domains}",
            cells(rng, 2),
            cells(rng, 3),
            "p",
            dict.fromkeys("pqr", (0, 1, 2)),
            "",
            "pqr",
        ),
        "numbers": Kind(
            f"{table}, columns: {{p: {{kind: number}}, q: {{kind: number}}}}",
            numbers(rng),
            numbers(rng),
            "p",
            columns="pq",
        ),
        "spans": Kind("kind: spans, file: json, spans: pairs", spans(rng), spans(rng)),
        "entities": Kind(
            f"kind: typed-spans, file: json, spans: triples, classes: [{listed}]",
            entities(rng, CLASSES[:3]),
            entities(rng, CLASSES[:4]),
            "a",
            CLASSES,
        ),
        "rankings": Kind(
            "kind: trec-run", documents(rng, False), documents(rng, True), "3", gold_format="kind: trec-qrels"
        ),
        "texts": Kind("kind: text-lines, ids: first", texts(rng), texts(rng)),
        "tuples": Kind(
            "kind: tuples, file: json, tuples: lists, columns: [1, 2], values: {2: [a, b, c]}",
            tuples(rng),
            tuples(rng),
            "1",
            columns=("1", "2"),
        ),
    }


KINDS = kinds()
FIRST = {
    "labels": "accuracy",
    "sets": "jaccard",
    "soft": "mae",
    "table": "exact_match_ratio",
    "numbers": '"pearson:p"',
    "spans": "span_f1",
    "entities": "entity_f1_surface",
    "rankings": "map",
    "texts": "exact_match",
    "tuples": "tuple_f1",
}


def answers_of(name: str, metric: Metric) -> bool:
    """Return whether the metric supports this kind of answers."""
    if name == "sets":
        return "labels" in metric.kinds and not metric.single_label
    if name == "numbers":
        return "table" in metric.kinds and metric.numbers and not metric.ordinal
    return name in metric.kinds


def parts_of(kind: Kind, metric: Metric, name: str) -> list[str | None]:
    if metric.part in (Part.NONE, Part.GROUP):
        return [None]
    if metric.part in (Part.CLASS, Part.CUTOFF):
        return [kind.part, "d"] if metric.part is Part.CLASS else [kind.part]
    if metric.part is Part.COLUMN:
        return [kind.part] if kind.columns else [None]
    return [None, kind.part]


def options_of(metric: Metric, kind: Kind) -> Iterator[dict[str, str]]:
    """Yield combinations of the options' values. None stands for an option that is left out."""
    values: dict[str, list[str | None]] = {}
    for name, allowed in metric.options.items():
        if isinstance(allowed, SomeColumns):
            own = kind.columns[-1] if name == "longitude" else kind.columns[0]
            values[name] = [own] if allowed.required else [None, own]
        elif isinstance(allowed, AnyNumber):
            values[name] = [None, "0.5" if allowed.low <= 0.5 else "2"]
        else:
            values[name] = [None, *allowed]
    if np.prod([len(own) for own in values.values()]) <= SOME_PRODUCTS:
        chosen = [dict(zip(values, row, strict=True)) for row in product(*values.values())]
    else:
        first = {name: own[0] for name, own in values.items()}
        chosen = [first | {name: value} for name, own in values.items() for value in own]
    for row in chosen:
        yield {name: value for name, value in row.items() if value is not None}


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[LoadedGold, Any]]:
    """Return each kind's gold and run as read from files."""
    return {name: from_files(kind, FIRST[name], tmp_path_factory.mktemp(name)) for name, kind in KINDS.items()}


def from_files(kind: Kind, metric: str, folder: Path) -> tuple[LoadedGold, Any]:
    gold = f"gold: [{{track: t, file: gold, format: {{{kind.gold_format}}}}}]" if kind.gold_format else ""
    (folder / "items.txt").write_text("\n".join(ITEMS), encoding="utf-8")
    (folder / "gold").write_text(kind.gold.file, encoding="utf-8")
    (folder / "run").write_text(kind.run.file, encoding="utf-8")
    (folder / "texts.csv").write_text("id,text\n" + "".join(f"{item},{TEXT}\n" for item in ITEMS), encoding="utf-8")
    has_classes = kind.format.startswith(("kind: json-labels", "kind: json-soft"))
    (folder / "task.yaml").write_text(
        f"""
agon: 1
slug: tiny
title: Tiny
year: 2026
languages: [en]
hierarchies: {{h: {json.dumps(HIERARCHY)}}}
tracks:
  - slug: t
    format: {{{kind.format}}}
    {"hierarchy: h" if has_classes else ""}
    items: items.txt
    texts: texts.csv
    metrics: [{metric}]
    rank_by: {metric}
naming:
  archive: "tiny_{{team}}"
  run: "{{track}}_{{team}}_{{number}}"
  number: [1, 2, 3]
{gold}
phases:
  - {{slug: open, opens: "2026-01-01 00:00 UTC", scores: at-once, official: best}}
""",
        encoding="utf-8",
    )
    definition: Definition = load_definition(folder)
    standard = load_gold(definition, "t", folder / "gold")
    answers, report = run_answers(definition, "t", folder / "run", standard)
    assert answers is not None, report.errors
    return standard, answers


EVERY = [
    pytest.param(metric, name, id=f"{metric.name}-{name}")
    for metric in METRICS.values()
    if metric.name not in NEEDS_GROUPS
    for name in KINDS
    if answers_of(name, metric)
]


@for_each(("metric", "name"), EVERY)
def test_memory_equals_files(metric: Metric, name: str, read: dict[str, tuple[LoadedGold, Any]]) -> None:
    kind, (gold, run) = KINDS[name], read[name]
    comparison = compare(gold, run)
    for options in options_of(metric, kind):
        for part in parts_of(kind, metric, name):
            spec = MetricSpec(metric.name, part, options)
            found = agon.compute(
                spec.key,
                predictions=kind.run.answers,
                references=kind.gold.answers,
                hierarchy=HIERARCHY if name in ("labels", "sets", "soft") else None,
                texts=[TEXT] * len(ITEMS) if metric.needs_texts else None,
                classes=kind.classes,
                **options,
            )
            assert found == pytest.approx(compute(comparison, spec), abs=1e-12), (options, part)


def test_every_metric_is_compared_or_rejected() -> None:
    assert {param.values[0].name for param in EVERY} | NEEDS_GROUPS == METRICS.keys()
    for name in NEEDS_GROUPS:
        with pytest.raises(ValueError, match="groups of items, which answers in memory do not have"):
            agon.compute(name, predictions=[{"a": 0.5}], references=[{"a": 1.0}])
