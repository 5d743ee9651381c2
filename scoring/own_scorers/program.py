"""The program of an own scorer: its files, how it is called, and the digest that an administrator approves."""

import hashlib
import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from scoring import limits
from scoring.clutter import is_clutter
from scoring.definition.scorer import FOLDER, Scorer
from scoring.formats.several import packed

METADATA = ("metadata", "metadata.yaml", "metadata.yml")
_COMMAND = re.compile(r"^command\s*:\s*(.+?)\s*$", re.MULTILINE)
_PYTHON = re.compile(r"(.*/)?python(3(\.[0-9]+)?)?")
_EXAMPLE = "python3 $program/evaluate.py $input $output"
_OTHER_LANGUAGE = "Own scorers are Python programs: the command must start with python or python3"
# How CodaLab and Codabench spell the folders in commands, and where Codabench has them.
_PLACES = re.compile(r"\$\{(program|input|output)\}|/app/(program|input|output)(?=/|$)")


class ScorerError(Exception):
    """An own scorer cannot be used, or has failed on a run. The message is for organizers.

    `messages` is what the scorer printed.
    """

    def __init__(self, message: str, messages: str = "") -> None:
        super().__init__(message)
        self.messages = messages


@dataclass(frozen=True, slots=True)
class Entry:
    """How a scorer is called: a Python file in its folder, and its arguments or the name of a function in it.

    Arguments can contain `$program`, `$input` and `$output`, which stand for the folders.
    """

    script: str
    arguments: tuple[str, ...] = ()
    function: str | None = None

    def as_dict(self) -> dict[str, object]:
        return {"script": self.script, "arguments": list(self.arguments), "function": self.function}

    @property
    def shown(self) -> str:
        """Return the call as people write it."""
        return (
            f"{self.script}:{self.function}" if self.function else shlex.join(["python3", self.script, *self.arguments])
        )


@dataclass(frozen=True, slots=True, repr=False)
class Program:
    """The files of a scorer by their paths in its folder, and how it is called."""

    files: Mapping[str, bytes]
    entry: Entry

    @property
    def sha256(self) -> str:
        """Return the digest of every byte that decides what runs: the names and contents of all files, and the call."""
        whole = hashlib.sha256(json.dumps(self.entry.as_dict(), sort_keys=True).encode())
        for name in sorted(self.files):
            line = json.dumps([name, hashlib.sha256(self.files[name]).hexdigest()])
            whole.update(b"\n" + line.encode())
        return whole.hexdigest()

    def packed(self) -> bytes:
        """Return the files as a zip. The same files always give the same bytes."""
        return packed(self.files)


def read_program(folder: Path, scorer: Scorer) -> Program:
    """Read the scorer in a task's folder.

    Raises:
        ScorerError: the scorer cannot be run.
    """
    place = folder / FOLDER
    if not place.is_dir():
        raise ScorerError(
            f"There is no folder {FOLDER}. Put the scoring program into it, or remove scorer from task.yaml."
        )
    files = {}
    for path in sorted(place.rglob("*")):
        name = path.relative_to(place).as_posix()
        if path.is_symlink():
            raise ScorerError(f"{FOLDER}/{name} is a link. Replace it with the file.")
        if path.is_file() and not is_clutter(name):
            with path.open("rb") as file:
                files[name] = file.read(limits.SCORER_BYTES + 1)
    return program_of(files, scorer)


def program_of(files: Mapping[str, bytes], scorer: Scorer) -> Program:
    """Return the program with these files, and check their number and size, and that the call is one of Python.

    Raises:
        ScorerError: the scorer cannot be run.
    """
    if not files:
        raise ScorerError(f"The folder {FOLDER} is empty. Put the scoring program into it.")
    if len(files) > limits.SCORER_FILES:
        raise ScorerError(f"The folder {FOLDER} has {len(files)} files; at most {limits.SCORER_FILES} are allowed.")
    if sum(map(len, files.values())) > limits.SCORER_BYTES:
        most = limits.SCORER_BYTES // limits.MEBIBYTE
        raise ScorerError(
            f"The files in {FOLDER} have more than {most} MiB together. Leave out what the scorer does not need."
        )
    entry = _entry(files, scorer)
    if entry.script not in files:
        raise ScorerError(
            f"There is no file {FOLDER}/{entry.script}, which the scorer's call names. "
            "Correct the call, or add the file."
        )
    return Program(files, entry)


def _entry(files: Mapping[str, bytes], scorer: Scorer) -> Entry:
    if scorer.function:
        script, _, function = scorer.function.partition(":")
        return Entry(_inside(script), function=function)
    command = scorer.command or _command_in_metadata(files)
    if command is None:
        raise ScorerError("Set command or function under scorer in task.yaml, or add scorer/metadata with a command.")
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ScorerError(f"The command of the scorer cannot be read: {error}.") from None
    if not words or not _PYTHON.fullmatch(words[0]):
        raise ScorerError(f"{_OTHER_LANGUAGE}, not with {words[0] if words else 'nothing'}.")
    rest = [word for word in words[1:] if word not in ("-u", "-B", "-O")]  # they change nothing for a scorer
    if not rest or rest[0].startswith("-"):
        raise ScorerError(f"The command of the scorer must name a Python file after python, as in {_EXAMPLE}.")
    return Entry(_inside(_placed(rest[0])), tuple(map(_placed, rest[1:])))


def _command_in_metadata(files: Mapping[str, bytes]) -> str | None:
    for name in METADATA:
        found = _COMMAND.search(files.get(name, b"").decode("utf-8-sig", errors="replace"))
        if found:
            return found[1].strip("\"'")
    return None


def _placed(word: str) -> str:
    """Replace the other spellings of the folders with `$program`, `$input` and `$output`."""
    return _PLACES.sub(lambda found: f"${found[1] or found[2]}", word)


def _inside(script: str) -> str:
    """Return the path of a script in the scorer's folder.

    Raises:
        ScorerError: it is outside.
    """
    path = PurePosixPath(script.removeprefix("$program/"))
    if path.is_absolute() or ".." in path.parts or "$" in str(path):
        raise ScorerError(f"The script of the scorer must be in the folder {FOLDER}, not {script}.")
    return str(path)
