"""Soft labels as a table: one row per item and one column per class, with its probability."""

import numpy as np

from scoring.answers import Matrix
from scoring.definition import FormatSpec
from scoring.definition.keys import Key
from scoring.definition.kinds import NAMES
from scoring.formats import table
from scoring.formats.format import Format
from scoring.formats.layout import table_suffix
from scoring.formats.reading import Reading
from scoring.formats.row_numbers import NUMBERED_OPTIONS, repeats_texts
from scoring.formats.shares import SHARE_OPTIONS, judge_shares

OPTIONS = (
    *NUMBERED_OPTIONS,
    table.LIST_OPTION,
    *SHARE_OPTIONS,
    Key("headers", NAMES, "Column names, in the same order as `classes`. Defaults to the class names.", ()),
)


def read(data: bytes, spec: FormatSpec, reading: Reading) -> Matrix | None:
    """Read probabilities into a float matrix with one column per class."""
    numbers = FormatSpec(spec.kind, {**spec.options, "columns": spec.options["classes"], "values": (), "numbers": True})
    matrix = table.read(data, numbers, reading)
    if matrix is None:
        return None
    judge_shares(matrix.ids, matrix.values.astype(np.float64), matrix.columns, spec, reading)
    return None if reading.has_errors else matrix


TABLE_SOFT = Format(
    "table-soft",
    "soft",
    "Table of soft labels: one row per item and one column per class, with the class's probability.",
    "id: [document, sentence], classes: [red, blue], headers: [p_red, p_blue]",
    OPTIONS,
    read,
    table.write,
    table_suffix,
    has_texts=repeats_texts,
)
