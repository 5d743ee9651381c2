"""Hard labels as a table: one row per item, with one or several classes in a single column."""

import msgspec

from scoring.answers import Matrix
from scoring.definition import FormatSpec
from scoring.definition.keys import Key, Kind
from scoring.definition.kinds import WORD
from scoring.definition.yaml_values import Value
from scoring.formats.class_forms import report_one_hot
from scoring.formats.format import Format
from scoring.formats.labels import LABEL_OPTIONS, Labels, finish_options
from scoring.formats.layout import table_suffix, write_table
from scoring.formats.reading import UTF8_MARK, Reading, check_ids, shown
from scoring.formats.row_numbers import NUMBERED_OPTIONS, read_items, repeats_texts


def _read_between(value: Value) -> str:
    """Read any text, even if it consists only of spaces."""
    if not value.is_scalar or not value.node.value:
        value.invalid("text")
        return " "
    return str(value.node.value)


FIRST_LINE = 1_000_000  # bytes in which the end of the first line is looked for
BETWEEN = Kind(_read_between, {"type": "string", "minLength": 1}, "text")
OPTIONS = (
    *NUMBERED_OPTIONS,
    *LABEL_OPTIONS,
    Key("label", WORD, "Column with the labels.", "label"),
    Key("between", BETWEEN, "With `multi: true`, the text that separates an item's labels.", " "),
)


def read(data: bytes, spec: FormatSpec, reading: Reading) -> Matrix | None:
    """Read labels into a Boolean matrix with one column per class."""
    multi, name = spec.options["multi"], spec.options["label"]
    if _is_one_hot(data, spec, reading):
        return None
    table = read_items(data, spec.options, (name,), reading)
    if table is None:
        return None
    cells = table.column(name)
    values = [_labels_in(cell, spec) for cell in cells] if multi else cells
    labels = Labels(table.ids, values, spec.options["classes"], multi, spec.options["empty"] == "allowed")
    if multi or not set(cells) <= set(labels.classes):
        labels.judge(table.ids, reading, table.rows.lines)
    check_ids(table.ids, reading)
    return None if reading.has_errors else labels.as_matrix()


def _labels_in(cell: str, spec: FormatSpec) -> list[str]:
    """Return the labels in a cell. In JSON, it may also be a list of labels."""
    if spec.options["json"] is not None and cell.startswith("["):
        try:
            return msgspec.json.decode(cell, type=list[str])
        except msgspec.MsgspecError:
            pass
    # Only as many labels as are needed to find one that is repeated or unknown.
    return cell.split(spec.options["between"], 2 * len(spec.options["classes"]) + 1) if cell else []


def _is_one_hot(data: bytes, spec: FormatSpec, reading: Reading) -> bool:
    """Report a table with a column for each class, and none for the labels, and return True. It has no labels."""
    if spec.options["header"] == "none" or spec.options["parquet"] or spec.options["json"] is not None:
        return False
    line = data[:FIRST_LINE].removeprefix(UTF8_MARK).splitlines()[:1]
    cells = (
        [cell.strip(' "') for cell in line[0].decode(errors="replace").split(spec.options["separator"])] if line else []
    )
    classes: tuple[str, ...] = spec.options["classes"]
    if len(classes) < 2 or spec.options["label"] in cells or not set(classes) <= set(cells):
        return False
    report_one_hot((), shown(", ".join(classes)), spec.options["label"], reading, line=1)
    return True


def write(answers: Matrix, spec: FormatSpec) -> str | bytes:
    """Write each item's labels in one cell."""
    labels = list(map(spec.options["between"].join, answers.labels()))
    return write_table(answers.ids, {spec.options["label"]: labels}, spec.options)


TABLE_LABELS = Format(
    "table-labels",
    "labels",
    "Table with the labels in a single column and one row per item.",
    'id: id, classes: [red, blue], multi: true, between: ","',
    OPTIONS,
    read,
    write,
    table_suffix,
    finish=finish_options,
    has_texts=repeats_texts,
)
