"""Span tracks from file to score: speed, limits, and when two marks form one span."""

import json
import random
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

from scoring import Definition, Report, check, load_definition, score
from scoring.check import known_items
from scoring.formats import span_lists
from tests.conftest import ROOT

ITEMS = [f"d{number}" for number in range(40)]

TASK = """
agon: 1
slug: marks
title: Marks
year: 2027
languages: [en]
tracks:
  - {slug: offsets, format: {kind: spans}, items: items.txt, metrics: [span_f1, span_f1_exact], rank_by: span_f1}
  - slug: pairs
    format: {kind: spans, spans: pairs}
    items: items.txt
    metrics: [span_f1, span_f1_exact, span_f1_partial]
    rank_by: span_f1
  - {slug: texts, format: {kind: spans, spans: pairs}, items: items.txt, texts: texts.tsv, metrics: [span_f1],
     rank_by: span_f1}
  - slug: rows
    format: {kind: spans, file: table, spans: rows, id: id}
    items: items.txt
    metrics: [span_f1, span_f1_exact]
    rank_by: span_f1
  - slug: json
    format: {kind: spans, file: json, spans: pairs, end: inclusive}
    items: items.txt
    metrics: [span_f1, span_f1_exact]
    rank_by: span_f1
naming: {run: "{track}_{team}"}
phases:
  - {slug: open, opens: "2027-01-01 00:00 UTC", scores: at-once, official: best}
"""


@pytest.fixture
def marks(tmp_path: Path) -> Definition:
    (tmp_path / "task.yaml").write_text(TASK, encoding="utf-8")
    (tmp_path / "items.txt").write_text("\n".join(ITEMS), encoding="utf-8")
    (tmp_path / "texts.tsv").write_text("id\ttext\n" + "".join(f"{item}\t0123456789\n" for item in ITEMS), "utf-8")
    return load_definition(tmp_path)


def pairs(given: dict[str, list[tuple[int, int]]], items: list[str] = ITEMS) -> bytes:
    return "".join(f"{item}\t{json.dumps(given.get(item, []))}\n" for item in items).encode()


def rows(given: dict[str, list[tuple[int, int]]]) -> bytes:
    lines = [f"{item},{start},{stop}\n" for item in ITEMS for start, stop in given.get(item, []) or [("", "")]]
    return "".join(["id,start,stop\n", *lines]).encode()


def as_json(given: dict[str, list[tuple[int, int]]]) -> bytes:
    values = {item: [[start, stop - 1] for start, stop in given.get(item, [])] for item in ITEMS}
    return json.dumps([{"id": item, "value": value} for item, value in values.items()]).encode()


