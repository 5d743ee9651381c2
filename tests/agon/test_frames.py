"""Conversion of results to DataFrames, and of DataFrames to files. pandas is imported only when it is used."""

import json
import math
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from agon import frames
from scoring import Definition, load_definition, score
from scoring.score import Result
from tests.conftest import ROOT

TASK = ROOT / "tests/portal/tiny_task"
RUN = (
    '[{"id": "a", "value": "YES"}, {"id": "b", "value": "YES"}, {"id": "c", "value": "NO"}, {"id": "d", "value": "NO"}]'
)
VOTES = "item,annotator,label\na,ann,YES\na,bob,YES\nb,ann,NO\nb,bob,\n"


@pytest.fixture(scope="module")
def task() -> Definition:
    return load_definition(TASK)


@pytest.fixture(scope="module")
def result(task: Definition) -> Result:
    return score(task, "one", RUN.encode(), TASK / "gold/one.json")


@pytest.fixture
def votes(tmp_path: Path) -> Path:
    path = tmp_path / "votes.csv"
    path.write_text(VOTES)
    return path


def test_scores_are_a_row_a_run_and_a_column_a_metric(task: Definition, result: Result) -> None:
    broken = score(task, "one", b"[]", TASK / "gold/one.json")
    found = frames.scores({"first": result, "broken": broken})
    assert found.loc["first"].to_dict() == result.scores
    assert found.loc["broken"].isna().all()
    assert (found.index.name, set(found.dtypes.astype(str))) == ("run", {"float64"})


def test_scores_of_no_runs_have_no_rows() -> None:
    assert (len(frames.scores({})), frames.scores({}).index.name) == (0, "run")


def test_an_undefined_score_is_nan() -> None:
    found = Result({"icm": None, "accuracy": 1.0}, report=None, items=1).to_pandas()  # type: ignore[arg-type]
    assert math.isnan(found["icm"][0])
    assert found["accuracy"][0] == 1.0


def test_items_are_both_answers_in_words(task: Definition, result: Result) -> None:
    found = frames.items(result)
    assert found.loc["c"].to_dict() == {"gold": "YES", "run": "NO", "right": 0.0}
    assert found["right"].mean() == result.scores["accuracy"]
    broken = score(task, "one", b"[]", TASK / "gold/one.json")
    with pytest.raises(ValueError, match="The run has errors"):
        frames.items(broken)


def test_votes_are_a_row_a_label_and_show_who_gave_none(votes: Path) -> None:
    found = frames.votes(votes)
    assert found["item"].tolist() == ["a", "a", "b", "b"]
    assert found["annotator"].tolist() == [0, 1, 0, 1]
    assert found["label"].tolist()[:3] == ["YES", "YES", "NO"]
    assert found["label"].isna().tolist() == [False, False, False, True]


def test_agreement_is_that_of_the_command_line(task: Definition, votes: Path) -> None:
    found = frames.agreement(votes, task.track("one"))
    assert found.loc["YES", "items"] == 1
    assert found.loc["YES", "pairwise agreement"] == 1
    assert found.index.tolist() == ["YES", "NO", "whole answers"]


def test_statistics_of_a_board_are_those_of_its_metrics() -> None:
    columns = {"team": ["a", "b"], "rank": [1, 2], "accuracy": [0.5, 0.7]}
    board = pd.DataFrame(columns)
    board.attrs = {"metrics": [{"key": "accuracy"}]}
    found = frames.statistics(board)
    assert list(found) == ["accuracy"]
    assert_frame_equal(found, frames.statistics(board[["accuracy"]]))


def test_statistics_leave_out_what_is_undefined() -> None:
    found = frames.statistics(pd.DataFrame({"accuracy": [0.5, 1.0, math.nan]}))
    assert found["accuracy"][["runs", "min", "mean", "max"]].tolist() == [2, 0.5, 0.75, 1]


