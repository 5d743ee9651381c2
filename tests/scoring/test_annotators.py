"""Predictions by annotator: items have different annotators, and a run's lists have one value for each of them."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import f1_score

from scoring import DefinitionError, check, check_upload, load_definition, score
from scoring.score import GoldError, load_gold, score_answers
from scoring.significance import intervals
from scoring.task_folder.folder import problems_of_folder

NAMES = [f"Ann{number}" for number in range(1, 41)]
TASK = f"""
agon: 1
slug: voices
title: Voices
year: 2026
languages: [en]
tracks:
  - slug: all
    format:
      {{kind: table, separator: tab, header: none, id: id, list: labels, values: [0, 1, 2, 3],
       columns: [{", ".join(NAMES)}]}}
    items: items.txt
    annotators: annotators.csv
    metrics: [annotator_error, {{name: annotator_distance, range: 3}}]
    rank_by: annotator_error
naming: {{run: "{{track}}_{{team}}_{{number}}.tsv", number: [1, 2, 3]}}
phases: [{{slug: open, opens: "2026-01-01 00:00 UTC", scores: at-once, official: best}}]
gold: [{{track: all, file: gold.tsv}}]
baselines: [{{name: Third, files: third.tsv}}]
"""
Lists = dict[str, list[int]]


def written(lists: Lists) -> str:
    return "".join(f"{item}\t{values}\n" for item, values in lists.items())


@pytest.fixture
def drawn() -> tuple[dict[str, list[str]], Lists, Lists]:
    """Return each item's annotators in random order, the gold labels, and a run's labels."""
    rng = np.random.default_rng(5)
    chosen = {f"i{number}": rng.permutation(NAMES)[: rng.integers(1, 9)].tolist() for number in range(60)}
    gold, run = ({item: rng.integers(0, 4, len(own)).tolist() for item, own in chosen.items()} for _ in range(2))
    return chosen, gold, run


@pytest.fixture
def folder(tmp_path: Path, drawn: tuple[dict[str, list[str]], Lists, Lists]) -> Path:
    chosen, gold, run = drawn
    (tmp_path / "task.yaml").write_text(TASK)
    (tmp_path / "items.txt").write_text("\n".join(chosen))
    rows = [f'{item},"{", ".join(own)}"\n' for item, own in chosen.items()]
    (tmp_path / "annotators.csv").write_text("id,annotators\n" + "".join(rows))
    (tmp_path / "gold.tsv").write_text(written(gold))
    (tmp_path / "third.tsv").write_text(written(run))
    return tmp_path


def test_scores_are_those_computed_list_by_list(folder: Path, drawn: tuple[dict[str, list[str]], Lists, Lists]) -> None:
    _, gold, run = drawn
    pairs = [(np.array(gold[item]), np.array(run[item])) for item in gold]
    task = load_definition(folder)
    result = score(task, "all", written(dict(reversed(run.items()))).encode(), folder / "gold.tsv")
    assert result.report.ok
    expected = {
        "annotator_error": np.mean([np.mean(left != right) for left, right in pairs]),
        "annotator_distance": np.mean([np.mean(np.abs(left - right)) / 3 for left, right in pairs]),
    }
    assert result.scores == pytest.approx(expected, abs=1e-12)
    assert score(task, "all", written(gold).encode(), folder / "gold.tsv").scores["annotator_error"] == 0
    assert result.comparison is not None
    bounds = intervals({"run": result.comparison}, task.track("all").ranking_metric, seed=0, rounds=200)["run"]
    assert bounds is not None
    assert bounds.low < expected["annotator_error"] < bounds.high


def test_a_group_of_annotators_has_the_mean_of_their_f1(
    folder: Path, drawn: tuple[dict[str, list[str]], Lists, Lists]
) -> None:
    """The first annotator of the group labels no item."""
    chosen, gold, run = drawn
    group = ["Nemo", *NAMES[:3]]
    of = ", ".join(f'{{name: "f1_macro:{name}", over: seen}}' for name in group)
    text = TASK.replace(f"[{', '.join(NAMES)}]", f"[Nemo, {', '.join(NAMES)}]")
    text = text.replace("metrics: [", f"metrics: [{{combine: group, of: [{of}], missing: skip}}, ")
    (folder / "task.yaml").write_text(text)
    labels = {
        name: [(gold[item][own.index(name)], run[item][own.index(name)]) for item, own in chosen.items() if name in own]
        for name in group
    }
    expected = np.mean([f1_score(*zip(*pairs, strict=True), average="macro") for pairs in labels.values() if pairs])
    found = score(load_definition(folder), "all", written(run).encode(), folder / "gold.tsv").scores
    assert found["combine:group"] == pytest.approx(expected, abs=1e-12)


def test_a_folder_of_such_a_task_is_valid(folder: Path) -> None:
    assert not problems_of_folder(load_definition(folder))


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda values: [*values, 0], "values-not-a-list"),
        (lambda values: values[1:], "values-not-a-list"),
        (lambda values: str(values).replace("]", ", ]"), "values-not-a-list"),
        (lambda values: [*values[1:], 9], "value-outside-domain"),
    ],
)
def test_a_list_has_one_valid_value_for_each_annotator_of_its_item(
    folder: Path, drawn: tuple[dict[str, list[str]], Lists, Lists], change: Callable[[list[int]], list[int]], code: str
) -> None:
    chosen, _, run = drawn
    report = check(load_definition(folder), "all", written(run | {"i7": change(run["i7"])}).encode())
    (problem,) = report.errors
    assert (problem.code, problem.line, problem.item) == (code, 8, "i7")
    if code == "values-not-a-list":
        assert problem.expected == ", ".join(chosen["i7"])


def test_unknown_ids_are_reported_as_such(folder: Path, drawn: tuple[dict[str, list[str]], Lists, Lists]) -> None:
    report = check(load_definition(folder), "all", written(drawn[2] | {"other": [1, 2]}).encode())
    assert [problem.code for problem in report.errors] == ["unknown-ids"]


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("i3,", "x3,", "annotators.csv has no row for i3"),
        ("Ann1,", "Zoe,", "the annotator Zoe of i"),
        ("annotators\n", "names\n", "annotators.csv has no column annotators"),
    ],
)
def test_a_table_of_annotators_that_cannot_be_used(
    folder: Path, drawn: tuple[dict[str, list[str]], Lists, Lists], old: str, new: str, found: str
) -> None:
    path = folder / "annotators.csv"
    path.write_text(path.read_text().replace(old, new, 1))
    task = load_definition(folder)
    report = check(task, "all", written(drawn[2]).encode())
    assert [problem.code for problem in report.errors] == ["annotators-unreadable"]
    assert found in str(report.errors[0].found)
    assert any(found in problem.message for problem in problems_of_folder(task))
    if "no row" not in found:
        with pytest.raises(GoldError, match="cannot be read"):
            score(task, "all", written(drawn[2]).encode(), folder / "gold.tsv")


@pytest.mark.parametrize(
    ("old", "new"),
    [("list: labels, ", ""), ("annotators: annotators.csv", "annotators: {dev: annotators.csv}")],
)
def test_annotators_need_lists_and_a_table_for_each_split(folder: Path, old: str, new: str) -> None:
    (folder / "task.yaml").write_text(TASK.replace(old, new))
    with pytest.raises(DefinitionError) as raised:
        load_definition(folder)
    assert [(problem.code, problem.item) for problem in raised.value.report] == [
        ("definition-rule", "tracks[0].annotators")
    ]


TWO_TRACKS = """
agon: 1
slug: order
title: Order
year: 2026
languages: [en]
tracks:
  - slug: first
    format: {kind: table, separator: tab, header: none, id: id, list: labels, columns: [Ann1, Ann2, Ann3]}
    items: items.txt
    annotators: annotators.csv
    metrics: [annotator_error, "accuracy:Ann1"]
    rank_by: annotator_error
  - slug: second
    format: {kind: table, separator: tab, header: none, id: id, list: labels, columns: [Ann3, Ann2, Ann1]}
    items: items.txt
    annotators: annotators.csv
    metrics: [annotator_error, "accuracy:Ann1"]
    rank_by: annotator_error
