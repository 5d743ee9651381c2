"""Texts: one output per line, or JSON objects with an id and a text. Gold files may have several references."""

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from scoring import limits
from scoring.answers import Texts
from scoring.definition import FormatSpec
from scoring.definition.keys import Key
from scoring.definition.kinds import WHOLE, one_of
from scoring.formats.format import Format, Size
from scoring.formats.json_options import RECORD_OPTIONS, records_suffix, shape_of, write_records
from scoring.formats.json_records import Records, read_records
from scoring.formats.reading import Problems, Reading, are_several_times, are_too_many, check_ids, decode, shown
from scoring.formats.stray_rows import report_header

LONGEST = Key(
    "longest",
    WHOLE,
    "Maximum number of characters per text. All texts of a run, and all references, can have at most 4,000,000 "
    "characters together, with BLEU or TER 1,000,000 and with chrF 400,000; and the squares of their lengths can add "
    "up to at most 20,000,000,000, in words with TER 1,600,000. Without text metrics, there is no such limit.",
    5000,
)
LINE_OPTIONS = (
    Key(
        "ids",
        one_of("numbers", "first"),
        "Where item ids come from: line numbers, starting at 1, or the text before the first tab in each line.",
        "numbers",
    ),
    LONGEST,
)
JSON_START = re.compile(r"""\s*[\[{]\s*["'{\[]""")
JSON_END = re.compile(r"""["'}\]]\s*[\]}]\s*$""")
LONGEST_END = 100  # characters at the end of a file, and at both ends of a text, that are examined
LEAST_DECORATED = 5  # fewer texts may have signs in common by chance
BEGINNING = re.compile(r".*[^\w\s]\s?", re.DOTALL)  # up to the last sign
MARKER = re.compile(r"(?:<[^<>\s]{1,20}>|\[[A-Z]{2,9}\])\s*$")  # such as </s>, <pad> and [SEP]
CLOSING = re.compile(r"""["'”’»)\]}]+\s*$""")
NUMBERED = re.compile(r"\s*([0-9]{1,9})([.):]?[ \t]|[.):])")
TEXT_NAMES = ("text", "texts", "output", "outputs", "prediction", "predictions", "generated_text", "summary", "target")
ID_NAMES = ("id", "ids", "item", "item_id", "key", "number")  # in headers, ignoring case
JSON_OPTIONS = (*RECORD_OPTIONS, LONGEST)


def size(spec: FormatSpec) -> Size:
    longest = int(spec.options["longest"])
    return Size(limits.ENTRIES_AN_ITEM, cells=limits.CELLS_AN_ITEM + longest, bytes=limits.BYTES_AN_ITEM + 4 * longest)


def read_lines(data: bytes, spec: FormatSpec, reading: Reading) -> Texts | None:
    """Read one line per item. In a gold file, tabs separate references."""
    text = decode(data, reading.report)
    if text is None or are_too_many(text.count("\n"), reading.most_entries, reading.report):
        return None
    lines = text.removesuffix("\n").split("\n")
    if len(lines) != reading.numbered and JSON_START.match(text) and JSON_END.search(text, len(text) - LONGEST_END):
        reading.report.error("json-for-lines", line=1, expected="one text per line")
        return None
    problems, has_all = Problems(reading.report), True
    if spec.options["ids"] == "numbers":
        texts = _without_text_header(_numbered_lines(lines, reading), reading)
        ids = [str(number) for number in range(1, len(texts) + 1)]
        has_all = reading.role == "gold" or _has_all_lines(texts, reading)
    else:
        ids, texts = _after_ids(lines, problems)
        if _begins_with_header(ids, texts, reading):
            report_header(1, (ids[0], texts[0]), reading)
            ids, texts = ids[1:], texts[1:]
    split = [tuple(filter(str.strip, one.split("\t"))) or ("",) if reading.role == "gold" else (one,) for one in texts]
    report_long(ids, split, spec, problems)
    problems.report()
    warn_if_decorated(texts, reading, line=1)
    if has_all:
        check_ids(ids, reading)
    return None if reading.has_errors else Texts(ids, split)


