"""TREC files: runs (`query Q0 document rank score tag`) and judgments (`query 0 document relevance`).

Fields are separated by spaces. A run is ordered by its scores, as in trec_eval. Ranks that contradict this order
cause a warning.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, islice, pairwise
from operator import gt

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
    pieces,
    shown,
)
from scoring.formats.stray_rows import report_header

RUN = ("query", "Q0", "document", "rank", "score", "tag")
JUDGEMENTS = ("query", "0", "document", "relevance")
EXAMPLES = {RUN: "q1 Q0 d7 1 12.5 run1", JUDGEMENTS: "q1 0 d7 1"}
NUMBERS = ("rank", "score", "relevance")
PLACES_AT_ONCE = 100_000  # of texts
TAG = "agon"  # system name in the last field of runs written by this module
INTEGER_DIGITS = 9
INTEGER = re.compile(rf"-?[0-9]{{1,{INTEGER_DIGITS}}}")


OPTIONS = (Key("depth", WHOLE, "Maximum number of documents per query.", 1000),)  # the same as in TREC


def size(spec: FormatSpec) -> Size:
    depth = int(spec.options["depth"])
    return Size(entries=depth, cells=16 * depth, bytes=limits.DOCUMENT_BYTES * depth)


def read_run(data: bytes, spec: FormatSpec, reading: Reading) -> Ranking | None:
    """Read a run's documents and scores. For gold, read a file of judgments."""
    if reading.role == "gold":
        return read_judgements(data, spec, reading)
    return _read(data, RUN, "score", reading, spec.options["depth"])


def read_judgements(data: bytes, spec: FormatSpec, reading: Reading) -> Ranking | None:
    """Read judged documents and their relevance grades, which are whole numbers."""
    return _read(data, JUDGEMENTS, "relevance", reading, None)


@dataclass(slots=True)
class _Lines:
    """The queries, documents and line numbers of all rows, and the fields of the first one.

    `texts` has the texts of the numbers by field. They are joined with spaces, in pieces, because an object for each of
    them would need most of the memory.
    """

    first: list[str]
    queries: list[str]
    documents: list[str]
    texts: dict[str, list[str]]
    lines: NDArray[np.int64]


def _read(data: bytes, names: tuple[str, ...], score: str, reading: Reading, depth: int | None) -> Ranking | None:
    text = decode(data, reading.report)
    if text is None or is_too_much(text, " ", reading):
        return None
    expected = f"one line for each document, such as {EXAMPLES[names]}"
    rows = None if is_json_instead(text, expected, reading.report) else _cut(text, names, reading)
    if rows is None:
        return None
    del text  # all that follows needs memory, too
    _drop_header(rows, names, score, reading)
    place = {query: number for number, query in enumerate(dict.fromkeys(rows.queries))}
    owners = np.fromiter(map(place.__getitem__, rows.queries), np.int64, len(rows.queries))
    order = np.argsort(owners, kind="stable")
    counts = np.bincount(owners, minlength=len(place))
    starts = np.concatenate(([0], np.cumsum(counts)))
    documents = list(_taken(rows.documents, order))
    scores = _numbers(rows, score, reading)
    problems = Problems(reading.report)
    are_several = not _are_different(documents, starts) and _report_twice(rows, reading, problems)
    if "rank" in names and not are_several:
        _check_ranks(rows, owners, scores, reading, problems)
    problems.report()
    if depth is not None and counts.max() > depth:
        _report_depth(list(place), counts, depth, reading)
    ids = list(place)
    check_ids(ids, reading)
    if reading.has_errors or scores is None:
        return None
    return Ranking(ids, documents, scores[order], starts)


def _cut(text: str, names: tuple[str, ...], reading: Reading) -> _Lines | None:
    """Return the fields of all lines that are not blank.

    If any line has too many or too few fields, report it and return None.
    """
    widths, known, first = list[int](), dict[str, str](), list[str]()
    queries, documents = list[str](), list[str]()
    texts = {name: list[str]() for name in names if name in NUMBERS}
    # Piece by piece, and with one object for equal texts, because all cells at once would need most of the memory.
    for piece in pieces(text):
        own = list(map(len, map(str.split, piece.split("\n"))))
        widths += own
        if {0, len(names)}.issuperset(own):
            cells = piece.split()
            first = first or cells[: len(names)]
            column = cells[names.index("query") :: len(names)]
            queries += map(known.setdefault, column, column)
            documents += cells[names.index("document") :: len(names)]
            for name, joined in texts.items():
                joined.append(" ".join(cells[names.index(name) :: len(names)]))
    problems = Problems(reading.report)
    for line, width in enumerate(widths, 1):
        if width not in (0, len(names)) and not problems.has_counted("trec-line"):
            found = f"{width} fields" if width != 1 else "1 field"
            problems.add("trec-line", f"line {line}: {found}", line=line, found=found, expected=" ".join(names))
    if problems.report():
        return None
    return _Lines(first, queries, documents, texts, np.flatnonzero(widths) + 1)


