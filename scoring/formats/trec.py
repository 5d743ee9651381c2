"""TREC files: runs (`query Q0 document rank score tag`) and judgments (`query 0 document relevance`).

Fields are separated by spaces. A run is ordered by its scores, as in trec_eval. Ranks that contradict this order
cause a warning.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise

import numpy as np
from numpy.typing import NDArray

from scoring import limits
from scoring.answers import Ranking, as_trec_eval
from scoring.definition import FormatSpec
from scoring.definition.keys import Key
from scoring.definition.kinds import WHOLE
from scoring.formats.decimals import decimals, is_decimal
from scoring.formats.format import Format, Size
from scoring.formats.labels import WITH_POINT, report_decimal_point
from scoring.formats.reading import (
    Problems,
    Reading,
    are_several_runs,
    check_ids,
    decode,
    is_json_instead,
    is_too_much,
    shown,
)
from scoring.formats.stray_rows import report_header

RUN = ("query", "Q0", "document", "rank", "score", "tag")
JUDGEMENTS = ("query", "0", "document", "relevance")
EXAMPLES = {RUN: "q1 Q0 d7 1 12.5 run1", JUDGEMENTS: "q1 0 d7 1"}
VARIED = ("document", "rank", "score")  # fields that differ in most lines
PIECE = 2**20  # characters that are cut at once
TAG = "agon"  # system name in the last field of runs written by this module
INTEGER = re.compile(r"-?[0-9]{1,9}")


OPTIONS = (Key("depth", WHOLE, "Maximum number of documents per query.", 1000),)  # the same as in TREC


def size(spec: FormatSpec) -> Size:
    depth = int(spec.options["depth"])
    return Size(entries=2 * depth, cells=16 * depth, bytes=limits.DOCUMENT_BYTES * depth)


def read_run(data: bytes, spec: FormatSpec, reading: Reading) -> Ranking | None:
    """Read a run's documents and scores. For gold, read a file of judgments."""
    if reading.role == "gold":
        return read_judgements(data, spec, reading)
    return _read(data, RUN, "score", reading, spec.options["depth"])


def read_judgements(data: bytes, spec: FormatSpec, reading: Reading) -> Ranking | None:
    """Read judged documents and their relevance grades, which are whole numbers."""
    return _read(data, JUDGEMENTS, "relevance", reading, None)


@dataclass(frozen=True, slots=True)
class _Lines:
    """Fields by name, and the line number of each row."""

    fields: dict[str, list[str]]
    lines: NDArray[np.int64]


def _read(data: bytes, names: tuple[str, ...], score: str, reading: Reading, depth: int | None) -> Ranking | None:
    text = decode(data, reading.report)
    if text is None or is_too_much(text, " ", reading):
        return None
    expected = f"one line for each document, such as {EXAMPLES[names]}"
    rows = None if is_json_instead(text, expected, reading.report) else _cut(text, names, reading)
    if rows is None:
        return None
    rows = _without_header(rows, score, reading)
    queries = rows.fields["query"]
    place = {query: number for number, query in enumerate(dict.fromkeys(queries))}
    owners = np.fromiter(map(place.__getitem__, queries), np.int64, len(queries))
    scores = _numbers(rows, score, reading)
    problems = Problems(reading.report)
    are_several = _check_twice(rows, reading, problems)
    if "rank" in names and not are_several:
        _check_ranks(rows, owners, scores, reading, problems)
    problems.report()
    counts = np.bincount(owners, minlength=len(place))
    if depth is not None and counts.max() > depth:
        _report_depth(list(place), counts, depth, reading)
    ids = list(place)
    check_ids(ids, reading)
    if reading.has_errors or scores is None:
        return None
    order = np.argsort(owners, kind="stable")
    documents = [rows.fields["document"][row] for row in order.tolist()]
    return Ranking(ids, documents, scores[order], np.concatenate(([0], np.cumsum(counts))))


