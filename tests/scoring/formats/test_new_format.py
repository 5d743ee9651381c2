"""A new run format needs only one file and one entry in the registry. Everything else uses its declaration."""

import json
import re
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
import yaml

from scoring import Definition, DefinitionError, check, check_upload, load_definition, score
from scoring.__main__ import main
from scoring.analysis.item_answers import item_answers
from scoring.definition import MetricSpec
from scoring.formats import FORMATS, write_run
from scoring.gold.track_votes import rules_of
from scoring.metrics.metric import LABELS
from scoring.metrics.registry import formats_of
from scoring.metrics.validation import validate
from scoring.score import load_gold
from scoring.task_folder import reference, schema
from scoring.task_folder.folder import errors_of_folder
from tests.conftest import ROOT
from tests.scoring.formats.toy import TOY

TASK = """
agon: 1
slug: toys
title: Toys
year: 2027
languages: [en]
naming: {run: "{track}_{team}[.toy]"}
tracks:
  - slug: one
    format: {kind: toy, classes: ["YES", "NO"], mark: "->"}
    items: items.txt
    metrics: [accuracy]
    rank_by: accuracy
phases:
  - {slug: open, opens: "2027-01-01 00:00 UTC", scores: at-once, official: best}
gold:
  - {track: one, file: gold.toy}
"""
GOLD = "i1 -> YES\ni2 -> NO\ni3 -> NO\n"
RUN = b"i3 -> NO\ni1 -> YES\ni2 -> YES\n"


@pytest.fixture
def toys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Definition:
    monkeypatch.setitem(FORMATS, TOY.name, TOY)
    (tmp_path / "task.yaml").write_text(TASK, encoding="utf-8")
    (tmp_path / "items.txt").write_text("i1\ni2\ni3\n", encoding="utf-8")
    (tmp_path / "gold.toy").write_text(GOLD, encoding="utf-8")
    return load_definition(tmp_path)


def test_its_options_are_read_and_wrong_ones_reported(toys: Definition, tmp_path: Path) -> None:
    assert toys.track("one").format.options == {"classes": ("YES", "NO"), "mark": "->"}
    (tmp_path / "task.yaml").write_text(TASK.replace("mark:", "mrak:"), encoding="utf-8")
    with pytest.raises(DefinitionError, match="mrak") as found:
        load_definition(tmp_path)
    assert [problem.suggestion for problem in found.value.report] == ["mark"]


def test_offsets_in_tokens_need_texts(toys: Definition, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FORMATS, TOY.name, replace(TOY, in_tokens=True))
    with pytest.raises(DefinitionError, match="toy runs are checked against the tokens of the split test"):
        load_definition(tmp_path)


def test_no_other_file_compares_the_name_of_a_format() -> None:
    """Everything else asks the declaration. The only exception is the option `list`, which only a table has."""
    named = re.compile(r"format\.kind (?:==|!=|in) .*")
    files = [path for path in (ROOT / "scoring").rglob("*.py") if "formats" not in path.relative_to(ROOT).parts]
    found = {match[0] for path in files for match in named.finditer(path.read_text(encoding="utf-8"))}
    assert {one for one in found if "FORMATS" not in one} == {
        'format.kind != "table" or not track.format.options["list"]:'
    }


def test_schema_and_reference_have_it(toys: Definition) -> None:
    validator = jsonschema.Draft202012Validator(schema.schema())
    document = yaml.safe_load(TASK)
    validator.validate(document)
    del document["tracks"][0]["format"]["classes"]
    assert not validator.is_valid(document)
    assert "What stands between id and label." in reference.as_markdown()


def test_runs_are_checked_and_scored(toys: Definition, tmp_path: Path) -> None:
    assert check(toys, "one", RUN).ok
    wrong = check(toys, "one", RUN.replace(b"i1 -> YES", b"i1 -> Yes"))
    assert [(problem.code, problem.line, problem.suggestion) for problem in wrong] == [
        ("label-outside-domain", 2, "YES")
    ]
    path = tmp_path / "upload"
    path.write_bytes(RUN)
    assert check_upload(toys, path, "one_Lak.toy", "Lak").ok
    assert score(toys, "one", RUN, tmp_path / "gold.toy").scores == {"accuracy": pytest.approx(2 / 3)}
    assert errors_of_folder(toys, set()) == []


def test_metrics_judge_it_by_what_it_says(toys: Definition) -> None:
    assert "toy" in formats_of(LABELS)
    assert validate(MetricSpec("accuracy"), toys.track("one")) is None
    rejected = validate(MetricSpec("icm_soft"), toys.track("one"))
    assert rejected == "icm_soft supports json-soft and table-soft runs, not toy"


def test_what_is_written_is_read_back(toys: Definition, tmp_path: Path) -> None:
    answers = load_gold(toys, "one", GOLD.encode()).answers
    write_run(toys.track("one"), answers, tmp_path / "run.toy")
    assert (tmp_path / "run.toy").read_text(encoding="utf-8") == GOLD


def test_baselines_are_made_in_it(toys: Definition, tmp_path: Path) -> None:
    assert main(["baselines", "--task", str(tmp_path), "--only", "majority", "--out", str(tmp_path / "made")]) == 0
    made = (tmp_path / "made/test/one/majority.toy").read_bytes()
    assert made == b"i1 -> NO\ni2 -> NO\ni3 -> NO\n"


def test_answers_are_shown_item_by_item(toys: Definition, tmp_path: Path) -> None:
    comparison = score(toys, "one", RUN, tmp_path / "gold.toy").comparison
    assert comparison is not None
    assert item_answers(comparison).run == [("YES",), ("YES",), ("NO",)]


def test_its_names_are_explained(toys: Definition, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--task", str(tmp_path), "--json", "one_Lak.toy"]) == 0
    (named,) = json.loads(capsys.readouterr().out)["names"]
    assert (named["track"], named["team"]) == ("one", "Lak")


def test_annotators_can_vote_on_its_classes(toys: Definition) -> None:
    rules = rules_of(toys.track("one"))
    assert (rules.classes, rules.multi) == (("YES", "NO"), False)


def test_no_other_file_goes_by_the_name_of_a_format() -> None:
    names = re.compile('"(' + "|".join(name for name in FORMATS if "-" in name) + ')"')
    sources = {path for room in ("scoring", "portal") for path in (ROOT / room).rglob("*.py")}
    sources.remove(ROOT / "portal/api/examples.py")  # answers that the specification shows
    found = [
        path for path in sources if path.parent.name != "formats" and names.search(path.read_text(encoding="utf-8"))
    ]
    assert found == []
