"""brat standoff annotations: a zip with one `.ann` file per item, whose name is the item's id.

Text-bound annotations (lines `T1<TAB>PER 0 5<TAB>Alice`) are typed spans of characters. All other annotations are
not scored, which causes a warning. Format: https://brat.nlplab.org/standoff.html
"""

import io
import re
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from typing import Any

from scoring import limits
from scoring.answers import Entities
from scoring.definition import FormatSpec
from scoring.definition.keys import Key
from scoring.definition.kinds import NAMES, one_of
from scoring.formats.annotated_texts import AnnotatedTexts
from scoring.formats.format import Format, Size
from scoring.formats.reading import Problems, Reading, are_too_many, check_ids, line_at, shown, with_line_feeds
from scoring.formats.several import document_name, entries_to_read, packed
from scoring.formats.span_lists import Offsets, SpanMarks
from scoring.reports.nearest import nearest
from scoring.zips import BrokenZipError, TooManyEntriesError, read_entry

ENDING = ".ann"
BLANK = re.compile(r"\s")
BOUND = re.compile(r"(T\S*)\t(\S+) ([0-9]{1,10} [0-9]{1,10}(?:;[0-9]{1,10} [0-9]{1,10})*)(?:\t(.*))?")
OTHER = re.compile(r"(?:[REAMN#]\S*|\*)\t.*")
EXPECTED = "T1<TAB>TYPE 0 5<TAB>text"
OPTIONS = (
    Key("classes", NAMES, "Span types. Text-bound annotations of other types are errors."),
    Key(
        "fragments",
        one_of("join", "split"),
        "How to read an annotation with several fragments, such as `0 5;16 23`: as one span from its first to its last "
        "character, or as one span per fragment.",
        "join",
    ),
)
Span = tuple[int, int, str]
Place = tuple[str, int]  # the file's name and the line number


def size(spec: FormatSpec) -> Size:
    lines = limits.ANNOTATIONS_AN_ITEM
    return Size(entries=lines, cells=4 * lines, bytes=limits.CELL_BYTES * lines)


def read(data: bytes, spec: FormatSpec, reading: Reading) -> Entities | None:
    """Read the typed spans of each item, sorted and unique."""
    problems, stated, spec = Problems(reading.report), AnnotatedTexts(reading), with_sets(spec, "classes")
    documents = documents_of(data, reading)
    if documents is None:
        return None
    ids = [name.removesuffix(ENDING) for name, _ in documents]
    lists = [list(_spans(name, content, spec, reading, stated, problems)) for name, content in documents]
    stated.report(problems)
    classes = tuple(spec.options["classes"])
    marks = SpanMarks.of_lists(ids, lists, Offsets(as_pairs=True, types=classes))
    answers = marks.as_entities(classes, reading, problems)
    problems.report()
    check_ids(ids, reading)
    return None if reading.has_errors else answers


def with_sets(spec: FormatSpec, *options: str) -> FormatSpec:
    """Return the spec with these lists of names as ordered sets, because every annotation is looked up in them."""
    return FormatSpec(spec.kind, {**spec.options, **{name: dict.fromkeys(spec.options[name]) for name in options}})


def documents_of(data: bytes, reading: Reading) -> list[tuple[str, bytes]] | None:
    """Return the name and content of each `.ann` file. If the zip cannot be read, report why and return None.

    Other files, such as texts and brat's configuration, are not unpacked.
    """
    report, most = reading.report, min(limits.CELL_BYTES * reading.most_entries, limits.ARCHIVE_BYTES)
    try:
        entries = entries_to_read(data, limits.DOCUMENTS, most, report, ending=ENDING)
        found = [(document_name(entry.name, ENDING), read_entry(io.BytesIO(data), entry)) for entry in entries]
    except (BrokenZipError, TooManyEntriesError) as error:
        report.error("documents-no-zip", found=str(error))
        return None
    lines = sum(1 + sum(map(content.count, (b"\n", b"\r", b";"))) for _, content in found)
    if not report.ok or are_too_many(lines, reading.most_entries, report):
        return None
    if not found:
        report.error("documents-none", expected=f"ID{ENDING}")
        return None
    return found


def _spans(
    name: str, content: bytes, spec: FormatSpec, reading: Reading, stated: AnnotatedTexts, problems: Problems
) -> Iterator[Span]:
    """Yield the spans in a document, and report invalid lines."""
    classes, joins = spec.options["classes"], spec.options["fragments"] == "join"
    for number, row in rows_of(name, content, problems):
        bound = BOUND.fullmatch(row)
        if bound is not None:
            kind, fragments = bound[2], fragments_of(bound[3])
            if is_sound(kind, fragments, classes, (name, number), reading, problems):
                compare_text((name, number), fragments, bound[4], stated)
                for begin, end in [envelope(fragments)] if joins and len(fragments) > 1 else fragments:
                    yield begin, end, kind
        else:
            report_other((name, number), row, problems)


