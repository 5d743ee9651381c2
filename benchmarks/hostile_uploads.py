"""Uploads designed to be expensive, and their shared task, for `worst_case.py` and its test.

They do not change between runs. `size` is the size of a large upload in bytes, and `names` is the number of files in an
archive.
"""

import io
import itertools
import json
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks import hostile_metrics
from scoring import Definition, limits, load_definition

TEAM = "Lak_NLP"
ITEMS = [str(500_000 + number) for number in range(2000)]
KINDS = ["NO", "IDEOLOGICAL-INEQUALITY", "STEREOTYPING-DOMINANCE", "OBJECTIFICATION", "SEXUAL-VIOLENCE", "MISOGYNY-NSV"]
MANY = [str(500_000 + number) for number in range(20_000)]
MOST = [str(500_000 + number) for number in range(225_000)]  # for which a run can have a million rows
QUERIES = [str(500_000 + number) for number in range(limits.RANKED // 1000)]
DOCUMENTS = 1000  # maximum number of documents per query
WIDE = [f"class {number}" for number in range(1000)]
TYPES = [f"TYPE{number}" for number in range(limits.CLASSES)]
SCALE = list(range(limits.ENTRIES))  # as many values as a column can have
TOKENS = 440  # of each sentence; with an empty line, fewer than limits.TOKENS_AN_ITEM and a sentence's part of the rest
TYPED_SPANS = limits.TYPED_SPANS_AN_ITEM + limits.ENTRIES_FREE // len(ITEMS)

TRACKS = {  # slug → format and one metric
    "task1-hard": ('{kind: json-labels, classes: ["YES", "NO"], constants: {test_case: EXIST2024}}', "accuracy"),
    "task1-soft": ('{kind: json-soft, classes: ["YES", "NO"], constants: {test_case: EXIST2024}, sum: 1}', "icm_soft"),
    "task2-hard": (f"{{kind: json-labels, classes: {json.dumps(KINDS)}, multi: true}}", "icm"),
    "task2-soft": (f"{{kind: json-soft, classes: {json.dumps(KINDS)}}}", "icm_soft"),
    "task2-wide": (f"{{kind: json-soft, classes: {json.dumps(WIDE)}}}", "icm_soft"),
    "task2-many": (f"{{kind: json-labels, classes: {json.dumps(WIDE)}, multi: true}}", "icm"),
    "task3-lines": ('{kind: json-labels, classes: ["YES", "NO"], lines: true}', "f1_macro"),
    "task3-nested": (
        '{kind: json-labels, classes: ["0", "1"], id: doc.id, value: out.a.label, keys: {ids: [number], '
        "values: [number], nested: true}}",
        "f1_macro",
    ),
    "task3-dict": ('{kind: json-labels, classes: ["YES", "NO"], keys: {by_id: true}}', "f1_macro"),
    "task3-rows": (
        "{kind: table, id: doc.id, columns: {out.mood: {kind: number, name: mood}}, json: {nested: true}}",
        '"pearson:mood"',
    ),
    "task4-tsv": ("{kind: table, separator: tab, header: optional, id: id, columns: [HS]}", '"f1_macro:HS"'),
    "task4-csv": ("{kind: table, id: id, columns: [HS, TR, AG]}", '"f1_macro:HS"'),
    "task4-order": ("{kind: table, ids: numbers, header: none, columns: [HS], comments: '#'}", '"f1_macro:HS"'),
    "task4-numbers": ("{kind: table, id: id, columns: [mood], values: number, low: 0, high: 1}", '"pearson:mood"'),
    "task4-wide": (f"{{kind: table, id: id, columns: {json.dumps(WIDE)}, values: {SCALE}}}", "f1_macro_all"),
    "task4-mean": (f"{{kind: table, id: id, columns: {json.dumps(WIDE)}, values: {SCALE}}}", "f1_macro_mean"),
    "task4-list": (
        f"{{kind: table, id: id, separator: tab, columns: {json.dumps(WIDE)}, values: number, list: all}}",
        "annotator_distance",
    ),
    "task5-labels": (f"{{kind: table-labels, id: id, classes: {json.dumps(KINDS)}, multi: true}}", "f1_macro"),
    "task5-soft": (f"{{kind: table-soft, id: id, classes: {json.dumps(KINDS)}}}", "icm_soft"),
    "task6-plain": ("{kind: spans}", "span_f1"),
    "task6-pairs": ("{kind: spans, file: table, separator: tab, id: id, spans: pairs}", "span_f1"),
    "task6-rows": ("{kind: spans, file: table, id: id, spans: rows}", "span_f1"),
    "task6-json": ("{kind: spans, file: json, spans: pairs, value: spans}", "span_f1"),
    "task6-sets": (
        f"{{kind: tuples, columns: [who, what, kind], values: {{kind: {json.dumps(KINDS)}}}}}",
        "{name: tuple_f1_partial, credit: overlap}",
    ),
    "task6-tuples": (
        "{kind: tuples, columns: [who, what], optional: [who], file: table, id: id, separator: tab}",
        "tuple_f1_partial",
    ),
    "task6-greedy": (
        "{kind: tuples, columns: [who, what, kind]}",
        "{name: tuple_f1_partial, credit: overlap, assign: greedy}",
    ),
    "task6-conll": ("{kind: conll, classes: [PER, LOC]}", "entity_f1_surface"),
    "task6-types": (f"{{kind: brat, classes: {json.dumps(TYPES)}}}", "entity_f1_macro"),
    "task6-typed": ("{kind: typed-spans, classes: [PER, LOC]}", "entity_f1_type"),
    "task6-brat": ("{kind: brat, classes: [PER, LOC], fragments: split}", "entity_f1_partial"),
    "task6-relations": ("{kind: brat-relations, classes: [PER], relations: [near]}", "tuple_f1_partial"),
    "task7-trec": ("{kind: trec-run}", "ndcg"),
    "task7-deep": ("{kind: trec-run}", "map"),
    "task8-many": ("{kind: spans}", "span_f1"),
    "task8-ids": ("{kind: table, separator: tab, header: optional, id: id, columns: [HS]}", '"f1_macro:HS"'),
    # As many characters and words as the metrics allow.
    "task9-chrf": ("{kind: text-lines, ids: first, longest: 200}", "chrf_pp"),
    "task9-bleu": ("{kind: text-lines, ids: first, longest: 500}", "bleu"),
    "task9-ter": ("{kind: text-lines, ids: first, longest: 150}", "ter"),
    "task9-edits": ("{kind: text-lines, ids: first, longest: 2000}", "cer"),
    "task9-rouge": ("{kind: text-lines, ids: first, longest: 2000}", "rouge_l"),
    **hostile_metrics.TRACKS,
}
LONGEST = {"task9-chrf": 200, "task9-bleu": 500, "task9-ter": 150, "task9-edits": 2000, "task9-rouge": 2000}
ITEM_FILES = {
    "task6-conll": "sentences.txt",
    "task7-trec": "queries.txt",
    "task7-deep": "more-queries.txt",
    "task8-many": "many.txt",
    "task8-ids": "most.txt",
    **hostile_metrics.ITEM_FILES,
}
MORE_KEYS = {"task6-conll": "\n    texts: {test: sentences.tsv, dev: dev.tsv}"}
MORE_KEYS |= dict.fromkeys(hostile_metrics.WITH_SLICES, hostile_metrics.SLICES)
TASK = """
agon: 1
slug: hostile
title: Hostile
year: 2026
languages: [en]
tracks:
{tracks}
naming:
  archive: "hostile_{{team}}"
  run: "{{task}}_{{context}}_{{team}}_{{number}}[.zip][.txt]"
  track: "{{task}}-{{context}}"
  number: [1, 2, 3]
phases:
  - {{slug: open, title: Evaluation, opens: "2026-01-01 00:00 UTC", scores: at-once, official: best}}
  - {{slug: dev, title: Practice, opens: "2025-01-01 00:00 UTC", split: dev, scores: at-once, official: best}}
"""
TRACK = """  - slug: {slug}
    format: {format}
    items: {{test: {items}, dev: dev.txt}}{more}
    metrics: [{metric}]
    rank_by: {rank_by}
"""

Build = Callable[[], bytes]


@dataclass(frozen=True)
class Hostile:
    """An upload: why it is expensive, its file name, and a function that returns its content."""

    name: str
    file_name: str
    build: Build


def _key(metric: str) -> str:
    return metric.partition("name: ")[2].partition(",")[0] or metric


def hostile_task(folder: Path) -> Definition:
    """Create the shared task.

    Most tracks have 2,000 items, because the limits on runs grow with the number of items.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tracks = "".join(
        TRACK.format(
            slug=slug,
            format=form,
            metric=metric,
            rank_by=_key(metric),
            items=ITEM_FILES.get(slug, "items.txt"),
            more=MORE_KEYS.get(slug, ""),
        )
        for slug, (form, metric) in TRACKS.items()
    )
    (folder / "task.yaml").write_text(TASK.format(tracks=tracks), encoding="utf-8")
    (folder / "items.txt").write_text("\n".join(ITEMS), encoding="utf-8")
    (folder / "many.txt").write_text("\n".join(MANY), encoding="utf-8")
    (folder / "most.txt").write_text("\n".join(MOST), encoding="utf-8")
    (folder / "queries.txt").write_text("\n".join(ITEMS[:100]), encoding="utf-8")
    (folder / "more-queries.txt").write_text("\n".join(QUERIES), encoding="utf-8")
    sentences = [str(number) for number in range(1, len(ITEMS) + 1)]
    (folder / "sentences.txt").write_text("\n".join(sentences), encoding="utf-8")
    text = " ".join(f"w{number}" for number in range(TOKENS))
    for name, ids in (("sentences", sentences), ("dev", [f"dev-{item}" for item in ITEMS])):
        lines = ["id\ttext", *(f"{item}\t{text}" for item in ids)]
        (folder / f"{name}.tsv").write_text("\n".join(lines), encoding="utf-8")
    for name, content in hostile_metrics.files().items():
        (folder / name).write_text(content, encoding="utf-8")
    (folder / "dev.txt").write_text("\n".join(f"dev-{item}" for item in ITEMS), encoding="utf-8")
    return load_definition(folder)


def gold_of(track: str, items: list[str] = ITEMS) -> bytes:
    """Return a valid run of a track for these items, or for its queries. It is used as the gold standard."""
    if track in ("task7-trec", "task7-deep"):
        queries = QUERIES if track == "task7-deep" else ITEMS[:100]
        lines = (f"{query} 0 d{number} {number % 3}" for query in queries for number in range(20))
        return "\n".join(lines).encode()
    return VALID[track](items)


def corpus(size: int = 12_000_000, names: int = 200) -> list[Hostile]:
    """Return all hostile uploads."""
    sources = (
        _json(size),
        _json_keys(size),
        _labels(size),
        _shares(size),
        _tables(size),
        _spans(size),
        _tuples(size),
        _standoff(size),
        _rankings(size),
        _long_texts(size),
        _at_maxima(size),
        _texts(size),
        _as_many_as_are_read(size),
        hostile_metrics.uploads(size),
    )
    found = [
        Hostile(f"{track}: {name}", f"{track.replace('-', '_')}_{TEAM}_1", build)
        for track, name, build in itertools.chain(*sources)
    ]
    return [*found, *_names(names), *_archives(size, names)]


def _records(values: Callable[[int], str], count: int, more: str = "") -> bytes:
    constant = f', "test_case": "EXIST2024"{more}}}'
    ids = itertools.islice(itertools.cycle(ITEMS), count)
    return (
        "[" + ",\n".join(f'{{"id": "{item}", "value": {values(at)}{constant}' for at, item in enumerate(ids)) + "]"
    ).encode()


def _repeated(entry: str, size: int, start: str = "[", end: str = "]", between: str = ",") -> bytes:
    count = max(1, size // len((entry + between).encode()))
    return (start + between.join([entry] * count) + end).encode()


def _numbered(entry: Callable[[int], str], size: int, start: str = "[", end: str = "]", between: str = ",") -> bytes:
    count = max(1, size // len((entry(10**6) + between).encode()))
    return (start + between.join(map(entry, range(count))) + end).encode()


Source = Iterator[tuple[str, str, Build]]


def _json(size: int) -> Source:
    """Yield hostile content for JSON formats."""
    hard, soft = "task1-hard", "task1-soft"
    yield hard, "brackets within each other", lambda: b"[" * size
    yield hard, "objects within each other", lambda: b'{"a":' * (size // 5)
    yield soft, "values as deep as the parser goes", lambda: _records(lambda at: "[" * 900 + "]" * 900, size // 1860)
    yield hard, "empty objects", lambda: _repeated("{}", size)
    yield hard, "empty lists", lambda: _repeated("[]", size)
    yield hard, "numbers", lambda: _repeated("1", size)
    yield hard, "unknown keys in one object", lambda: _numbered(lambda n: f'"k{n}":1', size, "[{", "}]")
    yield hard, "one unknown key an object", lambda: _numbered(lambda n: f'{{"id":"{n}","k{n}":1}}', size)
    yield (
        hard,
        "unknown keys in valid entries",
        lambda: _records(lambda at: '"YES"', 2000, "".join(f', "k{n}": 0' for n in range(size // 22_000))),
    )
    yield hard, "keys twice", lambda: _numbered(lambda n: f'{{"id":"{n}","id":"{n}"}}', size)
    yield hard, "an object by id", lambda: _numbered(lambda n: f'"{n}":"YES"', size, "{", "}")
    yield hard, "one text", lambda: b'"' + b"x" * size + b'"'
    yield hard, "escapes", lambda: b'["' + b"\\u0041" * (size // 6) + b'"]'
    yield hard, "blanks", lambda: b"[" + b" " * size + b"]"
    yield hard, "line ends", lambda: b"[" + b"\n" * size + b"x"
    yield hard, "cut off", lambda: _records(lambda at: '"YES"', size // 63)[:-1]
    yield (
        hard,
        "a list in which objects stand a line",
        lambda: _records(lambda at: '"YES"', size // 63)[1:-1].replace(b",\n", b"\n"),
    )
    yield hard, "ids that are numbers", lambda: _numbered(lambda n: f'{{"id":{n},"value":"YES"}}', size)
    yield hard, "long ids", lambda: _numbered(lambda n: f'{{"id":"{"x" * 5000}{n}","value":"YES"}}', size)
    yield hard, "ids out of characters that are not printed", lambda: _repeated('{"id":"' + "\u202e" * 300 + '"}', size)
    yield hard, "numbers without end", lambda: _repeated("9" * 4000, size)
    yield soft, "numbers too large", lambda: _repeated('{"id":"1","value":1e999}', size)
    yield soft, "NaN", lambda: _repeated("NaN", size)
    yield "task3-lines", "short lines", lambda: _repeated("1", size, "", "", "\n")
    yield "task3-lines", "a list where lines should be", lambda: _records(lambda at: '"YES"', size // 63)
    yield (
        "task3-lines",
        "objects with a wrong label",
        lambda: _numbered(lambda n: f'{{"id":"{n}","value":"Y"}}', size, "", "", "\n"),
    )


def _json_keys(size: int) -> Source:
    """Yield hostile content for JSON in other structures."""
    nested, by_id, rows = "task3-nested", "task3-dict", "task3-rows"
    yield nested, "numbers as text", lambda: _numbered(lambda n: f'{{"doc":{{"id":"{n}"}},"out":{{"a":1}}}}', size)
    yield (
        nested,
        "other keys in inner objects",
        lambda: _numbered(lambda n: f'{{"doc":{{"id":{n},"k{n}":0}},"out":{{"a":{{"label":1,"j{n}":0}}}}}}', size),
    )
    yield (
        nested,
        "one inner object with many keys",
        lambda: _numbered(lambda n: f'"k{n}":0', size, '[{"doc":{"id":1},"out":{"a":{', "}}}]"),
    )
    yield nested, "inner keys twice", lambda: _repeated('{"doc":{"id":1,"id":1},"out":{"a":{"a":{}}}}', size)
    yield by_id, "ids that do not exist", lambda: _numbered(lambda n: f'"{n}":"Y{n}"', size, "{", "}")
    yield by_id, "one id", lambda: _repeated('"500000":"YES"', size, "{", "}")
    yield by_id, "long ids", lambda: _numbered(lambda n: f'"{"x" * 5000}{n}":"YES"', size, "{", "}")
    yield rows, "other keys each time", lambda: _numbered(lambda n: f'{{"doc":{{"id":{n},"k{n}":0}}}}', size)
    yield rows, "lists for numbers", lambda: _numbered(lambda n: f'{{"doc":{{"id":{n}}},"out":{{"mood":[[]]}}}}', size)
    yield rows, "no objects", lambda: _repeated("1", size)
    yield "task4-order", "rows without ids", lambda: _repeated("x", size, "", "", "\n")
    yield "task4-order", "comment lines", lambda: _repeated("# comment", size, "", "", "\n")


def _labels(size: int) -> Source:
    hard, multi = "task1-hard", "task2-hard"
    yield hard, "one long label", lambda: _records(lambda at: '"' + "SEXUAL-VIOLENCE " * (size // 16) + '"', 1)
    yield hard, "ordinary wrong labels", lambda: _records(lambda at: '"Yes"', 2000)
    yield hard, "ordinary wrong labels, too many", lambda: _records(lambda at: '"Yes"', size // 63)
    yield hard, "other wrong labels each time", lambda: _records(lambda at: f'"YE{at}"', size // 65)
    yield hard, "long wrong labels", lambda: _records(lambda at: f'"{at}{"NO YES " * 850}"', size // 6000)
    yield (
        hard,
        "unknown ids",
        lambda: _numbered(lambda n: f'{{"id":"x{n}","value":"YES","test_case":"EXIST2024"}}', size),
    )
    yield hard, "one id", lambda: _repeated('{"id":"500000","value":"YES","test_case":"EXIST2024"}', size)
    yield hard, "wrong constants", lambda: _repeated('{"id":"500000","value":"YES","test_case":"EXIST2023"}', size)
    yield hard, "long constants", lambda: _repeated(f'{{"id":"500000","test_case":"{"E" * 6000}"}}', size)
    yield hard, "large values", lambda: _records(lambda at: json.dumps(list(range(1000))), size // 5000)
    yield (
        multi,
        "a list with all labels again and again",
        lambda: _repeated(json.dumps("NO"), size, '[{"id":"500000","value":[', "]}]"),
    )
    yield (
        multi,
        "lists of wrong labels",
        lambda: _repeated(f'{{"id":"500000","value":{json.dumps(["sexual violence"] * 200)}}}', size),
    )
    yield (
        multi,
        "wrong labels in a different order",
        lambda: _numbered(lambda n: f'{{"id":"{n}","value":["VIOLENCE SEXUAL {n}"]}}', size),
    )
    yield (
        multi,
        "all labels of each item",
        lambda: json.dumps([{"id": item, "value": KINDS[1:]} for item in ITEMS]).encode(),
    )


def _shares(size: int) -> Source:
    soft, wide = "task1-soft", "task2-soft"
    entry = '{{"id":"{}","value":{{{}}},"test_case":"EXIST2024"}}'

    def classes(at: int) -> str:
        return "{" + ",".join(f'"c{at}-{n}":0.1' for n in range(size // 40_000)) + "}"

    yield (
        soft,
        "unknown classes in one value",
        lambda: _numbered(lambda n: f'"YES{n}":0.1', size, '[{"id":"500000","value":{', "}}]"),
    )
    yield soft, "other unknown classes in each value", lambda: _records(classes, 2000)
    yield soft, "numbers in quotes", lambda: _numbered(lambda n: entry.format(n, '"YES":"0.5","NO":"0.5"'), size)
    yield soft, "sums", lambda: _numbered(lambda n: entry.format(n, '"YES":0.5,"NO":0.6'), size)
    yield soft, "shares out of range", lambda: _numbered(lambda n: entry.format(n, '"YES":5,"NO":-6'), size)
    yield wide, "missing classes", lambda: _numbered(lambda n: f'{{"id":"{n}","value":{{}}}}', size)
    yield wide, "long unknown classes", lambda: _repeated(f'{{"id":"1","value":{{"{"IDEOLOGICAL " * 500}":1}}}}', size)


def _tables(size: int) -> Source:
    tsv, csv, numbers, labels = "task4-tsv", "task4-csv", "task4-numbers", "task5-labels"
    head = "id,HS,TR,AG\n"
    yield csv, "columns in one row", lambda: _repeated("1", size, "", "")
    yield csv, "other columns in the header", lambda: _numbered(lambda n: f"HS{n}", size, "id,", "\n1,1\n")
    yield csv, "columns with long names", lambda: _repeated("HS TR AG " * 500, size, "id,", "\n1,1\n")
    yield csv, "commas", lambda: b"," * size
    yield csv, "line ends", lambda: head.encode() + b"\n" * size
    yield csv, "carriage returns", lambda: head.encode() + b"1,1,1,1\r" * (size // 8)
    yield csv, "quotes", lambda: _repeated('"1","1","1","1"', size, head, "", "\n")
    yield csv, "doubled quotes", lambda: head.encode() + b'"' * size
    yield csv, "wrong values", lambda: _numbered(lambda n: f"{n},yes,no,maybe", size, head, "", "\n")
    yield csv, "ragged rows", lambda: _numbered(lambda n: f"{n},1", size, head, "", "\n")
    yield csv, "another separator", lambda: _numbered(lambda n: f"{n};1;0;0", size, "id;HS;TR;AG\n", "", "\n")
    yield csv, "numbers with a point", lambda: _numbered(lambda n: f"{n},1.0,0.0,0.0", size, head, "", "\n")
    yield tsv, "unknown ids", lambda: _numbered(lambda n: f"{n}\t1", size, "", "", "\n")
    yield tsv, "ids with decimals", lambda: _numbered(lambda n: f"{500_000 + n}.0\t1", min(size, 900_000), "", "", "\n")
    yield (
        tsv,
        "ids with blanks and folders",
        lambda: _numbered(lambda n: f" 'a/{n}.TXT'\t1", min(size, 1_500_000), "", "", "\n"),
    )
    yield tsv, "rounded ids", lambda: _numbered(lambda n: f"{n}.5E+05\t1", min(size, 900_000), "", "", "\n")
    yield tsv, "empty cells", lambda: _numbered(lambda n: f"{n}\t", size, "", "", "\n")
    yield numbers, "long numbers", lambda: _repeated("1," + "9" * 5000, size, "id,mood\n", "", "\n")
    yield numbers, "exponents", lambda: _repeated("1,1e9999", size, "id,mood\n", "", "\n")
    yield numbers, "decimal commas", lambda: _repeated('1,"0,5"', size, "id,mood\n", "", "\n")
    yield labels, "labels of one item", lambda: _repeated("NO", size, "id,label\n500000,", "", " ")
    yield (
        labels,
        "wrong labels of one item",
        lambda: _numbered(lambda n: f"NO{n}", min(size, 130_000), "id,label\n500000,", "", " "),
    )
    yield labels, "wrong labels", lambda: _numbered(lambda n: f"{n},SEXUAL VIOLENCE {n}", size, "id,label\n", "", "\n")
    yield labels, "long wrong labels", lambda: _repeated("1," + "STEREOTYPING" * 5000, size, "id,label\n", "", "\n")
    yield (
        "task5-soft",
        "shares out of range",
        lambda: _repeated("1,2,2,2,2,2,2", size, f"id,{','.join(KINDS)}\n", "", "\n"),
    )


def _spans(size: int) -> Source:
    yield (
        "task6-typed",
        "as many spans as there may be, as nested as they may be",
        lambda: _nested_spans(ITEMS, min(TYPED_SPANS, size // 5000), 1),
    )
    yield "task6-typed", "spans at one position", lambda: _repeated('[0,9,"PER"],[1,9,"LOC"]', size, "500000\t[")
    plain, pairs, rows, records = "task6-plain", "task6-pairs", "task6-rows", "task6-json"
    offsets = ", ".join(map(str, range(max(1, size // 14_000))))
    yield plain, "many offsets of each item", lambda: "\n".join(f"{item}\t[{offsets}]" for item in ITEMS).encode()
    yield plain, "one offset again and again", lambda: _repeated("7", size, "500000\t[")
    yield "task8-many", "one offset again and again", lambda: _repeated("7", size, "500000\t[", "]")
    yield (
        "task8-many",
        "a few offsets of each item again and again",
        lambda: "\n".join(f"{item}\t[{'9,8,7,' * (size // 140_000)}1]" for item in MANY).encode(),
    )
    yield plain, "negative offsets", lambda: _repeated("-7", size, "500000\t[")
    yield plain, "fractions", lambda: _repeated("0.5", size, "500000\t[")
    yield plain, "offsets beyond 64 bits", lambda: _repeated("9" * 30, size, "500000\t[")
    yield plain, "no list", lambda: _numbered(lambda n: f"{n}\t(1, 2)", size, "", "", "\n")
    yield plain, "brackets", lambda: b"500000\t" + b"[" * size
    yield plain, "no tab", lambda: _numbered(lambda n: f"{n} [1]", size, "", "", "\n")
    yield (
        pairs,
        "long spans of each item",
        lambda: ("id\tspans\n" + "\n".join(f"{item}\t[[0, 1000000]]" for item in ITEMS)).encode(),
    )
    yield pairs, "long spans of one item", lambda: _repeated("[0,1000000]", size, "id\tspans\n500000\t[")
    yield pairs, "spans that end before they start", lambda: _repeated("[5,1]", size, "id\tspans\n500000\t[")
    yield (
        rows,
        "rows of one item",
        lambda: _numbered(lambda n: f"500000,{n},{n + 1000}", size, "id,start,stop\n", "", "\n"),
    )
    yield rows, "rows that are no offsets", lambda: _repeated("500000,a,b", size, "id,start,stop\n", "", "\n")
    yield (
        records,
        "long spans of each item",
        lambda: ("[" + ",".join(f'{{"id":"{item}","spans":[[0,1000000]]}}' for item in ITEMS) + "]").encode(),
    )
    yield (
        records,
        "pairs of one item",
        lambda: _numbered(lambda n: f"[{n},{n + 1}]", size, '[{"id":"500000","spans":[', "]}]"),
    )


def _tuples(size: int) -> Source:
    sets, rows = "task6-sets", "task6-tuples"
    one = '{"who":"a","what":"b c","kind":"NO"}'
    yield sets, "tuples of one item", lambda: _repeated(one, size, '[{"id":"500000","value":[', "]}]")
    yield sets, "tuples that are numbers", lambda: _repeated("1", size, '[{"id":"500000","value":[', "]}]")
    yield (
        sets,
        "words of one tuple",
        lambda: _repeated("a", size, '[{"id":"500000","value":[{"who":"', '"}]}]', " "),
    )
    yield (
        sets,
        "tuples with a kind that is not allowed",
        lambda: _numbered(
            lambda n: f'{{"who":"a","what":"b","kind":"N{n}"}}', size, '[{"id":"500000","value":[', "]}]"
        ),
    )
    yield sets, "as many tuples as are scored", lambda: _full(size)
    yield (
        rows,
        "rows of tuples",
        lambda: _numbered(lambda n: f"{500_000 + n % 2000}\ta\tb{n}", size, "id\twho\twhat\n", "", "\n"),
    )
    yield rows, "rows without values", lambda: _repeated("500000\t\t", size, "id\twho\twhat\n", "", "\n")
    yield rows, "the same tuple again", lambda: _repeated("500000\ta\tb", size, "id\twho\twhat\n", "", "\n")


def _full(size: int) -> bytes:
    """Return as many valid tuples for each item as are allowed. They share words with the gold's tuples."""
    most = max(1, min(30, size // len(ITEMS) // 120))
    texts = [f"who {n} one two three four five six seven" for n in range(most)]
    value = [{"who": text, "what": text, "kind": KINDS[at % 6]} for at, text in enumerate(texts)]
    return json.dumps([{"id": item, "value": value} for item in ITEMS], separators=(",", ":")).encode()


def _standoff(size: int) -> Source:
    brat, line = "task6-brat", b"T1\tPER 0 5\tAlice\n"
    contents: dict[str, Callable[[], dict[str, bytes]]] = {
        "zeros that unpack to far more": lambda: {"500000.ann": bytes(20 * size)},
        "files that unpack to far more": lambda: {f"{item}.ann": bytes(size // 50) for item in ITEMS},
        "other files that unpack to far more": lambda: {"a.txt": bytes(20 * size), "500000.ann": line},
        "lines of one document": lambda: {"500000.ann": line * (size // len(line))},
        "fragments of one line": lambda: {"500000.ann": _fragments(size // 16)},
        "lines that are no annotations": lambda: {"500000.ann": b"T1 PER 0 5\n" * (size // 11)},
        "more files than items": lambda: {f"{number}.ann": b"" for number in range(min(size // 100, 60_000))},
        "overlapping spans of each item": lambda: dict.fromkeys(
            (f"{item}.ann" for item in ITEMS), _overlapping(min(limits.ANNOTATIONS_AN_ITEM, size // 20_000))
        ),
        "as many spans as there may be": lambda: dict.fromkeys(
            (f"{item}.ann" for item in ITEMS), _overlapping(min(99, size // 20_000))
        ),
    }
    for name, build in contents.items():
        yield brat, name, partial(_zipped, build)
    own = _overlapping(min(20, size // 20_000))
    own += b"".join(b"R%d\tnear Arg1:T%d Arg2:T%d\n" % (at, at % 20, at // 20) for at in range(min(80, size // 20_000)))
    yield "task6-relations", "relations of each item", lambda: _zipped(lambda: {f"{item}.ann": own for item in ITEMS})
    yield (
        "task6-relations",
        "relations of nothing",
        lambda: _zipped(lambda: {"500000.ann": b"R1\tnear Arg1:T1 Arg2:T2\n" * min(size // 27, limits.ENTRIES_FREE)}),
    )
    yield brat, "no zip", lambda: line * (size // len(line))


def _fragments(count: int) -> bytes:
    return b"T1\tPER " + b";".join(b"%d %d" % (at, at + 1) for at in range(count)) + b"\ta\n"


def _overlapping(count: int) -> bytes:
    return b"".join(b"T%d\tPER %d %d\ta\n" % (at, at, at + 50) for at in range(count))


def _zipped(contents: Callable[[], dict[str, bytes]]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in contents().items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return file.getvalue()


def _rankings(size: int) -> Source:
    trec = "task7-trec"
    yield trec, "fields in one line", lambda: _repeated("1", size, "", "", " ")
    yield trec, "one document", lambda: _repeated("500000 Q0 d 1 1 t", size, "", "", "\n")
    yield trec, "documents of one query", lambda: _numbered(lambda n: f"500000 Q0 d{n} {n} {-n} t", size, "", "", "\n")
    yield trec, "queries", lambda: _numbered(lambda n: f"{n} Q0 d 1 1 t", size, "", "", "\n")
    yield trec, "words for numbers", lambda: _repeated("500000 Q0 d first best t", size, "", "", "\n")
    yield (
        trec,
        "ranks against scores",
        lambda: _numbered(lambda n: f"{500000 + n % 100} Q0 d{n} {n} {n} t", size, "", "", "\n"),
    )
    yield trec, "short lines", lambda: _repeated("1 2", size, "", "", "\n")
    yield (
        trec,
        "as many documents as there may be",
        lambda: "\n".join(
            f"{query} Q0 d{n} {n} {-n} t" for query in ITEMS[:100] for n in range(min(DOCUMENTS, size // 2000))
        ).encode(),
    )


def _nested_spans(items: list[str], count: int, shift: int) -> bytes:
    """Return `count` typed spans for each item, of which as many overlap at each position as are allowed."""
    length = 3 * limits.OVERLAPPING_SPANS
    spans = [[3 * n + shift, 3 * n + length - shift, ("PER", "LOC")[n % 2]] for n in range(count)]
    return "".join(f"{item}\t{json.dumps(spans)}\n" for item in items).encode()


def _long_texts(size: int) -> Source:
    """Yield texts that are as long as allowed, with the gold's words in another order."""
    for track, longest in LONGEST.items():
        length = min(longest, size // len(ITEMS))
        yield track, "texts as long as allowed, in another order", partial(_text_lines, ITEMS, length, 7)
        yield track, "texts of one word again and again", partial(_text_lines, ITEMS, length, 0)
        if track == "task9-ter":
            yield (
                track,
                "texts of one letter each",
                lambda: "\n".join(f"{item}\t{'a b ' * 12}" for item in ITEMS).encode(),
            )
            yield track, "texts with many words moved", partial(_moved, length)


def _moved(length: int) -> bytes:
    """Return the gold's texts with every other pair of neighboring words swapped."""
    lines = []
    for line in _text_lines(ITEMS, length, 1).decode().splitlines():
        item, _, text = line.partition("\t")
        words = text.split()
        for at in range(0, len(words) - 1, 4):
            words[at : at + 2] = words[at + 1], words[at]
        lines.append(f"{item}\t{' '.join(words)}")
    return "\n".join(lines).encode()


def _text_lines(items: list[str], length: int, step: int) -> bytes:
    """Return a text of words with five letters for each item. `step` determines their order."""
    words = max(1, length // 6)
    texts = (
        " ".join(f"{(at + n * step % words) * 7919 % 100_000:05d}" for n in range(words)) for at in range(len(items))
    )
    return "\n".join(f"{item}\t{text}" for item, text in zip(items, texts, strict=True)).encode()


def _at_maxima(size: int) -> Source:
    """Yield content for wide tracks and for tracks with very many lines, most of it valid and therefore scored."""
    wide, items = min(len(WIDE), size // 12_000), ITEMS[: size // 6000]
    yield "task2-wide", "a share for each class", lambda: _wide_shares(items, 1)
    yield "task2-wide", "all shares but one", lambda: _wide_shares(items, 1, wide - 1)
    yield "task2-wide", "unknown classes of each item", lambda: _wide_shares(items, 1, wide, "klass")
    yield "task2-many", "half of all labels of each item", lambda: _wide_labels(items, 1)
    for track in ("task4-wide", "task4-mean"):
        yield track, "a different value in each column", lambda: _wide_table(items, 1)
    yield "task4-wide", "columns before the right ones", lambda: _many_columns(size // 15)
    yield "task4-wide", "columns with other names", lambda: _numbered(lambda n: f"klass {n}", 13 * wide, "id,", "\n1")
    yield "task4-list", "a list of numbers of each item", lambda: _wide_lists(items, 1)
    yield "task6-greedy", "as many tuples as are scored", lambda: _full(size)
    yield "task6-conll", "an entity at each token", lambda: _tagged(min(TOKENS, size // 20_000), 1)
    yield (
        "task6-conll",
        "documents between all sentences",
        lambda: _tagged(1, 1) + b"\n-DOCSTART- O\n" * min(300_000, size // 20),
    )
    for name, kind in (("of each type", "TYPE"), ("of unknown types", "KIND")):
        yield "task6-types", f"annotations {name}", partial(_zipped, partial(_of_types, kind, min(99, size // 40_000)))
    yield (
        "task7-deep",
        "as many documents as there may be, all with the same score",
        lambda: "\n".join(
            f"{query} Q0 d{n} {n} 1 t" for query in QUERIES for n in range(min(DOCUMENTS, size // 8000))
        ).encode(),
    )
    yield (
        "task7-deep",
        "as many lines as are read, all with different documents",
        lambda: "\n".join(
            f"{QUERIES[n % len(QUERIES)]} Q0 {n * 7919 % 1_000_003} {n} 1 t"
            for n in range(min(limits.RANKED + limits.ENTRIES_FREE, size // 13))
        ).encode(),
    )
    rows = min(1_000_000, size // 12)
    yield "task8-ids", "a million unknown ids", lambda: b"".join(b"x%d\t1\n" % n for n in range(rows))
    yield "task8-ids", "ids with zeros", lambda: b"".join(b"0%d\t1\n" % (500_000 + n) for n in range(rows))
    yield "task8-ids", "as many answers as items", lambda: _rows_of_ids(MOST[: size // 50])


def _wide_shares(items: list[str], step: int, count: int = len(WIDE), name: str = "class") -> bytes:
    shares = ",".join(f'"{name} {n}":0.{n * 7 % 999 + step:03d}' for n in range(count))
    return _valued(items, ["{" + shares + "}"])


def _wide_labels(items: list[str], step: int) -> bytes:
    return _valued(items, [json.dumps(names, separators=(",", ":")) for names in (WIDE[step::2], WIDE[::3])])


def _valued(items: list[str], values: list[str]) -> bytes:
    """Return a JSON object for each item, with the values in turn."""
    records = (f'{{"id":"{item}","value":{values[at % len(values)]}}}' for at, item in enumerate(items))
    return f"[{','.join(records)}]".encode()


def _wide_table(items: list[str], step: int) -> bytes:
    head = ",".join(["id", *WIDE])
    rows = [",".join(str((n * 7 + at) % len(SCALE)) for n in range(len(WIDE))) for at in range(len(SCALE))]
    return "\n".join([head, *(f"{item},{rows[at * step % len(SCALE)]}" for at, item in enumerate(items))]).encode()


def _many_columns(count: int) -> bytes:
    return ",".join([*(f"x{n}" for n in range(count)), "id", *WIDE]).encode() + b"\n1,1\n"


def _wide_lists(items: list[str], step: int) -> bytes:
    numbers = ", ".join(f"0.{n * 7 % 999 + step:03d}" for n in range(len(WIDE)))
    return "\n".join(["id\tall", *(f"{item}\t[{numbers}]" for item in items)]).encode()


def _tagged(tokens: int, step: int, items: list[str] = ITEMS) -> bytes:
    """Return a sentence for each item, in which each token is an entity."""
    sentence = "".join(f"w{n} B-{('PER', 'LOC')[n // step % 2]}\n" for n in range(tokens))
    return "\n".join([sentence] * len(items)).encode()


def _of_types(kind: str, count: int) -> dict[str, bytes]:
    return {
        f"{item}.ann": b"".join(
            b"T%d\t%s%d %d %d\ta\n" % (n, kind.encode(), limits.CLASSES - 1 - (n + at) % 4000, 9 * n, 9 * n + 9)
            for n in range(count)
        )
        for at, item in enumerate(ITEMS)
    }


def _rows_of_ids(items: list[str]) -> bytes:
    return "\n".join(f"{item}\t{at % 2}" for at, item in enumerate(items)).encode()


def _as_many_as_are_read(size: int) -> Source:
    """Yield files just within the limits on entries and values, so that all of their content is checked."""
    entries = min(limits.ENTRIES_FREE, size // 100)
    values = min(limits.CELLS_FREE, size // 25)

    def lines(line: Callable[[int], str], head: str = "") -> Build:
        return lambda: "\n".join([head, *map(line, range(entries))]).lstrip("\n").encode()

    def objects(entry: Callable[[int], str]) -> Build:
        return lambda: f"[{','.join(map(entry, range(entries)))}]".encode()

    hard, multi, soft, wide = "task1-hard", "task2-hard", "task1-soft", "task2-soft"
    rows, trec = "task6-rows", "task7-trec"
    yield hard, "empty objects that are read", objects(lambda n: "{}")
    yield hard, "numbers that are read", objects(lambda n: "1")
    yield hard, "unknown keys that are read", objects(lambda n: f'{{"id":"{n}","k{n}":1}}')
    yield hard, "keys twice that are read", objects(lambda n: f'{{"id":"{n}","id":"{n}","value":[]}}')
    yield hard, "ids that are numbers that are read", objects(lambda n: f'{{"id":{n},"value":"YES"}}')
    yield hard, "wrong labels that are read", objects(lambda n: f'{{"id":"5{n}","value":"YE{n}","test_case":"EXIST"}}')
    yield hard, "keys of one object that are read", lambda: _keys(values)
    yield multi, "lists of wrong labels that are read", objects(lambda n: f'{{"id":"{n}","value":["A","B {n}"]}}')
    yield (
        soft,
        "numbers in quotes that are read",
        objects(lambda n: f'{{"id":"{n}","value":{{"YES":"0.5","no":1e999}}}}'),
    )
    yield wide, "missing classes that are read", objects(lambda n: f'{{"id":"{n}","value":{{}}}}')
    yield "task3-lines", "lines with a wrong label that are read", lines(lambda n: f'{{"id":"{n}","value":"Y"}}')
    yield (
        "task3-nested",
        "text that is read",
        objects(lambda n: f'{{"doc":{{"id":"{n}"}},"out":{{"a":1}}}}'),
    )
    yield "task3-rows", "lists that are read", objects(lambda n: f'{{"doc":{{"id":{n}}},"out":{{"mood":[]}}}}')
    yield "task4-csv", "wrong values that are read", lines(lambda n: f"{n},yes,no,1.0", "id,HS,TR,AG")
    yield "task4-csv", "ragged rows that are read", lines(lambda n: f"{n},1" + ",0" * (n % 7), "id,HS,TR,AG")
    yield "task4-csv", "quotes that are read", lines(lambda n: f'"{n}","1","1","x""y"', "id,HS,TR,AG")
    yield "task4-csv", "columns that are read", lambda: _repeated("HS", 3 * values, "id,", "\n1,1")
    yield "task4-numbers", "decimal commas that are read", lines(lambda n: f'{n},"0,5"', "id,mood")
    yield "task5-labels", "wrong labels that are read", lines(lambda n: f"{n},SEXUAL VIOLENCE {n}", "id,label")
    yield "task5-soft", "shares that are read", lines(lambda n: f"{n}{',0.9' * 6}", f"id,{','.join(KINDS)}")
    yield "task6-plain", "lines that are read", lines(lambda n: f"{n}\t[{n}, {n - 9}, -1]")
    yield "task6-plain", "lines without a list that are read", lines(lambda n: f"{n}\t(1, 2)")
    yield "task6-pairs", "spans that are read", lines(lambda n: f"{n}\t[[5, 1], [3, 2000000]]", "id\tspans")
    yield "task6-json", "spans that are read", objects(lambda n: f'{{"id":"{n}","spans":[[5,1],[-7,3]]}}')
    yield "task6-json", "spans that are no numbers", objects(lambda n: f'{{"id":"{n}","spans":["a"]}}')
    yield rows, "rows that are read", lines(lambda n: f"{500_000 + n % 2000},{n},{n + 1000}", "id,start,stop")
    yield rows, "rows without offsets that are read", lines(lambda n: f"{n},a,b", "id,start,stop")
    yield trec, "documents that are read", lines(lambda n: f"{500_000 + n % 99} Q0 d{n // 198} {n} {n} t")
    yield trec, "words for numbers that are read", lines(lambda n: f"{n} Q0 d first best t")


def _keys(count: int) -> bytes:
    return ('[{"id":"500000",' + ",".join(f'"key {n}":1' for n in range(count)) + "}]").encode()


def _texts(size: int) -> Source:
    yield "task1-hard", "zero bytes", lambda: bytes(size)
    yield "task1-hard", "UTF-16", lambda: ("[" * (size // 2)).encode("utf-16")
    yield "task1-hard", "bytes that are no UTF-8", lambda: b"[" + b"\xff" * size
    yield "task4-csv", "bytes of no character", lambda: b"\x80" * size
    yield "task1-hard", "characters of four bytes", lambda: _repeated('{"id":"' + "\U0001f600" * 20 + '"}', size)
    yield (
        "task4-csv",
        "characters that are composed",
        lambda: _numbered(lambda n: f"e\u0301{n},1,1,1", size, "id,HS,TR,AG\n", "", "\n"),
    )
    yield (
        "task4-csv",
        "one accent on another",
        lambda: ("id,HS,TR,AG\ne" + "\u0301" * (min(size, 120_000) // 2) + ",1,1,1\n").encode(),
    )
    yield (
        "task6-plain",
        "ids of accents in the wrong order",
        lambda: _repeated("e" + "\u0301\u0323" * 15_000 + "\t[]", size, "", "", "\n"),
    )
    yield "task6-plain", "ids of accents", lambda: _repeated("\u0301" * 2000 + "\t[]", size, "", "", "\n")


def _names(count: int) -> Iterator[Hostile]:
    """Yield uploads with hostile names: single files, and archives of small files with many names."""
    valid = VALID["task1-hard"](ITEMS)
    for name in (
        "_" * 150,
        "task1_" * 25,
        "a-" * 75,
        "task1_hard_" + "x_" * 60,
        "\u0301" * 150,
        "x" * 100_000,
        "." * 150,
        "e" + "\u0301\u0323" * 30_000,  # combining accents, which normalization must reorder
    ):
        yield Hostile(f"name: {name[:12]!a} …", name, lambda: valid)
    patterns: dict[str, Callable[[int], str]] = {
        "words": lambda n: f"results of our best system number {n} final version really.txt",
        "underscores": lambda n: "_" * (140 - n % 40) + str(n),
        "parts of right names": lambda n: "task1_hard_" * 12 + str(n),
        "other teams": lambda n: f"task1_hard_{'x_' * 50}{n}_1.txt",
        "no track": lambda n: f"task{n}_hard_{TEAM}_1.txt",
        "no number": lambda n: f"task1_hard_{TEAM}_{n + 4}.txt",
        "case": lambda n: f"TASK1_hArD_{TEAM}_{n}.TXT",
        "accents": lambda n: "e\u0301" * 70 + str(n),
        "control characters": lambda n: f"task1_hard_{TEAM}\u202e_{n}\x07.txt",
        "folders": lambda n: f"runs\\sub{n}\\task1_hard_{TEAM}_1.txt",
        "archives": lambda n: f"task1_hard_{TEAM}_{n}.zip",
        "accents in the wrong order": lambda n: "e" + "\u0301\u0323" * 240 + str(n),
        "long": lambda n: "task1_hard_" + "y" * 400 + str(n),
    }
    for name, pattern in patterns.items():
        yield Hostile(f"archive of names: {name}", f"hostile_{TEAM}.zip", _archive(lambda n: b"x", pattern, count))


def _archive(content: Callable[[int], bytes], pattern: Callable[[int], str], count: int) -> Build:
    def build() -> bytes:
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
            for number in range(count):
                archive.writestr(zipfile.ZipInfo(pattern(number)), content(number), zipfile.ZIP_DEFLATED)
        return file.getvalue()

    return build


def _right_name(number: int) -> str:
    """Return the valid run name with this number. Consecutive numbers are for different tracks."""
    track = list(TRACKS)[number % len(TRACKS)].replace("-", "_")
    return f"{track}_{TEAM}_{number // len(TRACKS) + 1}.txt"


def _archives(size: int, names: int) -> Iterator[Hostile]:
    each = size // names
    wrong = b"[" + b",".join(b'{"id": "%s", "value": "Yes"}' % item.encode() for item in ITEMS) + b"]"
    soft = VALID["task1-soft"](ITEMS)
    padded = VALID["task1-hard"](ITEMS).replace(b"\n", b"\n" + b" " * (each // 50))
    cells = b"\n".join(b"%s,yes,no,1" % item.encode() for item in ITEMS)
    numbers = [f"{n * 7919 % 1_000_003}" for n in range(each // 3)]
    contents: dict[str, Callable[[int], bytes]] = {
        "wrong labels": lambda n: wrong,
        "runs of another track": lambda n: soft,
        "runs padded with blanks": lambda n: padded,
        "wrong cells": lambda n: cells,
        "unknown ids": lambda n: ("id,HS,TR,AG\n" + "\n".join(f"{at}{n},1,1,1" for at in numbers)).encode(),
        "little bombs": lambda n: b"[{}" + b",{}" * 300_000 + b"]",
        "spans": lambda n: b"500000\t[" + b"1,2," * 250_000 + b"3]",
    }
    for name, content in contents.items():
        yield Hostile(f"archive of {name}", f"hostile_{TEAM}.zip", _archive(content, _right_name, names))
        near = _archive(content, lambda n: f"task1_hard_Lak-NLP_{n}.txt", names)
        yield Hostile(f"archive of {name} under near names", f"hostile_{TEAM}.zip", near)
    few = max(1, size // 240_000)
    yield Hostile(
        "archive of one large bomb",
        f"hostile_{TEAM}.zip",
        _archive(lambda n: b"[" + b'{"id": "1"},' * (few * 400_000) + b"1]", _right_name, 1),
    )
    yield Hostile(
        "archive of large wrong runs",
        f"hostile_{TEAM}.zip",
        _archive(lambda n: _records(lambda at: f'"Y{at}"', few * 1500), lambda n: f"task1_hard_{TEAM}_{n + 1}", 3),
    )
    inner = _archive(lambda n: wrong, _right_name, names)
    yield Hostile(
        "archive of archives", f"hostile_{TEAM}.zip", _archive(lambda n: inner(), lambda n: f"runs{n}.zip", 5)
    )
    yield Hostile(
        "archive cut off", f"hostile_{TEAM}.zip", lambda: _archive(lambda n: wrong, _right_name, names)()[:-30]
    )


def _json_run(value: Callable[[int], object], constant: bool = False) -> Callable[[list[str]], bytes]:
    more = {"test_case": "EXIST2024"} if constant else {}

    def build(items: list[str]) -> bytes:
        return (
            "[" + ",\n".join(json.dumps({"id": item, "value": value(at)} | more) for at, item in enumerate(items)) + "]"
        ).encode()

    return build


def _table_run(header: str, row: Callable[[int], str], between: str = ",") -> Callable[[list[str]], bytes]:
    return lambda items: "\n".join(
        [*([header] if header else []), *(f"{item}{between}{row(at)}" for at, item in enumerate(items))]
    ).encode()


def _lines_run(items: list[str]) -> bytes:
    return b"".join(
        json.dumps({"id": item, "value": ("YES", "NO")[at % 2]}).encode() + b"\n" for at, item in enumerate(items)
    )


def _spans_json(items: list[str]) -> bytes:
    return json.dumps([{"id": item, "spans": [[at % 5, at % 5 + 9]]} for at, item in enumerate(items)]).encode()


SHARES = {kind: 1 / len(KINDS) for kind in KINDS}
VALID: dict[str, Callable[[list[str]], bytes]] = {
    "task1-hard": _json_run(lambda at: ("YES", "NO")[at % 2], True),
    "task1-soft": _json_run(lambda at: {"YES": 0.25, "NO": 0.75} if at % 2 else {"YES": 0.5, "NO": 0.5}, True),
    "task2-hard": _json_run(lambda at: [KINDS[at % len(KINDS)]]),
    "task2-soft": _json_run(lambda at: SHARES),
    "task3-lines": _lines_run,
    "task3-nested": lambda items: json.dumps(
        [{"doc": {"id": int(item)}, "out": {"a": {"label": at % 2}}} for at, item in enumerate(items)]
    ).encode(),
    "task3-dict": lambda items: json.dumps({item: ("YES", "NO")[at % 2] for at, item in enumerate(items)}).encode(),
    "task3-rows": lambda items: json.dumps(
        [{"doc": {"id": int(item)}, "out": {"mood": at % 7 / 4}} for at, item in enumerate(items)]
    ).encode(),
    "task4-tsv": _table_run("", lambda at: str(at % 2), "\t"),
    "task4-order": lambda items: "\n".join(str(at % 2) for at, _ in enumerate(items)).encode(),
    "task4-csv": _table_run("id,HS,TR,AG", lambda at: f"{at % 2},0,0"),
    "task4-numbers": _table_run("id,mood", lambda at: str(at % 10 / 10)),
    "task5-labels": _table_run("id,label", lambda at: KINDS[at % len(KINDS)]),
    "task5-soft": _table_run("id," + ",".join(KINDS), lambda at: ",".join(["0.5"] * len(KINDS))),
    "task6-plain": _table_run("", lambda at: f"[{at % 5}, {at % 5 + 1}]", "\t"),
    "task8-many": _table_run("", lambda at: f"[{at % 5}, {at % 5 + 1}]", "\t"),
    "task6-pairs": _table_run("id\tspans", lambda at: f"[[{at % 5}, {at % 5 + 9}]]", "\t"),
    "task6-rows": _table_run("id,start,stop", lambda at: f"{at % 5},{at % 5 + 9}"),
    "task6-json": _spans_json,
    "task6-relations": lambda items: _zipped(
        lambda: {
            f"{item}.ann": _overlapping(4) + b"R1\tnear Arg1:T0 Arg2:T1\nR2\tnear Arg1:T2 Arg2:T3\n" for item in items
        }
    ),
    "task6-typed": lambda items: _nested_spans(items, TYPED_SPANS, 0),
    "task6-brat": lambda items: _zipped(lambda: {f"{item}.ann": b"T1\tPER 0 5\tAlice\n" for item in items}),
    **{track: partial(_text_lines, length=longest, step=1) for track, longest in LONGEST.items()},
    "task2-wide": lambda items: _wide_shares(items, 0),
    "task2-many": lambda items: _wide_labels(items, 0),
    "task4-wide": lambda items: _wide_table(items, 7),
    "task4-mean": lambda items: _wide_table(items, 7),
    "task4-list": lambda items: _wide_lists(items, 0),
    "task6-conll": lambda items: _tagged(TOKENS, 3, items),
    "task6-types": lambda items: _zipped(
        lambda: {f"{item}.ann": b"T1\tTYPE%d 0 5\ta\n" % (at % 4000) for at, item in enumerate(items)}
    ),
    "task6-greedy": lambda items: _full(len(items) * 30 * 120),
    "task8-ids": lambda items: _rows_of_ids(MOST[: 113 * len(items)]),
    "task6-sets": _json_run(
        lambda at: [{"who": f"who one {n}", "what": "two three", "kind": KINDS[at % 6]} for n in range(5)]
    ),
    **hostile_metrics.GOLD,
    "task6-tuples": _table_run("id\twho\twhat", lambda at: f"a\tb{at % 9}", "\t"),
}
