import json
from pathlib import Path

import pytest

from scoring.check import check
from scoring.definition import Definition
from scoring.metrics import LoadedGold
from scoring.score import GoldError, load_gold, score, score_gold
from scoring.task_folder.reader import load_definition

TASK = """
agon: 1
slug: little
title: Little
year: 2024
languages: [en]
decimals: 3
hierarchies:
  sexism: {"YES": [DIRECT, REPORTED], "NO": []}
tracks:
  - slug: hard
    format: {kind: json-labels, classes: ["NO", DIRECT, REPORTED]}
    hierarchy: sexism
    items: data/hard.txt
    metrics: [icm, icm_norm, f1_macro, "f1:NO"]
    rank_by: icm
  - slug: counting
    format: {kind: json-labels, classes: ["NO", DIRECT, REPORTED]}
    items: data/hard.txt
    items_outside_gold: count
    metrics: ["f1:NO", system_precision]
    rank_by: "f1:NO"
  - slug: pairs
    format: {kind: table, id: [id], columns: [first, second]}
    items: data/pairs.txt
    optional_items: data/labelled.txt
    metrics: [ssa_accuracy, "ssa_accuracy:gender", f1_positive]
    rank_by: ssa_accuracy
naming: {run: "{track}_{team}_{number}", number: [1, 2]}
phases:
  - {slug: open, opens: "2024-01-01 00:00 UTC", split: test, runs_per_day: 10, scores: at-once, official: best}
gold:
  - {track: pairs, file: gold/pairs.csv, format: {kind: table, id: [id], columns: [first, second], group: group}}
"""
GOLD = [("1", "NO"), ("2", "DIRECT"), ("3", "NO"), ("4", "REPORTED")]
PAIRS_GOLD = b"id,group,first,second\n1,gender,,\n2,race,,\nx,,1,0\ny,,0,0\n"


@pytest.fixture
def definition(tmp_path: Path) -> Definition:
    (tmp_path / "task.yaml").write_text(TASK, encoding="utf-8")
    (tmp_path / "data").mkdir()
    (tmp_path / "data/pairs.txt").write_text("1\n2\n", encoding="utf-8")
    (tmp_path / "data/labelled.txt").write_text("x\ny\n", encoding="utf-8")
    return load_definition(tmp_path)


def records(*labels: tuple[str, object]) -> bytes:
    return json.dumps([{"id": item, "value": label} for item, label in labels]).encode()


def test_every_metric_of_the_track_in_its_order(definition: Definition) -> None:
    result = score(definition, "hard", records(*GOLD), records(*GOLD))
    assert result.scores == {"icm": 1.5, "icm_norm": 1.0, "f1_macro": 1.0, "f1:NO": 1.0}
    assert list(result.scores) == ["icm", "icm_norm", "f1_macro", "f1:NO"]
    assert all(type(value) is float for value in result.scores.values())
    assert (result.items, result.flags, list(result.report)) == (4, [], [])


def test_a_file_or_its_content(definition: Definition, tmp_path: Path) -> None:
    for name in ("run", "gold"):
        (tmp_path / name).write_bytes(records(*GOLD))
    result = score(definition, "hard", tmp_path / "run", tmp_path / "gold")
    assert result.scores["f1_macro"] == 1


def test_a_run_with_errors_gets_no_scores_and_all_its_problems(definition: Definition) -> None:
    result = score(definition, "hard", records(("1", "NO"), ("2", "MAYBE"), ("9", "NO")), records(*GOLD))
    assert result.scores == {}
    assert {problem.code for problem in result.report.errors} >= {
        "label-outside-domain",
        "missing-items",
        "unknown-ids",
    }


def test_lenient_scores_what_the_official_evaluator_would(definition: Definition) -> None:
    run = records(("1", "NO"), ("2", "YES"), ("3", "MAYBE"))
    result = score(definition, "hard", run, records(*GOLD), lenient=True)
    assert result.report.ok
    assert result.report.warnings
    # Bits: NO and YES 1, DIRECT and REPORTED 2, the unknown class 2.
    item = {"1": 1.0, "2": 2 * 1 + 2 * 2 - 3 * 2, "3": 2 * 2 + 2 * 1 - 3 * 3, "4": 2 * 2 - 3 * 2}
    assert result.scores["icm"] == pytest.approx(sum(item.values()) / 4)


def test_the_items_asked_for_may_be_more_than_the_gold_s(definition: Definition, tmp_path: Path) -> None:
    run = records(*GOLD, ("5", "NO"))
    assert not score(definition, "hard", run, records(*GOLD)).report.ok
    by_list = score(definition, "hard", run, records(*GOLD), items=["1", "2", "3", "4", "5"])
    (tmp_path / "ids.txt").write_bytes(b"\xef\xbb\xbf1\r\n2\r\n3\r\n4\r\n5\r\n\r\n")
    by_file = score(definition, "hard", run, records(*GOLD), items=tmp_path / "ids.txt")
    assert by_list.scores == by_file.scores
    assert by_list.scores["f1:NO"] == 1
    assert by_list.items == 4


