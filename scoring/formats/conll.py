"""Tagged tokens, as in CoNLL-2003: one token per line, ending with its tag, and an empty line after each sentence."""

import re
from array import array
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from scoring import limits
from scoring.answers import Entities
from scoring.definition import FormatSpec
from scoring.definition.keys import Key
from scoring.definition.kinds import NAMES, WORD, one_of, whole
from scoring.formats.class_forms import classes_by_number, report_class_numbers
from scoring.formats.format import Format, Size
from scoring.formats.reading import (
    Problems,
    Reading,
    are_several_times,
    check_ids,
    decode,
    is_json_instead,
    is_too_much,
    shown,
)
from scoring.formats.stray_rows import HEADER
from scoring.reports.nearest import nearest
from scoring.reports.problems import Severity

OUTSIDE, BEGIN, INSIDE, END, SINGLE = range(5)
PREFIXES = {"BIO": "BI", "IOB2": "BI", "BIOES": "BIES"}
LETTERS = {"B": BEGIN, "I": INSIDE, "E": END, "S": SINGLE}
PREFIXED = re.compile(r"([A-Za-z])[-_](.+)")  # a tag with a prefix, in any scheme
OTHER_PREFIXES = {
    "S": "B",
    "U": "B",
    "E": "I",
    "L": "I",
    "M": "I",
}  # of BIOES, BILOU and BMES, and what they are in BIO
ID = "# id = "
ID_KEYS = ("id", "sent_id")  # the second is CoNLL-U's
COMMENT = re.compile(r"# *(?P<key>[A-Za-z_][A-Za-z_ ]{0,40}?) *=(?P<value>.*)")
DOCUMENT = "-DOCSTART-"  # begins each document in CoNLL-2003, as a sentence of its own
HEADERS = ("token", "tokens", "word", "words", "form")  # first columns of headers, ignoring case
OTHER_COMMENT = re.compile(r"# .* |#(?:begin|end) document| *# *new(?:doc|par)")  # in files without `# id = …`
NO_PLAIN_STARTS = frozenset(("", "#", "-"))  # first characters of lines that may be no tokens
NAMELESS = "\n"  # stands for a missing id that has already been reported
NO_BREAK = "\u00a0"
FIRST_LINES = 100  # lines in which swapped columns are recognized
TOKEN = "_"  # written in place of unknown tokens, and in other columns
MOST_COLUMNS = 50
Cut = Callable[[str], list[str]]  # returns the columns of a line
OPTIONS = (
    Key("classes", NAMES, "Entity types."),
    Key(
        "column",
        whole(MOST_COLUMNS, 2),
        "Number of the column with the tag, where 1 is the first column. Defaults to the last column.",
        None,
    ),
    Key(
        "prefix",
        WORD,
        "Text before the tag, such as `Seg=`. In a cell such as `SpaceAfter=No|Seg=B-seg`, the tag follows the prefix. "
        "Cells with `_` or only other values mean `O`.",
        None,
    ),
    Key(
        "scheme",
        one_of("BIO", "IOB2", "BIOES"),
        "Tagging scheme. `BIO` and `IOB2` mean the same scheme. For IOB1, in which most entities begin with `I-`, "
        "add `repair: begin`.",
        "BIO",
    ),
    Key(
        "repair",
        one_of("reject", "begin", "discard"),
        "How to handle tags in an invalid order, such as `I-PER` after `O`. `reject` reports an error, `begin` "
        "starts a new entity (as in conlleval and seqeval), and `discard` ignores the tags (as in seqeval's strict "
        "mode).",
        "reject",
    ),
    Key(
        "ids",
        one_of("numbers", "comments"),
        "How sentences are identified: by their number, starting at 1, or by a line `# id = …` or `# sent_id = …` "
        "before each sentence. With such lines, other comments before a sentence, such as `# text = …`, are ignored.",
        "numbers",
    ),
)


