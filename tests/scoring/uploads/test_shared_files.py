"""Tracks that read their answers from the same run files (`file_of`), such as SHROOM's labels and probabilities."""

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scoring import Definition, DefinitionError, check_upload, load_definition, score
from scoring.__main__ import main
from scoring.commands import track_of_run
from scoring.uploads import naming
from scoring.uploads.inspection import entry_for, inspect_upload, own_entry, paths_of, read_run
from tests.for_each import for_each

CLASSES = '["Hallucination", "Not Hallucination"]'
TASK = f"""
agon: 1
slug: shroom-like
title: Hallucinations
year: 2027
languages: [en]
tracks:
  - slug: aware
    format: {{kind: table-labels, id: id, label: label, classes: {CLASSES}, json: true, extra_columns: ignore}}
    items: items.txt
    metrics: [accuracy]
    rank_by: accuracy
  - slug: aware-p
    file_of: aware
    format:
      kind: table
      id: id
      columns: {{"p(Hallucination)": {{kind: number, name: p, low: 0, high: 1}}}}
      json: true
      extra_columns: ignore
    items: items.txt
    metrics: ["spearman:p"]
    rank_by: "spearman:p"
naming: {{run: "{{track}}_{{team}}_{{number}}.json", archive: "shroom_{{team}}", number: [1, 2]}}
phases: [{{slug: open, opens: "2027-01-01 00:00 UTC", scores: at-once, official: best}}]
gold: [{{track: aware, file: gold.json}}, {{track: aware-p, file: gold.json}}]
"""
GOLD = [("Hallucination", 0.8), ("Not Hallucination", 0.2), ("Hallucination", 1.0), ("Not Hallucination", 0.0)]
RUN = [("Hallucination", 0.7), ("Hallucination", 0.6), ("Hallucination", 0.9), ("Not Hallucination", 0.1)]


def content(answers: list[tuple[str, float]]) -> bytes:
    entries = [{"id": n, "label": label, "p(Hallucination)": p} for n, (label, p) in enumerate(answers)]
    return json.dumps(entries).encode()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "task.yaml").write_text(TASK, encoding="utf-8")
    (tmp_path / "items.txt").write_text("0\n1\n2\n3\n", encoding="utf-8")
    (tmp_path / "gold.json").write_bytes(content(GOLD))
    return tmp_path


@pytest.fixture
def shroom(folder: Path) -> Definition:
    return load_definition(folder)


def ranks(values: list[float]) -> Any:
    return np.argsort(np.argsort(values))


def test_one_file_is_scored_on_both_boards(shroom: Definition, folder: Path) -> None:
    path = folder / "aware_Lak_1.json"
    path.write_bytes(content(RUN))
    found = check_upload(shroom, path, path.name, "Lak")
    assert list(found.report) == []
    assert [(run.run.track, run.run.number, run.run.name, run.items) for run in found.runs] == [
        ("aware", 1, "aware_Lak_1.json", 4),
        ("aware-p", 1, "aware_Lak_1.json", 4),
    ]
    assert found.runs[0].sha256 == found.runs[1].sha256
    scores: dict[str, float | None] = {}
    for run in found.runs:
        data = read_run(path, run.run.entry)
        scores |= score(shroom, run.run.track, data, folder / "gold.json").scores
    expected = np.corrcoef(ranks([p for _, p in GOLD]), ranks([p for _, p in RUN]))[0, 1]
    assert scores == {"accuracy": 3 / 4, "spearman:p": pytest.approx(expected, abs=1e-12)}


def test_an_archive_has_the_runs_of_each_file(shroom: Definition, folder: Path) -> None:
    upload = folder / "shroom_Lak.zip"
    with zipfile.ZipFile(upload, "w") as archive:
        for number in (1, 2):
            archive.writestr(f"aware_Lak_{number}.json", content(RUN))
    found = check_upload(shroom, upload, upload.name, "Lak")
    assert list(found.report) == []
    assert [(run.run.track, run.run.number) for run in found.runs] == [
        ("aware", 1), ("aware-p", 1), ("aware", 2), ("aware-p", 2),
    ]  # fmt: skip
    assert [read_run(upload, run.run.entry) for run in found.runs] == [content(RUN)] * 4
    assert len({run.run.entry for run in found.runs}) == 4


def test_a_problem_of_the_file_is_reported_once(shroom: Definition, folder: Path) -> None:
    path = folder / "aware_Lak_1.json"
    path.write_bytes(content([*RUN[:3], ("Maybe", 1.5), ("Hallucination", 0.5)]))
    found = check_upload(shroom, path, path.name, "Lak")
    codes = [problem.code for problem in found.report]
    assert sorted(codes) == ["label-outside-domain", "unknown-ids", "value-outside-domain"]
    assert {problem.file for problem in found.report} == {"aware_Lak_1.json"}


def test_only_the_other_track_has_file_names(shroom: Definition, folder: Path) -> None:
    assert naming.example(shroom, "aware-p", "Lak", 2) == "aware_Lak_2.json"
    assert naming.read(shroom, "aware-p_Lak_1.json", "Lak") is None
    assert naming.unreachable_tracks(shroom) == {}
    path = folder / "any name.json"
    path.write_bytes(content(RUN))
    assert track_of_run(shroom, path) == "aware"
    upload = inspect_upload(shroom, path, "aware-p_Lak_1.json", "Lak")
    assert [problem.suggestion for problem in upload.report] == ["aware_Lak_1.json"]


def test_the_command_line_scores_both(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "aware_Lak_1.json"
    path.write_bytes(content(RUN))
    assert main(["check", "-t", str(folder), str(path)]) == 0
    assert "Tracks: aware, aware-p" in capsys.readouterr().out
    assert main(["score", "-t", str(folder), "--json", str(path)]) == 0
    runs = json.loads(capsys.readouterr().out)["runs"]
    assert [(run["track"], list(run["scores"])) for run in runs] == [
        ("aware", ["accuracy"]),
        ("aware-p", ["spearman:p"]),
    ]


def test_entries_say_the_track_and_the_file() -> None:
    assert own_entry(entry_for("b", "")) == ""
    assert own_entry(entry_for("b", "folder/a.json")) == "folder/a.json"
    assert paths_of(entry_for("b", '/{"eng":"x/eng.csv"}')) == {"eng": "x/eng.csv"}
    assert paths_of(entry_for("b", "a.json")) == {}


@for_each(
    ("old", "new", "words"),
    [
        pytest.param("file_of: aware", "file_of: awre", "awre is not a track with files of its own", id="unknown"),
        pytest.param("file_of: aware", "file_of: aware-p", "aware-p is not a track with files", id="itself"),
        pytest.param("items: items.txt\n    metrics: [acc", "items: {dev: items.txt}\n    metrics: [acc",
                     "the phase open accepts no runs for aware, so there are none for aware-p", id="phase"),
        pytest.param("    file_of: aware\n", "    file_of: aware\n    files: {name: part, of: [a, b]}\n",
                     "aware-p and aware must have the same files", id="files"),
    ],
)  # fmt: skip
def test_the_definition_is_checked(old: str, new: str, words: str, folder: Path) -> None:
    assert old in TASK
    (folder / "task.yaml").write_text(TASK.replace(old, new), encoding="utf-8")
    with pytest.raises(DefinitionError) as found:
        load_definition(folder)
    assert any(words in problem.message for problem in found.value.report), str(found.value)
