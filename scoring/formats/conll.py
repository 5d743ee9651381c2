"""Tagged tokens as in CoNLL-2003: one token per line with its tag last, and an empty line after each sentence."""

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
TOKEN = "_"  # token text in runs written by this module
OPTIONS = (
    Key("classes", WORDS, "Entity types."),
    Key(
        "scheme",
        one_of("BIO", "IOB2", "BIOES"),
        "Tagging scheme of the entities. BIO and IOB2 are the same. For IOB1, where `I-` begins most entities, add "
        "`repair: begin`.",
        "BIO",
    ),
    Key(
        "repair",
        one_of("reject", "begin", "discard"),
        "How to treat tags in an invalid order, such as `I-PER` after `O`: as an error, as the beginning of an entity "
        "(as in conlleval and seqeval), or as no entity (as in seqeval's strict mode).",
        "reject",
    ),
    Key(
        "ids",
        one_of("numbers", "comments"),
        "How sentences are identified: by number from 1, or by a line `# id = …` before each sentence.",
        "numbers",
    ),
)


def size(spec: FormatSpec) -> Size:
    """Return the maximum size of a run per sentence."""
    tokens = limits.TOKENS_AN_ITEM
    return Size(entries=tokens, cells=8 * tokens, bytes=limits.TOKEN_BYTES * tokens)


def tags_of(spec: FormatSpec) -> dict[str, int]:
    """Map tags to numbers: 8 · type index + prefix."""
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
    """Return the tokens of each sentence, separated by spaces."""
    rest = iter(words)
    return [" ".join(islice(rest, length)) for length in lengths]


def _sentences(
    text: str, with_ids: bool, problems: Problems, words: list[str] | None = None
) -> tuple[list[str], list[int], list[str], list[int]]:
    """Return the ids and lengths of the sentences, and the tags and line numbers of all tokens.

    The tokens themselves are added to `words`.
    """
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
                name = name or str(number)  # used so that the missing id is reported only once
            if words is not None:
                words.append(fields[0])
            tags.append(fields[-1] if len(fields) > 1 else "O")
            lines.append(number)
    return ids, lengths, tags, lines


def report_lengths(
    ids: Sequence[str], lengths: Sequence[int], expected: Sequence[int], problems: Problems, lenient: bool
) -> None:
    """Report sentences whose number of tokens differs from the expected number, which would shift all positions."""
    for item, length, wanted in zip(ids, lengths, expected, strict=True):
        if length != wanted:
            severity: Severity = "warning" if lenient else "error"
            texts = {"item": shown(item), "found": str(length), "expected": str(wanted)}
            problems.add("tokens-differ", f"{shown(item)}: {length}", severity=severity, **texts)


def codes_of(tags: Sequence[str], known: Mapping[str, int]) -> NDArray[np.uint32]:
    """Convert tags to numbers. Raise KeyError for an unknown tag."""
    if not tags:
        return np.zeros(0, np.uint32)
    # One character per tag is the fastest way to convert many strings to an array.
    letters = {tag: chr(code) for tag, code in known.items()}
    text = "".join(itemgetter(*tags)(letters))
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def _codes(
    tags: Sequence[str], lines: Sequence[int], known: Mapping[str, int], problems: Problems, reading: Reading
) -> NDArray[np.uint32]:
    """Convert tags to numbers. Unknown tags are reported and become O."""
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
    """Find the entities in tags that are given as numbers (`tags_of`), sentence after sentence."""
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
    """Write each token with its tag. If the answers do not contain the texts, tokens are `_`."""
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
    """Return the file extension."""
    return ".conll"


CONLL = Format(
    "conll",
    "entities",
    "Tagged tokens: one token per line with its tag in the last column, and an empty line after each sentence. Runs "
    "have the sentences and tokens of the gold standard.",
    "classes: [PER, LOC], scheme: BIOES, repair: begin",
    OPTIONS,
    read,
    write,
    suffix,
    size,
)
