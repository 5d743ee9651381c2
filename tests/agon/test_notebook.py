"""The documentation's notebook, run from its first to its last cell against a portal."""

import os
import sys
import threading
from pathlib import Path
from typing import Any

import nbformat
import pytest
from django.core.cache import caches
from django.db import connections
from nbclient import NotebookClient

from portal.actions.import_shared_task import import_shared_task
from portal.models import Run, Submission
from portal.models.clock import database_now
from tasks import build
from tests.conftest import ROOT
from tests.portal.script import token_of
from tests.portal.world import captain, new_team, work_off
from tests.services import PATIENCE

NOTEBOOK = ROOT / "docs/first-run.ipynb"


@pytest.fixture
def signed_in(transactional_db: None, live_server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A portal with SSA 2023, and the captain of one of its teams, who runs the notebook."""
    caches["rates"].clear()
    task = import_shared_task(None, build("ssa2023", tmp_path / "ssa2023"), database_now()).shared_task
    variables = {
        "AGON_URL": live_server.url,
        "AGON_TOKEN": token_of(captain(new_team(task, "Meltemi"))),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "PYTHONPATH": str(ROOT),
        "JUPYTER_DATA_DIR": str(tmp_path / "jupyter"),
        "JUPYTER_RUNTIME_DIR": str(tmp_path / "jupyter/runtime"),
        "IPYTHONDIR": str(tmp_path / "ipython"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)


@pytest.mark.slow
def test_the_notebook_runs_from_the_data_to_the_leaderboard(signed_in: None, tmp_path: Path) -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert not [cell for cell in notebook.cells if cell.get("outputs")]  # no output of anyone's session
    is_over = threading.Event()

    def work() -> None:
        while not is_over.wait(0.1):
            if Submission.objects.filter(state="received").exists():
                work_off(database_now())
        connections.close_all()

    worker = threading.Thread(target=work)
    worker.start()
    (tmp_path / "here").mkdir()
    try:
        resources = {"metadata": {"path": str(tmp_path / "here")}}
        NotebookClient(notebook, timeout=PATIENCE, kernel_name="python3", resources=resources).execute()
    finally:
        is_over.set()
        worker.join()
    assert Run.objects.get(kind=Run.Kind.TEAM).state == "scored"
    shown = notebook.cells[-1].outputs[0]["data"]["text/plain"]
    assert "en_Meltemi_1.csv" in shown