def test_a_text_is_a_path_wherever_a_file_is_meant(definition: Definition, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_bytes(records(*GOLD))
    (tmp_path / "ids.txt").write_text("1\n2\n3\n4\n")
    run, ids = str(tmp_path / "run.json"), str(tmp_path / "ids.txt")
    assert check(definition, "hard", run, items=ids).ok
    assert score(definition, "hard", run, gold=run, items=ids).scores["f1:NO"] == 1
    assert [problem.code for problem in check(definition, "hard", f"{run}x", items=ids)] == ["unreadable-file"]


def test_a_track_may_count_items_outside_the_gold(definition: Definition) -> None:
    run = records(*GOLD, ("5", "NO"))
    result = score(definition, "counting", run, records(*GOLD), items=["1", "2", "3", "4", "5"])
    assert result.scores == {"f1:NO": 2 * 2 / (2 + 3), "system_precision": 4 / 5}


def test_optional_items_are_judged_when_the_run_brings_them(definition: Definition) -> None:
    without = score(definition, "pairs", b"id,first,second\n1,1,1\n2,0,1\n", PAIRS_GOLD)
    assert without.report.ok
    assert without.scores == {"ssa_accuracy": 0.5, "ssa_accuracy:gender": 1.0, "f1_positive": None}
    for items in (None, ["1", "2"], definition.track("pairs").items["test"]):
        brought = score(definition, "pairs", b"id,first,second\n1,1,1\n2,0,1\nx,1,1\ny,0,0\n", PAIRS_GOLD, items)
        assert brought.scores == {"ssa_accuracy": 0.5, "ssa_accuracy:gender": 1.0, "f1_positive": 2 * 1 / (2 + 1)}
    assert not score(definition, "pairs", b"id,first,second\n1,1,1\n2,0,1\nx,1,1\n", PAIRS_GOLD).report.ok


def test_a_constant_classifier_is_flagged_where_agreement_is_judged(definition: Definition) -> None:
    constant = score(definition, "pairs", b"id,first,second\n1,0,0\n2,0,0\n", PAIRS_GOLD)
    assert constant.scores["ssa_accuracy"] == 1
    undefined = "F1 of the positive class: undefined, because no gold value is 1, or the run answers no gold items"
    assert constant.flags == ["constant", undefined]
    assert score(definition, "pairs", b"id,first,second\n1,0,0\n2,1,1\n", PAIRS_GOLD).flags == [undefined]
    everything_no = records(*((item, "NO") for item, _ in GOLD))
    assert score(definition, "hard", everything_no, records(*GOLD)).flags == []


def test_the_gold_against_itself(definition: Definition) -> None:
    assert score_gold(definition, "hard", records(*GOLD)).scores["icm_norm"] == 1
    standard = load_gold(definition, "hard", records(*GOLD))
    assert isinstance(standard, LoadedGold)
    assert score_gold(definition, "hard", standard).scores == score(definition, "hard", records(*GOLD), standard).scores


def test_a_definition_without_its_items_files_scores_all_the_same(definition: Definition) -> None:
    definition.track("pairs").items["test"].unlink()
    assert score(
        definition, "pairs", b"id,first,second\n1,1,1\n2,0,1\n", b"id,group,first,second\n1,a,,\n2,b,,\n"
    ).scores


def test_problems_name_the_file(definition: Definition, tmp_path: Path) -> None:
    (tmp_path / "team_1.json").write_bytes(b"[]")
    result = score(definition, "hard", tmp_path / "team_1.json", records(*GOLD))
    assert {problem.file for problem in result.report} == {"team_1.json"}


def test_unreadable_gold_is_the_organizers_error(definition: Definition) -> None:
    with pytest.raises(GoldError) as caught:
        score(definition, "hard", records(*GOLD), b"not json")
    assert not caught.value.report.ok


def test_an_unknown_track_is_named(definition: Definition) -> None:
    with pytest.raises(KeyError, match="existing tracks: hard, counting, pairs"):
        score(definition, "soft", records(*GOLD), records(*GOLD))


PUBLISHED = [
    # Ariza-Casabona et al. (2022), tables 3 and 4
    ("detests2022", "task1", "t1_all_ones", {"f1_positive": "0.4243"}),
    (
        "detests2022",
        "task2",
        "t2_gold_standard",
        {"icm": "1.6676", "hierarchical_f": "1.0000", "propensity_f": "1.0000"},
    ),
    ("detests2022", "task2", "t2_all_zeros", {"icm": "-1.1280", "hierarchical_f": "0.8317", "propensity_f": "0.8215"}),
    ("detests2022", "task2", "t2_all_ones", {"icm": "-36.3162", "hierarchical_f": "0.2224", "propensity_f": "0.1354"}),
    # Basile et al. (2019), tables 3 and 4
    ("hateval2019", "en-a", "synth_en_a_mfc", {"f1_macro": "0.367"}),
    ("hateval2019", "es-a", "synth_es_a_mfc", {"f1_macro": "0.370"}),
    ("hateval2019", "en-b", "synth_en_b_mfc", {"exact_match_ratio": "0.580", "f1_macro_mean": "0.421"}),
]


@pytest.mark.parametrize(("task", "track", "case", "published"), PUBLISHED, ids=[entry[2] for entry in PUBLISHED])
def test_published_rows(task: str, track: str, case: str, published: dict[str, str], root: Path, shared: Path) -> None:
    folder = shared / "conformance" / task
    paths = next(entry for entry in json.loads((folder / "cases.json").read_text()) if entry["id"] == case)
    result = score(load_definition(root / "tasks" / task), track, folder / paths["run"], folder / paths["gold"])
    for key, text in published.items():
        assert f"{result.scores[key]:.{len(text.partition('.')[2])}f}" == text
