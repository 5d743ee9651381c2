"""Runs of several files in task.yaml: one file for each language, or for another part, with items and gold of its own.

An item's id in such a track is the file's value, a slash, and the id in the file: `eng/17`.
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
NAME = matching("[a-z][a-z_]{0,29}", "lower-case letters and underscores, as language", "name of a field")
VALUE = limited(matching(SPLIT_PATTERN, "letters and digits, as pt-BR", "part of a name"), 40)


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """The files of one run, which a field of their names distinguishes. Each file is also a slice of the items."""

    name: str = declare(
        NAME,
        "Name of the field, such as `language`: `{language}` in the names of runs and in the paths of items, texts, "
        "gold and baselines. The files are slices with this name.",
    )
    of: tuple[str, ...] = declare(
        many(VALUE, each_once=True), f"The field's values, one for each file, {FEWEST} to {MOST} of them."
    )
    title: str = declare(limited(TEXT, 60), "Name on pages; the name of the field if there is none.", default="")
    missing: Literal["reject", "accept"] = declare(
        one_of("reject", "accept"),
        "A run without one of the files is rejected; or its metrics there are undefined, and `missing` of a combined "
        "score says whether they count 0 or are skipped.",
        default="reject",
    )

    @property
    def field(self) -> str:
        return f"{{{self.name}}}"

    @property
    def slicing(self) -> Slicing:
        """The slices that the files are."""
        return Slicing(column=self.name, title=self.title or self.name, files=self.of)


FILES_OF_RUN = part(Files)


def each_file(files: Files | None, path: Path) -> Iterator[tuple[str, Path]]:
    """The files that a path names: for each the prefix of its ids, and its own path."""
    if files is None or files.field not in str(path):
        yield "", path
        return
    for value in files.of:
        yield f"{value}/", Path(str(path).replace(files.field, value))


def errors_of_files(files: Files) -> Iterator[tuple[str, str]]:
    """A key and a sentence for each error."""
    if not FEWEST <= len(files.of) <= MOST:
        yield "of", f"there are {len(files.of)} files; {FEWEST} to {MOST} are allowed"
    if len({value.casefold() for value in files.of}) < len(files.of):
        yield "of", "two values differ only in upper and lower case"
    if files.name in RESERVED:
        yield "name", f"{files.name} has another meaning: choose another name"