def size(spec: FormatSpec) -> Size:
    tokens = limits.TOKENS_AN_ITEM
    return Size(entries=tokens, cells=8 * tokens, bytes=limits.TOKEN_BYTES * tokens)


def tags_of(spec: FormatSpec) -> dict[str, int]:
    """Map each tag to a number: 8 · type index + prefix."""
    letters = PREFIXES[spec.options["scheme"]]
    types = enumerate(spec.options["classes"])
    return {"O": OUTSIDE} | {f"{one}-{name}": 8 * place + LETTERS[one] for place, name in types for one in letters}


def read(data: bytes, spec: FormatSpec, reading: Reading) -> Entities | None:
    """Read the entities of each sentence."""
    text = decode(data, reading.report)
    if text is None or is_too_much(text, " ", reading):
        return None
    example = f"Rome<TAB>B-{spec.options['classes'][0]}"
    if is_json_instead(text, f"one line for each token, such as {example}", reading.report):
        return None
    problems = Problems(reading.report)
    words: list[str] | None = [] if reading.role == "gold" else None
    known = tags_of(spec)
    sentences = _Sentences(spec.options["ids"] == "comments", spec.options["column"], known, problems, words)
    if _are_swapped(text, known, spec, reading):
        return None
    sentences.read(text)
    sentences.judge_documents(reading.numbered)
    ids, lengths, tags, lines = sentences.ids, sentences.lengths, sentences.tags, sentences.lines
    if spec.options["prefix"] is not None:
        tags = [_after(spec.options["prefix"], cell) for cell in tags]
    has_all = sentences.with_ids or reading.role == "gold" or _has_all_sentences(lengths, lines, reading)
    if reading.text_lengths is not None and has_all:
        expected = [reading.text_lengths.get(item, length) for item, length in zip(ids, lengths, strict=True)]
        report_lengths(ids, lengths, expected, problems, reading.lenient)
    codes = _codes(tags, lines, known, problems, reading)
    found = entities_of(ids, lengths, codes, spec, problems, lines, reading.lenient)
    problems.report()
    if has_all:
        check_ids(ids, reading)
    if reading.has_errors:
        return None
    return found if words is None else replace(found, texts=dict(zip(ids, _texts(words, lengths), strict=True)))


def _after(prefix: str, cell: str) -> str:
    """Return the tag after the prefix in a cell with values between vertical bars, or O if it has only other values."""
    other = "O" if cell == TOKEN or "=" in cell else cell
    return next((part.removeprefix(prefix) for part in cell.split("|") if part.startswith(prefix)), other)


def _are_swapped(text: str, known: Mapping[str, int], spec: FormatSpec, reading: Reading) -> bool:
    """Report tags in the first column, if the first lines with tokens have them there, and words in place of tags."""
    if reading.lenient:
        return False
    column = (spec.options["column"] or 0) - 1
    rows = [(number, _columns(line)) for number, line in enumerate(islice(text.split("\n"), FIRST_LINES), 1)]
    rows = [(number, row) for number, row in rows if len(row) > max(1, column) and row[0][:1] not in ("#", "-")]
    firsts, tags = [row[0] for _, row in rows], [row[column] for _, row in rows]
    if not rows or not known.keys() >= set(firsts) or not known.keys().isdisjoint(tags):
        return False
    number, row = rows[0]
    reading.report.error(
        "tags-first",
        line=number,
        found=shown(" ".join(row)),
        expected=shown(" ".join([row[column], *row[1:column], row[0]])),
    )
    return True


def _texts(words: Sequence[str], lengths: Sequence[int]) -> list[str]:
    """Return the tokens of each sentence, separated by spaces. Spaces in tokens become no-break spaces."""
    rest = (word.replace(" ", NO_BREAK) or TOKEN for word in words)
    return [" ".join(islice(rest, length)) for length in lengths]