def _cut(text: str, names: tuple[str, ...], reading: Reading) -> _Lines | None:
    """Return the fields of all lines that are not blank.

    If any line has too many or too few fields, report it and return None.
    """
    widths, fields, known = list[int](), {name: list[str]() for name in names}, dict[str, str]()
    # Piece by piece, and with one object for equal texts, because all cells at once would need most of the memory.
    for piece in _pieces(text):
        own = list(map(len, map(str.split, piece.split("\n"))))
        widths += own
        if {0, len(names)}.issuperset(own):
            cells = piece.split()
            for at, name in enumerate(names):
                column = cells[at :: len(names)]
                fields[name] += column if name in VARIED else map(known.setdefault, column, column)
    problems = Problems(reading.report)
    for line, width in enumerate(widths, 1):
        if width not in (0, len(names)) and not problems.has_counted("trec-line"):
            found = f"{width} fields" if width != 1 else "1 field"
            problems.add("trec-line", f"line {line}: {found}", line=line, found=found, expected=" ".join(names))
    if problems.report():
        return None
    return _Lines(fields, np.flatnonzero(widths) + 1)


def _pieces(text: str) -> Iterator[str]:
    """Yield the text in pieces that end where a line does."""
    start = 0
    while start <= len(text):
        end = text.find("\n", start + PIECE)
        end = len(text) if end < 0 else end
        yield text[start:end]
        start = end + 1


def _without_header(rows: _Lines, score: str, reading: Reading) -> _Lines:
    """Leave out the first line, with an error, if it has words in place of numbers."""
    words = [own[0] for name, own in rows.fields.items() if name in ("rank", score)]
    if any(map(is_decimal, words)) or len(rows.lines) < 2:
        return rows
    report_header(int(rows.lines[0]), [own[0] for own in rows.fields.values()], reading)
    return _Lines({name: own[1:] for name, own in rows.fields.items()}, rows.lines[1:])


def _numbers(rows: _Lines, name: str, reading: Reading) -> NDArray[np.float64] | None:
    texts = rows.fields[name]
    whole = name != "score"
    numbers = decimals(texts)
    if numbers is not None and (not whole or all(map(INTEGER.fullmatch, texts))):
        return numbers
    problems = Problems(reading.report)
    for text, line in zip(texts, rows.lines.tolist(), strict=True):
        if whole and (point := WITH_POINT.fullmatch(text)):
            report_decimal_point(text, point[1], problems, line=line)
        elif INTEGER.fullmatch(text) is None if whole else not is_decimal(text):
            problems.add(
                "trec-number",
                f"line {line} ({name}): {shown(text)}",
                line=line,
                found=shown(text),
                expected="a whole number" if whole else "a finite number",
            )
    problems.report()
    return None


def _check_twice(rows: _Lines, reading: Reading, problems: Problems) -> bool:
    """Report documents that are listed twice for a query. Return True if the file contains several runs instead."""
    queries, documents = rows.fields["query"], rows.fields["document"]
    if len(set(zip(queries, documents, strict=True))) == len(queries):
        return False
    if are_several_runs([query for query, _ in groupby(queries)], reading.report):
        return True
    seen = set[tuple[str, str]]()
    for query, document, line in zip(queries, documents, rows.lines.tolist(), strict=True):
        if (query, document) in seen:
            item, found = shown(query), shown(document)
            problems.add("document-twice", f"line {line}: {item} {found}", line=line, item=item, found=found)
        seen.add((query, document))
    return False


def _check_ranks(
    rows: _Lines, owners: NDArray[np.int64], scores: NDArray[np.float64] | None, reading: Reading, problems: Problems
) -> None:
    """Check that ranks are whole numbers, and warn about queries whose ranks contradict the scores."""
    ranks = _numbers(rows, "rank", reading)
    if ranks is None or scores is None:
        return
    compared = as_trec_eval(scores)
    order = np.lexsort((-compared, ranks, owners))
    rises = (compared[order][1:] > compared[order][:-1]) & (np.diff(owners[order]) == 0)
    _report_queries("rank-against-score", order[1:][rises], rows, owners, problems)
    by_score = np.lexsort((ranks, -compared, owners)) if rises.any() else order
    odd = _ranked_against_names(rows, ranks, compared, owners, by_score)
    _report_queries("rank-in-tie", odd, rows, owners, problems)


