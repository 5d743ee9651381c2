"""Soft labels as a table: one row an item, one column of shares or probabilities a class."""

from typing import Any

import numpy as np

from scoring.answers import Matrix
from scoring.definition import FormatSpec
from scoring.definition.yaml_values import Keys, Value
from scoring.formats import table
from scoring.formats.format import Format
from scoring.formats.layout import read_layout_options, table_suffix
from scoring.formats.reading import Reading
from scoring.formats.shares import judge_shares, read_share_options


def read_options(keys: Keys) -> dict[str, Any]:
    """The layout's options, `classes` with `sum` and `tolerance`, and `headers` where columns are named otherwise."""
    return {
        **read_layout_options(keys),
        **read_share_options(keys),
        "headers": keys.read("headers", Value.texts, ()),
    }


def read(data: bytes, spec: FormatSpec, reading: Reading) -> Matrix | None:
    """Read shares into a float matrix with one column a class."""
    errors_before = len(reading.report.errors)
    numbers = FormatSpec(spec.kind, {**spec.options, "columns": spec.options["classes"], "numbers": True})
    matrix = table.read(data, numbers, reading)
    if matrix is None:
        return None
    judge_shares(matrix.ids, matrix.values.astype(np.float64), matrix.columns, spec, reading)
    return None if len(reading.report.errors) > errors_before else matrix


TABLE_SOFT = Format("table-soft", "soft", read_options, read, table.write, table_suffix)
