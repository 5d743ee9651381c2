"""Typed entities: tags with and without repair, and matches counted by hand.

The scores agree with seqeval and nervaluate to within 1e-9.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from math import isnan
from pathlib import Path

import numpy as np
import pytest

from scoring import DefinitionError, check, load_definition, score
from scoring.analysis.details import details, field_details
from scoring.analysis.field import missed_by_all
from scoring.analysis.item_answers import item_answers
from scoring.answers import Entities
from scoring.check import read_answers
from scoring.definition import Definition, FormatSpec, MetricSpec
from scoring.formats import FORMATS, write_run
from scoring.formats.reading import Reading
from scoring.metrics import LoadedGold, compare, entity_matching
from scoring.reports.problems import Report, in_language
from scoring.score import GoldError, load_gold, score_answers
from scoring.significance import intervals, tie_groups
from tests.scoring.metrics.answers import value
from tests.scoring.metrics.conftest import Evaluate
from tests.scoring.metrics.examples import read_entities

TYPES = ("PER", "LOC", "ORG")


def read(sentences: Sequence[Sequence[str]], scheme: str = "BIO", repair: str = "begin") -> Entities:
    options = {"classes": TYPES, "scheme": scheme, "repair": repair, "ids": "numbers", "column": None, "prefix": None}
    text = "\n\n".join("\n".join(f"token {tag}" for tag in tags) for tags in sentences)
    report = Report()
    found = FORMATS["conll"].read(text.encode(), FormatSpec("conll", options), Reading(role="run", report=report))
    assert isinstance(found, Entities), list(report)
    return found


def found(tags: str, scheme: str, repair: str) -> list[tuple[str, int, int]]:
    answers = read([tags.split()], scheme, repair)
    places = zip(answers.kinds.tolist(), answers.begins.tolist(), answers.ends.tolist(), strict=True)
    return [(TYPES[kind], begin, end) for kind, begin, end in places]


def test_macro_of_no_entities_is_undefined() -> None:
    nothing = read_entities({"1": "", "2": ""})
    for name in ("entity_f1_macro", "entity_precision_iou_macro", "entity_recall_surface_macro"):
        assert value(name, nothing, nothing) is None
        assert value(name, nothing, read_entities({"1": "PER 0-2", "2": ""})) is None
    assert intervals({"run": compare(LoadedGold(nothing), nothing)}, MetricSpec("entity_f1_macro"), seed=1) == {
        "run": None
    }


@pytest.mark.parametrize(
    ("tags", "scheme", "begun", "kept"),
    [
        ("I-PER I-PER O", "BIO", [("PER", 0, 2)], []),
        ("B-PER I-LOC I-LOC", "IOB2", [("PER", 0, 1), ("LOC", 1, 3)], [("PER", 0, 1)]),
        ("B-PER B-PER I-PER", "BIO", [("PER", 0, 1), ("PER", 1, 3)], [("PER", 0, 1), ("PER", 1, 3)]),
        ("B-PER I-PER O", "BIOES", [("PER", 0, 2)], []),
        ("B-PER E-PER E-PER", "BIOES", [("PER", 0, 2), ("PER", 2, 3)], [("PER", 0, 2)]),
        ("S-PER I-PER S-LOC", "BIOES", [("PER", 0, 1), ("PER", 1, 2), ("LOC", 2, 3)], [("PER", 0, 1), ("LOC", 2, 3)]),
    ],
)
def test_tags_out_of_order_begin_an_entity_or_are_none(
    tags: str, scheme: str, begun: list[tuple[str, int, int]], kept: list[tuple[str, int, int]]
) -> None:
    assert found(tags, scheme, "begin") == begun
    assert found(tags, scheme, "discard") == kept


def test_iob1_is_read_with_begin() -> None:
    tags = "I-PER I-PER B-PER I-PER I-LOC O I-LOC"
    assert found(tags, "BIO", "begin") == [("PER", 0, 2), ("PER", 2, 4), ("LOC", 4, 5), ("LOC", 6, 7)]


def test_an_entity_ends_with_its_sentence() -> None:
    assert read([["B-PER"], ["I-PER"]]).starts.tolist() == [0, 1, 2]


def test_each_gold_entity_is_matched_once() -> None:
    gold = read_entities({"1": "PER 0-6, LOC 7-9"}, TYPES)
    pieces = read_entities({"1": "PER 0-2, PER 3-6, LOC 6-8"}, TYPES)
    assert value("entity_f1_partial", gold, pieces) == pytest.approx(2 * (0.5 + 0.5) / (3 + 2))
    assert value("entity_f1_type", gold, pieces) == pytest.approx(2 * (1 + 1) / (3 + 2))
    assert value("entity_f1", gold, pieces) == 0
    assert value("entity_f1_type", pieces, gold) == pytest.approx(2 * (1 + 1) / (3 + 2))


def test_macro_is_over_the_types_of_the_gold_of_both_or_declared() -> None:
    gold, run = read_entities({"1": "PER 0-2"}, TYPES), read_entities({"1": "PER 0-2, LOC 3-4"}, TYPES)
    assert value("entity_f1_macro", gold, run) == 1
    assert value("entity_f1_macro", gold, run, over="seen") == 1 / 2
    assert value("entity_f1_macro", gold, run, over="declared") == pytest.approx(1 / 3)
    assert value("entity_f1:LOC", gold, run) is None
    assert value("entity_precision:LOC", gold, run) == 0


@pytest.mark.parametrize("match", ["covered", "surface"])
@pytest.mark.parametrize("measure", ["precision", "recall", "f1"])
def test_macro_of_coverage_and_forms_is_the_mean_over_types(match: str, measure: str) -> None:
    rng = np.random.default_rng(8)
    name = f"entity_{measure}_{match}"
    for _ in range(20):
        gold, run = flat(rng, items=2), flat(rng, items=2)
        of_type = {kind: value(f"{name}:{kind}", gold, run) or 0.0 for kind in TYPES}
        held = {
            side: {kind for row in range(2) for kind, _, _ in own.of_item(row)}
            for side, own in {"gold": gold, "run": run}.items()
        }
        for over, types in (("gold", held["gold"]), ("seen", held["gold"] | held["run"]), ("declared", set(TYPES))):
            mean = sum(of_type[kind] for kind in types) / len(types) if types else None
            assert value(f"{name}_macro", gold, run, over=over) == pytest.approx(mean, abs=1e-9)


def test_entities_of_texts_may_overlap_and_each_is_matched_once() -> None:
    gold = read_entities({"1": "PER 0-6, LOC 0-2, LOC 4-6, LOC 4-6"}, TYPES)
    run = read_entities({"1": "PER 0-6, LOC 0-6, ORG 4-5, LOC 4-6"}, TYPES)
    assert value("entity_precision", gold, run) == 2 / 4
    assert value("entity_precision_exact", gold, run) == 2 / 4
    assert value("entity_precision_partial", gold, run) == (1 + 0.5 + 0.5 + 1) / 4
    assert value("entity_precision_type", gold, run) == (1 + 1 + 0 + 1) / 4
    assert value("entity_recall_iou", gold, run) == 2 / 4
    assert value("entity_recall_iou", gold, run, at_least="0.3") == 3 / 4


def flat(rng: np.random.Generator, items: int = 6) -> Entities:
    """Return entities that do not overlap, in sentences of ten tokens."""
    rows = {}
    for item in range(items):
        bounds = sorted(rng.choice(11, size=2 * int(rng.integers(0, 4)), replace=False).tolist())
        pairs = zip(bounds[::2], bounds[1::2], strict=True)
        rows[str(item)] = ", ".join(f"{rng.choice(TYPES)} {begin}-{end}" for begin, end in pairs)
    return read_entities(rows, TYPES)


def listed(answers: Entities) -> list[tuple[int, str, set[int]]]:
    rows = range(len(answers.ids))
    return [(row, kind, set(range(begin, end))) for row in rows for kind, begin, end in answers.of_item(row)]


def _entity(own: tuple[str, int, int], other: tuple[str, int, int], match: str) -> tuple[float, float] | None:
    """Return the credit of a run entity with a gold entity and how far the choice is, or None if it is no choice."""
    (kind, begin, end), (gold_kind, gold_begin, gold_end) = own, other
    if gold_begin >= end or gold_end <= begin:
        return None
    apart = abs(begin - gold_begin) + abs(end - gold_end)
    if match == "partial":
        return (0.5, 1.0) if apart else (1.0, 0.0)
    if match == "type":
        return (1.0, apart) if kind == gold_kind else (0.0, np.inf)
    share = (min(end, gold_end) - max(begin, gold_begin)) / (max(end, gold_end) - min(begin, gold_begin))
    return (1.0, -share) if kind == gold_kind and share >= 0.5 else None


def _credit(gold: list[tuple[str, int, int]], run: list[tuple[str, int, int]], match: str) -> float:
    """Match one run entity after another, each with the nearest unused gold entity, among equals with the first."""
    unused, total = list(gold), 0.0
    for own in run:
        choices = [(found, at) for at, other in enumerate(unused) if (found := _entity(own, other, match)) is not None]
        if choices:
            (credit, _), at = min(choices, key=lambda choice: (choice[0][1], choice[1]))
            total += credit
            del unused[at]
    return total


@pytest.mark.parametrize("match", ["partial", "type", "iou"])
def test_entities_that_overlap_are_matched_one_after_another(match: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entity_matching, "AT_ONCE", 3)
    generator = np.random.default_rng(5)

    def random() -> str:
        spans = {(int(begin), int(begin + length)) for begin, length in generator.integers(1, 25, (12, 2))}
        return ", ".join(f"{generator.choice(['PER', 'LOC'])} {begin}-{end}" for begin, end in sorted(spans))

    for _ in range(100):
        gold, run = (read_entities({"1": random(), "2": random()}) for _ in range(2))
        credit = sum(_credit(gold.of_item(row), run.of_item(row), match) for row in range(2))
        assert value(f"entity_precision_{match}", gold, run) == credit / len(run.begins)


def test_overlap_and_coverage_as_counted_token_by_token() -> None:
    rng = np.random.default_rng(3)
    for _ in range(30):
        gold, run = flat(rng), flat(rng)
        ours, theirs = listed(gold), listed(run)
        pairs = [[(a & b, a | b) for other, kind, b in theirs if (row, name) == (other, kind)] for row, name, a in ours]
        close = sum(len(both) / len(either) > 0.6 for own in pairs for both, either in own)
        assert value("entity_f1_iou", gold, run, at_least="0.600001") == (
            pytest.approx(2 * close / (len(ours) + len(theirs))) if ours else None
        )
        covered = [sum(len(both) for both, _ in own) / len(a) for own, (_, _, a) in zip(pairs, ours, strict=True)]
        assert value("entity_recall_covered", gold, run) == (pytest.approx(np.mean(covered)) if ours else None)


def test_a_surface_form_counts_once_and_is_right_where_it_is_found_in_its_place() -> None:
    gold = read([["B-PER", "O", "B-LOC"], ["B-PER"]])
    run = read([["O", "O", "B-LOC"], ["B-PER"]])
    gold, run = (replace(side, texts={"1": "Ana in Rio", "2": "Ana"}) for side in (gold, run))
    assert value("entity_recall_surface", gold, run) == 1
    moved = replace(run, texts=None)
    assert value("entity_f1_surface", gold, moved) == 1  # the gold's texts are used
    assert value("entity_f1_surface:PER", gold, run) == 1
    gold = replace(gold, texts={"1": "Ana in Rio", "2": "Eva"})
    assert value("entity_recall_surface", gold, run) == 2 / 3
    with pytest.raises(ValueError, match="require the item texts"):
        value("entity_f1_surface", replace(gold, texts=None), run)


def test_the_text_of_a_form_is_of_characters_where_entities_are() -> None:
    gold = replace(
        read_entities({"1": "PER 0-2", "2": "PER 3-5"}, TYPES), lengths=None, texts={"1": "Al x", "2": "by Al"}
    )
    assert value("entity_recall_surface", gold, read_entities({"2": "PER 3-5"}, TYPES)) == 1


TASK = """
agon: 1
slug: names
title: Names
year: 2027
languages: [en]
tracks:
  - slug: one
    format: {kind: conll, classes: [PER, LOC]}
    items: items.txt
    texts: texts.tsv
    metrics:
      - {combine: both, of: [entity_f1, entity_f1_type]}
      - entity_f1
      - entity_f1_surface
      - entity_f1_iou
      - entity_f1_covered
      - entity_f1_partial
      - entity_f1_macro
    rank_by: entity_f1