def _ranked_against_names(
    rows: _Lines,
    ranks: NDArray[np.float64],
    compared: NDArray[np.float32],
    owners: NDArray[np.int64],
    order: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return the rows that are ordered before a better-ranked row with the same score, because of their names.

    Among equal scores, trec_eval orders documents by name, the last one first. `order` sorts the rows by score.
    """
    same = (compared[order][1:] == compared[order][:-1]) & (np.diff(owners[order]) == 0)
    tied: NDArray[np.int64] = order[np.append(same, False) | np.append(False, same)]
    if not len(tied):
        return tied
    names, odd = rows.fields["document"], list[int]()
    begins = np.append(True, (np.diff(owners[tied]) != 0) | (compared[tied][1:] != compared[tied][:-1])).tolist()
    is_lower = np.append(False, np.diff(ranks[tied]) > 0).tolist()
    better, smallest = None, ""  # the smallest names among better ranks, and among all rows so far
    for row, begins_tie, has_lower_rank in zip(tied.tolist(), begins, is_lower, strict=True):
        name = names[row]
        if begins_tie:
            better, smallest = None, name
        elif has_lower_rank:
            better = smallest
        if better is not None and name > better:
            odd.append(row)
        smallest = min(smallest, name)
    return np.array(odd, np.int64)


def _report_queries(
    code: str, odd: NDArray[np.int64], rows: _Lines, owners: NDArray[np.int64], problems: Problems
) -> None:
    """Warn about the first of these rows in each query."""
    for row in odd[np.unique(owners[odd], return_index=True)[1]].tolist():
        query, line = shown(rows.fields["query"][row]), int(rows.lines[row])
        problems.add(code, f"{query} (line {line})", severity="warning", line=line, item=query)


def _report_depth(queries: list[str], counts: NDArray[np.int64], depth: int, reading: Reading) -> None:
    deep = np.flatnonzero(counts > depth).tolist()
    reading.report.error(
        "too-many-documents",
        item=shown(queries[deep[0]]),
        found=str(counts[deep[0]]),
        expected=str(depth),
        count=len(deep),
        places=tuple(f"{shown(queries[place])}: {counts[place]}" for place in deep[: reading.report.listed]),
    )


def write_run(answers: Ranking, spec: FormatSpec) -> str:
    """Write the best documents first, up to the allowed number. Break ties between scores as trec_eval does."""
    lines = []
    for item, documents in zip(answers.ids, _documents(answers), strict=True):
        best = sorted(documents, key=lambda document: (document[1], document[0]), reverse=True)[: spec.options["depth"]]
        lines += [f"{item} Q0 {name} {rank} {score} {TAG}\n" for rank, (name, score) in enumerate(best, 1)]
    return "".join(lines)


def write_judgements(answers: Ranking, _: FormatSpec) -> str:
    """Write a line per judged document."""
    pairs = zip(answers.ids, _documents(answers), strict=True)
    return "".join(f"{item} 0 {name} {score:.0f}\n" for item, documents in pairs for name, score in documents)


def _documents(answers: Ranking) -> Iterator[list[tuple[str, float]]]:
    scored = list(zip(answers.documents, answers.scores.tolist(), strict=True))
    return (scored[start:stop] for start, stop in pairwise(answers.starts.tolist()))


TREC_RUN = Format(
    "trec-run",
    "rankings",
    "Ranked documents in TREC format: `query Q0 document rank score tag`. The items are queries, and the gold "
    "standard has the `trec-qrels` format.",
    "depth: 100",
    OPTIONS,
    read_run,
    write_run,
    lambda _: ".txt",
    size,
)
TREC_QRELS = Format(
    "trec-qrels",
    "judgements",
    "Relevance judgments in TREC format: `query 0 document relevance`.",
    "",
    (),
    read_judgements,
    write_judgements,
    lambda _: ".txt",
)
