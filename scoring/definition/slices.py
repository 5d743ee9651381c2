"""Slices in task.yaml: a column of the gold, or of a public table of the items, splits a track's items."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from scoring.definition.keys import Kind, Values, declare, part
from scoring.definition.kinds import FILES_BY_SPLIT, NUMBER, TEXT, WORD, WORDS, by_name, either, limited
from scoring.definition.yaml_values import Value

RIGHT = "right"  # f1:TR@right=HS uses the items for which a run has HS right
NAME = re.compile("[A-Za-z0-9_-]{1,40}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Slicing:
    """One way to split items: each value of a column is a slice; empty cells are in none."""

    column: str = declare(
        WORD, "Column whose values are the slices; the name of the slices if there is none.", default=""
    )
    items: Mapping[str, Path] = declare(
        FILES_BY_SPLIT,
        "Table with the columns of the ids and this column. Without it the column is one of the gold file: one of its "
        "`columns`, its `group` or one of its `attributes`.",
        default={},
    )
    title: str = declare(limited(TEXT, 60), "Name on pages; the name of the slices if there is none.", default="")
    at_least: float | None = declare(
        NUMBER, "Makes two slices of a column of numbers: `<20` and, from this number up, `>=20`.", default=None
    )
    merge: Mapping[str, tuple[str, ...]] = declare(
        by_name(WORDS), "Values that form one slice: `{others: [AR, MX]}`. Other values stay as they are.", default={}
    )
    files: tuple[str, ...] = ()  # where the files of a run are the slices


def _finish(value: Value, values: Values) -> None:
    merged = [one for group in values["merge"].values() for one in group]
    if len(set(merged)) < len(merged):
        value.at("merge").invalid("each value in one slice")


TABLE = part(Slicing, _finish)
SLICING: Kind[Slicing] = either(
    Kind(lambda value: Slicing(column=value.text()), WORD.schema, "column of the gold"), TABLE
)


def _read(value: Value) -> dict[str, Slicing]:
    return {name: _named(one, name) for name, one in by_name(SLICING).read(value).items()}


def _named(slicing: Slicing, name: str) -> Slicing:
    return replace(slicing, column=slicing.column or name, title=slicing.title or name)


SLICES = Kind(_read, by_name(SLICING).schema, "name → column of the gold, or mapping", SLICING.keys)


def of_languages(files: Mapping[str, Path]) -> Slicing:
    """The meaning of the old key `item_languages`."""
    return Slicing(column="lang", items=files, title="language")


def errors_of_names(slices: Mapping[str, Slicing]) -> Iterator[tuple[str, str]]:
    """Names and their errors."""
    for name in slices:
        if not NAME.fullmatch(name):
            yield name, "the name of slices has 1 to 40 letters, digits, `_` and `-`"
        elif name == RIGHT:
            yield name, f"{RIGHT} is what metrics say of items that a run has right: choose another name"
