"""A leaderboard that is exported from its page, read as a DataFrame and written to files."""

import csv
from pathlib import Path

import pandas as pd
import pytest
from django.test import Client

from agon import frames
from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.models import SharedTask
from tests.portal.remembered import remembered
from tests.portal.world import EVALUATION, GOOD, POOR, with_teams


@remembered
def exported(tiny: SharedTask) -> bytes:
    with_teams(tiny, {"Ostro": GOOD, "Sirocco": POOR})
    return Client().get("/tasks/tiny/leaderboard/one/?phase=evaluation&format=json").content


@pytest.mark.slow
def test_a_board_is_a_row_a_run(exported: bytes) -> None:
    board = frames.board(exported)
    teams = board[board["kind"] == "team"]
    assert teams[["rank", "team", "accuracy"]].to_numpy().tolist() == [[1, "Ostro", 0.75], [2, "Sirocco", 0.25]]
    assert board[board["kind"] == "gold"]["rank"].isna().all()
    assert str(board["received_at"].dtype.tz) == "UTC"
    assert (board.attrs["track"], board.attrs["rank_by"], board.attrs["gold_version"]) == ("one", "accuracy", 1)
    metrics = [metric["key"] for metric in board.attrs["metrics"]]
    assert frames.statistics(teams[metrics]).loc["mean", "accuracy"] == 0.5


@pytest.mark.parametrize(
    ("name", "read"), [("board.csv", pd.read_csv), ("board.xlsx", pd.read_excel), ("board.parquet", pd.read_parquet)]
)
def test_a_board_becomes_a_file(exported: bytes, tmp_path: Path, name: str, read: type[pd.DataFrame]) -> None:
    board = frames.board(exported)
    frames.write(board, tmp_path / name)
    found = read(tmp_path / name)
    assert found.columns.tolist() == board.columns.tolist()
    assert found["accuracy"].tolist() == board["accuracy"].tolist()
    assert pd.to_datetime(found["received_at"], utc=True).tolist() == board["received_at"].tolist()


def test_a_board_without_runs_has_the_columns_of_the_csv(tiny: SharedTask) -> None:
    address = "/tasks/tiny/leaderboard/two/?phase=evaluation"
    board = frames.board(Client().get(f"{address}&format=json").content)
    head, *_rows = csv.reader(Client().get(f"{address}&format=csv").content.decode().splitlines())
    assert {"team", "accuracy", "received_at"} <= set(board.columns)
    assert list(board.columns) == [name for name in head if name not in ("slice", "gold_version", "scorer")]


@pytest.mark.slow
def test_a_metric_is_on_a_board_twice_under_its_own_names(db: None, tiny_folder: Path) -> None:
    path = tiny_folder / "task.yaml"
    text = path.read_text().replace(
        "metrics: [accuracy, ", "metrics: [{name: f1_micro, beta: 2, as: f2}, accuracy, ", 1
    )
    path.write_text(text.replace("rank_by: accuracy", "rank_by: f2\n    board_columns: [f2, f1_macro]", 1))
    tiny = import_shared_task(None, tiny_folder, EVALUATION).shared_task
    with_teams(tiny, {"Ostro": GOOD, "Sirocco": POOR})
    address = "/tasks/tiny/leaderboard/one/?phase=evaluation"
    page = Client().get(address).content.decode()
    assert "Micro F2 (f2)" in page
    board = frames.board(Client().get(f"{address}&format=json").content)
    assert board.attrs["rank_by"] == "f2"
    assert board.set_index("team")["f2"].loc[["Ostro", "Sirocco"]].tolist() == [0.75, 0.25]
    head, *_rows = csv.reader(Client().get(f"{address}&format=csv").content.decode().splitlines())
    assert {"f2", "accuracy", "f1_macro"} <= set(head)
    shown = Client().get("/api/v1/tasks/tiny/leaderboards/one?phase=evaluation").json()
    assert shown["rank_by"] == "f2"
    assert [metric["title"] for metric in shown["metrics"] if metric["key"] == "f2"] == ["Micro F2 (f2)"]
