"""The commands `baselines`, `votes`, `agreement` and `analyze`."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from scoring.__main__ import main
from scoring.baselines.registry import BASELINES
from scoring.definition import Definition
from scoring.definition.data import METHODS
from tests.conftest import ROOT
from tests.scoring.conftest import DEFINITION, ITEMS

KINDS = ["NO", "A", "B", "A", "NO", "A", "NO", "B", "NO", "A"]
WORDS = {"NO": "river", "A": "library", "B": "market"}


@pytest.fixture
def task(tmp_path: Path) -> Path:
    """The small shared task, with ids, a gold standard of eight items, training answers and texts."""
    folder = tmp_path / "task"
    (folder / "data").mkdir(parents=True)
    gold = "gold:\n  - {track: task1-hard, split: test, file: gold.json}\n"
    (folder / "task.yaml").write_text(DEFINITION.replace("naming:", f"{gold}naming:"), encoding="utf-8")
    (folder / "items.txt").write_text("\n".join(ITEMS), encoding="utf-8")
    labels = dict(zip(ITEMS, KINDS, strict=True))
    write_labels(folder / "gold.json", {item: labels[item] for item in ITEMS[:8]})
    write_labels(folder / "train.json", {f"t{item}": label for item, label in labels.items()})
    lines = [f"{prefix}{item}\t{WORDS[label]}" for prefix in ("", "t") for item, label in labels.items()]
    (folder / "texts.tsv").write_text("id\ttext\n" + "\n".join(lines), encoding="utf-8")
    return folder


def write_labels(path: Path, labels: dict[str, str]) -> None:
    records = [{"test_case": "TINY", "id": item, "value": label} for item, label in labels.items()]
    path.write_text(json.dumps(records), encoding="utf-8")


def labels_in(path: Path) -> list[str]:
    return [record["value"] for record in json.loads(path.read_text(encoding="utf-8"))]


def run(task: Path, *arguments: str) -> int:
    return main(["baselines", "--task", str(task), "--track", "task1-hard", *arguments])


@pytest.mark.slow
def test_every_baseline_of_the_track_is_written_and_valid(task: Path, capsys: pytest.CaptureFixture[str]) -> None:
    learned = ["--train", str(task / "train.json"), "--texts", str(task / "texts.tsv")]
    assert run(task, *learned, "--json") == 0
    report = json.loads(capsys.readouterr().out)
    names = {Path(path).stem for path in report["written"]}
    assert names >= {"gold", "majority", "minority", "random", "tfidf-svc", "ngram-svc", "tfidf-svc-hierarchical"}
    assert report["skipped"].keys() <= {"task1-hard"}  # fasttext is skipped if gensim is missing
    assert {Path(path).parent for path in report["written"]} == {task / "baselines/test/task1-hard"}
    assert main(["check", "--task", str(task), "--track", "task1-hard", *report["written"]]) == 0
    assert labels_in(task / "baselines/test/task1-hard/tfidf-svc.json") == KINDS
    assert labels_in(task / "baselines/test/task1-hard/tfidf-svc-hierarchical.json") == KINDS


def test_the_gold_standard_scores_as_the_gold_and_is_whole(task: Path) -> None:
    assert run(task, "--only", "gold", "--only", "minority") == 0
    written = labels_in(task / "baselines/test/task1-hard/gold.json")
    assert written[:8] == KINDS[:8]
    # Dropped items get the majority answer (NO and A occur three times each, and NO comes first).
    assert written[8:] == ["NO", "NO"]
    assert labels_in(task / "baselines/test/task1-hard/minority.json") == ["B"] * 10


def test_the_distribution_is_that_of_training_when_given(task: Path) -> None:
    write_labels(task / "task1-hard-train.json", {"a": "B", "b": "B", "c": "NO"})
    assert run(task, "--only", "majority", "--train", str(task / "{track}-train.json")) == 0
    assert labels_in(task / "baselines/test/task1-hard/majority.json") == ["B"] * 10


def test_random_answers_follow_the_seed(task: Path) -> None:
    path = task / "baselines/test/task1-hard/random.json"
    answers = []
    for seed in ("1", "1", "2"):
        assert run(task, "--only", "random", "--seed", seed) == 0
        answers.append(labels_in(path))
    assert answers[0] == answers[1] != answers[2]


def test_what_is_asked_for_by_name_and_cannot_be_made_is_said(task: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(task, "--only", "tfidf-svc") == 1
    assert "task1-hard: skipped tfidf-svc: this baseline requires --train" in capsys.readouterr().out
    assert run(task, "--only", "nothing") == 1
    assert "this baseline requires spans" in capsys.readouterr().out
    assert run(task, "--only", "tfidf-svc", "--train", str(task / "train.json")) == 1
    assert "ti0 and 9 more items have no text" in capsys.readouterr().out


def test_wrong_files_are_a_wrong_command(task: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(task, "--train", str(task / "absent.json")) == 2
    assert run(task, "--train", str(task / "{track}-absent.json")) == 2
    assert run(task, "--texts", str(task / "items.txt")) == 2
    assert "has no column id" in capsys.readouterr().err
    (task / "texts.tsv").write_text("id\ttext\ni0\ta\ni0\tb\n", encoding="utf-8")
    assert run(task, "--texts", str(task / "texts.tsv")) == 2
    assert "line 3: the id i0 appears a second time" in capsys.readouterr().err


@pytest.mark.slow
def test_learned_runs_are_the_same_under_any_hash_seed(task: Path) -> None:
    pytest.importorskip("gensim", reason="gensim has no wheels for this Python")
    given = ["--train", str(task / "train.json"), "--texts", str(task / "texts.tsv"), "--only", "fasttext-svc"]
    written = []
    for seed in ("1", "2"):
        command = [sys.executable, "-m", "scoring", "baselines", "--task", str(task), "--track", "task1-hard", *given]
        subprocess.run(command, check=True, env=os.environ | {"PYTHONHASHSEED": seed}, cwd=ROOT)
        written.append((task / "baselines/test/task1-hard/fasttext-svc.json").read_bytes())
    assert written[0] == written[1]


VOTES = {"i0": ["A", "A", "B"], "i1": ["-", "-", "-"], "i2": ["A", "B", "UNKNOWN"], "i3": ["UNKNOWN", None, []]}


def test_gold_is_made_of_votes_and_says_what_it_dropped(
    task: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    votes = tmp_path / "votes.json"
    votes.write_text(json.dumps({item: {"labels": given} for item, given in VOTES.items()}), encoding="utf-8")
    given = ["--field", "labels", "--counts-as=-=NO", "--out", str(tmp_path / "out.json"), str(votes)]
    assert main(["gold", "--task", str(task), "--track", "task1-hard", *given]) == 0
    assert labels_in(tmp_path / "out.json") == ["A", "NO"]
    assert capsys.readouterr().out.splitlines() == [
        "4 items: 2 in the gold file, 2 dropped.",
        "10 votes, 2 of them without a class.",
        "a tie between several labels: 1 (i2)",
        "no votes: 1 (i3)",
    ]
    assert main(["gold", "--task", str(task), "--track", "task1-soft", *given]) == 0
    assert json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))[2] == {
        "id": "i2",
        "value": {"NO": 0.0, "A": 0.5, "B": 0.5},
    }


def test_items_that_an_annotator_skipped_are_not_votes(
    task: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    votes = tmp_path / "votes.csv"
    rows = ["i0,x,A", "i0,y,A", "i1,y,B", "i1,z,UNKNOWN", "i2,x,-", "i2,z,"]
    votes.write_text("item,annotator,label\n" + "\n".join(rows), encoding="utf-8")
    given = ["votes", "--task", str(task), "--track", "task1-hard", "--counts-as=-=NO", str(votes)]
    assert main([*given, "--out", str(tmp_path / "out.json")]) == 0
    assert "5 votes, 1 of them without a class." in capsys.readouterr().out
    assert main([*given, "--out", str(tmp_path / "out.json"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["without_label"] == 1


def test_agreement_of_a_table_of_votes(task: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    votes = tmp_path / "votes.csv"
    rows = ["i1,x,A", "i1,y,A", "i2,x,B", "i2,y,A", "i3,x,B", "i3,y,B", "i4,y,A"]
    votes.write_text("item,annotator,label\n" + "\n".join(rows), encoding="utf-8")
    assert main(["agreement", "--task", str(task), "--track", "task1-hard", "--csv", str(votes)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(",")[0] for line in lines] == ["class", "NO", "A", "B", "whole answers"]
    assert lines[2].startswith("A,3,0.666666666666")
    assert main(["agreement", "--task", str(task), "--track", "task1-hard", "--json", str(votes)]) == 0
    assert json.loads(capsys.readouterr().out)["agreement"][1]["fleiss"] == pytest.approx(1 / 3)


COLUMN_VOTES = ["d_0,x,1,0", "d_0,y,1,1", "d_0,z,0,0", "d_1,x,0,0", "d_1,y,0,0", "d_1,z,1,0"]


def test_gold_and_agreement_of_table_columns(
    tiny: Definition, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    votes, out = tmp_path / "votes.csv", tmp_path / "out.csv"
    votes.write_text("item,annotator,whole,left\n" + "\n".join(COLUMN_VOTES), encoding="utf-8")
    given = ["--task", str(tiny.folder), "--track", "task3-table"]
    assert main(["votes", *given, "--out", str(out), str(votes)]) == 0
    assert out.read_text().split() == ["doc,pos,whole,left", "d,0,1,0", "d,1,0,0"]  # more than half of three votes
    assert main(["votes", *given, "--threshold", "0", "--out", str(out), str(votes)]) == 0
    assert out.read_text().split()[1:] == ["d,0,1,1", "d,1,1,0"]
    capsys.readouterr()
    assert main(["agreement", *given, "--json", str(votes)]) == 0
    rows = json.loads(capsys.readouterr().out)["agreement"]
    assert [row["name"] for row in rows] == ["whole", "left", "whole answers"]
    assert rows[0]["pairwise"] == pytest.approx(1 / 3)  # x and y agree on both items, and z disagrees with both
    votes.write_text("item,annotator,whole,left\nd_0,x,2,0", encoding="utf-8")
    assert main(["agreement", *given, str(votes)]) == 2
    assert "line 2: '2' is not 0 or 1" in capsys.readouterr().err


def test_votes_for_none_of_the_classes_and_for_additional_labels(
    tiny: Definition, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Labels that `task.yaml` declares as `none` and `also` are known to both commands, as on the portal."""
    folder = tiny.folder
    votes, out = folder / "votes.json", tmp_path / "out.csv"
    votes.write_text('{"d_0": [["whole", "irony"], ["none"], ["whole"]], "d_1": [["none", "irony"], ["none"], []]}')
    given = ["--task", str(folder), "--track", "task3-table"]
    assert main(["agreement", *given, str(votes)]) == 2
    assert "none" in capsys.readouterr().err
    extra = ["--none", "none", "--also", "irony"]
    assert main(["agreement", *given, *extra, "--json", str(votes)]) == 0
    rows = json.loads(capsys.readouterr().out)["agreement"]
    assert [row["name"] for row in rows] == ["whole", "left", "irony", "whole answers"]

    path = folder / "task.yaml"
    declared = "{track: task3-table, file: votes.json, none: none, also: [irony]}"
    path.write_text(path.read_text() + f"\nvotes:\n  - {declared}\n")
    assert main(["agreement", *given, "--json", str(votes)]) == 0
    assert json.loads(capsys.readouterr().out)["agreement"] == rows
    assert main(["votes", *given, "--out", str(out), str(votes)]) == 0
    assert out.read_text().split() == ["doc,pos,whole,left", "d,0,1,0", "d,1,0,0"]


