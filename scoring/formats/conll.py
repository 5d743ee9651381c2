"""Tokens with tags, as in CoNLL-2003: one token per line, its tag last, an empty line after each sentence.

Tags are `O`, or a prefix and a type: `B-PER` begins an entity, `I-PER` continues it; with BIOES `E-PER` ends it and
`S-PER` is a single token. Tags that break this order are repaired as the definition says.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scoring import limits
from scoring.answers import Entities
from scoring.definition import FormatSpec
from scoring.definition.keys import Key
from scoring.definition.kinds import WORDS, one_of
from scoring.formats.format import Format, Size
from scoring.formats.reading import Problems, Reading, check_ids, decode, is_too_much, shown
from scoring.reports.nearest import nearest
from scoring.reports.problems import Severity

OUTSIDE, BEGIN, INSIDE, END, SINGLE = range(5)
PREFIXES = {"BIO": "BI", "IOB2": "BI", "BIOES": "BIES"}
LETTERS = {"B": BEGIN, "I": INSIDE, "E": END, "S": SINGLE}
ID = "# id = "
TOKEN = "_"  # in runs written here
OPTIONS = (
    Key("classes", WORDS, "The types of entities."),
    Key("scheme", one_of("BIO", "IOB2", "BIOES"), "How tags mark entities; BIO and IOB2 are the same.", "BIO"),
    Key(
        "repair",
        one_of("reject", "begin", "discard"),
        "What tags are that do not follow from their neighbors, as `I-PER` after `O`: an error, the begin of an entity "
        "(as in conlleval and seqeval), or none (as in seqeval's strict mode).",
        "reject",
    ),
    Key(
        "ids",
        one_of("numbers", "comments"),
        "Ids of sentences: their numbers from 1, or a line `# id = …` before each.",
        "numbers",
    ),
)


def size(spec: FormatSpec) -> Size:
    """The greatest size of a run, for each sentence."""
    tokens = limits.TOKENS_AN_ITEM
    return Size(entries=tokens, cells=8 * tokens, bytes=limits.TOKEN_BYTES * tokens)


def tags_of(spec: FormatSpec) -> dict[str, int]:
    """Tags as numbers: 8 · index of the type + prefix."""
    letters = PREFIXES[spec.options["scheme"]]
    types = enumerate(spec.options["classes"])
    return {"O": OUTSIDE} | {f"{one}-{name}": 8 * place + LETTERS[one] for place, name in types for one in letters}


def read(data: bytes, spec: FormatSpec, reading: Reading) -> Entities | None:
    """Read the entities of each sentence."""
    errors_before = len(reading.report.errors)
    text = decode(data, reading.report)
    if text is None or is_too_much(text, " ", reading):
        return None
    problems = Problems(reading.report)
    words: list[str] | None = [] if reading.role == "gold" else None
    ids, lengths, tags, lines = _sentences(text, spec.options["ids"] == "comments", problems, words)
    if reading.text_lengths is not None:
        expected = [reading.text_lengths.get(item, length) for item, length in zip(ids, lengths, strict=True)]
        report_lengths(ids, lengths, expected, problems, reading.lenient)
    codes = _codes(tags, lines, tags_of(spec), problems, reading)
    found = entities_of(ids, lengths, codes, spec, problems, lines, reading.lenient)
    problems.report()
    check_ids(ids, reading)
    if len(reading.report.errors) > errors_before:
        return None
    return found if words is None else replace(found, texts=dict(zip(ids, _texts(words, lengths), strict=True)))


def _texts(words: Sequence[str], lengths: Sequence[int]) -> list[str]:
    """The tokens of each sentence, separated by spaces."""
    rest = iter(words)
    return [" ".join(islice(rest, length)) for length in lengths]


def _sentences(
    text: str, with_ids: bool, problems: Problems, words: list[str] | None = None
) -> tuple[list[str], list[int], list[str], list[int]]:
    """Ids and lengths of the sentences; tags and line numbers of all tokens, which are added to `words`."""
    ids: list[str] = []
    lengths: list[int] = []
    tags: list[str] = []
    lines: list[int] = []
    before, name = 0, ""
    for number, line in enumerate([*text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), ""], 1):
        fields = line.split()
        if not fields:
            if len(tags) > before:
                ids.append(name if with_ids else str(len(ids) + 1))
                lengths.append(len(tags) - before)
            before, name = len(tags), ""
        elif with_ids and len(tags) == before and line.startswith(ID):
            name = line.removeprefix(ID).strip()
        else:
            if len(fields) == 1 or (with_ids and not name):
                expected = "a token, a space or tab, and its tag" if len(fields) == 1 else f"{ID}… before a sentence"
                found = shown(line)
                problems.add("token-line", f"line {number}: {found}", line=number, found=found, expected=expected)
                name = name or str(number)  # reported once
            if words is not None:
                words.append(fields[0])
            tags.append(fields[-1] if len(fields) > 1 else "O")
            lines.append(number)
    return ids, lengths, tags, lines


def report_lengths(
    ids: Sequence[str], lengths: Sequence[int], expected: Sequence[int], problems: Problems, lenient: bool
) -> None:
    """Report sentences with other tokens than expected, in which positions would mean something else."""
    for item, length, wanted in zip(ids, lengths, expected, strict=True):
        if length != wanted:
            severity: Severity = "warning" if lenient else "error"
            texts = {"item": shown(item), "found": str(length), "expected": str(wanted)}
            problems.add("tokens-differ", f"{shown(item)}: {length}", severity=severity, **texts)


def codes_of(tags: Sequence[str], known: Mapping[str, int]) -> NDArray[np.uint32]:
    """Tags as numbers; KeyError for one that is not known."""
    if not tags:
        return np.zeros(0, np.uint32)
    # One character for each tag: the fastest way from so many strings to an array.
    letters = {tag: chr(code) for tag, code in known.items()}
    text = "".join(itemgetter(*tags)(letters))
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def _codes(
    tags: Sequence[str], lines: Sequence[int], known: Mapping[str, int], problems: Problems, reading: Reading
) -> NDArray[np.uint32]:
    """Tags as numbers; unknown ones are reported and become O."""
    with suppress(KeyError):
        return codes_of(tags, known)
    for tag, line in zip(tags, lines, strict=True):
        if tag not in known and not problems.has_counted("label-outside-domain"):
            problems.add(
                "label-outside-domain",
                f"line {line}: {shown(tag)}",
                severity=reading.strict,
                line=line,
                found=shown(tag),
                expected=", ".join(known),
                suggestion=nearest(tag[: limits.SHOWN], list(known)),
            )
    return np.fromiter((known.get(tag, OUTSIDE) for tag in tags), np.uint32, len(tags))


def entities_of(
    ids: list[str],
    lengths: Sequence[int],
    codes: NDArray[np.uint32],
    spec: FormatSpec,
    problems: Problems,
    lines: Sequence[int],
    lenient: bool = False,
) -> Entities:
    """Entities from tags as numbers (`tags_of`), sentence after sentence."""
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
        problems.add("tag-out-of-order", f"line {lines[at]}", severity=severity, line=lines[at], expected=expected)


def write(answers: Entities, spec: FormatSpec) -> str:
    """Write each token with its tag; a token is `_` where answers do not have the texts."""
    begins, ends, kinds = (side.tolist() for side in (answers.begins, answers.ends, answers.kinds))
    is_long, parts = spec.options["scheme"] == "BIOES", []
    lengths = [] if answers.lengths is None else answers.lengths.tolist()
    for row, (item, length) in enumerate(zip(answers.ids, lengths, strict=True)):
        words = [TOKEN] * length if answers.texts is None else answers.texts[item].split()
        tags = ["O"] * length
        for at in range(answers.starts[row], answers.starts[row + 1]):
            name, begin, end = answers.types[kinds[at]], begins[at], ends[at]
            tags[begin:end] = [f"B-{name}", *[f"I-{name}"] * (end - begin - 1)]
            if is_long:
                tags[end - 1] = f"{'S' if end - begin == 1 else 'E'}-{name}"
        parts += [f"{ID}{item}\n"] if spec.options["ids"] == "comments" else []
        parts += [*(f"{word}\t{tag}\n" for word, tag in zip(words, tags, strict=True)), "\n"]
    return "".join(parts)


def suffix(options: Mapping[str, Any]) -> str:
    """The extension of such files."""
    return ".conll"


CONLL = Format(
    "conll",
    "entities",
    "Tokens with tags: one token per line, its tag in the last column, an empty line after each sentence. Runs have "
    "the gold standard's sentences and tokens.",
    "classes: [PER, LOC], scheme: BIOES, repair: begin",
    OPTIONS,
    read,
    write,
    suffix,
    size,
)
