"""Runs with several files in task.yaml: one file for each language or other part, with its own items and gold.

An item's id in such a track is the file's value, a slash, and the id within the file: `eng/17`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from scoring.definition.keys import declare, part
from scoring.definition.kinds import SPLIT_PATTERN, TEXT, limited, many, matching, one_of
from scoring.definition.slices import Slicing

FEWEST, MOST = 2, 50
RESERVED = ("team", "number", "track", "split", "right")
NAME = matching("[a-z][a-z_]{0,29}", "lower-case letters and underscores, such as language", "field name")
VALUE = limited(matching(SPLIT_PATTERN, "letters and digits, such as pt-BR", "name part"), 40)


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """The files of one run, distinguished by a field in their names. They are also slices of the items."""

    name: str = declare(
        NAME,
        "Name of the field, such as `language`: `{language}` in the names of runs and in the paths of items, texts, "
        "gold and baselines. The files are slices with this name.",
    )
    of: tuple[str, ...] = declare(
        many(VALUE, each_once=True), f"Values of the field, one for each file: {FEWEST} to {MOST} values."
    )
    title: str = declare(limited(TEXT, 60), "Display name. Defaults to the name of the field.", default="")
    missing: Literal["reject", "accept"] = declare(
        one_of("reject", "accept"),
        "Whether a run with a missing file is rejected, or its metrics for this file are undefined. The option "
        "`missing` of a combined score specifies how undefined metrics count.",
        default="reject",
    )

    @property
    def field(self) -> str:
        return f"{{{self.name}}}"

    @property
    def slicing(self) -> Slicing:
        """Return the slicing of the items by file."""
        return Slicing(column=self.name, title=self.title or self.name, files=self.of)


FILES_OF_RUN = part(Files)


def each_file(files: Files | None, path: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files at a path, each with the prefix of its ids and its own path."""
    if files is None or files.field not in str(path):
        yield "", path
        return
    for value in files.of:
        yield f"{value}/", Path(str(path).replace(files.field, value))


def errors_of_files(files: Files) -> Iterator[tuple[str, str]]:
    """Yield the key and the sentence of each error."""
    if not FEWEST <= len(files.of) <= MOST:
        yield "of", f"there are {len(files.of)} files; {FEWEST} to {MOST} are allowed"
    if len({value.casefold() for value in files.of}) < len(files.of):
        yield "of", "two values differ only in case"
    if files.name in RESERVED:
        yield "name", f"{files.name} is a reserved name: choose another name"