def test_items_without_a_class_are_dropped_unless_labels_may_be_missing(
    task: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    votes = tmp_path / "votes.json"
    votes.write_text('{"i0": ["A", "A"], "i1": ["nothing", "nothing"], "i2": ["A", "nothing", "A", "A"]}')
    given = ["--none", "nothing", "--out", str(tmp_path / "out.json"), str(votes)]
    assert main(["votes", "--task", str(task), "--track", "task1-hard", *given]) == 0
    assert labels_in(tmp_path / "out.json") == ["A", "A"]
    assert "none of the classes applies: 1 (i1)" in capsys.readouterr().out
    assert main(["votes", "--task", str(task), "--track", "task1-soft", *given]) == 0
    assert json.loads((tmp_path / "out.json").read_text())[2]["value"] == {"NO": 0.0, "A": 0.75, "B": 0.0}


def test_agreement_on_spans_needs_texts(tiny: Definition, capsys: pytest.CaptureFixture[str]) -> None:
    marks = tiny.folder / "marks.json"
    marks.write_text('{"i0": [[1], [1, 2]]}', encoding="utf-8")
    assert main(["agreement", "--task", str(tiny.folder), "--track", "task5-spans", str(marks)]) == 2
    assert "agreement on spans needs the texts of the split test" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"i0": ["C"]}', "item i0: 'C' is not one of NO, A, B"),
        ('{"i0": "A"}', "item i0: expected a list of votes"),
        ('{"i0": [1]}', "item i0: expected a label"),
        ('{"i0": ["A"], "i0": ["B"]}', "i0 appears twice"),
        ("[1", "Cannot read"),
        ("[]", "expected an object with an entry for each item"),
    ],
)
def test_invalid_votes_are_named(
    content: str, message: str, task: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    votes = tmp_path / "votes.json"
    votes.write_text(content, encoding="utf-8")
    assert main(["agreement", "--task", str(task), "--track", "task1-hard", str(votes)]) == 2
    assert message in capsys.readouterr().err


def test_analysis_of_a_field_of_runs(task: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, kinds in {"good": KINDS, "fair": [*KINDS[:5], *["NO"] * 5], "bad": ["B"] * 10}.items():
        write_labels(tmp_path / f"{name}.json", dict(zip(ITEMS, kinds, strict=True)))
    runs = [str(tmp_path / f"{name}.json") for name in ("bad", "good", "fair")]
    given = ["analyse", "--task", str(task), "--track", "task1-hard", "--gold", str(task / "gold.json"), *runs]
    assert main([*given, "--best", "1", "--json"]) == 0
    tables = {table["title"]: table for table in json.loads(capsys.readouterr().out)["tables"]}
    assert tables["Labels of 8 items"]["rows"] == [["NO", 3, 0.375], ["A", 3, 0.375], ["B", 2, 0.25]]
    assert tables["bad.json · Scores by class"]["rows"][2] == ["B", 2, 8, 2, 0.25, 1.0, 0.4]
    assert tables["fair.json · Confusion matrix: gold standard in rows, run in columns"]["rows"][1] == ["A", 1, 2, 0]
    assert tables["Results analysis"]["rows"][0] == ["runs", 3]
    assert tables["Missed by all of good.json"]["rows"][-1] == ["all", 0, 8, 0.0]
    assert main([*given, "--best", "2"]) == 0
    text = capsys.readouterr().out
    assert "Missed by all of good.json, fair.json" in text
    assert "Percentage of items that two runs answer differently" in text


OTHER_KINDS = """
agon: 1
slug: kinds
title: Kinds
year: 2027
languages: [en]
tracks:
  - {slug: ranking, format: {kind: trec-run, depth: 2}, items: queries.txt, metrics: [map], rank_by: map}
  - {slug: mood, format: {kind: table, id: key, columns: {M: mood}, values: number}, items: items.txt, metrics: [mae],
     rank_by: mae}
  - {slug: shares, format: {kind: table-soft, id: key, classes: [A, B], headers: [p_a, p_b]}, items: items.txt,
     metrics: [brier], rank_by: brier}
  - {slug: words, format: {kind: table-labels, id: key, classes: [NO, A, B], separator: tab}, items: items.txt,
     metrics: [f1_macro], rank_by: f1_macro}
gold:
  - {track: ranking, split: test, file: ranking}
  - {track: mood, split: test, file: mood}
  - {track: shares, split: test, file: shares}
  - {track: words, split: test, file: words}
naming: {run: "{track}_{team}"}
phases: [{slug: open, opens: "2027-01-01 00:00 UTC", scores: at-once, official: best}]
"""
SOUND = {
    "ranking": {"gold"},
    "mood": {"gold", "median", "random"},
    "words": {"gold", "majority", "minority", "random", "tfidf-svc"},
}


@pytest.mark.parametrize("track", ["ranking", "mood", "shares", "words"])
def test_baselines_of_every_kind_of_track_are_valid_runs(
    track: str, task: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {
        "task.yaml": OTHER_KINDS,
        "queries.txt": "q1\nq2\n",
        "ranking": "q1 0 d1 1\nq1 0 d2 0\nq1 0 d3 2\nq2 0 d1 1\n",
        "mood": "key,M\n" + "".join(f"{item},0.5\n" for item in ITEMS),
        "shares": "key,p_a,p_b\n" + "".join(f"{item},0.25,1\n" for item in ITEMS),
        "words": "key\tlabel\n" + "".join(f"{item}\t{kind}\n" for item, kind in zip(ITEMS, KINDS, strict=True)),
        "texts.tsv": "key\ttext\n"
        + "".join(f"{item}\t{WORDS[kind]}\n" for item, kind in zip(ITEMS, KINDS, strict=True)),
    }
    for name, text in files.items():
        (task / name).write_text(text, encoding="utf-8")
    given = ["--task", str(task), "--track", track]
    learned = ["--train", str(task / "words"), "--texts", str(task / "texts.tsv")] if track == "words" else []
    assert main(["baselines", *given, *learned, "--json"]) == 0
    written = json.loads(capsys.readouterr().out)["written"]
    assert {Path(path).stem for path in written} >= SOUND.get(track, {"gold", "majority", "minority", "random"})
    assert track == "words" or len(written) == len(SOUND.get(track, range(4)))
    assert main(["check", *given, *written]) == 0
    gold = next(Path(path) for path in written if Path(path).stem == "gold")
    score = ["score", *given, "--gold", str(task / track), "--json", str(gold)]
    assert main(score) == 0


RECIPES = """
baselines:
  - name: Learned
    files: "baselines/{split}-{track}.json"
    tracks: [task1-hard]
    recipe: {method: tfidf-svc, train: train.json, texts: [texts.tsv]}
  - {name: Drawn, files: "drawn.json", tracks: [task1-hard], recipe: {method: random, seed: 3}}
  - {name: Ready, files: "ready.json"}
"""


def test_declared_baselines_are_written_to_their_paths(task: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (task / "task.yaml").open("a", encoding="utf-8") as file:
        file.write(RECIPES)
    assert main(["baselines", "--task", str(task), "--declared", "--json"]) == 0
    written = ["baselines/test-task1-hard.json", "drawn.json"]
    assert json.loads(capsys.readouterr().out)["written"] == [str(task / name) for name in written]
    assert labels_in(task / written[0]) == KINDS
    first = labels_in(task / "drawn.json")
    assert run(task, "--only", "random", "--seed", "3") == 0
    assert labels_in(task / "baselines/test/task1-hard/random.json") == first


def test_an_impossible_recipe_is_reported_with_its_place(task: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe = 'baselines: [{name: Learned, files: "x.json", tracks: [task2-hard], recipe: {method: everything}}]\n'
    with (task / "task.yaml").open("a", encoding="utf-8") as file:
        file.write(recipe)
    assert main(["baselines", "--task", str(task), "--declared"]) == 2
    expected = "Learned, track task2-hard, split test: this baseline requires spans. Correct the recipe, or limit it"
    assert expected in capsys.readouterr().err


def test_methods_of_recipes_are_the_baselines_that_exist() -> None:
    assert list(METHODS) == list(BASELINES)