def _drop_header(rows: _Lines, names: tuple[str, ...], score: str, reading: Reading) -> None:
    """Leave out the first line, with an error, if it has words in place of numbers."""
    numbers = [text for name, text in zip(names, rows.first, strict=True) if name in ("rank", score)]
    if any(map(is_decimal, numbers)) or len(rows.lines) < 2:
        return
    report_header(int(rows.lines[0]), rows.first, reading)
    del rows.queries[0], rows.documents[0]
    for joined in rows.texts.values():
        joined[0] = joined[0].partition(" ")[2]
    rows.lines = rows.lines[1:]


def _numbers(rows: _Lines, name: str, reading: Reading) -> NDArray[np.float64] | None:
    numbers, whole = list[NDArray[np.float64]](), name != "score"
    for piece in rows.texts[name]:
        own = piece.split()
        found = decimals(own)
        if found is None or (whole and not _are_whole(piece, own)):
            break
        numbers.append(found)
    else:
        return np.concatenate(numbers)
    problems = Problems(reading.report)
    texts = chain.from_iterable(map(str.split, rows.texts[name]))
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


def _are_whole(piece: str, numbers: Sequence[str]) -> bool:
    """Return whether all decimal numbers, which are in this piece, match INTEGER."""
    are_short = max(map(len, numbers), default=0) <= INTEGER_DIGITS
    if are_short and not piece.encode().translate(None, b"0123456789- "):
        return True
    return all(map(INTEGER.fullmatch, numbers))


def _are_different(documents: Sequence[str], starts: NDArray[np.int64]) -> bool:
    """Return whether no query has a document twice."""
    return all(len(set(documents[start:stop])) == stop - start for start, stop in pairwise(starts.tolist()))


def _report_twice(rows: _Lines, reading: Reading, problems: Problems) -> bool:
    """Report documents that are listed twice for a query. Return True if the file contains several runs instead."""
    if are_several_runs([query for query, _ in groupby(rows.queries)], reading.report):
        return True
    seen = set[tuple[str, str]]()
    for query, document, line in zip(rows.queries, rows.documents, rows.lines.tolist(), strict=True):
        if (query, document) in seen and not problems.has_counted("document-twice"):
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
    """Return the first row of each query that is ordered before a better-ranked row with the same score.

    Among equal scores, trec_eval orders documents by name, the last one first. `order` sorts the rows by score.
    """
    same = (compared[order][1:] == compared[order][:-1]) & (np.diff(owners[order]) == 0)
    tied: NDArray[np.int64] = order[np.append(same, False) | np.append(False, same)]
    if not len(tied):
        return tied
    names = list(_taken(rows.documents, tied))
    begins = np.append(True, (np.diff(owners[tied]) != 0) | (compared[tied][1:] != compared[tied][:-1]))
    is_lower = np.append(False, np.diff(ranks[tied]) > 0)
    kept = _in_ties_with_rising_names(names, begins)
    bounds = np.flatnonzero(np.diff(owners[tied[kept]], prepend=-1, append=-1))
    found = list[int]()
    for start, stop in pairwise(bounds.tolist()):
        own = kept[start:stop]
        at = _first_against_names([names[row] for row in own.tolist()], begins[own].tolist(), is_lower[own].tolist())
        if at is not None:
            found.append(own[at])
    return tied[found]


def _first_against_names(names: Sequence[str], begins: Sequence[bool], is_lower: Sequence[bool]) -> int | None:
    """Return the index of the first row of a query whose name is greater than that of a better-ranked row in its tie.

    Args:
        begins: whether a tie begins with the row.
        is_lower: whether the row's rank is lower than that of the row before.
    """
    better, smallest = None, ""  # the smallest names among better ranks, and among all rows so far
    for at, name in enumerate(names):
        if begins[at]:
            better, smallest = None, name
        elif is_lower[at]:
            better = smallest
        if better is not None and name > better:
            return at
        if name < smallest:
            smallest = name
    return None


def _in_ties_with_rising_names(names: Sequence[str], begins: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the indexes of the rows in ties in which any name is followed by a greater one.

    `begins` (rows,) marks where ties begin. In all other ties, as usual, the ranks are in the order of trec_eval.
    """
    rises = np.fromiter(map(gt, islice(names, 1, None), names), np.bool_, len(names) - 1) & ~begins[1:]
    ties = np.cumsum(begins) - 1
    is_kept = np.zeros(ties[-1] + 1, np.bool_)
    is_kept[ties[1:][rises]] = True
    return np.flatnonzero(is_kept[ties])


def _taken(texts: Sequence[str], places: NDArray[np.int64]) -> Iterator[str]:
    """Yield the texts at these places. A list of all places would need more memory than the array."""
    for start in range(0, len(places), PLACES_AT_ONCE):
        yield from map(texts.__getitem__, places[start : start + PLACES_AT_ONCE].tolist())


def _report_queries(
    code: str, odd: NDArray[np.int64], rows: _Lines, owners: NDArray[np.int64], problems: Problems
) -> None:
    """Warn about the first of these rows in each query. They are sorted by query."""
    for row in odd[np.flatnonzero(np.diff(owners[odd], prepend=-1))].tolist():
        query, line = shown(rows.queries[row]), int(rows.lines[row])
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
