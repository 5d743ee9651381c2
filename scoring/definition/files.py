"""Runs with several files in task.yaml: one file for each language or other part, with its own items and gold.

In such a track, an item's id consists of the file's field value, a slash, and the id within the file: `eng/17`.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from scoring.definition.keys import Kind, Values, declare, part
from scoring.definition.kinds import SPLIT_PATTERN, TEXT, by_name, either, limited, many, matching, one_of
from scoring.definition.slices import Slicing
from scoring.definition.yaml_values import Value

FEWEST, MOST = 2, 50
RESERVED = ("team", "number", "track", "split", "right")
NAME = matching(
    "[a-z][a-z_]{0,29}", "a name of lowercase letters and underscores, such as source_language", "field name"
)
VALUE = limited(
    matching(
        SPLIT_PATTERN,
        "letters and digits, with single dots, hyphens or underscores between them, such as pt-BR",
        "name part",
    ),
    40,
)
VALUES = many(VALUE, each_once=True)
VALUES_BY_SPLIT: Kind[Any] = either(VALUES, by_name(VALUES), lambda value: not value.is_mapping)


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """The files of one run. Their names differ in one field, and its values are also slices of the items."""

    name: str = declare(
        NAME,
        "Name of the field. With `name: language`, the placeholder `{language}` can be used in run file names and "
        "in the paths to items, texts, gold and baselines. The files of a run are also slices with this name.",
    )
    of: tuple[str, ...] = declare(
        VALUES_BY_SPLIT,
        f"Values of the field, one for each file. From {FEWEST} to {MOST} values are allowed. If splits have different "
        "files, list the values by split: `{dev: [eng, deu], test: [eng, deu, hin]}`.",
    )
    title: str = declare(limited(TEXT, 60), "Display name of the field. Defaults to its `name`.", default="")
    missing: Literal["reject", "accept"] = declare(
        one_of("reject", "accept"),
        "What happens to a run with a missing file: the run is rejected, or it is accepted and its metrics for "
        "this file are undefined. The `missing` option of a combined score specifies how undefined metrics count.",
        default="reject",
    )
    spelling: Mapping[str, str] = field(default_factory=dict, hash=False)  # value → its alias in file names
    # Split → values. Empty if all splits have the same files.
    by_split: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)

    @property
    def field(self) -> str:
        return f"{{{self.name}}}"

    def spelled(self, value: str) -> str:
        """Return a value's spelling in file names."""
        return self.spelling.get(value, value)

    @property
    def spelled_values(self) -> tuple[str, ...]:
        return tuple(map(self.spelled, self.of))

    @property
    def slicing(self) -> Slicing:
        """The slicing that splits items by file."""
        return Slicing(column=self.name, title=self.title or self.name, files=self.of)

    def in_split(self, split: str) -> "Files":
        """Return the files of one split. Otherwise, `of` has the files of all splits."""
        return replace(self, of=self.by_split.get(split, self.of))


def _finish(_value: Value, values: Values) -> None:
    if isinstance(values["of"], dict):
        by_split: dict[str, tuple[str, ...]] = values["of"]
        values |= {"of": tuple(dict.fromkeys(chain.from_iterable(by_split.values()))), "by_split": by_split}


FILES_OF_RUN = part(Files, _finish)


def each_file(files: Files | None, path: Path) -> Iterator[tuple[str, Path]]:
    """Yield the id prefix and the path of each file that `path` stands for."""
    if files is None or files.field not in str(path):
        yield "", path
        return
    for value in files.of:
        yield f"{value}/", Path(str(path).replace(files.field, value))


def errors_of_files(files: Files, splits: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each error as a key and a sentence. `splits` are those for which the track has items."""
    splits = list(splits)
    for split, values in files.by_split.items():
        if split not in splits:
            yield "of", f"the track has no items for the split {split}; its splits are {', '.join(splits)}"
        elif not values:
            yield "of", f"the split {split} has no files"
    if files.by_split and (missing := [split for split in splits if split not in files.by_split]):
        yield "of", f"there is no list of files for the split {missing[0]}: add one"
    if not FEWEST <= len(files.of) <= MOST:
        yield "of", f"there are {len(files.of)} files; {FEWEST} to {MOST} are allowed"
    if len({value.casefold() for value in files.of}) < len(files.of):
        yield "of", "two values differ only in case"
    if files.name in RESERVED:
        yield "name", f"{files.name} is a reserved name; choose a different name"