naming: {run: "{track}_{team}"}
phases:
  - {slug: open, opens: "2027-01-01 00:00 UTC", scores: at-once, official: best}
"""
GOLD = b"Ana B-PER\nlives O\n\nin O\nSan B-LOC\nJose I-LOC\n\nWhere O\n\nEva B-PER\n"
GOOD = GOLD.replace(b"Jose I-LOC", b"Jose O")
POOR = GOLD.replace(b"B-PER", b"B-LOC")


@pytest.fixture
def task(tmp_path: Path) -> Definition:
    (tmp_path / "task.yaml").write_text(TASK, encoding="utf-8")
    (tmp_path / "items.txt").write_text("1\n2\n3\n4\n", encoding="utf-8")
    texts = "id\ttext\n1\tAna lives\n2\tin San Jose\n3\tWhere\n4\tEva\n"
    (tmp_path / "texts.tsv").write_text(texts, encoding="utf-8")
    return load_definition(tmp_path)


def test_tags_of_several_layers_are_in_columns_of_their_own(tmp_path: Path) -> None:
    """As in GermEval 2014, where the outer and the inner tags are in two columns of one file."""
    track = TASK[TASK.index("  - slug: one") : TASK.index("naming:")]
    layers = "".join(
        track.replace("slug: one", f"slug: {name}").replace("LOC]}", f"LOC], column: {column}}}")
        for name, column in (("outer", 2), ("inner", 3))
    )
    (tmp_path / "task.yaml").write_text(TASK.replace(track, layers), encoding="utf-8")
    (tmp_path / "items.txt").write_text("1\n", encoding="utf-8")
    (tmp_path / "texts.tsv").write_text("id\ttext\n1\tReal Madrid won\n", encoding="utf-8")
    definition = load_definition(tmp_path)
    gold = b"Real B-PER O x\nMadrid I-PER B-LOC\nwon O O x y\n"
    run = b"Real B-PER B-LOC\nMadrid I-PER O\nwon O O\n"
    found = {name: score(definition, name, run, gold).scores["entity_f1"] for name in ("outer", "inner")}
    assert found == {"outer": 1.0, "inner": 0.0}
    answers = load_gold(definition, "inner", gold).answers
    written = tmp_path / "written.conll"
    write_run(definition.track("inner"), answers, written)
    assert written.read_text(encoding="utf-8") == "Real\t_\tO\nMadrid\t_\tB-LOC\nwon\t_\tO\n\n"
    report = score(definition, "inner", run.replace(b"Madrid I-PER O", b"Madrid I-PER"), gold).report
    assert [(one.code, one.line) for one in report] == [("token-line", 2)]
    assert "at least 3 columns" in report.problems[0].message


def test_from_the_definition_to_intervals_and_groups(task: Definition) -> None:
    gold = load_gold(task, "one", GOLD)
    results = {name: score(task, "one", run, gold) for name, run in {"good": GOOD, "poor": POOR}.items()}
    assert results["good"].scores["entity_f1"] == pytest.approx(2 / 3)
    assert results["good"].scores["entity_f1_partial"] == pytest.approx(2.5 / 3)
    runs = {name: result.comparison for name, result in results.items() if result.comparison is not None}
    (classes,) = details(runs["good"], ())["classes"]
    assert (classes["column"], classes["confusion"]) == (None, None)
    lines = [(line["name"], line["gold"], line["run"], line["both"], line["f1"]) for line in classes["lines"]]
    assert lines == [("PER", 2, 2, 2, 1.0), ("LOC", 1, 1, 0, 0.0)]
    field = field_details(runs)
    assert field["difficulty"] == [0, 3, 1]
    assert field["disagreement"]["good"] == {"good": 0.0, "poor": 0.75}
    for spec in task.track("one").metrics:
        for interval in intervals(runs, spec, seed=1, rounds=200).values():
            assert interval is not None
            assert interval.low <= interval.value <= interval.high
        assert {one.name for one in tie_groups(runs, spec, seed=1, rounds=200)} == {"good", "poor"}
    shorter = score(task, "one", GOLD.replace(b"Jose I-LOC\n", b""), gold)
    found = item_answers(runs["good"])
    assert (found.gold, found.run) == (
        [("PER 0",), ("LOC 1–2",), (), ("PER 0",)],
        [("PER 0",), ("LOC 1",), (), ("PER 0",)],
    )
    assert (found.measure, found.values) == ("f1", [1, 0, 1, 1])
    assert missed_by_all({"good": runs["good"]}).by_answer == {"(none)": (0, 1), "some entities": (1, 3)}
    assert [(one.code, one.item, one.found, one.expected) for one in shorter.report] == [
        ("tokens-differ", "2", "2", "3")
    ]
    assert shorter.scores == {}


def test_a_run_that_was_read_before_has_the_golds_tokens_or_no_scores(task: Definition) -> None:
    gold = load_gold(task, "one", GOLD)
    for run in (GOOD, GOLD.replace(b"Jose I-LOC\n", b"")):
        answers, _report = read_answers(task, "one", run, lenient=True)
        assert answers is not None
        strict = score_answers(task, "one", gold, answers)
        at_once = score(task, "one", run, gold)
        assert (strict.scores, strict.report.as_dict()) == (at_once.scores, at_once.report.as_dict())
        lenient = score_answers(task, "one", gold, answers, lenient=True)
        assert lenient.scores == score(task, "one", run, gold, lenient=True).scores != {}


def test_runs_are_checked_against_tokens_so_the_track_needs_texts(tmp_path: Path) -> None:
    (tmp_path / "task.yaml").write_text(TASK.replace("    texts: texts.tsv\n", ""), encoding="utf-8")
    with pytest.raises(DefinitionError, match="add a file under texts"):
        load_definition(tmp_path)


def test_a_check_compares_tokens_with_the_texts(task: Definition) -> None:
    assert check(task, "one", GOOD).problems == []
    found = check(task, "one", GOOD.replace(b"San B-LOC\n", b"")).problems
    assert [(one.code, one.severity, one.item, one.expected) for one in found] == [("tokens-differ", "error", "2", "3")]


@pytest.fixture
def marked(tmp_path: Path) -> Definition:
    """A version of `task` with entities as character spans."""
    text = TASK.replace("{kind: conll, classes: [PER, LOC]}", "{kind: typed-spans, classes: [PER, LOC]}")
    (tmp_path / "task.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "items.txt").write_text("1\n2\n3\n4\n", encoding="utf-8")
    texts = "id\ttext\n1\tAna lives\n2\tin San Jose\n3\tAna\n4\tEva\n"
    (tmp_path / "texts.tsv").write_text(texts, encoding="utf-8")
    return load_definition(tmp_path)


MARKED = b'1\t[[0, 3, "PER"]]\n2\t[[3, 11, "LOC"], [3, 6, "PER"]]\n3\t[[0, 3, "PER"]]\n'


def test_items_that_a_gold_of_typed_spans_leaves_out_have_none(marked: Definition) -> None:
    run = MARKED.replace(b"[3, 6,", b"[7, 11,").replace(b"3\t[[0, 3", b"3\t[[0, 2") + b'4\t[[0, 3, "LOC"]]\n'
    result = score(marked, "one", run, load_gold(marked, "one", MARKED, items=["1", "2", "3", "4"]))
    assert list(result.report) == []
    assert result.items == 4
    assert result.scores["entity_f1"] == pytest.approx(2 * 2 / (4 + 5))
    # Ana and San Jose are correct. The gold has Ana, San Jose and San, and the run has Ana, San Jose, Jose, An and Eva.
    assert result.scores["entity_f1_surface"] == pytest.approx(2 * 2 / (3 + 5))
    precision, recall = (1 + 1 + 0 + 1 + 0) / 5, (1 + 1 + 0 + 2 / 3) / 4
    assert result.scores["entity_f1_covered"] == pytest.approx(2 * precision * recall / (precision + recall))
    assert check(marked, "one", run.replace(b'[0, 3, "LOC', b'[0, 4, "LOC')).problems[0].code == "offset-outside-text"


def test_surface_forms_need_the_texts(marked: Definition, tmp_path: Path) -> None:
    (tmp_path / "texts.tsv").unlink()
    with pytest.raises(
        GoldError, match=r"metrics entity_f1_surface require the item texts, which .*: texts.tsv: No such"
    ):
        load_gold(marked, "one", MARKED)
    without = (tmp_path / "task.yaml").read_text(encoding="utf-8").replace("    texts: texts.tsv\n", "")
    (tmp_path / "task.yaml").write_text(without, encoding="utf-8")
    with pytest.raises(
        DefinitionError, match="entity_f1_surface requires the item texts of the split test: add a file under texts"
    ):
        load_definition(tmp_path)


@pytest.mark.parametrize(
    ("broken", "spanish"),
    [
        (GOOD.replace(b"in O", b"in"), "Se esperaba un token, un espacio o tabulador, y su etiqueta"),
        (GOOD.replace(b"in O", b"in I-LOC"), "I- solo después de B- o I- del mismo tipo"),
    ],
)
def test_the_expected_line_is_in_the_language_of_the_report(task: Definition, broken: bytes, spanish: str) -> None:
    assert spanish in " ".join(one.message for one in in_language(check(task, "one", broken), "es"))


def random_tags(rng: np.random.Generator, scheme: str) -> list[str]:
    """Return tags in random order. Most of them need repair."""
    prefixes = "BI" if scheme == "IOB2" else "BIES"
    names = [f"{prefix}-{name}" for prefix in prefixes for name in TYPES]
    return ["O" if rng.random() < 0.3 else str(rng.choice(names)) for _ in range(rng.integers(1, 12))]


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["IOB2", "IOBES"])
def test_seqeval_and_nervaluate(scheme: str, entity_peers: Evaluate) -> None:
    rng, batch = np.random.default_rng(7), []
    for _ in range(40):
        gold = [random_tags(rng, scheme) for _ in range(rng.integers(1, 8))]
        names = ["O", *sorted({tag for tags in gold for tag in tags})]
        run = [[str(rng.choice(names)) if rng.random() < 0.25 else tag for tag in tags] for tags in gold]
        words = [rng.choice(list("abc"), len(tags)).tolist() for tags in gold]
        batch.append({"gold": gold, "run": run, "scheme": scheme, "words": words})
    compared = 0
    for case, theirs in zip(batch, entity_peers(batch), strict=True):
        sides = {
            repair: [
                replace(
                    read(case[side], "BIO" if scheme == "IOB2" else "BIOES", repair),
                    texts={str(row): " ".join(words) for row, words in enumerate(case["words"], 1)},
                )
                for side in ("gold", "run")
            ]
            for repair in ("begin", "discard")
        }
        for name, expected in theirs.items():
            peer, _, key = name.rpartition(" ")
            over = {"over": "seen"} if key.endswith("_macro") else {}
            ours = value(key, *sides["discard" if peer == "discard" else "begin"], **over)
            if ours is None:  # the gold has no such entity, so the peers return 0 or NaN
                assert not expected or isnan(expected)
                continue
            compared += 1
            assert ours == pytest.approx(expected or 0, abs=1e-9), (name, case)
    assert compared > 60 * len(batch)


@pytest.mark.slow
def test_nervaluate_on_spans_that_overlap(entity_peers: Evaluate) -> None:
    """Compare only partial matching and matching by type.

    In strict and exact matching, nervaluate lets an inexact overlap use up a gold entity.
    """
    rng = np.random.default_rng(11)
    sides = [(overlapping(rng), overlapping(rng)) for _ in range(60)]
    batch = [{"gold": spans_of(gold), "run": spans_of(run)} for gold, run in sides]
    compared = 0
    for (gold, run), theirs in zip(sides, entity_peers(batch), strict=True):
        for name, expected in theirs.items():
            ours = value(name.removeprefix("nervaluate "), gold, run)
            if ours is not None:
                compared += 1
                assert ours == pytest.approx(expected, abs=1e-9), name
    assert compared > 20 * len(batch)


def overlapping(rng: np.random.Generator, items: int = 5) -> Entities:
    """Return entities as character spans that may overlap, sorted and without duplicates."""
    rows = {}
    for item in range(items):
        begins = rng.integers(0, 12, 5).tolist()
        drawn = {(begin, begin + int(rng.integers(1, 8)), int(rng.integers(3))) for begin in begins}
        rows[str(item)] = ", ".join(f"{TYPES[kind]} {begin}-{end}" for begin, end, kind in sorted(drawn))
    return replace(read_entities(rows, TYPES), lengths=None)


def spans_of(answers: Entities) -> list[list[dict[str, object]]]:
    """Return each item's entities as nervaluate reads them, with the last character included."""
    rows = map(answers.of_item, range(len(answers.ids)))
    return [[{"label": kind, "start": begin, "end": end - 1} for kind, begin, end in row] for row in rows]


@pytest.mark.slow
def test_the_peers_give_the_values_of_the_template_case(root: Path, entity_peers: Evaluate) -> None:
    folder = root / "tests/tasks/cases/entities"
    case = json.loads((folder / "case.json").read_text(encoding="utf-8"))
    sides = {side: sentences_of(folder / case[side]) for side in ("gold", "run")}
    given = {side: [[tag for _, tag in tokens] for tokens in sentences] for side, sentences in sides.items()}
    given["words"] = [[word for word, _ in tokens] for tokens in sides["gold"]]
    types = list(load_definition(root / "tasks/entities").track("entities").format.options["classes"])
    (found,) = entity_peers([{**given, "scheme": "IOB2", "types": types}])
    peers = {"entity_f1_surface": "wnut ", "entity_f1_partial": "nervaluate "}
    theirs = {key: found[peers.get(key, "") + key] for key in case["scores"]}
    assert theirs == pytest.approx(case["scores"], rel=0, abs=1e-9)


def sentences_of(path: Path) -> list[list[list[str]]]:
    """Return the tokens of each sentence with their tags."""
    sentences = path.read_text(encoding="utf-8").strip().split("\n\n")
    return [[line.split() for line in sentence.splitlines()] for sentence in sentences]