@pytest.mark.parametrize(("ending", "read"), [("csv", pd.read_csv), ("CSV", pd.read_csv), ("xlsx", pd.read_excel)])
def test_no_spreadsheet_runs_what_a_team_is_called(tmp_path: Path, ending: str, read: type[pd.DataFrame]) -> None:
    frame = pd.DataFrame({"team": ["=1+1", "Ostro"], "accuracy": [0.5, 1.0]}, index=pd.Index(["@SUM", "b"], name="run"))
    frames.write(frame, tmp_path / f"scores.{ending}")
    found = read(tmp_path / f"scores.{ending}")
    assert found.to_dict("list") == {"run": ["'@SUM", "b"], "team": ["'=1+1", "Ostro"], "accuracy": [0.5, 1.0]}


def test_parquet_keeps_every_value_and_its_type(tmp_path: Path, result: Result) -> None:
    frame = frames.items(result)
    frames.write(frame, tmp_path / "items.parquet")
    assert_frame_equal(pd.read_parquet(tmp_path / "items.parquet"), frame)


def test_another_ending_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"scores\.ods must end in \.csv, \.parquet or \.xlsx"):
        frames.write(pd.DataFrame(), tmp_path / "scores.ods")


def test_a_board_from_an_older_portal_lacks_only_values() -> None:
    row = {"rank": 1, "kind": "team", "team": "Ostro", "scores": {"accuracy": 0.5}, "interval": None, "flags": []}
    row["received_at"] = "2024-05-02T12:00:00Z"
    found = frames.board(json.dumps({"metrics": [{"key": "accuracy"}], "rows": [row]}).encode())
    assert found.loc[0, ["rank", "team", "accuracy"]].tolist() == [1, "Ostro", 0.5]
    assert found.loc[0, ["run", "slot", "low", "tie_group"]].isna().all()


def test_what_is_no_board_is_named(tmp_path: Path) -> None:
    (tmp_path / "board.json").write_text("{}")
    for source in (b"rank,team", b"[]", b'{"rows": [{}], "metrics": []}', tmp_path / "board.json"):
        with pytest.raises(ValueError, match=r"is not a leaderboard\. Download a leaderboard with the JSON link"):
            frames.board(source)


WITHOUT = """
import sys
sys.modules["{module}"] = None
from scoring.score import Result
try:
    {code}
except ImportError as error:
    print(error)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "code", "said"),
    [
        ("pandas", "import agon.frames", "agon.frames requires pandas"),
        ("pandas", "Result({}, None, 0).to_pandas()", "to_pandas requires pandas"),
        (
            "pyarrow",
            "import agon.frames as f; f.write(f.pd.DataFrame(), 'a.parquet')",
            "Writing .parquet files requires",
        ),
        ("openpyxl", "import agon.frames as f; f.write(f.pd.DataFrame(), 'a.xlsx')", "Writing .xlsx files requires"),
    ],
)
def test_a_missing_package_is_named_with_the_command_that_installs_it(
    tmp_path: Path, module: str, code: str, said: str
) -> None:
    command = [sys.executable, "-c", WITHOUT.format(module=module, code=code)]
    environment = {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(said)
    assert done.stdout.endswith(f"-m pip install {module}\n")


STARTS = {
    "web": "import os; os.environ['DJANGO_SETTINGS_MODULE'] = 'tests.settings'\n"
    "import django; django.setup(); import portal.wsgi, portal.urls",
    "worker": "import os; os.environ['DJANGO_SETTINGS_MODULE'] = 'tests.settings'\n"
    "import django; django.setup(); import portal.celery, portal.jobs",
    "check": "from scoring.__main__ import main\n"
    f"main(['check', '--task', {str(TASK)!r}, {str(TASK / 'gold/one.json')!r}])",
    "score": "from scoring.__main__ import main\n"
    f"main(['score', '--task', {str(TASK)!r}, '--track', 'one', '--gold', *2 * [{str(TASK / 'gold/one.json')!r}]])",
}


@pytest.mark.slow
@pytest.mark.parametrize("start", STARTS)
def test_pandas_is_loaded_only_where_it_is_used(start: str) -> None:
    code = f"{STARTS[start]}\nimport sys; print({{'pandas', 'pyarrow'}} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.endswith("set()\n")
