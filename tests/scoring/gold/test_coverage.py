"""Gold that leaves items out: an error unless declared. Span tracks allow it, because such items have no spans."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scoring import Definition, DefinitionError, load_definition, score
from scoring.__main__ import main
from scoring.score import GoldError, load_gold
from scoring.task_folder.folder import errors_of_folder
from scoring.task_folder.gold_file import check_gold

ITEMS = [f"i{number}" for number in range(6)]
HEAD = """
agon: 1
slug: covers
title: Covers
year: 2027
languages: [en]
naming: {run: "{track}_{team}"}
phases:
  - {slug: open, opens: "2027-01-01 00:00 UTC", scores: at-once, official: best}
"""
FORMATS = {
    "json-labels": ("{kind: json-labels, classes: [Y, N]}", '["f1:Y"]'),
    "json-soft": ("{kind: json-soft, classes: [Y, N]}", "[mae]"),
    "table": ("{kind: table, id: id, columns: [Y]}", "[f1_positive]"),
    "table-labels": ("{kind: table-labels, id: id, classes: [Y, N]}", "[precision_micro]"),
    "table-soft": ("{kind: table-soft, id: id, classes: [Y, N]}", "[mae]"),
    "spans": ("{kind: spans}", "[span_f1]"),
    "trec-run": ("{kind: trec-run}", "[map]"),
}
Write = Callable[..., Definition]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a shared task with one track and its gold, and load it."""

    def folder(kind: str, gold: str = "", covers: str = "", outside: str = "") -> Definition:
        spec, metrics = FORMATS[kind]
        own = ", format: {kind: trec-qrels}" if kind == "trec-run" else ""
        lines = [
            f"tracks:\n  - slug: one\n    format: {spec}\n    items: items.txt\n    metrics: {metrics}",
            f"    rank_by: {metrics.strip('[]')}",
            f"    items_outside_gold: {outside}" if outside else "",
            f"gold:\n  - {{track: one, file: gold{own}{covers}}}",
        ]
        (tmp_path / "task.yaml").write_text(HEAD + "\n".join(lines), encoding="utf-8")
        (tmp_path / "items.txt").write_text("\n".join(ITEMS), encoding="utf-8")
        (tmp_path / "gold").write_text(gold, encoding="utf-8")
        return load_definition(tmp_path)

    return folder


def labels(given: dict[str, str]) -> str:
    return json.dumps([{"id": item, "value": value} for item, value in given.items()])


def lines(given: dict[str, list[int]]) -> str:
    return "".join(f"{item}\t{offsets}\n" for item, offsets in given.items())


SOME = {"i0": "Y", "i1": "N", "i2": "Y"}
EVERY = SOME | {"i3": "Y", "i4": "N", "i5": "Y"}


