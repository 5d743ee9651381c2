"""`compare`: leads, intervals and tests for each pair of runs and each metric."""

import json
from pathlib import Path

import pytest

from scoring.__main__ import main
from tests.conftest import ROOT

TASK = str(ROOT / "tests/portal/tiny_task")
MINE = {"a": "YES", "b": "YES", "c": "NO", "d": "NO"}


@pytest.fixture
def mine(tmp_path: Path) -> str:
    return written(tmp_path / "one_Meltemi_1.json", MINE)


@pytest.fixture
def theirs(tmp_path: Path) -> str:
    return written(tmp_path / "one_Auster_1.json", MINE | {"b": "NO"})


def written(path: Path, run: dict[str, str]) -> str:
    path.write_text(json.dumps([{"id": item, "value": value} for item, value in run.items()]), encoding="utf-8")
    return str(path)


def test_each_pair_and_metric_has_the_difference_of_the_scores(
    mine: str, theirs: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    third = written(tmp_path / "one_Auster_2.json", dict.fromkeys(MINE, "YES"))
    files = (mine, theirs, third)
    scores = {}
    for file in files:
        assert main(["score", "--task", TASK, "--json", file]) == 0
        scores[Path(file).name] = json.loads(capsys.readouterr().out)["scores"]
    assert main(["compare", "--task", TASK, "--json", "--rounds", "200", *files]) == 0
    pairs = json.loads(capsys.readouterr().out)["pairs"]
    metrics = scores[Path(mine).name].keys()
    names = [Path(file).name for file in files]
    expected = {
        (metric, first, second): scores[first][metric] - scores[second][metric]
        for metric in metrics
        for place, first in enumerate(names)
        for second in names[place + 1 :]
    }
    assert {(one["metric"], one["first"], one["second"]): one["lead"] for one in pairs} == pytest.approx(expected)
    assert all(one["low"] <= one["lead"] <= one["high"] and 0 < one["p_value"] <= 1 for one in pairs)


def test_only_one_metric_as_a_table(mine: str, theirs: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "--task", TASK, "--metric", "accuracy", "--rounds", "50", mine, theirs]) == 0
    title, head, row = capsys.readouterr().out.splitlines()
    assert title == "one_Meltemi_1.json and one_Auster_1.json: 50 samples, seed 0"
    assert head.split()[0] == "metric"
    assert row.split()[:4] == ["accuracy", "0.7500", "0.5000", "0.2500"]


def test_an_invalid_run_is_reported(mine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    invalid = written(tmp_path / "one_Auster_1.json", MINE | {"d": "No"})
    assert main(["compare", "--task", TASK, mine, invalid]) == 1
    assert "label-outside-domain" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ([], "at least two different runs"),
        (["--metric", "f2"], "its metrics are accuracy"),
        (["--level", "2"], "--level"),
    ],
)
def test_what_cannot_be_compared(mine: str, more: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "--task", TASK, *more, mine, mine]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("command", ["significance", "analyze"])
def test_track_and_gold_are_found(command: str, mine: str, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--track", "one", "--gold", f"{TASK}/gold/one.json"]
    printed = []
    for more in ([], given):
        assert main([command, "--task", TASK, *more, mine]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]
