"""Texts in a column of a table: one output per row, and in gold files one or more columns with references."""

from scoring.answers import Texts
from scoring.definition import FormatSpec
from scoring.definition.keys import Key
from scoring.definition.kinds import WORD, WORDS, converted, either
from scoring.formats import texts
from scoring.formats.format import Format
from scoring.formats.layout import table_suffix, write_table
from scoring.formats.reading import Problems, Reading, check_ids
from scoring.formats.row_numbers import NUMBERED_OPTIONS, read_items, repeats_texts

OPTIONS = (
    *NUMBERED_OPTIONS,
    Key(
        "text",
        either(converted(WORD, lambda name: (name,)), WORDS),
        "Column with the text. For gold files, several columns can be listed, which contain references. Empty cells "
        "are no references. Runs have only the first column.",
        ("text",),
    ),
    texts.LONGEST,
)


def read(data: bytes, spec: FormatSpec, reading: Reading) -> Texts | None:
    """Read one text per row or, in gold files, one or more references."""
    names = spec.options["text"] if reading.role == "gold" else spec.options["text"][:1]
    table = read_items(data, spec.options, names, reading)
    if table is None:
        return None
    rows = zip(*(table.column(name) for name in names), strict=True)
    found = [tuple(filter(str.strip, cells)) or ("",) for cells in rows]
    problems = Problems(reading.report)
    texts.report_long(table.ids, found, spec, problems)
    problems.report()
    texts.warn_if_decorated([own[0] for own in found], reading, line=table.rows.lines[0])
    check_ids(table.ids, reading)
    return None if reading.has_errors else Texts(table.ids, found)


def write(answers: Texts, spec: FormatSpec) -> str | bytes:
    """Write a row per item, with line breaks in the text as blanks."""
    count = max(map(len, answers.texts))
    names = spec.options["text"][:count]
    columns = {
        name: [" ".join(own[place].split()) if place < len(own) else "" for own in answers.texts]
        for place, name in enumerate(names)
    }
    return write_table(answers.ids, columns, spec.options)


TABLE_TEXTS = Format(
    "table-texts",
    "texts",
    "Table with a text per item in one of its columns, such as a translation, a summary or an answer.",
    "id: id, text: translation, separator: tab, quotes: none",
    OPTIONS,
    read,
    write,
    table_suffix,
    texts.size,
    has_texts=repeats_texts,
)