@dataclass(slots=True)
class _Sentences:
    """The sentences of a file: their ids and lengths, and the tags and line numbers of all tokens.

    If `words` is given, the tokens themselves are appended to it.
    """

    with_ids: bool
    column: int | None  # number of the column with the tag, or None for the last column
    known: Mapping[str, int]  # the track's tags
    problems: Problems
    words: list[str] | None
    ids: list[str] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    lines: "array[int]" = field(default_factory=lambda: array("q"))
    documents: list[int] = field(default_factory=list)  # indexes of sentences that consist of `-DOCSTART-`
    _at: int = field(init=False)  # index of the column with the tag
    _least: int = field(init=False)  # smallest number of columns
    _same: dict[str, str] = field(init=False)  # one object for each tag, because one for each token would need memory
    _start: int = 0  # number of tokens before the current sentence
    _id: str = ""

    def __post_init__(self) -> None:
        self._at, self._least = (-1, 2) if self.column is None else (self.column - 1, self.column)
        self._same = dict(zip(self.known, self.known, strict=True))

    def read(self, text: str) -> None:
        # The fast way is enough unless a cell may be empty or contain a blank.
        has_odd_cells = ("\t" in text and " " in text) or "\t\t" in text or "\n\t" in text
        cut = str.split if text.isascii() and not has_odd_cells else _columns
        number = 1
        for block in text.split("\n\n"):
            lines = block.split("\n")
            head = 0
            while head < len(lines) and (number + head == 1 or lines[head][:1] in NO_PLAIN_STARTS):
                self._read_line(number + head, lines[head], cut)
                head += 1
            if not self._read_tokens(number + head, lines[head:], cut):
                for at in range(head, len(lines)):
                    self._read_line(number + at, lines[at], cut)
            self._end()
            number += len(lines) + 1

    def _read_tokens(self, number: int, lines: Sequence[str], cut: Cut) -> bool:
        """Read several lines at once, which is faster. Return False if any of them may be something else than a token.

        `number` is the number of the first line.
        """
        if (self.with_ids and not self._id) or not NO_PLAIN_STARTS.isdisjoint({line[:1] for line in lines}):
            return False
        rows = list(map(cut, lines))
        words = [row[0] for row in rows if len(row) >= self._least]
        if len(words) < len(lines) or "" in words:
            return False
        if self.words is not None:
            self.words += words
        tags = [row[self._at] for row in rows]
        self.tags += map(self._same.get, tags, tags)
        self.lines.extend(range(number, number + len(lines)))
        return True

    def _read_line(self, number: int, line: str, cut: Cut) -> None:
        fields = cut(line)
        if not fields:
            self._end()
        elif (
            number == 1
            and fields[0].casefold() in HEADERS
            and fields[self._at if len(fields) >= self._least else -1] not in self.known
        ):
            self.problems.add(HEADER, f"line 1: {shown(line)}", line=1, found=shown(line))
        elif not (line[0] in "#-" and self._is_no_token(number, line, fields)):
            if len(fields) < self._least or not fields[0] or (self.with_ids and not self._id):
                self._report_token(number, line, len(fields) < self._least or not fields[0])
            if self.words is not None:
                self.words.append(fields[0])
            tag = fields[self._at] if len(fields) >= self._least else "O"
            self.tags.append(self._same.get(tag, tag))
            self.lines.append(number)

    def _is_no_token(self, number: int, line: str, fields: Sequence[str]) -> bool:
        """Return whether a line that looks like a comment or the start of a document is not a token.

        Report comments in files without ids, where they would be tokens with invalid tags.
        """
        if line.startswith(DOCUMENT):
            return self._begins_document(number, line)
        if self.with_ids:
            return self._is_comment(number, line)
        is_token = "\t" in line and (fields[0] == "#" or len(self.tags) > self._start)
        if is_token or fields[-1] in self.known or not (COMMENT.match(line) or OTHER_COMMENT.match(line)):
            return False
        self.problems.add("comment-line", f"line {number}: {shown(line)}", line=number, found=shown(line))
        return True

    def _begins_document(self, number: int, line: str) -> bool:
        """Return False if the line is a sentence of its own, which `judge_documents` may drop. Otherwise, report it."""
        if len(self.tags) == self._start and not self.with_ids:
            self.documents.append(len(self.ids))
            return False
        if self._id:
            return False
        self.problems.add("document-line", f"line {number}: {shown(line)}", line=number, found=shown(line))
        return True

    def judge_documents(self, numbered: int | None) -> None:
        """If the sentences that consist of `-DOCSTART-` are too many, report and drop them."""
        extra = [row for row in self.documents if row < len(self.ids) and self.lengths[row] == 1]
        if not extra or numbered is None or len(self.ids) - len(extra) != numbered:
            return
        starts = np.append(0, np.cumsum(self.lengths))[extra].tolist()
        for start in starts:
            line = self.lines[start]
            self.problems.add("document-line", f"line {line}", line=line, found=DOCUMENT)
        dropped = set(starts)
        kept = [at for at in range(len(self.tags)) if at not in dropped]
        self.tags, self.lines = [self.tags[at] for at in kept], array("q", [self.lines[at] for at in kept])
        if self.words is not None:
            self.words[:] = [self.words[at] for at in kept]
        dropped = set(extra)
        self.lengths = [length for row, length in enumerate(self.lengths) if row not in dropped]
        self.ids = self.ids[: len(self.lengths)]

    def _is_comment(self, number: int, line: str) -> bool:
        """Return whether a line is a comment. If it is `# id = …`, store the id.

        Within a sentence, any other line that starts with `#` is a token.
        """
        comment = COMMENT.match(line)
        if comment is None or comment["key"] not in ID_KEYS:
            return comment is not None and len(self.tags) == self._start
        if len(self.tags) > self._start:
            self._report(number, line, "an empty line before each sentence")
            self._end()
        self._id = comment["value"].strip()
        return True

    def _end(self) -> None:
        """End the current sentence. Leave it out if its id is missing."""
        if self._id == NAMELESS:
            del self.tags[self._start :], self.lines[self._start :]
            if self.words is not None:
                del self.words[self._start :]
        elif len(self.tags) > self._start:
            self.ids.append(self._id if self.with_ids else str(len(self.ids) + 1))
            self.lengths.append(len(self.tags) - self._start)
        self._start, self._id = len(self.tags), ""

    def _report_token(self, number: int, line: str, lacks_tag: bool) -> None:
        if lacks_tag:
            at_column = f"at least {self.column} columns, because column {self.column} has the tag"
            self._report(number, line, at_column if self.column else "a token, a space or tab, and its tag")
        if self.with_ids and not self._id:
            self._id = NAMELESS
            self._report(number, line, f"{ID}… before a sentence")

    def _report(self, number: int, line: str, expected: str) -> None:
        found = shown(line)
        self.problems.add("token-line", f"line {number}: {found}", line=number, found=found, expected=expected)


