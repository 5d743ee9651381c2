"""Separate environments for other evaluation packages.

PyEvALL, the official evaluator of EXIST, needs an old numpy. seqeval, nervaluate, jiwer and rouge-score are not among
Agon's dependencies.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

Evaluate = Callable[[Sequence[Mapping[str, Any]]], list[dict[str, float | None]]]
HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def pyevall(root: Path, pytestconfig: pytest.Config) -> Evaluate:
    """Evaluate a batch (see `pyevall_driver`) with the Python in AGON_PYEVALL_PYTHON, or with one created here."""
    given = os.environ.get("AGON_PYEVALL_PYTHON")
    return partial(_evaluate, Path(given), _driver("pyevall")) if given else _peer(root, pytestconfig, "pyevall")


@pytest.fixture(scope="session")
def entity_peers(root: Path, pytestconfig: pytest.Config) -> Evaluate:
    """Evaluate a batch (see `entity_peers_driver`) with seqeval and nervaluate."""
    return _peer(root, pytestconfig, "entity-peers")


@pytest.fixture(scope="session")
def text_peers(root: Path, pytestconfig: pytest.Config) -> Evaluate:
    """Evaluate a batch (see `text_peers_driver`) with sacrebleu, jiwer and rouge-score."""
    return _peer(root, pytestconfig, "text-peers")


@pytest.fixture(scope="session")
def retrieval_peers(root: Path, pytestconfig: pytest.Config) -> Callable[[Sequence[Mapping[str, Any]]], Any]:
    """Compute each query's values (see `retrieval_peers_driver`) with ir_measures."""
    return _peer(root, pytestconfig, "retrieval-peers")


def _peer(root: Path, config: pytest.Config, name: str) -> Evaluate:
    """Evaluate in a peer's environment.

    pytest's cache keeps the values of each batch, because the same versions and driver always compute the same values.
    """
    python, driver = _make(root, config, name), _driver(name)
    program = _requirements(root, name) + driver.read_text(encoding="utf-8")

    def evaluate(batch: Sequence[Mapping[str, Any]]) -> list[dict[str, float | None]]:
        key = f"{name}/{sha256((program + json.dumps(batch)).encode()).hexdigest()}"
        values: list[dict[str, float | None]] | None = config.cache.get(key, None)
        if values is None:
            values = _evaluate(python, driver, batch)
            config.cache.set(key, values)
        return values

    return evaluate


def _driver(name: str) -> Path:
    return HERE / f"{name.replace('-', '_')}_driver.py"


def _requirements(root: Path, name: str) -> str:
    return (root / f"tests/{name}-requirements.txt").read_text(encoding="utf-8")


def _evaluate(python: Path, driver: Path, batch: Sequence[Mapping[str, Any]]) -> list[dict[str, float | None]]:
    run = subprocess.run([python, driver], input=json.dumps(batch), capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stderr[-2000:]
    values: list[dict[str, float | None]] = json.loads(run.stdout)
    return values


def _make(root: Path, config: pytest.Config, name: str) -> Path:
    """Return the Python of a peer's environment, which later runs reuse. If it cannot be created, skip the test."""
    folder, requirements = Path(config.cache.mkdir(name)), root / f"tests/{name}-requirements.txt"
    python = folder / "venv" / "bin" / "python"
    done = folder / "done"
    wanted = _requirements(root, name)
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
