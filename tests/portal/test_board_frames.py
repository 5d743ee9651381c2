"""A leaderboard that is exported from its page, read as a DataFrame and written to files."""

import csv
from pathlib import Path

import pandas as pd
import pytest
from django.test import Client

from agon import frames
from portal.models import SharedTask
from tests.portal.remembered import remembered
from tests.portal.world import GOOD, POOR, with_teams


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