def _numbered_lines(lines: list[str], reading: Reading) -> list[str]:
    """Return a line for each item, without blank lines at the end of the file. Report too many or too few lines.

    If the number of items is known, a blank line is the text of the last item if there are no other lines for it.
    """
    count = len(lines)
    while count > (reading.numbered or 1) and not lines[count - 1].strip():
        count -= 1
    return lines[:count]


def _without_text_header(lines: list[str], reading: Reading) -> list[str]:
    """Leave out the first line, with an error, if there is a line too many and the first one names a column."""
    is_header = len(lines) - 1 == reading.numbered and lines[0].strip().casefold() in TEXT_NAMES
    if not is_header or len(lines) - 1 < LEAST_DECORATED:
        return lines
    report_header(1, lines[:1], reading)
    return lines[1:]


def _has_all_lines(lines: Sequence[str], reading: Reading) -> bool:
    """Return whether there is a line for each item. If not, report it: no one knows which lines are missing.

    Also warn about lines without text.
    """
    blank = [number for number, line in enumerate(lines, 1) if not line.strip()]
    expected = len(lines) if reading.numbered is None else reading.numbered
    if not blank and are_several_times(len(lines), reading):
        return False
    if len(lines) not in (expected, expected + len(reading.optional)):
        found = f"{len(lines):,} lines" if len(lines) != 1 else "1 line"
        found += f", {len(blank):,} of them blank" if blank else ""
        may_lack = reading.missing_allowed and len(lines) < expected
        reading.report.add(
            "warning" if may_lack else reading.strict, "line-count", found=found, expected=f"{expected:,}"
        )
        return False
    if blank:
        places = tuple(f"line {number}" for number in blank[: reading.report.listed])
        reading.report.warning("line-blank", line=blank[0], count=len(blank), places=places)
    return True


def warn_if_decorated(texts: Sequence[str], reading: Reading, **where: Any) -> None:
    """Warn if all texts of a run have quotation marks, numbers or a model's markers around them, which are scored."""
    if reading.role == "gold" or len(texts) < LEAST_DECORATED:
        return
    found = _numbers_before(texts) or _signs_around(texts)
    if found is not None:
        reading.report.warning("text-decorated", found=shown(found), **where)


def _signs_around(texts: Sequence[str]) -> str | None:
    """Return how all texts begin and end, such as `"…"` or `…</s>`, or None if they have no signs in common."""
    if len(set(texts)) == 1:
        return None
    before = BEGINNING.match(_common_start(texts))
    last = _common_start([text[::-1][:LONGEST_END] for text in texts])[::-1]
    after = MARKER.search(last) or (CLOSING.search(last) if before else None)
    if before is None and after is None:
        return None
    return f"{before[0] if before else ''}…{after[0] if after else ''}"


