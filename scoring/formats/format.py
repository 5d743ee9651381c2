"""What a run format is: the key that names it, what its files say, and how they are read, written and bounded."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scoring import limits
from scoring.answers import AnswerKind, Answers
from scoring.definition import FormatSpec
from scoring.definition.keys import Key, Values
from scoring.definition.yaml_values import Value
from scoring.formats.reading import Reading

FormatOptions = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Size:
    """How large a run may be for each of its items: lines or objects, cells or values, and bytes.

    Generous, and still a bound on what a hostile file costs.
    """

    entries: int
    cells: int
    bytes: int


def size_of_columns(spec: FormatSpec) -> Size:
    """With an answer for each class or column."""
    columns = len(spec.options.get("classes") or spec.options.get("columns") or ())
    return Size(
        entries=limits.ENTRIES_AN_ITEM,
        cells=limits.CELLS_AN_ITEM + 4 * columns,
        bytes=limits.BYTES_AN_ITEM + limits.CELL_BYTES * columns,
    )


@dataclass(frozen=True, slots=True)
class Format:
    """A run format: all that the engine knows of it.

    `read` returns None when it reported an error; `write` makes a file that `read` takes for the same answers. In the
    spec they find every option, those that task.yaml leaves out with the default of their key.
    `finish` may change the options that were read, and report on them.
    """

    name: str  # as task.yaml has it under `kind`
    answers: AnswerKind
    doc: str
    example: str  # of its options
    options: Sequence[Key]
    read: Callable[[bytes, FormatSpec, Reading], Answers | None]
    write: Callable[[Any, FormatSpec], str]
    suffix: Callable[[FormatOptions], str]  # of a file's name
    size: Callable[[FormatSpec], Size] = size_of_columns
    finish: Callable[[Value, Values], None] | None = None
