"""Hard labels as a table: one row an item, and its class, or several, in one column."""

from typing import Any

from scoring.answers import Matrix
from scoring.definition import FormatSpec
from scoring.definition.yaml_values import Keys, Value
from scoring.formats.format import Format
from scoring.formats.labels import Labels, read_label_options
from scoring.formats.layout import layout_of, read_layout_options, read_table, table_suffix, write_table
from scoring.formats.reading import Reading, check_ids


def read_options(keys: Keys) -> dict[str, Any]:
    """The layout's options, `classes`, `label` (the column), `multi`, and `between` (the text between two labels)."""
    return {
        **read_layout_options(keys),
        **read_label_options(keys),
        "label": keys.read("label", Value.text, "label"),
        "between": keys.read("between", lambda value: str(value.node.value), " "),
    }


def read(data: bytes, spec: FormatSpec, reading: Reading) -> Matrix | None:
    """Read labels into a boolean matrix with one column a class."""
    errors_before = len(reading.report.errors)
    multi = spec.options.get("multi", False)
    name = spec.options.get("label", "label")
    table = read_table(data, layout_of(spec.options), (name,), reading)
    if table is None:
        return None
    cells = table.column(name)
    values = [cell.split(spec.options.get("between", " ")) if cell else [] for cell in cells] if multi else cells
    labels = Labels(table.ids, values, spec.options["classes"], multi)
    if multi or not set(cells) <= set(labels.classes):
        labels.judge(table.ids, reading, table.rows.lines)
    check_ids(table.ids, reading)
    return None if len(reading.report.errors) > errors_before else labels.as_matrix()


def write(answers: Matrix, spec: FormatSpec) -> str:
    """The label of each item, or its labels in one cell."""
    between = spec.options.get("between", " ")
    labels = list(map(between.join, answers.labels()))
    return write_table(answers.ids, {spec.options.get("label", "label"): labels}, spec.options)


TABLE_LABELS = Format("table-labels", "labels", read_options, read, write, table_suffix)