def test_gold_must_have_all_items_unless_it_is_declared(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    definition = write("json-labels", labels(SOME))
    (error,) = errors_of_folder(definition)
    assert error.startswith("gold (gold of the track one, split test): 3 of 6 items have gold; missing: i3, i4, i5. ")
    checked = check_gold(definition, "one", labels(SOME).encode())
    assert [problem.code for problem in checked.report] == ["gold-incomplete"]
    assert not {"i3", "i4", "i5"} & set(str(checked.report).replace("'", " ").split())  # the report does not quote ids
    assert checked.counts == (3, 6)
    with pytest.raises(GoldError, match=r"has 3 of 6 items\. Missing: i3, i4, i5"):
        score(definition, "one", labels(EVERY).encode(), labels(SOME).encode(), items=ITEMS)
    folder = definition.folder
    (folder / "run").write_text(labels(EVERY))
    command = ["score", "--task", str(folder), "--track", "one", "--gold", str(folder / "gold"), str(folder / "run")]
    assert main([*command, "--items", str(folder / "items.txt")]) == 2
    assert "Missing: i3, i4, i5" in "".join(capsys.readouterr())
    declared = write("json-labels", labels(SOME), covers=", covers: listed")
    assert errors_of_folder(declared) == []
    assert check_gold(declared, "one", labels(SOME).encode()).report.ok
    assert score(declared, "one", labels(EVERY).encode(), labels(SOME).encode(), items=ITEMS).scores == {"f1:Y": 1}
    assert main([*command, "--items", str(folder / "items.txt")]) == 0


def test_without_items_the_gold_says_which_there_are(write: Write) -> None:
    definition = write("json-labels", labels(SOME))
    assert score(definition, "one", labels(SOME).encode(), labels(SOME).encode()).scores == {"f1:Y": 1}
    spans = write("spans", lines({"i0": [1]}))
    assert score(spans, "one", lines({"i0": [1]}).encode(), lines({"i0": [1]}).encode()).scores == {"span_f1": 1}
    assert len(load_gold(spans, "one", lines({"i0": [1]}).encode())) == 1


def test_a_valid_run_is_scored_against_gold_that_lists_some_items(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    """The commands accept what `agon check` accepts, and give the portal's scores."""
    for kind, gold, run in (
        ("json-labels", labels(SOME), labels(EVERY)),
        ("spans", lines({"i0": [1]}), lines({item: [1] * (item == "i0") for item in ITEMS})),
    ):
        definition = write(kind, gold, covers=", covers: listed")
        file = definition.folder / "run"
        file.write_text(run)
        task = ["--task", str(definition.folder), "--track", "one"]
        assert main(["check", *task, str(file)]) == 0
        assert main(["score", *task, str(file)]) == 0, capsys.readouterr()
        expected = score(definition, "one", run.encode(), gold.encode(), items=ITEMS)
        given = score(definition, "one", run.encode(), load_gold(definition, "one", gold.encode()))
        assert (given.scores, given.items) == (expected.scores, expected.items)
        assert main(["score", *task, "--items", str(definition.folder / "items.txt"), str(file)]) == 0
    other = write("json-labels", labels({"x1": "Y"}), covers=", covers: listed")
    own = labels({"x1": "Y"}).encode()
    assert score(other, "one", own, own).report.ok, "gold for other items says which items there are"


def test_items_may_be_read_once_only(write: Write) -> None:
    definition = write("spans")
    gold, run = lines({"i0": [1]}).encode(), lines({item: [1] for item in ITEMS}).encode()
    result = score(definition, "one", run, gold, items=(item for item in ITEMS))
    assert (result.report.ok, result.items, result.scores["span_f1"]) == (True, 6, pytest.approx(1 / 6))


@pytest.mark.parametrize("covers", ["", ", covers: listed", ", covers: all"])
def test_items_that_a_gold_of_spans_leaves_out_have_no_spans(write: Write, covers: str) -> None:
    gold = {"i0": [1, 2], "i4": [7]}
    definition = write("spans", lines(gold), covers=covers)
    assert errors_of_folder(definition) == []
    assert check_gold(definition, "one", lines(gold).encode()).counts == (2, 6)
    for given in (lines(gold).encode(), load_gold(definition, "one", lines(gold).encode())):
        right = score(
            definition,
            "one",
            lines({item: gold.get(item, []) for item in ITEMS}).encode(),
            given,
            items=definition.track("one").items["test"],
        )
        assert (right.scores, right.items) == ({"span_f1": 1}, 6)


def toxic_spans_f1(gold: dict[str, list[int]], run: dict[str, list[int]]) -> float:
    """Compute F1 as in Pavlopoulos et al. (2021), section 4: per-post F1 of two sets of character offsets."""
    values = []
    for item in ITEMS:
        right, marked = set(gold.get(item, [])), set(run.get(item, []))
        if not right:
            values.append(0.0 if marked else 1.0)
            continue
        if not marked:
            values.append(0.0)
            continue
        precision, recall = len(right & marked) / len(marked), len(right & marked) / len(right)
        values.append(2 * precision * recall / (precision + recall) if precision + recall else 0.0)
    return sum(values) / len(values)


@pytest.mark.parametrize("seed", range(20))
def test_sparse_gold_of_spans_against_the_published_formula(write: Write, seed: int) -> None:
    rng = random.Random(seed)

    def drawn(share: float) -> dict[str, list[int]]:
        return {item: sorted(rng.sample(range(30), rng.randint(1, 12))) for item in ITEMS if rng.random() < share}

    gold, run = drawn(0.4) or {"i1": [3]}, drawn(0.7)
    definition = write("spans", lines(gold))
    items = definition.track("one").items["test"]
    given = lines({item: run.get(item, []) for item in ITEMS}).encode()
    expected = toxic_spans_f1(gold, run)
    assert score(definition, "one", given, definition.folder / "gold", items=items).scores["span_f1"] == pytest.approx(
        expected, abs=1e-12
    )
    whole = lines({item: gold.get(item, []) for item in ITEMS}).encode()
    assert score(definition, "one", given, whole).scores["span_f1"] == pytest.approx(expected, abs=1e-12)


# format → gold of i0 to i2; a run that is correct on these and says Y for all others; its score if the others count
OUTSIDE = {
    "json-labels": (labels(SOME), labels(SOME | dict.fromkeys(ITEMS[3:], "Y")), 2 * 2 / (5 + 2)),
    "table": ("id,Y\ni0,1\ni1,0\ni2,1\n", "id,Y\ni0,1\ni1,0\ni2,1\ni3,1\ni4,1\ni5,1\n", 2 * 2 / (5 + 2)),
    "table-labels": ("id,label\ni0,Y\ni1,N\ni2,Y\n", "id,label\ni0,Y\ni1,N\ni2,Y\ni3,Y\ni4,Y\ni5,Y\n", 3 / 6),
}


@pytest.mark.parametrize("kind", FORMATS)
def test_items_outside_the_gold_count_or_are_rejected_with_the_reason(write: Write, kind: str) -> None:
    if kind not in OUTSIDE:
        with pytest.raises(DefinitionError, match=REASONS.get(kind, "none of the track's metrics count")) as caught:
            write(kind, outside="count", covers=", covers: listed")
        (problem,) = caught.value.report.errors
        assert (problem.item, problem.suggestion) == ("tracks[0].items_outside_gold", "ignore")
        assert write(kind, outside="ignore", covers=", covers: listed")
        return
    gold, run, counted = OUTSIDE[kind]
    for outside, expected in (("", 1.0), ("ignore", 1.0), ("count", counted)):
        definition = write(kind, gold, ", covers: listed", outside)
        result = score(definition, "one", run.encode(), gold.encode(), items=ITEMS)
        assert list(result.scores.values()) == [pytest.approx(expected)]


REASONS = {
    "spans": "count has no effect in span tracks",
    "trec-run": "rankings for queries that are missing",
}


def test_a_metric_that_counts_items_outside_the_gold_is_needed(write: Write, monkeypatch: Any) -> None:
    monkeypatch.setitem(FORMATS, "json-labels", (FORMATS["json-labels"][0], '["recall:Y"]'))
    with pytest.raises(DefinitionError, match=r"none of the track's metrics count items outside .*f1_macro"):
        write("json-labels", outside="count")