naming: {run: "{track}_{team}_{number}.tsv", number: [1]}
phases: [{slug: open, opens: "2026-01-01 00:00 UTC", scores: at-once, official: best}]
gold: [{track: first, file: gold.tsv}, {track: second, file: gold.tsv}]
"""


def test_each_track_of_an_archive_reads_lists_with_its_own_columns(tmp_path: Path) -> None:
    (tmp_path / "task.yaml").write_text(TWO_TRACKS)
    (tmp_path / "items.txt").write_text("x\ny")
    (tmp_path / "annotators.csv").write_text('id,annotators\nx,"Ann1,Ann2"\ny,"Ann2,Ann3"\n')
    (tmp_path / "gold.tsv").write_text(written({"x": [1, 0], "y": [0, 0]}))
    task, archive, run = load_definition(tmp_path), tmp_path / "runs.zip", written({"x": [0, 0], "y": [1, 0]}).encode()
    with zipfile.ZipFile(archive, "w") as packed:
        for track in ("first", "second"):
            packed.writestr(f"{track}_team_1.tsv", run)
    upload = check_upload(task, archive, archive.name, "team", keep=2 * len(run))
    assert upload.ok
    for one in upload.runs:
        standard = load_gold(task, one.run.track, tmp_path / "gold.tsv")
        assert one.answers is not None
        scores = score_answers(task, one.run.track, standard, one.answers).scores
        assert scores == score(task, one.run.track, run, standard).scores
        assert scores == {"annotator_error": 0.5, "accuracy:Ann1": 0}
