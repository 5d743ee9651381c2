"""Metrics that `as` gives a name of their own, so that a track can have a metric twice with different options."""

from pathlib import Path

import pytest

from scoring import DefinitionError, load_definition, score
from scoring.metrics import describe
from scoring.score import load_gold

TASK = """
agon: 1
slug: stars
title: Stars
year: 2027
languages: [en]
tracks:
  - slug: one
    format: {kind: table, id: id, columns: {x: {kind: ordinal, values: [1, 2, 3, 4, 5]}}}
    items: items.txt
    slices: {half: {column: half, items: halves.csv}}
    metrics: [%s]
    rank_by: %s
    board_columns: [%s]
naming: {run: "{track}_{team}"}
phases:
  - {slug: open, opens: "2027-01-01 00:00 UTC", scores: at-once, official: best}
"""
CLOSE = "{name: accuracy_within, tolerance: 1, as: close}"
FAR = "{name: accuracy_within, tolerance: 2, as: far}"


def written(folder: Path, metrics: str, rank_by: str = "far", shown: str = "far") -> Path:
    (folder / "items.txt").write_text("1\n2\n3\n4\n", encoding="utf-8")
    (folder / "halves.csv").write_text("id,half\n1,a\n2,a\n3,b\n4,b\n", encoding="utf-8")
    (folder / "task.yaml").write_text(TASK % (metrics, rank_by, shown), encoding="utf-8")
    return folder


def test_columns_are_scored_ranked_and_combined_by_their_names(tmp_path: Path) -> None:
    """The run is 0, 1, 2 and 4 away from the gold: close in 2 of 4 items, far in 3, and far in 1 of 2 in slice b."""
    sliced = '{name: "accuracy_within@half=b", tolerance: 2, as: late}'
    both = '{combine: both, of: [close, "far@half=b", "late@half=b", accuracy_within]}'
    halves = "{combine: halves, of: [far], slices: half, by: minimum}"
    task = load_definition(written(tmp_path, f"accuracy_within, {both}, {CLOSE}, {FAR}, {sliced}, {halves}"))
    track = task.track("one")
    assert track.ranking_metric.options == {"tolerance": "2"}
    result = score(task, "one", b"id,x\n1,1\n2,2\n3,3\n4,5\n", load_gold(task, "one", b"id,x\n1,1\n2,1\n3,1\n4,1\n"))
    assert result.scores == {
        "accuracy_within": 0.5,
        "combine:both": (0.5 + 0.5 + 0.5 + 0.5) / 4,
        "close": 0.5,
        "far": 0.75,
        "late@half=b": 0.5,
        "combine:halves": 0.5,
    }
    titles = [describe(spec, track.slices) for spec in track.metrics[2:5]]
    assert [info.title for info in titles] == [
        "Accuracy within a tolerance (close)",
        "Accuracy within a tolerance (far)",
        "Accuracy within a tolerance (late), half b",
    ]
    assert len({info.short for info in titles}) == 3


@pytest.mark.parametrize(
    ("metrics", "words"),
    [
        (f"{FAR}, {FAR}", "each metric only once; to list it again with other options"),
        (f"{FAR}, {{name: mae, as: far}}", "each metric only once"),
        (f"{FAR}, {{name: accuracy_within, tolerance: 1, as: mae}}", "mae is the name of a metric; choose a different"),
        (f"{FAR}, {{name: accuracy_within, tolerance: 1, as: combine}}", "combine is the name of a metric"),
        (f"{FAR}, {{name: accuracy_within, as: Not a slug}}", "lowercase letters, digits and single hyphens"),
        (f"{FAR}, {{name: accuracy_within, as: [x]}}", "text"),
        (f"{FAR}, {{name: accuracy_within, as: }}", "text"),
        (f"{FAR}, {{combine: a, of: [{CLOSE}]}}", "as is allowed only under metrics; list the metric there"),
        (f"{FAR}, {{combine: a, of: [fair]}}", "there is no metric fair"),
        (f"{FAR}, {{combine: a, of: [far]}}, {{combine: b, of: ['far@thirds=x']}}", "the track has no slices named"),
        ("{name: accuracy_within, tolerance: -1, as: far}", "tolerance must be a number of at least 0, not -1"),
    ],
)
def test_what_is_wrong_with_a_name_is_reported_once(tmp_path: Path, metrics: str, words: str) -> None:
    with pytest.raises(DefinitionError) as error:
        load_definition(written(tmp_path, metrics))
    assert words in str(error.value)
    assert len(list(error.value.report)) == 1


def test_a_similar_name_is_suggested(tmp_path: Path) -> None:
    with pytest.raises(DefinitionError) as error:
        load_definition(written(tmp_path, f"{CLOSE}, {FAR}", "fer", "close"))
    assert [problem.suggestion for problem in error.value.report] == ["far"]
