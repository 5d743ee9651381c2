"""Relations in brat standoff: a tuple for each relation between two text-bound annotations."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations, islice

from scoring.answers import Tuples
from scoring.definition import FormatSpec
from scoring.definition.keys import Key, Values
from scoring.definition.kinds import NAMES, WHOLE
from scoring.definition.yaml_values import Value
from scoring.formats.annotated_texts import AnnotatedTexts
from scoring.formats.brat import (
    BOUND,
    ENDING,
    Place,
    compare_text,
    documents_of,
    envelope,
    fragments_of,
    is_known,
    is_sound,
    report,
    report_other,
    rows_of,
    size,
    with_sets,
)
from scoring.formats.format import Format
from scoring.formats.reading import Problems, Reading, check_ids
from scoring.formats.several import packed
from scoring.formats.tuples import report_count

EQUIVALENCE = re.compile(r"\*\t(\S+)((?: T\S+){2,})\s*")
RELATION = re.compile(r"R\S*\t(\S+) ([^\s:]+):(T\S*) ([^\s:]+):(T\S*)\s*")
TURNED = ("Arg2", "Arg1")  # names of arguments in a line that begins with the second one
EXPECTED_RELATION = "R1<TAB>TYPE Arg1:T1 Arg2:T2"
COLUMNS = ("relation", "from", "from_type", "to", "to_type")
OPTIONS = (
    Key("classes", NAMES, "Span types."),
    Key("relations", NAMES, "Relation types."),
    Key("symmetric", NAMES, "Relation types whose direction doesn't matter.", ()),
    Key("most", WHOLE, "Maximum number of relations per item.", 100),
)
Cells = tuple[str, ...]
Found = tuple[str, str]  # position and type of a span


def finish_options(value: Value, options: Values) -> None:
    """Add the columns of the tuples and their values."""
    unknown = [name for name in options["symmetric"] if name not in options["relations"]]
    if unknown:
        value.at("symmetric").invalid(" or ".join(options["relations"]))
    options["columns"] = COLUMNS
    options["values"] = {
        "relation": options["relations"],
        "from_type": options["classes"],
        "to_type": options["classes"],
    }


def read(data: bytes, spec: FormatSpec, reading: Reading) -> Tuples | None:
    """Read each item's set of relations."""
    problems, stated = Problems(reading.report), AnnotatedTexts(reading)
    spec = with_sets(spec, "classes", "relations", "symmetric")
    documents = documents_of(data, reading)
    if documents is None:
        return None
    ids = [name.removesuffix(ENDING) for name, _ in documents]
    sets = [list(_relations(name, content, spec, reading, stated, problems)) for name, content in documents]
    stated.report(problems)
    for item, own in zip(ids, sets, strict=True):
        report_count(item, len(own), int(spec.options["most"]), problems)
    problems.report()
    check_ids(ids, reading)
    if reading.has_errors:
        return None
    return Tuples.of_sets(COLUMNS, dict(zip(ids, sets, strict=True)))


def _relations(
    name: str, content: bytes, spec: FormatSpec, reading: Reading, stated: AnnotatedTexts, problems: Problems
) -> Iterator[Cells]:
    """Yield the relations in a document, and report invalid lines."""
    spans: dict[str, Found] = {}
    equivalences: set[Place] = set()
    relations: list[tuple[Place, Sequence[str]]] = []
    for number, row in rows_of(name, content, problems):
        place = name, number
        if bound := BOUND.fullmatch(row):
            fragments = fragments_of(bound[3])
            is_sound(bound[2], fragments, spec.options["classes"], place, reading, problems)
            if bound[1] in spans:
                report(place, "brat-id-twice", bound[1], problems)
            compare_text(place, fragments, bound[4], stated)
            begin, end = envelope(fragments)
            spans[bound[1]] = f"{begin} {end}", bound[2]
        elif relation := RELATION.fullmatch(row):
            is_turned = (relation[2], relation[4]) == TURNED
            first, second = relation.group(5, 3) if is_turned else relation.group(3, 5)
            relations.append((place, (relation[1], first, second)))
        elif row.startswith("R"):
            report(place, "brat-line", row, problems, expected=EXPECTED_RELATION)
        elif (same := EQUIVALENCE.fullmatch(row)) and same[1] in spec.options["relations"]:
            relations.append((place, (same[1], *same[2].split())))
            equivalences.add(place)
            if same[1] not in spec.options["symmetric"]:
                report(place, "brat-direction", row, problems, severity="warning", expected=EXPECTED_RELATION)
        else:
            report_other(place, row, problems)
    yield from _between(spans, relations, equivalences, spec, reading, problems)