# A program that checks and scores one run, and prints the CPU seconds (user and system) and the peak memory.
MEASURED = """
import resource, sys
from pathlib import Path
from scoring import check, load_definition, score
task, run, gold = load_definition(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
report = check(task, "pairs", run)
scores = score(task, "pairs", run, gold).scores if report.ok else {}
used = resource.getrusage(resource.RUSAGE_SELF)
# Not ru_maxrss, which counts on from the peak of the process that started this one.
peak = int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) / 1024
print(used.ru_utime + used.ru_stime, peak, *(problem.code for problem in report))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "copies"),
    [
        ("[[0,1000000]]", 1),
        ("[[0,400000]]", 1),  # few enough characters in total to be scored
        ("[[0,1]]", 20_000),
        ("[[9,3]]", 20_000),
        ("[[0,9000000]]", 20_000),
        ("[[true]]", 20_000),
    ],
)
def test_long_spans_cost_no_more_than_short_ones(marks: Definition, tmp_path: Path, line: str, copies: int) -> None:
    spans = ",".join([line[1:-1]] * copies)
    (tmp_path / "run").write_text("".join(f"{item}\t[{spans}]\n" for item in ITEMS), encoding="utf-8")
    (tmp_path / "gold").write_bytes(pairs({"d0": [(0, 10)]}))
    command = [sys.executable, "-c", MEASURED, str(tmp_path), str(tmp_path / "run"), str(tmp_path / "gold")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    seconds, megabytes, *codes = done.stdout.split()
    assert float(seconds) <= 2
    assert float(megabytes) <= 300
    assert (codes == []) == (line == "[[0,400000]]")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("track", "start", "again", "end", "bytes_each"),
    [("offsets", "d0\t[", "7,", "7]\n", 40), ("json", '[{"id":"d0","value":[', "[1,2],", "[1,2]]}]", 120)],
)
def test_spans_listed_again_and_again_need_little_memory(
    marks: Definition, track: str, start: str, again: str, end: str, bytes_each: int
) -> None:
    spans = 190_000
    data = (start + again * spans + end).encode()
    tracemalloc.start()
    report = check(marks, track, data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert {"offset-twice", "missing-items"} <= {problem.code for problem in report}
    assert peak < bytes_each * spans


def test_texts_are_read_once_for_all_runs(marks: Definition) -> None:
    known, track = known_items(None), marks.track("texts")
    first, second = (known(track, "test", Report()) for _ in range(2))
    assert first
    assert second
    lengths = first.text_lengths(("id",))
    assert lengths == dict.fromkeys(ITEMS, 10)
    assert second.text_lengths(("id",)) is lengths


def test_what_a_file_marks_in_all_is_bounded(marks: Definition) -> None:
    report = check(marks, "pairs", pairs({item: [(0, 1_000_000)] for item in ITEMS}))
    (problem,) = report.errors
    assert (problem.code, problem.found) == ("too-many-marked", "40,000,000")
    assert check(marks, "pairs", pairs({item: [(0, 500_000)] for item in ITEMS})).ok


def test_pairs_end_with_the_text_where_texts_are_known(marks: Definition) -> None:
    assert check(marks, "texts", pairs({"d1": [(3, 10)]})).ok
    (problem,) = check(marks, "texts", pairs({"d1": [(3, 11)], "d2": [(50, 60)]})).errors
    assert (problem.code, problem.line, problem.count) == ("offset-outside-text", 2, 2)
    assert problem.places == ("line 2: 10", "line 3: 59")


TOUCHING = {"d0": [(0, 3), (3, 7)], "d1": [(2, 4)]}
JOINED = {"d0": [(0, 7)], "d1": [(2, 4)]}


@pytest.mark.parametrize(("track", "write"), [("pairs", pairs), ("rows", rows), ("json", as_json)])
def test_touching_spans_stay_apart_where_spans_count_and_not_where_characters_do(
    marks: Definition, track: str, write
) -> None:
    gold = write(TOUCHING)
    same = score(marks, track, gold, gold).scores
    assert (same["span_f1"], same["span_f1_exact"]) == (1, 1)
    joined = score(marks, track, write(JOINED), gold).scores
    assert joined["span_f1"] == 1
    assert joined["span_f1_exact"] == 2 * 1 / (2 + 3)  # as in conlleval: one of three gold spans is found


def test_neighboring_offsets_are_one_span(marks: Definition) -> None:
    gold = "".join(f"{item}\t{[0, 1, 2, 3] if item == 'd0' else []}\n" for item in ITEMS).encode()
    assert score(marks, "offsets", gold, gold).scores == {"span_f1": 1, "span_f1_exact": 1}


@pytest.mark.parametrize("seed", range(5))
def test_spans_as_listed_against_sets(marks: Definition, seed: int) -> None:
    """Random spans that touch and overlap get the same scores as when counted with sets of pairs or characters."""
    rng = random.Random(seed)
    sides = []
    for _ in range(2):
        drawn = {item: {(start, start + rng.randint(1, 6)) for start in rng.sample(range(20), 4)} for item in ITEMS}
        sides.append({item: sorted(own) for item, own in drawn.items()})
    gold, run = sides
    found = score(marks, "pairs", pairs(run), pairs(gold)).scores
    hits = sum(len({*gold[item]} & {*run[item]}) for item in ITEMS)
    count = sum(len(gold[item]) + len(run[item]) for item in ITEMS)
    assert found["span_f1_exact"] == pytest.approx(2 * hits / count)
    assert found["span_f1"] == pytest.approx(sum(f1(gold[item], run[item]) for item in ITEMS) / len(ITEMS))
    precision, recall = partial(run, gold), partial(gold, run)
    assert found["span_f1_partial"] == pytest.approx(2 * precision * recall / (precision + recall))


def characters(spans: list[tuple[int, int]]) -> set[int]:
    return {place for start, stop in spans for place in range(start, stop)}


def f1(gold: list[tuple[int, int]], run: list[tuple[int, int]]) -> float:
    """Compute F1 for one text as in Pavlopoulos et al. (2021), section 4."""
    marked, right = characters(run), characters(gold)
    if not right:
        return 1.0 if not marked else 0.0
    if not marked:
        return 0.0
    precision, recall = len(marked & right) / len(marked), len(marked & right) / len(right)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def partial(side: dict[str, list[tuple[int, int]]], other: dict[str, list[tuple[int, int]]]) -> float:
    shares = [
        len(characters([span]) & characters(other[item])) / (span[1] - span[0]) for item in ITEMS for span in side[item]
    ]
    return sum(shares) / len(shares)


@pytest.mark.parametrize("part", [1, 3, 7, 2**20])
def test_offsets_decoded_in_parts_are_those_of_the_cells(monkeypatch: pytest.MonkeyPatch, part: int) -> None:
    monkeypatch.setattr(span_lists, "PART", part)
    rng = random.Random(part)
    right = ["[]", "[1]", "[10, 11,12]", "[ 3,4 ]", "[300,299,5]", "[-7, 8]"]
    others = [f"[{10**20}]", "[1,]", "[,1]", "[1 2]", "[]]", "[1,,2]", "[01]", "[1.0]", "[[1]]", ""]
    for _ in range(500):
        cells = rng.choices(right, k=rng.randrange(1, 8)) + rng.choices(others, k=rng.choice([0, 0, 1, 2]))
        found = span_lists._decode_at_once(cells)
        if set(cells) & {*others[1:]}:
            assert found is None
            continue
        assert found is not None
        lists = [json.loads(cell) for cell in cells]
        assert found[1].tolist() == [len(own) for own in lists]
        assert found[0].tolist() == [min(span_lists.BEYOND, offset) for own in lists for offset in own]


def test_few_long_documents_may_be_marked_offset_by_offset(marks: Definition) -> None:
    """Mark 12,000 characters in each of 40 documents."""
    offsets = ",".join(map(str, range(12_000)))
    assert check(marks, "offsets", "".join(f"{item}\t[{offsets}]\n" for item in ITEMS).encode()).ok