def _columns(line: str) -> list[str]:
    """Split a line at its tabs. If it has none, split it at spaces. Other blanks are part of a token."""
    if not line or line.isspace():
        return []
    if "\t" not in line:
        return line.split() if line.isascii() else list(filter(None, line.split(" ")))
    cells = line.rstrip(" \t").split("\t")
    return cells if " " not in line else [cells[0], *(cell.strip(" ") for cell in cells[1:])]


def _has_all_sentences(lengths: Sequence[int], lines: Sequence[int], reading: Reading) -> bool:
    """Return whether there is a sentence for each item. If not, report it, with the first one that differs."""
    expected, count = reading.numbered, len(lengths)
    if expected is None or count in (expected, expected + len(reading.optional)):
        return True
    if are_several_times(count, reading):
        return False
    known, start, line = reading.text_lengths or {}, 0, None
    for number, length in enumerate(lengths, 1):
        if known.get(str(number), length) != length:
            line = lines[start]
            break
        start += length
    found = f"{count:,} sentences" if count != 1 else "1 sentence"
    found += f", the first one that differs at line {line}" if line else ""
    severity = "warning" if reading.missing_allowed and count < expected else reading.strict
    reading.report.add(severity, "sentence-count", line=line, found=found, expected=f"{expected:,}")
    return False


