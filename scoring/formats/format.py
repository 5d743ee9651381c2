"""The interface of run formats: options, kind of answers, reading, writing and size limits."""

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
    """The maximum size of a run per item: lines or objects, cells or values, and bytes.

    The limits are generous, but they bound the cost of reading a malicious file.
    """

    entries: int
    cells: int
    bytes: int


def size_of_columns(spec: FormatSpec) -> Size:
    """Return the maximum size per item if there is one answer for each class or column."""
    columns = len(spec.options.get("classes") or spec.options.get("columns") or ())
    return Size(
        entries=limits.ENTRIES_AN_ITEM,
        cells=limits.CELLS_AN_ITEM + 4 * columns,
        bytes=limits.BYTES_AN_ITEM + limits.CELL_BYTES * columns,
    )


@dataclass(frozen=True, slots=True)
class Format:
    """A run format, with everything that the engine needs to know about it.

    `read` returns None if it has reported an error. `write` creates a file from which `read` returns the same answers.
    Both receive a spec with all options: those missing from task.yaml have their default values. `finish` may change
    the options that were read and report problems.
    """

    name: str  # the value of `kind` in task.yaml
    answers: AnswerKind
    doc: str
    example: str  # example of the options
    options: Sequence[Key]
    read: Callable[[bytes, FormatSpec, Reading], Answers | None]
    write: Callable[[Any, FormatSpec], str | bytes]
    suffix: Callable[[FormatOptions], str]  # file extension
    size: Callable[[FormatSpec], Size] = size_of_columns
    finish: Callable[[Value, Values], None] | None = None
    leaves_out_empty: bool = False  # items missing from a gold file are empty, which is not an error
    in_tokens: bool = False  # offsets count the tokens of an item’s text, not its characters; every split needs texts
    # Whether a file repeats the annotated texts, so that they can be compared with the items' texts.
    has_texts: Callable[[FormatOptions], bool] = lambda _: False
    is_zip: bool = False  # whether a run is a zip with a file for each item
