"""Separate environments for other evaluation packages.

PyEvALL, the official evaluator of EXIST, needs an old numpy. seqeval, nervaluate, jiwer and rouge-score are not among
Agon's dependencies.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

Evaluate = Callable[[Sequence[Mapping[str, Any]]], list[dict[str, float | None]]]
HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def pyevall(root: Path, pytestconfig: pytest.Config) -> Evaluate:
    """Evaluate a batch (see `pyevall_driver`) with the Python in AGON_PYEVALL_PYTHON, or with one created here."""
    given = os.environ.get("AGON_PYEVALL_PYTHON")
    return _evaluate(Path(given) if given else _make(root, pytestconfig, "pyevall"), HERE / "pyevall_driver.py")


@pytest.fixture(scope="session")
def entity_peers(root: Path, pytestconfig: pytest.Config) -> Evaluate:
    """Evaluate a batch (see `entity_peers_driver`) with seqeval and nervaluate."""
    return _evaluate(_make(root, pytestconfig, "entity-peers"), HERE / "entity_peers_driver.py")


@pytest.fixture(scope="session")
def text_peers(root: Path, pytestconfig: pytest.Config) -> Evaluate:
    """Evaluate a batch (see `text_peers_driver`) with sacrebleu, jiwer and rouge-score."""
    return _evaluate(_make(root, pytestconfig, "text-peers"), HERE / "text_peers_driver.py")


@pytest.fixture(scope="session")
def retrieval_peers(root: Path, pytestconfig: pytest.Config) -> Callable[[Sequence[Mapping[str, Any]]], Any]:
    """Compute each query's values (see `retrieval_peers_driver`) with ir_measures."""
    return _evaluate(_make(root, pytestconfig, "retrieval-peers"), HERE / "retrieval_peers_driver.py")


def _evaluate(python: Path, driver: Path) -> Evaluate:
    def evaluate(batch: Sequence[Mapping[str, Any]]) -> list[dict[str, float | None]]:
        run = subprocess.run([python, driver], input=json.dumps(batch), capture_output=True, text=True, timeout=600)
        assert run.returncode == 0, run.stderr[-2000:]
        result: list[dict[str, float | None]] = json.loads(run.stdout)
        return result

    return evaluate


def _make(root: Path, config: pytest.Config, name: str) -> Path:
    """Return the Python of a peer's environment, which later runs reuse. If it cannot be created, skip the test."""
    folder, requirements = Path(config.cache.mkdir(name)), root / f"tests/{name}-requirements.txt"
    python = folder / "venv" / "bin" / "python"
    done = folder / "done"
    wanted = requirements.read_text(encoding="utf-8")
    if done.is_file() and done.read_text(encoding="utf-8") == wanted:
        return python
    uv = Path(sys.executable).parent / "uv"
    for command in (
        [uv, "venv", "--quiet", "--clear", "--python", "<3.13", folder / "venv"],
        [uv, "pip", "install", "--quiet", "--python", python, "-r", requirements],
    ):
        made = subprocess.run(command, capture_output=True, text=True)
        if made.returncode != 0:
            pytest.skip(f"the environment of {name} cannot be made: {made.stderr.strip().splitlines()[-1:]}")
    done.write_text(wanted, encoding="utf-8")
    return python