def report_lengths(
    ids: Sequence[str], lengths: Sequence[int], expected: Sequence[int], problems: Problems, lenient: bool
) -> None:
    """Report sentences with an unexpected number of tokens, because a difference shifts all positions after it."""
    for item, length, wanted in zip(ids, lengths, expected, strict=True):
        if length != wanted and not problems.has_counted("tokens-differ"):
            severity: Severity = "warning" if lenient else "error"
            texts = {"item": shown(item), "found": str(length), "expected": str(wanted)}
            place = f"{shown(item)}: {length} instead of {wanted}"
            problems.add("tokens-differ", place, severity=severity, **texts)


def codes_of(tags: Sequence[str], known: Mapping[str, int]) -> NDArray[np.uint32]:
    """Convert tags to numbers.

    Raises:
        KeyError: a tag is unknown.
    """
    if not tags:
        return np.zeros(0, np.uint32)
    # The fastest way to convert many strings to an array is to use one character per tag.
    letters = {tag: chr(code) for tag, code in known.items()}
    text = "".join(itemgetter(*tags)(letters))
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def _codes(
    tags: Sequence[str], lines: Sequence[int], known: Mapping[str, int], problems: Problems, reading: Reading
) -> NDArray[np.uint32]:
    """Convert tags to numbers. Report unknown tags and treat them as `O`."""
    with suppress(KeyError):
        return codes_of(tags, known)
    names = {} if reading.lenient else classes_by_number(tags, tuple(known))
    if len(names) > 1:  # a single one is the digit 0 in place of the letter O
        found = [(f"line {line}", tag) for line, tag in zip(lines, tags, strict=True)]
        report_class_numbers(found, names, tuple(known), reading, line=lines[0])
        return np.fromiter((known[names[tag]] for tag in tags), np.uint32, len(tags))
    for tag, line in zip(tags, lines, strict=True):
        if tag not in known and not problems.has_counted("label-outside-domain"):
            problems.add(
                "label-outside-domain",
                f"line {line}: {shown(tag)}",
                severity=reading.strict,
                line=line,
                found=shown(tag),
                expected=", ".join(known),
                suggestion=_tag_meant(tag, known),
            )
    return np.fromiter((known.get(tag, OUTSIDE) for tag in tags), np.uint32, len(tags))


def _tag_meant(tag: str, known: Mapping[str, int]) -> str | None:
    """Return the known tag that an unknown tag of the form `B-type` was probably meant to be, or None.

    A prefix of another scheme becomes `B` at the beginning of an entity and `I` inside.
    """
    match = PREFIXED.fullmatch(tag) if len(tag) <= limits.SHOWN else None
    if match is None:
        return "O" if tag in ("o", "0") else None
    name, letter = nearest(match[2], [known_tag[2:] for known_tag in known if known_tag != "O"]), match[1].upper()
    for prefix in (letter, OTHER_PREFIXES.get(letter)):
        if f"{prefix}-{name}" in known:
            return f"{prefix}-{name}"
    return None


