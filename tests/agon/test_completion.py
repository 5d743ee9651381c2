"""Shell completion: what a shell requests and what it receives."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.agon.conftest import Typed
from tests.conftest import ROOT


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder that contains the command `agon`."""
    command = tmp_path / "agon"
    command.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m agon "$@"\n')
    command.chmod(0o755)
    return tmp_path


def completed(line: str, programs: Path) -> set[str]:
    """Return bash's suggestions for the end of the line."""
    script = f"""
    source <(agon completion bash)
    COMP_LINE={line!r} COMP_POINT={len(line)} COMP_WORDS=({line}) COMP_TYPE=9 COMP_CWORD=1
    complete -p agon > complete.txt
    _python_argcomplete agon
    printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    run = subprocess.run(
        ["bash", "-c", script], cwd=programs, env=environment, capture_output=True, text=True, check=True
    )
    assert "_python_argcomplete" in (programs / "complete.txt").read_text()
    return {word.strip() for word in run.stdout.splitlines()} - {""}


@pytest.mark.slow
def test_bash_completes_commands_actions_and_options(programs: Path) -> None:
    assert {"submit", "score", "schema"} <= completed("agon s", programs)
    assert "submit" not in completed("agon l", programs)
    assert {"view", "list", "withdraw"} <= completed("agon runs ", programs)
    assert completed("agon submit --dry", programs) == {"--dry-run"}
    assert completed("agon login --scope ", programs) >= {"read", "submit", "organize"}


@pytest.mark.slow
def test_fish_requests_completions_in_another_way(programs: Path) -> None:
    answer = programs / "answer"
    answer.touch()
    asked = {"_ARGCOMPLETE": "1", "_ARGCOMPLETE_SHELL": "fish", "_ARGCOMPLETE_DFS": "\t", "_ARGCOMPLETE_IFS": "\n"}
    asked |= {"COMP_LINE": "agon run", "COMP_POINT": "8", "_ARGCOMPLETE_STDOUT_FILENAME": str(answer)}
    subprocess.run([programs / "agon"], env={**os.environ, **asked}, check=True)
    assert answer.read_text().startswith("runs")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_there_is_a_script_for_each_shell(agon: Typed, shell: str) -> None:
    script = agon("completion", shell)
    assert "agon" in script
    assert "_ARGCOMPLETE" in script


def test_another_shell(agon: Typed) -> None:
    with pytest.raises(SystemExit):
        agon("completion", "csh")