def report_other(place: Place, row: str, problems: Problems, expected: str = EXPECTED) -> None:
    """Report a line that is not used: an annotation of another kind, or a line that is not an annotation."""
    if OTHER.fullmatch(row):
        report(place, "brat-unused", row, problems, severity="warning")
    elif row.strip():
        report(place, "brat-line", row, problems, expected=expected)


def compare_text(place: Place, fragments: Sequence[tuple[int, int]], text: str | None, stated: AnnotatedTexts) -> None:
    """Compare the text at the end of an annotation with the item's text."""
    item = place[0].removesuffix(ENDING)
    if text and stated.knows(item):
        stated.compare(item, fragments, text, _named(place), line=place[1])


def rows_of(name: str, content: bytes, problems: Problems) -> Iterator[tuple[int, str]]:
    """Yield each line of a document with its number. If the document is not UTF-8, report that and yield nothing."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = name, line_at(content, error.start)
        problems.add("not-utf8", _named(place), line=place[1], item=_item_of(name), found=_named(place))
        return
    yield from enumerate(with_line_feeds(text).split("\n"), 1)


def fragments_of(offsets: str) -> list[tuple[int, int]]:
    """Return the begin and end of each fragment in a string such as `0 5;16 23`."""
    fragments = []
    for pair in offsets.split(";"):
        begin, _, end = pair.partition(" ")
        fragments.append((int(begin), int(end)))
    return fragments


def envelope(fragments: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Return where the first fragment begins and the last one ends."""
    begins, ends = zip(*fragments, strict=True)
    return min(begins), max(ends)


def is_sound(
    kind: str,
    fragments: Sequence[tuple[int, int]],
    classes: Collection[str],
    place: Place,
    reading: Reading,
    problems: Problems,
) -> bool:
    """Return whether a text-bound annotation has a known type and no empty fragment, and report it if not."""
    for begin, end in fragments:
        if begin >= end:
            report(place, "span-empty", f"{begin} {end}", problems)
            is_known(kind, classes, place, reading, problems)
            return False
    return is_known(kind, classes, place, reading, problems)


def is_known(kind: str, classes: Collection[str], place: Place, reading: Reading, problems: Problems) -> bool:
    """Return whether a type is declared, and report it if not."""
    if kind not in classes and not problems.has_counted("label-outside-domain"):
        suggestion, expected = partial(nearest, kind[: limits.SHOWN], classes), ", ".join(classes)
        fields = {"severity": reading.strict, "expected": expected, "suggestion": suggestion}
        report(place, "label-outside-domain", kind, problems, **fields)
    return kind in classes


def report(place: Place, code: str, found: str, problems: Problems, **fields: Any) -> None:
    """Report a problem with what was found at a place."""
    if not problems.has_counted(code):
        where = f"{_named(place)}: {shown(found)}"
        problems.add(code, where, line=place[1], item=_item_of(place[0]), found=shown(found), **fields)


def _item_of(name: str) -> str:
    """Return a file's item id as shown in messages."""
    return shown(name.removesuffix(ENDING))


def _named(place: Place) -> str:
    """Return a place as shown in messages."""
    return f"{shown(place[0])}, line {place[1]}"


def write(answers: Entities, spec: FormatSpec) -> bytes:
    """Write a zip with a file per item."""
    return packed({f"{item}{ENDING}": _written(answers, row).encode() for row, item in enumerate(answers.ids)})


def _written(answers: Entities, row: int) -> str:
    text = "" if answers.texts is None else answers.texts.get(answers.ids[row], "")
    entities: Sequence[tuple[str, int, int]] = answers.of_item(row)
    return "".join(
        f"T{number}\t{kind} {begin} {end}\t{BLANK.sub(' ', text[begin:end])}\n"
        for number, (kind, begin, end) in enumerate(entities, 1)
    )


BRAT = Format(
    "brat",
    "entities",
    "Typed spans in brat standoff format: a zip or a folder with an `ID.ann` file for each item. Spans are read from "
    "text-bound annotations, such as `T1<TAB>PER 0 5<TAB>Alice`, and can overlap, up to 10 of them at one position. "
    "If the items have `texts`, a warning lists annotations whose text differs from the text at their offsets. All "
    "other annotations are reported as not scored. Files with other extensions are ignored. Because each run is a zip, "
    "the naming rule must end with `.zip`.",
    "classes: [PER, LOC]",
    OPTIONS,
    read,
    write,
    lambda _: ".zip",
    size,
    leaves_out_empty=True,
    has_texts=lambda _: True,
    is_zip=True,
)
