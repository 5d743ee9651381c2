"""Every example in docs/scoring.md prints the output that the page shows."""

import contextlib
import doctest
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.services import PATIENCE

PAGE = ROOT / "docs/scoring.md"
FENCED = re.compile(r"^```(console|python|toml)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LEFT_OUT = "...\n"


class Replay:
    """A folder for running a page's examples one after another and comparing their output with the page."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: dict[str, Any] = {}
        commands = folder / ".bin"
        commands.mkdir()
        agon = commands / "agon"
        agon.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m agon "$@"\n')
        pip = commands / "pip"
        pip.write_text("#!/bin/sh\n")  # does nothing: PYTHONPATH has the folder, and `announce` writes what pip would
        for command in (agon, pip):
            command.chmod(0o755)
        self.environment = {
            **os.environ,
            "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": f"{ROOT}{os.pathsep}{folder}",
        }
        shutil.copytree(ROOT / "tests/portal/tiny_task", folder / "tiny")

    def differences(self, text: str) -> list[str]:
        """Describe each example whose output differs from the page."""
        return [
            f"{source}the page:\n{wanted}printed:\n{found}"
            for source, wanted, found in self.examples(text)
            if not fits(wanted, found)
        ]

    def examples(self, text: str) -> Iterator[tuple[str, str, str]]:
        """Yield each example, its output on the page, and its actual output."""
        for language, block in FENCED.findall(text):
            if file := re.match(r"# (\S+\.(?:py|toml))\n", block):
                (self.folder / file[1]).write_text(block)
                if language == "toml":
                    self.announce(tomllib.loads(block)["project"])
            elif language == "console":
                yield from self.console(block)
            elif language == "python":
                yield from self.python(block)

    def console(self, block: str) -> Iterator[tuple[str, str, str]]:
        assert block.startswith("$ ")
        for source, wanted in re.findall(r"^(\$ .*\n(?:> .*\n)*)((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
            run = subprocess.run(
                ["bash", "-c", re.sub(r"^[$>] ", "", source, flags=re.MULTILINE)],
                cwd=self.folder,
                env=self.environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                timeout=PATIENCE,
            )
            yield source, wanted, run.stdout

    def python(self, block: str) -> Iterator[tuple[str, str, str]]:
        examples = doctest.DocTestParser().get_examples(block)
        assert examples
        for example in examples:
            printed = io.StringIO()
            with contextlib.chdir(self.folder), contextlib.redirect_stdout(printed):
                exec(compile(example.source, PAGE.name, "single"), self.names)
            yield example.source, example.want, printed.getvalue()

    def announce(self, project: dict[str, Any]) -> None:
        """Write the files in which Python looks for an installed package's entry points."""
        info = self.folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
        info.mkdir()
        groups = project["entry-points"].items()
        lines = [f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in own.items()) for group, own in groups]
        (info / "entry_points.txt").write_text("".join(lines))
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
        )


def fits(wanted: str, found: str) -> bool:
    """Return whether the outputs are the same, except for lines that the page marks as omitted."""
    parts = re.split(rf"^{re.escape(LEFT_OUT)}", wanted, flags=re.MULTILINE)
    return re.fullmatch("(?:.*\n)*".join(map(re.escape, parts)), found) is not None


def test_every_example_prints_what_the_page_says(tmp_path: Path) -> None:
    assert "\n\n".join(Replay(tmp_path).differences(PAGE.read_text())) == ""


def test_every_command_has_an_example() -> None:
    from scoring.__main__ import OTHER_COMMANDS

    shown = set(re.findall(r"^\$ agon (\w+)", PAGE.read_text(), re.MULTILINE))
    assert shown == {"check", "score", "schema", "receipt", *OTHER_COMMANDS}


@pytest.mark.parametrize(
    "block",
    [
        "```console\n$ echo one; echo two\none\n```\n",
        "```console\n$ echo one; echo two\none\n...\nthree\n```\n",
        "```console\n$ false\nout\n```\n",
        "```console\n$ agon nonsense 2> /dev/null || echo rejected\naccepted\n```\n",
        "```python\n>>> 1 + 1\n3\n```\n",
        "```python\n>>> 1 + 1\n```\n",
    ],
)
def test_another_output_is_noticed(block: str, tmp_path: Path) -> None:
    assert len(Replay(tmp_path).differences(block)) == 1
