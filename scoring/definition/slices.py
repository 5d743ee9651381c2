"""Slices in task.yaml: a column of the gold or of a public item table splits a track's items into slices."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from scoring.definition.keys import Kind, Values, declare, part
from scoring.definition.kinds import FILES_BY_SPLIT, NAMES, NUMBER, TEXT, WORD, by_name, either, limited
from scoring.definition.yaml_values import Value

RIGHT = "right"  # f1:TR@right=HS scores only the items whose HS the run predicts correctly
NAME = re.compile("[A-Za-z0-9_-]{1,40}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Slicing:
    """A way to split items into slices, one for each value of a column. Items with empty cells belong to no slice."""

    column: str = declare(
        WORD, "Column whose values define the slices. Defaults to the name of this entry.", default=""
    )
    items: Mapping[str, Path] = declare(
        FILES_BY_SPLIT,
        (
            "Path to a table with the id columns and this column: a `.csv` file with commas or semicolons as "
            "separators, or a tab-separated file. If omitted, the column must be in the gold file, as "
            "one of its `columns`, its `group` or one of its `attributes`."
        ),
        default={},
    )
    title: str = declare(limited(TEXT, 60), "Display name. Defaults to the name of this entry.", default="")
    at_least: float | None = declare(
        NUMBER,
        "Threshold that splits a column of numbers into two slices. With 20, the slices are `<20` and `>=20`.",
        default=None,
    )
    merge: Mapping[str, tuple[str, ...]] = declare(
        by_name(NAMES),
        "Merges several values into one slice: `{others: [AR, MX]}`. All other values remain separate slices.",
        default={},
    )
    files: tuple[str, ...] = ()  # the values that name a run's files, if each file is a slice


def _finish(value: Value, values: Values) -> None:
    merged = [merged_value for group in values["merge"].values() for merged_value in group]
    if len(set(merged)) < len(merged):
        value.at("merge").invalid("each value in only one slice")


TABLE = part(Slicing, _finish)
SLICING: Kind[Slicing] = either(
    Kind(lambda value: Slicing(column=value.text()), WORD.schema, "column of the gold"), TABLE
)


def _read(value: Value) -> dict[str, Slicing]:
    found = by_name(SLICING).read(value)
    return {
        name: replace(slicing, column=slicing.column or name, title=slicing.title or name)
        for name, slicing in found.items()
    }


SLICES = Kind(_read, by_name(SLICING).schema, "name → column of the gold, or mapping", SLICING.keys)


def shown_value(value: str) -> str:
    """Return a slice's value as it is shown: >=0.5 → ≥ 0.5, with a space at which lines don't break."""
    shown = value.replace(">=", "≥").replace("<=", "≤")
    return re.sub(r"^([<>≥≤])(?=[-.\d])", "\\1\N{NO-BREAK SPACE}", shown)


def of_languages(files: Mapping[str, Path]) -> Slicing:
    """Convert the old `item_languages` key into a slicing."""
    return Slicing(column="lang", items=files, title="language")


def errors_of_names(slices: Mapping[str, Slicing]) -> Iterator[tuple[str, str]]:
    """Yield each invalid name with its error."""
    for name in slices:
        if not NAME.fullmatch(name):
            yield name, "the names of slices must consist of 1 to 40 letters, digits, `_` and `-`"
        elif name == RIGHT:
            yield (
                name,
                f"{RIGHT} is reserved for metrics on items that a run answers correctly; choose a different name",
            )
