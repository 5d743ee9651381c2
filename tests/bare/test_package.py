"""The participants' package: the engine, its command and `agon`, without the portal and its dependencies."""

import subprocess
import sys
from pathlib import Path

from tasks import build
from tests.conftest import ROOT


def test_pip_install_brings_the_engine_alone(tmp_path: Path) -> None:
    source = tmp_path / "agon"
    subprocess.run(["git", "clone", "--quiet", ROOT, source], check=True)
    # A second pip and bytecode that no one runs would take half of the test's CPU time.
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    programs = tmp_path / "venv/bin"
    pip = [sys.executable, "-m", "pip", "--python", programs / "python"]
    subprocess.run([*pip, "install", "--quiet", "--no-compile", source], check=True)
    installed = subprocess.run([*pip, "list"], check=True, capture_output=True, text=True)
    assert "django" not in installed.stdout.lower()

    for package in ("agon", "scoring"):
        typed = f"import pathlib, {package} as it; print(pathlib.Path(it.__file__).with_name('py.typed').exists())"
        found = subprocess.run([programs / "python", "-c", typed], cwd=tmp_path, capture_output=True, check=True)
        assert found.stdout == b"True\n"
    frames = [programs / "python", "-c", "import agon.frames"]
    without = subprocess.run(frames, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "ImportError: agon.frames requires pandas: " in without.stderr

    folder = build("ssa2023", tmp_path / "ssa2023")
    run = folder / "baselines/en/random.csv"
    check = [programs / "agon", "check", "--task", folder, "--track", "en", run]
    assert subprocess.run(check, cwd=tmp_path, check=False).returncode == 0
    assert subprocess.run([*check, folder / "task.yaml"], cwd=tmp_path, check=False).returncode == 1