def entities_of(
    ids: list[str],
    lengths: Sequence[int],
    codes: NDArray[np.uint32],
    spec: FormatSpec,
    problems: Problems,
    lines: Sequence[int],
    lenient: bool = False,
) -> Entities:
    """Find the entities in tags. `codes` holds the numbers of all sentences' tags, in order (see `tags_of`)."""
    kinds, prefixes = codes >> 3, (codes & 7).astype(np.uint8)
    sizes = np.array(lengths, np.int64)
    bounds = np.append(0, np.cumsum(sizes))
    follows = np.zeros(len(codes) + 1, np.bool_)
    follows[1:-1] = (kinds[1:] == kinds[:-1]) & ((prefixes[:-1] == BEGIN) | (prefixes[:-1] == INSIDE))
    follows[:-1] &= (prefixes == INSIDE) | (prefixes == END)
    follows[bounds] = False
    marked = prefixes != OUTSIDE
    firsts = np.flatnonzero(marked & ~follows[:-1])
    ends = np.flatnonzero(marked & ~follows[1:]) + 1
    if spec.options["repair"] != "begin":
        proper = prefixes[firsts] == BEGIN
        if spec.options["scheme"] == "BIOES":
            proper = (proper & (prefixes[ends - 1] == END)) | ((prefixes[firsts] == SINGLE) & (ends - firsts == 1))
        if spec.options["repair"] == "reject":
            _report_order(firsts[~proper].tolist(), lines, spec, problems, lenient)
        else:
            firsts, ends = firsts[proper], ends[proper]
    owners = np.repeat(np.arange(len(sizes)), sizes)[firsts]
    return Entities(
        ids=ids,
        types=tuple(spec.options["classes"]),
        kinds=kinds[firsts].astype(np.intp),
        begins=firsts - bounds[owners],
        ends=ends - bounds[owners],
        starts=np.append(0, np.cumsum(np.bincount(owners, minlength=len(sizes)))),
        lengths=sizes,
    )


def _report_order(
    firsts: Sequence[int], lines: Sequence[int], spec: FormatSpec, problems: Problems, lenient: bool
) -> None:
    is_long = spec.options["scheme"] == "BIOES"
    expected = "B-, I- …, E- of one type, or S-" if is_long else "I- only after B- or I- of the same type"
    for at in firsts:
        severity: Severity = "warning" if lenient else "error"
        if problems.has_counted("tag-out-of-order"):
            continue
        problems.add("tag-out-of-order", f"line {lines[at]}", severity=severity, line=lines[at], expected=expected)


def write(answers: Entities, spec: FormatSpec) -> str:
    """Write each token with its tag. If the answers do not contain the tokens, write `_` in their place."""
    begins, ends, kinds = (side.tolist() for side in (answers.begins, answers.ends, answers.kinds))
    is_long, parts = spec.options["scheme"] == "BIOES", []
    lengths = [] if answers.lengths is None else answers.lengths.tolist()
    prefix = spec.options["prefix"] or ""
    between = "\t" + f"{TOKEN}\t" * ((spec.options["column"] or 2) - 2)
    for row, (item, length) in enumerate(zip(answers.ids, lengths, strict=True)):
        words = [TOKEN] * length if answers.texts is None else answers.texts[item].split()
        tags = ["O"] * length
        for at in range(answers.starts[row], answers.starts[row + 1]):
            name, begin, end = answers.types[kinds[at]], begins[at], ends[at]
            tags[begin:end] = [f"B-{name}", *[f"I-{name}"] * (end - begin - 1)]
            if is_long:
                tags[end - 1] = f"{'S' if end - begin == 1 else 'E'}-{name}"
        parts += [f"{ID}{item}\n"] if spec.options["ids"] == "comments" else []
        parts += [*(f"{word}{between}{prefix}{tag}\n" for word, tag in zip(words, tags, strict=True)), "\n"]
    return "".join(parts)


CONLL = Format(
    "conll",
    "entities",
    "Tagged tokens: one token per line with its tag in the last column, and an empty line after each sentence. "
    "All other columns are ignored. Columns are separated by tabs or, in lines without tabs, by spaces. "
    "Runs must have the same sentences as the gold standard, each with the same number of tokens. The tokens "
    "themselves are not compared.",
    "classes: [PER, LOC], scheme: BIOES, repair: begin",
    OPTIONS,
    read,
    write,
    lambda _: ".conll",
    size,
    in_tokens=True,
)