def _common_start(texts: Sequence[str]) -> str:
    """Return what all texts begin with: what the first and the last of them in alphabetical order begin with."""
    pairs = zip(min(texts)[:LONGEST_END], max(texts), strict=False)
    return "".join(char for char, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _numbers_before(texts: Sequence[str]) -> str | None:
    """Return how the texts are numbered one after the other, such as `1. …, 2. …`, or None."""
    start = NUMBERED.match(texts[0])
    if start is None:
        return None
    number, sign = int(start[1]), start[2]
    if not all(text.lstrip().startswith(f"{number + at}{sign}") for at, text in enumerate(texts)):
        return None
    return f"{number}{sign}…, {number + 1}{sign}…"


def _begins_with_header(ids: list[str], texts: list[str], reading: Reading) -> bool:
    """Return whether the first line is not an item and has short names such as `id` and `text`."""
    known = reading.items
    if len(ids) < 2 or (known is not None and (ids[0] in known or len(ids) != len(known) + 1)):
        return False
    return ids[0].casefold() in ID_NAMES and len(texts[0].split()) == 1


def _after_ids(lines: list[str], problems: Problems) -> tuple[list[str], list[str]]:
    """Return the ids and texts of non-empty lines."""
    ids, texts = list[str](), list[str]()
    for number, line in enumerate(lines, 1):
        item, tab, text = line.partition("\t")
        if not line.strip():
            continue
        if not tab or not item:
            found = shown(line)
            problems.add("text-line", f"line {number}: {found}", line=number, found=found, expected="id<TAB>text")
        ids.append(item)
        texts.append(text)
    return ids, texts


def read_json(data: bytes, spec: FormatSpec, reading: Reading) -> Texts | None:
    """Read one object per item. In a gold file, its value may be a list of references."""
    is_gold = reading.role == "gold"
    shape = shape_of(spec, None if is_gold else str, "…", is_text=True)
    records = read_records(data, shape, reading, strings_in=len)
    if records is None:
        return None
    problems = Problems(reading.report)
    texts: list[tuple[str, ...]] = [(value,) for value in records.values] if records.typed else []
    if not records.typed:
        texts = _judged(records, is_gold, problems)
    if len(records.ids) == len(texts):
        report_long(records.ids, texts, spec, problems)
    problems.report()
    warn_if_decorated([own[0] for own in texts], reading, item=shown(records.ids[0]))
    check_ids(records.ids, reading)
    return None if reading.has_errors else Texts(records.ids, texts)


def _judged(records: Records, is_gold: bool, problems: Problems) -> list[tuple[str, ...]]:
    """Return the texts in JSON values, and report values that are not text."""
    texts: list[tuple[str, ...]] = []
    for row, value in enumerate(records.values):
        several: list[Any] = value if is_gold and isinstance(value, list) and value else [value]
        right = all(isinstance(one, str) for one in several)
        texts.append(tuple(several) if right else ("",))
        if not right:
            records.report_value(row, "text-not-a-text", "text, or a list of texts" if is_gold else "text", problems)
    return texts


def report_long(ids: list[str], texts: list[tuple[str, ...]], spec: FormatSpec, problems: Problems) -> None:
    longest = spec.options["longest"]
    for item, own in zip(ids, texts, strict=True):
        length = max(map(len, own))
        if length > longest and not problems.has_counted("text-too-long"):
            found, expected = f"{length:,}", f"{longest:,}"
            problems.add("text-too-long", f"{shown(item)}: {found}", item=shown(item), found=found, expected=expected)


def write_lines(answers: Texts, spec: FormatSpec) -> str:
    """Write one line per item, without line breaks in the text."""
    named = spec.options["ids"] == "first"
    lines = zip(answers.ids, answers.texts, strict=True)
    return "".join(f"{item}\t{_joined(own)}\n" if named else f"{_joined(own)}\n" for item, own in lines)


def _joined(texts: tuple[str, ...]) -> str:
    return "\t".join(" ".join(text.split()) for text in texts)


def write_json(answers: Texts, spec: FormatSpec) -> str:
    texts = [own[0] if len(own) == 1 else list(own) for own in answers.texts]
    return write_records(answers.ids, texts, spec, is_text=True)


TEXT_LINES = Format(
    "text-lines",
    "texts",
    "One text per line. In gold files, a line can contain several references, separated by tabs.",
    "ids: first",
    LINE_OPTIONS,
    read_lines,
    write_lines,
    lambda _: ".txt",
    size,
)
JSON_TEXTS = Format(
    "json-texts",
    "texts",
    """One text per item: `[{"id": "a1", "value": "Ann lives in Rome."}]`. In gold files, a value can be a list of """
    "references.",
    "keys: {by_id: true}",
    JSON_OPTIONS,
    read_json,
    write_json,
    records_suffix,
    size,
)
