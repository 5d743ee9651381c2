"""The documentation's notebook, run from its first cell to its last against the running demo."""

import os
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from portal.management.commands.load_demo import ADMIN
from tests.agon.demo import Demo, Person
from tests.conftest import ROOT
from tests.services import PATIENCE

NOTEBOOK = ROOT / "docs/first-run.ipynb"


@pytest.fixture
def participant(demo: Demo, tmp_path: Path) -> Person:
    """Someone who has done what the notebook requires: signed in, created a team and signed the agreement."""
    found = Person(demo, ADMIN, tmp_path / "participant")  # the only account without a team
    found.login()
    found.agon("team", "create", "Notebook", "-t", "ssa2023")
    found.agon("sign", "ssa2023", "--name", "Ada Admin", "--yes")
    return found


@pytest.mark.slow
def test_the_notebook_runs_from_the_data_to_the_leaderboard(
    participant: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert not [cell for cell in notebook.cells if cell.get("outputs")]  # it is committed without outputs
    variables = participant.environment | {
        "JUPYTER_DATA_DIR": str(tmp_path / "jupyter"),
        "JUPYTER_RUNTIME_DIR": str(tmp_path / "jupyter/runtime"),
        "IPYTHONDIR": str(tmp_path / "ipython"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    resources = {"metadata": {"path": str(participant.folder)}}
    NotebookClient(notebook, timeout=PATIENCE, kernel_name="python3", resources=resources).execute()
    (run,) = participant.json("runs", "list", "-t", "ssa2023")
    assert (run["name"], run["state"]) == ("en_Notebook_1.csv", "scored")
    shown = notebook.cells[-1].outputs[0]["data"]["text/plain"]
    assert "en_Notebook_1.csv" in shown