def _between(
    spans: Mapping[str, Found],
    relations: Sequence[tuple[Place, Sequence[str]]],
    equivalences: Collection[Place],
    spec: FormatSpec,
    reading: Reading,
    problems: Problems,
) -> Iterator[Cells]:
    """Yield the relations between a document's spans, and report unknown types and references, and repetitions."""
    seen = set[Cells]()
    left = int(spec.options["most"]) + 1  # more pairs are not needed to see that there are too many
    for place, (kind, *ends) in relations:
        known = is_known(kind, spec.options["relations"], place, reading, problems)
        missing = next((end for end in ends if end not in spans), None)
        if missing is not None:
            report(place, "brat-reference", missing, problems)
        elif known:
            has_direction = place not in equivalences and kind not in spec.options["symmetric"]
            pairs = _pairs(kind, [spans[end] for end in ends], has_direction, max(left, place not in equivalences))
            left -= len(pairs)
            for pair in pairs:
                if pair in seen:
                    report(place, "tuple-twice", " ".join(pair), problems, severity="warning")
                seen.add(pair)
                yield pair


def _pairs(kind: str, spans: Sequence[Found], has_direction: bool, most: int) -> list[Cells]:
    """Return a relation between each two of the spans, at most this many."""
    both = islice(combinations(spans, 2), most)
    ordered = both if has_direction else (sorted(pair) for pair in both)
    return [(kind, *first, *second) for first, second in ordered]


def write(answers: Tuples, spec: FormatSpec) -> bytes:
    """Write a zip with a file per item, which contains the item's relations and their spans."""
    return packed({f"{item}{ENDING}": _written(answers.of_item(row)).encode() for row, item in enumerate(answers.ids)})


def _written(relations: Sequence[Cells]) -> str:
    spans = dict.fromkeys(side for _, *ends in relations for side in ((ends[0], ends[1]), (ends[2], ends[3])))
    numbers = {span: number for number, span in enumerate(spans, 1)}
    lines = [f"T{number}\t{kind} {position}\t\n" for (position, kind), number in numbers.items()]
    for number, (kind, start, start_kind, end, end_kind) in enumerate(relations, 1):
        first, second = numbers[start, start_kind], numbers[end, end_kind]
        lines.append(f"R{number}\t{kind} Arg1:T{first} Arg2:T{second}\n")
    return "".join(lines)


BRAT_RELATIONS = Format(
    "brat-relations",
    "tuples",
    "Relations in brat standoff format, in the same kind of files as for `brat`. Each line such as `R1<TAB>lives_in "
    "Arg1:T1 Arg2:T2` is a tuple with the columns `relation`, `from`, `from_type`, `to` and `to_type`. `from` and "
    "`to` contain the start and end positions of the text-bound annotations in `Arg1` and `Arg2`, such as `0 5`. A "
    "line such as `*<TAB>same_as T1 T2 T3` is a relation between each two of its annotations, without a direction, if "
    "its type is one of the `relations`.",
    "classes: [PER, LOC], relations: [lives_in, spouse], symmetric: [spouse]",
    OPTIONS,
    read,
    write,
    lambda _: ".zip",
    size,
    finish_options,
    leaves_out_empty=True,
    has_texts=lambda _: True,
    is_zip=True,
)
