"""Hard labels as JSON: `[{"id": "1", "value": "NO"}, …]`, where a value may also be a list of labels."""

from typing import Any, Literal

from scoring.answers import Matrix
from scoring.definition import FormatSpec
from scoring.formats.format import Format
from scoring.formats.json_options import RECORD_OPTIONS, records_suffix, shape_of, write_records
from scoring.formats.json_records import read_records
from scoring.formats.labels import LABEL_OPTIONS, Labels, finish_options
from scoring.formats.reading import Reading, check_ids

OPTIONS = (*LABEL_OPTIONS, *RECORD_OPTIONS)


def read(data: bytes, spec: FormatSpec, reading: Reading) -> Matrix | None:
    """Read labels into a Boolean matrix with one column per class."""
    classes: tuple[str, ...] = spec.options["classes"]
    multi = spec.options["multi"]
    one: Any = Literal[classes]
    records = read_records(
        data,
        shape_of(spec, list[one] if multi else one, [classes[0]] if multi else classes[0], is_text=True),
        reading,
        strings_in=lambda values: sum(map(len, values)) if multi else len(values),
    )
    if records is None:
        return None
    labels = Labels(records.ids, records.values, classes, multi, spec.options["empty"] == "allowed")
    matrix = labels.as_matrix() if records.typed else None
    if matrix is None:
        labels.judge(records.places or records.ids, reading, path=records.path)
    check_ids(records.ids, reading)
    if reading.has_errors:
        return None
    return matrix or labels.as_matrix()


def write(answers: Matrix, spec: FormatSpec) -> str:
    """Write each item's label or list of labels."""
    labels = answers.labels()
    return write_records(
        answers.ids, labels if spec.options["multi"] else (own[0] for own in labels), spec, is_text=True
    )


JSON_LABELS = Format(
    "json-labels",
    "labels",
    """One or more labels per item: `[{"id": "a1", "value": "YES"}]`.""",
    'classes: ["0", "1"], value: prediction.label, keys: {ids: [number], values: [number], nested: true}',
    OPTIONS,
    read,
    write,
    records_suffix,
    finish=finish_options,
)
