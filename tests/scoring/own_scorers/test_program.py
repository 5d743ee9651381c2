"""Reading an own scorer's folder, its call and its output, and running it on one's own computer."""

import json
from pathlib import Path

import pytest

from scoring import load_definition
from scoring.__main__ import main
from scoring.definition import DefinitionError, Scorer, ScorerColumn
from scoring.metrics import describe, value_range
from scoring.own_scorers.process import read_scores
from scoring.own_scorers.program import Program, ScorerError, program_of, read_program
from scoring.own_scorers.report import report
from scoring.task_folder.folder import errors_of_folder
from scoring.task_folder.secret_files import public_files
from tests.for_each import for_each
from tests.scoring.task_folder.test_secret_files import TASK

COLUMN = ScorerColumn(key="quality", range=(0.0, 1.0))
KEYS = """
scorer:
  command: python3 $program/evaluate.py $input $output
  columns: [{key: quality, title: "Our quality", higher_is_better: false, range: [0, 1]}, {key: f1 macro}]
"""
EVALUATE = """
import json, os, sys
source, target = sys.argv[1:]
gold = json.load(open(os.path.join(source, "ref", "main.json")))
run = json.load(open(os.path.join(source, "res", "run.json")))
print("gold of", os.environ["AGON_TRACK"], len(gold), file=sys.stderr)
with open(os.path.join(target, "scores.txt"), "w") as file:
    file.write(f"quality: {len(run) / 4}\\nf1 macro:nan\\nunused: 3\\n")
"""


def program(files: dict[str, bytes], **keys: str) -> Program:
    return program_of(files, Scorer(columns=(COLUMN,), **keys))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("pages", "gold", "scorer"):
        (tmp_path / name).mkdir()
    (tmp_path / "pages/overview.md").write_text("# Tiny\n")
    (tmp_path / "items.txt").write_text("1\n2\n")
    (tmp_path / "gold/main.json").write_text('[{"id": "1", "value": "YES"}, {"id": "2", "value": "NO"}]')
    (tmp_path / "scorer/evaluate.py").write_text(EVALUATE)
    text = TASK.replace("datasets:\n", "")
    assert "metrics: [accuracy]" in text
    text = text.replace("metrics: [accuracy]", 'metrics: [accuracy, "scorer:quality", "scorer:f1 macro"]')
    (tmp_path / "task.yaml").write_text(text + KEYS)
    return tmp_path


@for_each(
    ["command", "script", "arguments"],
    [
        pytest.param("python $program/evaluate.py $input $output", "evaluate.py", ("$input", "$output"), id="CodaLab"),
        pytest.param("python3 -u evaluate.py ${input} ${output}", "evaluate.py", ("$input", "$output"), id="braces"),
        pytest.param(
            "/usr/bin/python3.9 /app/program/evaluate.py /app/input/ref /app/output x",
            "evaluate.py",
            ("$input/ref", "$output", "x"),
            id="Codabench",
        ),
    ],
)
def test_commands_in_the_spellings_of_other_portals(command: str, script: str, arguments: tuple[str, ...]) -> None:
    for found in (
        program({"evaluate.py": b""}, command=command),
        program({"evaluate.py": b"", "metadata": f"description: x\ncommand: {command}\n".encode()}),
        program({"evaluate.py": b"", "metadata.yaml": f"command: '{command}'\n".encode()}),
    ):
        assert (found.entry.script, found.entry.arguments) == (script, arguments)


@for_each(
    ["files", "keys", "said"],
    [
        pytest.param({}, {"command": "python a.py"}, "is empty", id="no files"),
        pytest.param({"a.py": b""}, {}, "Set command or function", id="no call"),
        pytest.param({"a.sh": b""}, {"command": "bash a.sh"}, "Python programs", id="another language"),
        pytest.param({"a.py": b""}, {"command": "python -c 'x'"}, "must name a Python file", id="code in the command"),
        pytest.param({"a.py": b""}, {"command": "python ../a.py"}, "must be in the folder", id="outside"),
        pytest.param({"a.py": b""}, {"command": "python /etc/a.py"}, "must be in the folder", id="absolute"),
        pytest.param({"a.py": b""}, {"command": "python b.py"}, "no file scorer/b.py", id="missing"),
        pytest.param({"a.py": b""}, {"command": "python 'a.py"}, "cannot be read", id="quotes"),
        pytest.param({"a.py": b"x" * (2**20 + 1)}, {"command": "python a.py"}, "more than 1 MiB", id="large"),
        pytest.param({f"{n}.py": b"" for n in range(201)}, {"command": "python 1.py"}, "at most 200", id="many"),
    ],
)
def test_what_cannot_run_is_an_error_in_words(files: dict[str, bytes], keys: dict[str, str], said: str) -> None:
    with pytest.raises(ScorerError) as caught:
        program(files, **keys)
    assert said in str(caught.value)


