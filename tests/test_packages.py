"""`./run check --security` finds pins that were withdrawn or no longer exist."""

import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.packages import UV, problems

pytestmark = pytest.mark.slow

YANKED = "attrs==21.1.0"


def locked(pin: str, folder: Path) -> str:
    """Return a requirements file with the pin and its hashes from the index."""
    (folder / "pin.in").write_text(pin)
    command = [UV, "pip", "compile", "--quiet", "--no-deps", "--generate-hashes", "--no-annotate", folder / "pin.in"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_what_was_withdrawn_or_is_gone_is_found(tmp_path: Path) -> None:
    file = tmp_path / "requirements.txt"
    file.write_text(locked(YANKED, tmp_path))
    (problem,) = problems(file)
    assert problem.startswith("requirements.txt: `attrs==21.1.0` is yanked")
    file.write_text("attrs==21.1.999 --hash=sha256:" + "0" * 64)
    (problem,) = problems(file)
    assert "no version of attrs==21.1.999" in problem
    assert problems(ROOT / "requirements-uv.txt") == []


def test_an_unknown_option_of_check_is_not_passed_over() -> None:
    done = subprocess.run(["./run", "check", "--secure"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert done.stderr == "Unknown option. ./run check accepts only --security.\n"
