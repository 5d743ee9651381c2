"""A run format that exists only for tests: one line per item, such as `i1 = YES`."""

from scoring.answers import Matrix
from scoring.definition import FormatSpec
from scoring.definition.keys import Key
from scoring.definition.kinds import WORD
from scoring.formats.format import Format
from scoring.formats.labels import LABEL_OPTIONS, Labels
from scoring.formats.reading import Reading, check_ids, decode

OPTIONS = (LABEL_OPTIONS[0], Key("mark", WORD, "What stands between id and label.", "="))


def read(data: bytes, spec: FormatSpec, reading: Reading) -> Matrix | None:
    """Read a label for each item."""
    text = decode(data, reading.report)
    if text is None:
        return None
    lines = [line.split(f" {spec.options['mark']} ") for line in text.splitlines()]
    labels = Labels([item for item, _ in lines], [label for _, label in lines], spec.options["classes"], False)
    labels.judge(labels.ids, reading, range(1, len(lines) + 1))
    check_ids(labels.ids, reading)
    return labels.as_matrix() if reading.report.ok else None


def write(answers: Matrix, spec: FormatSpec) -> str:
    """Write a line per item."""
    pairs = zip(answers.ids, answers.labels(), strict=True)
    return "".join(f"{item} {spec.options['mark']} {label}\n" for item, (label,) in pairs)


TOY = Format(
    name="toy",
    answers="labels",
    doc="A line an item, as `i1 = YES`.",
    example='classes: [red, blue], mark: ":"',
    options=OPTIONS,
    read=read,
    write=write,
    suffix=lambda options: ".toy",
)