def test_each_byte_each_name_and_the_call_change_the_digest() -> None:
    files = {"a.py": b"1", "b.py": b"2"}
    same = program(dict(reversed(files.items())), command="python a.py")
    others = [
        program(files | {"b.py": b"3"}, command="python a.py"),
        program({"a.py": b"1", "c.py": b"2"}, command="python a.py"),
        program(files, command="python b.py"),
        program(files, command="python a.py x"),
        program(files, function="a.py:score"),
    ]
    digests = {program(files, command="python a.py").sha256, same.sha256}
    assert len(digests) == 1
    assert len({other.sha256 for other in others} | digests) == 6


def test_the_report_names_what_reaches_outside_and_python_2() -> None:
    code = b"import os, socket, helper\nimport numpy as np\neval('1')\nos.environ['A']\nx = open('a')\n"
    found = report({"a.py": code, "helper.py": b"print 'old'\n", "data.bin": b"\xff\0"})
    assert [(finding.file, finding.line, finding.about) for finding in found] == [
        ("a.py", 1, "import: standard library"),
        ("a.py", 1, "import: network"),
        ("a.py", 2, "import: package"),
        ("a.py", 3, "running code"),
        ("a.py", 4, "variables of the process"),
        ("a.py", 5, "opening a file"),
        ("data.bin", 0, "not text"),
        ("helper.py", 1, "Python 2, which does not run here"),
    ]


def test_columns_are_metrics_with_their_own_titles_directions_and_ranges(folder: Path) -> None:
    definition = load_definition(folder)
    quality = definition.tracks[0].metrics[1]
    assert (describe(quality).title, describe(quality).higher_is_better) == ("Our quality", False)
    assert value_range(quality) == (0.0, 1.0)
    assert errors_of_folder(definition) == []
    assert not [path for path in public_files(definition) if "scorer" in path.parts]
    assert read_program(folder, definition.scorer).entry.script == "evaluate.py"  # type: ignore[arg-type]
    (folder / "scorer/evaluate.py").unlink()
    assert errors_of_folder(definition) == ["The folder scorer is empty. Put the scoring program into it."]


@for_each(
    ["old", "new", "said"],
    [
        pytest.param('"scorer:quality"', '"scorer:qualty"', "not a column of your own scorer", id="unknown column"),
        pytest.param('"scorer:quality"', '"scorer:quality@a=b"', "can't be limited to slices", id="slice"),
        pytest.param(
            '"scorer:quality"', '{combine: all, of: ["scorer:quality"]}', "can't combine columns", id="combined"
        ),
        pytest.param("range: [0, 1]", "range: [1, 0]", "the lower one first", id="range"),
        pytest.param("{key: f1 macro}", "{key: quality}", "more than once", id="twice"),
        pytest.param("  command:", "  function: a.py:score\n  command:", "are both set", id="two calls"),
    ],
)
def test_errors_in_the_keys(folder: Path, old: str, new: str, said: str) -> None:
    text = (folder / "task.yaml").read_text()
    (folder / "task.yaml").write_text(text.replace(old, new, 1))
    with pytest.raises(DefinitionError) as caught:
        load_definition(folder)
    (folder / "task.yaml").write_text(text)
    assert said in str(caught.value)


@pytest.mark.slow
def test_a_scorer_runs_here_only_if_asked(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["score", "--task", str(folder), "--json", str(folder / "gold/main.json")]
    assert main(arguments) == 0
    without = json.loads(capsys.readouterr().out)
    assert without["scores"] == {"accuracy": 1.0, "scorer:quality": None, "scorer:f1 macro": None}
    assert "--run-scorer" in without["flags"][0]
    assert main([*arguments, "--run-scorer"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["scores"] == {"accuracy": 1.0, "scorer:quality": 0.5, "scorer:f1 macro": None}
    (folder / "scorer/evaluate.py").write_text("raise SystemExit('no')")
    assert main([*arguments, "--run-scorer"]) == 2
    assert "ended with exit code 1. Its last line was: no" in capsys.readouterr().err


def test_outputs_are_read_strictly(tmp_path: Path) -> None:
    scorer = Scorer(columns=(COLUMN,))
    for name in ("scores.json", "scores.txt"):
        (tmp_path / name).touch()
    (tmp_path / "scores.txt").write_text("quality: 0.5\n")
    assert read_scores(tmp_path, scorer) == {"quality": 0.5}
    (tmp_path / "scores.json").write_text('{"quality": null}')
    assert read_scores(tmp_path, scorer) == {"quality": None}
    for content in ('{"quality": true}', '{"quality": "a"}', '{"quality": 1e999}', '{"quality": -1}', "[]", "{"):
        (tmp_path / "scores.json").write_text(content)
        with pytest.raises(ScorerError):
            read_scores(tmp_path, scorer)
    (tmp_path / "scores.json").unlink()
    (tmp_path / "scores.json").symlink_to("scores.txt")
    with pytest.raises(OSError, match="symbolic links"):
        read_scores(tmp_path, scorer)
