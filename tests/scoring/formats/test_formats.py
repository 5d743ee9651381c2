"""Runs in many formats: handwritten files, what they mean, and the errors in invalid files."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring import Definition, DefinitionError, check, load_definition, score
from scoring.answers import Answers, Entities, Matrix, Ranking, Spans, Texts, Tuples
from scoring.formats import read_gold, read_run
from scoring.formats.filetypes import foreign_kind
from scoring.items.index import ItemIndex
from scoring.reports.problems import Report
from tests.scoring.formats.test_fuzz import QUICK, mutated

ITEMS = ["a", "b", "c"]
TRACKS = """
agon: 1
slug: formats
title: Formats
year: 2027
languages: [en]
tracks:
  - slug: lines
    format: {kind: json-labels, classes: [X, Y], lines: true}
    items: items.txt
    metrics: [accuracy]
    rank_by: accuracy
  - slug: soft-lines
    format: {kind: json-soft, classes: [X, Y], lines: true}
    items: items.txt
    metrics: [mae]
    rank_by: mae
  - slug: map
    format: {kind: table, separator: "|", id: key, columns: {HS: hate, TR: target}, extra_columns: ignore}
    items: items.txt
    metrics: ["f1_macro:hate"]
    rank_by: "f1_macro:hate"
  - slug: numbers
    format: {kind: table, separator: semicolon, id: id, columns: [mood], values: number, low: -1, high: 1}
    items: items.txt
    metrics: [pearson]
    rank_by: pearson
  - slug: kinds
    format:
      {kind: table, id: id, columns: {stars: {kind: ordinal, values: [-1, 2]}, p: {kind: number, name: price, low: 0}}}
    items: items.txt
    metrics: ["mae_macro:stars", "mae:price", "cem_ord:stars"]
    rank_by: "mae:price"
  - slug: labels
    format: {kind: table-labels, id: id, classes: [X, Y]}
    items: items.txt
    metrics: [f1_macro]
    rank_by: f1_macro
  - slug: several
    format: {kind: table-labels, separator: tab, header: none, id: id, classes: [X, Y], multi: true, between: "+"}
    items: items.txt
    metrics: [f1_macro]
    rank_by: f1_macro
  - slug: shares
    format: {kind: table-soft, id: id, classes: [X, Y], sum: 1}
    items: items.txt
    metrics: [mae]
    rank_by: mae
  - slug: listed
    format:
      {kind: table-soft, separator: tab, header: none, id: id, classes: [X, Y], list: soft, sum: 1}
    items: items.txt
    metrics: [manhattan]
    rank_by: manhattan
  - slug: annotators
    format: {kind: table, id: id, columns: [ann, bob], values: [-1, 0, 1], list: labels}
    items: items.txt
    metrics: [annotator_error]
    rank_by: annotator_error
  - slug: pairs
    format: {kind: spans, spans: pairs, end: inclusive}
    items: items.txt
    metrics: [span_f1]
    rank_by: span_f1
  - {slug: cells, format: {kind: spans, file: table, id: id}, items: items.txt, metrics: [span_f1], rank_by: span_f1}
  - slug: rows
    format: {kind: spans, file: table, spans: rows, id: id, stop: end, extra_columns: ignore}
    items: items.txt
    metrics: [span_f1]
    rank_by: span_f1
  - slug: json
    format: {kind: spans, file: json, spans: pairs}
    items: items.txt
    metrics: [span_f1]
    rank_by: span_f1
  - {slug: plain, format: {kind: spans}, texts: texts.csv, items: items.txt, metrics: [span_f1], rank_by: span_f1}
  - slug: bio
    format: {kind: conll, classes: [P, L], ids: comments}
    items: items.txt
    texts: sentences.csv
    metrics: [entity_f1]
    rank_by: entity_f1
  - slug: bioes
    format: {kind: conll, classes: [P, L], scheme: BIOES, ids: comments}
    items: items.txt
    texts: sentences.csv
    metrics: [entity_f1]
    rank_by: entity_f1
  - {slug: ranking, format: {kind: trec-run, depth: 3}, items: items.txt, metrics: ["ndcg"], rank_by: ndcg}
  - slug: lists
    format: {kind: id-lists, file: table, id: post, value: preds, separator: tab, quotes: none, depth: 3}
    items: items.txt
    metrics: ["mrr:5"]
    rank_by: "mrr:5"
  - {slug: ids, format: {kind: id-lists, depth: 3}, items: items.txt, metrics: [bpref], rank_by: bpref}
  - {slug: outputs, format: {kind: text-lines, ids: first}, items: items.txt, metrics: [wer], rank_by: wer}
  - {slug: records, format: {kind: json-texts, lines: true}, items: items.txt, metrics: [wer], rank_by: wer}
  - slug: typed
    format: {kind: typed-spans, classes: [P, L]}
    items: items.txt
    texts: texts.csv
    metrics: [entity_f1, entity_f1_surface]
    rank_by: entity_f1
  - slug: typed-cells
    format: {kind: typed-spans, classes: [P, L], file: table, id: id, end: inclusive}
    items: items.txt
    metrics: [entity_f1]
    rank_by: entity_f1
  - slug: typed-rows
    format: {kind: typed-spans, classes: [P, L], file: table, spans: rows, id: id, stop: end, type: t}
    items: items.txt
    metrics: [entity_f1]
    rank_by: entity_f1
  - slug: typed-json
    format: {kind: typed-spans, classes: [P, L], file: json, lines: true}
    items: items.txt
    metrics: [entity_f1]
    rank_by: entity_f1
  - slug: typed-objects
    format: {kind: typed-spans, classes: [P, L], file: json, spans: objects, stop: end, type: label}
    items: items.txt
    metrics: [entity_f1]
    rank_by: entity_f1
  - slug: tuple-rows
    format: {kind: tuples, columns: [what, kind], values: {kind: [X, Y]}, file: table, id: id, most: 3}
    items: items.txt
    metrics: [tuple_f1]
    rank_by: tuple_f1
  - slug: tuple-objects
    format: {kind: tuples, columns: [what, kind], values: {kind: [X, Y]}, optional: [what], lines: true, most: 3}
    items: items.txt
    metrics: [{name: tuple_f1_macro, by: kind}, "tuple_f1_partial:what+kind"]
    rank_by: tuple_f1_macro
  - slug: tuple-lists
    format: {kind: tuples, columns: [what, kind], tuples: lists, most: 3}
    items: items.txt
    metrics: ["tuple_exact_match"]
    rank_by: tuple_exact_match
naming: {run: "{track}_{team}"}
phases:
  - {slug: open, opens: "2027-01-01 00:00 UTC", scores: at-once, official: best}
"""
RIGHT = {
    "lines": b'{"id": "b", "value": "Y"}\n{"id": "a", "value": "X"}\n{"id": "c", "value": "X"}\n',
    "soft-lines": b"".join(b'{"id": "%c", "value": {"X": 0.5, "Y": 1}}\n' % item for item in b"abc"),
    "map": b"HS|note|key|TR\n1|x|a|0\n0|y|b|1\n1|z|c|1\n",
    "numbers": b"id;mood\na;0.5\nb;-1\nc;+1e-1\n",
    "kinds": b"id,stars,p\na,-1,0.5\nb,2,3\nc,2,1e3\n",
    "labels": b"id,label\nb,Y\na,X\nc,X\n",
    "several": b"a\tX\nb\tY+X\nc\tY\n",
    "shares": b"id,X,Y\na,0.25,0.75\nb,1,0\nc,.5,5e-1\n",
    "listed": b"a\t[0.25,0.75]\nb\t[1, 0]\nc\t [.5, 5e-1 ]\n",
    "annotators": b'id,labels\na,"[1,0]"\nb,"[0, -1]"\nc,"[1,1]"\n',
    "pairs": b"a\t[[3, 4], [8, 8]]\nb\t[]\nc\t[[0, 0]]\n",
    "cells": b'id,spans\na,"[3, 4, 8]"\nb,[]\nc,[0]\n',
    "rows": b"start,end,id,note\n8,9,a,\n,,b,\n3,5,a,\n0,1,c,\n",
    "json": json.dumps(
        [{"id": "a", "value": [[3, 5], [8, 9]]}, {"id": "b", "value": []}, {"id": "c", "value": [[0, 1]]}]
    ).encode(),
    "plain": b"a\t[3, 4, 8]\nb\t[]\nc\t[0]\n",
    "bio": b"# id = a\nIn O\nRio NN I-x B-L\nde I-L\n\n# id = b\n#\tO\n\n\n# id = c\nMaria B-P\nRio B-L\n",
    "bioes": b"# id = a\nIn O\nRio B-L\nde E-L\n\n# id = b\n#\tO\n\n# id = c\nMaria S-P\nRio S-L\n",
    "outputs": 'a\tOne "x".\nc\t\nb\tñu\ttoo\n'.encode(),
    "records": '{"id": "a", "value": "One \\"x\\"."}\n{"id": "c", "value": ""}\n'
    '{"id": "b", "value": "ñu\\ttoo"}\n'.encode(),
    "typed": b'a\t[[3, 5, "P"], [0, 9, "L"], [3, 5, "L"]]\nb\t[]\nc\t[[0, 1, "P"]]\n',
    "typed-cells": b'id,spans\na,"[[3, 4, ""P""], [0, 8, ""L""], [3, 4, ""L""]]"\nb,[]\nc,"[[0, 0, ""P""]]"\n',
    "typed-rows": b"t,start,end,id\nP,3,5,a\n,,,b\nL,3,5,a\nP,0,1,c\nL,0,9,a\n",
    "typed-json": b'{"id": "a", "value": [[3, 5, "P"], [0, 9, "L"], [3, 5, "L"]]}\n{"id": "b", "value": []}\n'
    b'{"id": "c", "value": [[0, 1, "P"]]}\n',
    "typed-objects": json.dumps(
        [
            {"id": item, "value": [{"start": begin, "end": end, "label": kind} for begin, end, kind in own]}
            for item, own in {"a": [(3, 5, "P"), (0, 9, "L"), (3, 5, "L")], "b": [], "c": [(0, 1, "P")]}.items()
        ]
    ).encode(),
    "lists": b'post\tpreds\nb\t[ \'d1\' ,"d\'2"]\na\t[]\nc\t["d3"]\n',
    "ids": b'[{"id": "b", "value": ["d1", "d\'2"]}, {"id": "a", "value": []}, {"id": "c", "value": ["d3"]}]',
    "tuple-rows": "kind,id,what\nY,a,the  food \nX,c,ñ\n,b,\nX,a,2\n".encode(),
    "tuple-objects": '{"id": "a", "value": [{"what": "the  food ", "kind": "Y"}, {"kind": "X", "what": 2}]}\n'
    '{"id": "c", "value": [{"what": "ñ", "kind": "X"}]}\n{"id": "b", "value": []}\n'.encode(),
    "tuple-lists": '[{"id": "a", "value": [["the  food ", "Y"], ["2", "X"]]}, {"id": "b", "value": []}, '
    '{"id": "c", "value": [["ñ", "X"]]}]'.encode(),
    "ranking": b"a Q0 d1 1 9.5 me\nb Q0 d1 1 2 me\na Q0 d2 2 -1e2 me\nc Q0 d3 1 0 me\n",
}
COLUMNS = {"annotators": ("ann", "bob"), "map": ("hate", "target"), "numbers": ("mood",), "kinds": ("stars", "price")}
MEANT: dict[str, Any] = {
    "lines": (["b", "a", "c"], [[False, True], [True, False], [True, False]]),
    "soft-lines": (ITEMS, [[0.5, 1.0]] * 3),
    "map": (ITEMS, [[1, 0], [0, 1], [1, 1]]),
    "numbers": (ITEMS, [[0.5], [-1.0], [0.1]]),
    "kinds": (ITEMS, [[-1.0, 0.5], [2.0, 3.0], [2.0, 1000.0]]),
    "labels": (["b", "a", "c"], [[False, True], [True, False], [True, False]]),
    "several": (ITEMS, [[True, False], [True, True], [False, True]]),
    "shares": (ITEMS, [[0.25, 0.75], [1.0, 0.0], [0.5, 0.5]]),
    "listed": (ITEMS, [[0.25, 0.75], [1.0, 0.0], [0.5, 0.5]]),
    "annotators": (ITEMS, [[1, 0], [0, -1], [1, 1]]),
    "ranking": (ITEMS, [("d1", 9.5), ("d2", -100.0), ("d1", 2.0), ("d3", 0.0)]),
}


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Definition:
    folder = tmp_path_factory.mktemp("formats")
    (folder / "task.yaml").write_text(TRACKS, encoding="utf-8")
    (folder / "items.txt").write_text("\n".join(ITEMS), encoding="utf-8")
    (folder / "texts.csv").write_text("id,text\na,123456789\nb,123\nc,1\n", encoding="utf-8")
    return load_definition(folder)


def read(task: Definition, track: str, data: bytes, report: Report | None = None) -> Answers | None:
    return read_run(task.track(track), data, report or Report(), items=ItemIndex(ITEMS))


def problems(task: Definition, track: str, data: bytes) -> dict[str, Any]:
    return {problem.code: problem for problem in check(task, track, data)}


@pytest.mark.parametrize("track", RIGHT)
@pytest.mark.parametrize(("mark", "end", "tail"), [(b"", b"\n", b""), (b"\xef\xbb\xbf", b"\r\n", b"\r\n\r\n")])
def test_right_files_mean_what_they_say(task: Definition, track: str, mark: bytes, end: bytes, tail: bytes) -> None:
    data = mark + RIGHT[track].replace(b"\n", end) + tail
    assert check(task, track, data).problems == []
    answers = read(task, track, data)
    if isinstance(answers, Matrix):
        assert (answers.ids, answers.values.tolist()) == MEANT[track]
        assert answers.columns == COLUMNS.get(track, ("X", "Y"))
    elif isinstance(answers, Spans):
        parts = [answers.offsets(row) for row in range(len(answers.ids))]
        assert dict(zip(answers.ids, parts, strict=True)) == {"a": [3, 4, 8], "b": [], "c": [0]}
    elif isinstance(answers, Entities) and answers.lengths is None:
        found_rows = {item: answers.of_item(row) for row, item in enumerate(answers.ids)}
        assert found_rows == {"a": [("L", 0, 9), ("P", 3, 5), ("L", 3, 5)], "b": [], "c": [("P", 0, 1)]}
    elif isinstance(answers, Entities):
        assert answers.lengths is not None
        found = zip(answers.kinds.tolist(), answers.begins.tolist(), answers.ends.tolist(), strict=True)
        assert list(found) == [(1, 1, 3), (0, 0, 1), (1, 1, 2)]
        assert (answers.starts.tolist(), answers.lengths.tolist()) == ([0, 1, 1, 3], [3, 1, 2])
    elif isinstance(answers, Texts):
        assert answers == Texts(["a", "c", "b"], [('One "x".',), ("",), ("ñu\ttoo",)])
    elif isinstance(answers, Tuples):
        sets = {item: answers.of_item(row) for row, item in enumerate(answers.ids)}
        assert sets == {"a": [("2", "X"), ("the food", "Y")], "b": [], "c": [("ñ", "X")]}
    elif track in ("lists", "ids"):
        assert isinstance(answers, Ranking)
        assert (answers.ids, answers.documents) == (["b", "a", "c"], ["d1", "d'2", "d3"])
        assert (answers.starts.tolist(), answers.scores.tolist()) == ([0, 2, 2, 3], [0, -1, 0])
    else:
        assert isinstance(answers, Ranking)
        assert answers.starts.tolist() == [0, 2, 3, 4]
        assert (answers.ids, list(zip(answers.documents, answers.scores.tolist(), strict=True))) == MEANT[track]


@pytest.mark.parametrize("track", ["map", "numbers", "kinds", "labels", "several", "shares", "cells", "rows"])
def test_quoted_cells_do_not_matter(task: Definition, track: str) -> None:
    separator = {"map": b"|", "numbers": b";", "several": b"\t"}.get(track, b",")
    if track == "cells":
        quoted = RIGHT[track].replace(b"b,[]", b'"b","[]"')
    else:
        rows = (row.split(separator) for row in RIGHT[track].splitlines())
        quoted = b"\n".join(separator.join(b'"%s"' % cell for cell in row) for row in rows)
    left, right = read(task, track, quoted), read(task, track, RIGHT[track])
    assert left is not None
    assert right is not None
    assert left.ids == right.ids
    assert repr(left) == repr(right)


@pytest.mark.parametrize(
    ("track", "old", "new", "code", "line"),
    [
        ("lines", b'"a", "value"', b'"a" "value"', "json-syntax", 2),
        ("lines", b'"Y"}\n', b'"Y"}', "json-syntax", 1),  # two objects on one line
        ("lines", b'"Y"', b'"Z"', "label-outside-domain", None),
        ("lines", b'"id": "b"', b'"id": "a"', "duplicate-ids", None),
        ("outputs", b"c\t", b"c", "text-line", 2),
        ("lists", b"[]", b"d1, d2", "documents-not-a-list", 3),
        ("lists", b"[]", b"['d1', d2]", "documents-not-a-list", 3),
        ("lists", b'"d\'2"', b"'d1'", "document-twice", 2),
        ("lists", b"[]", b"['1', '2', '3', '4']", "too-many-documents", 3),
        ("ids", b"[]", b'"d1"', "documents-not-a-list", None),
        ("ids", b"[]", b'["1", "2", "3", "4"]', "too-many-documents", None),
        ("outputs", b"One", b"One" * 2000, "text-too-long", None),
        ("records", b'""', b"[]", "text-not-a-text", None),
        ("records", b'"a"', b'"b"', "duplicate-ids", None),
        ("map", b"TR", b"tr", "header-column-missing", 1),
        ("map", b"1|x|a|0", b"2|x|a|0", "value-outside-domain", 2),
        ("map", b"|", b"\t", "wrong-separator", 1),
        ("numbers", b"-1", b"nan", "value-not-a-number", 3),
        ("numbers", b"-1", b"1_0", "value-not-a-number", 3),
        ("numbers", b"-1", b"1e999", "value-not-a-number", 3),
        ("numbers", b"-1", b" -1", "value-not-a-number", 3),
        ("numbers", b"-1", b"-1.5", "value-outside-domain", 3),
        ("numbers", b"-1", b"", "value-missing", 3),
        ("kinds", b"2,3", b"1,3", "value-outside-domain", 3),
        ("kinds", b"2,3", b"2,-3", "value-outside-domain", 3),
        ("kinds", b"2,3", b"2.5,3", "value-outside-domain", 3),
        ("labels", b"a,X", b"a,x", "label-outside-domain", 3),
        ("labels", b"a,X", b"a,X,X", "ragged-row", 3),
        ("several", b"Y+X", b"Y+Y", "label-twice", 2),
        ("several", b"Y+X", b"", "no-label", 2),
        ("shares", b"0.75", b"0.5", "wrong-sum", None),
        ("shares", b"1,0", b"2,-1", "share-out-of-range", None),
        ("shares", b"0.75", b"x", "value-not-a-number", 2),
        ("listed", b"[1, 0]", b"1, 0", "values-not-a-list", 2),
        ("listed", b"[1, 0]", b"[1, 0, 0]", "values-not-a-list", 2),
        ("listed", b"[1, 0]", b"[]", "values-not-a-list", 2),
        ("listed", b"[1, 0]", b"[1, 1]", "wrong-sum", None),
        ("listed", b"[1, 0]", b"[1, x]", "value-not-a-number", 2),
        ("annotators", b"[0, -1]", b"[0, 2]", "value-outside-domain", 3),
        ("annotators", b"[0, -1]", b"[0, ]", "value-missing", 3),
        ("pairs", b"[8, 8]", b"[8, 7]", "span-empty", 1),
        ("pairs", b"[8, 8]", b"[8]", "span-not-offsets", 1),
        ("pairs", b"[8, 8]", b"[8, 99999999]", "offset-too-large", 1),
        ("cells", b"[0]", b"[0],[1]", "ragged-row", 4),
        ("cells", b"[0]", b"0", "span-not-offsets", 4),
        ("cells", b"[3, 4, 8]", b"[3, 4, 8], [9", "span-not-offsets", 2),
        ("rows", b"0,1,c", b"0,,c", "span-not-pair", 5),
        ("rows", b"0,1,c", b"1,1,c", "span-empty", 5),
        ("json", b"[0, 1]", b"[0, 1, 2]", "span-not-offsets", None),
        ("json", b"[0, 1]", b"[0, 5000000000]", "offset-too-large", None),
        ("json", b'"id": "c"', b'"id": 3', "id-not-a-text", None),
        ("plain", b"[0]", b"[0], [1]", "span-not-offsets", 3),
        ("ranking", b"c Q0 d3 1 0 me", b"c Q0 d3 1 0", "trec-line", 4),
        ("ranking", b"9.5", b"Infinity", "trec-number", 1),
        ("ranking", b"d1 1 9.5", b"d1 1.0 9.5", "decimal-point", 1),
        ("ranking", b"d2 2", b"d1 2", "document-twice", 3),
        ("bio", b"de I-L", b"de I-P", "tag-out-of-order", 4),
        ("bio", b"In O", b"In I-L", "tag-out-of-order", 2),
        ("bio", b"de I-L", b"de", "token-line", 4),
        ("bio", b"# id = c", b"# c", "token-line", 10),
        ("bio", b"de I-L", b"de i-L", "label-outside-domain", 4),
        ("bio", b"de I-L", b"de E-L", "label-outside-domain", 4),
        ("bio", b"# id = c", b"# id = a", "duplicate-ids", None),
        ("bioes", b"de E-L", b"de I-L", "tag-out-of-order", 3),
        ("bioes", b"de E-L", b"de O", "tag-out-of-order", 3),
        ("bioes", b"S-P", b"E-P", "tag-out-of-order", 10),
        ("typed", b'3, 5, "P"', b'5, 3, "P"', "span-empty", 1),
        ("typed", b'"P"', b'"p"', "label-outside-domain", 1),
        ("typed", b'3, 5, "P"', b"3, 5", "span-not-offsets", 1),
        ("typed", b"[0, 1,", b"[0, 2,", "offset-outside-text", 3),
        ("typed-cells", b'""P""]]"\n', b'""X""]]"\n', "label-outside-domain", 4),
        ("typed-rows", b"P,3,5", b"X,3,5", "label-outside-domain", 2),
        ("typed-rows", b"P,3,5", b"P,3,", "span-not-pair", 2),
        ("typed-json", b'"P"', b"1", "span-not-offsets", None),
        ("typed-json", b'"P"', b'"X"', "label-outside-domain", None),
        ("typed-objects", b'"label": "P"', b'"type": "P"', "span-not-offsets", None),
        ("typed-objects", b'"label": "P"', b'"label": "X"', "label-outside-domain", None),
        ("tuple-rows", b"X,c", b",c", "value-missing", 3),
        ("tuple-rows", b"X,a,2", b"x,a,2", "value-outside-domain", 5),
        ("tuple-rows", b"X,a,2", b"X,a,2\nX,a,3\nX,a,4", "too-many-tuples", None),
        ("tuple-rows", b",b,", b",a,", "missing-items", None),
        ("tuple-rows", b"what", b"who", "header-column-missing", 1),
        ("tuple-objects", b'"kind": "Y"', b'"kind": "X", "kind": "Y"', "json-duplicate-key", None),
        ("tuple-objects", b'"kind": "Y"', b'"type": "Y"', "tuples-not-a-list", None),
        ("tuple-objects", b'"kind": "Y"', b'"kind": ["Y"]', "tuples-not-a-list", None),
        ("tuple-objects", b'"kind": "Y"', b'"kind": null', "value-missing", None),
        ("tuple-objects", b'"kind": "Y"', b'"kind": "Z"', "value-outside-domain", None),
        ("tuple-lists", b'"Y"]', b'"Y", "Z"]', "tuples-not-a-list", None),
        ("tuple-lists", b'"Y"]', b'"Y"], ["a", "b"], ["a", "c"]', "too-many-tuples", None),
        ("tuple-lists", b'"id": "b"', b'"id": "a"', "duplicate-ids", None),
        ("ranking", b"c Q0", b"e Q0", "unknown-ids", None),
        ("ranking", b"b Q0 d1 1 2 me", b"a Q0 d4 3 -101 me\na Q0 d5 4 -102 me", "too-many-documents", None),
    ],
)
def test_errors_are_named_with_their_line(
    task: Definition, track: str, old: bytes, new: bytes, code: str, line: int | None
) -> None:
    data = RIGHT[track].replace(old, new, 1 if old != b"|" else -1)
    assert data != RIGHT[track]
    found = problems(task, track, data)
    assert found[code].severity == "error"
    assert found[code].line == line


def test_warnings_leave_a_run_valid(task: Definition) -> None:
    cases = {
        ("plain", b"a\t[4, 3, 4, 8]\nb\t[3]\nc\t[0]\n"): {"offset-twice", "offset-outside-text"},
        ("plain", b"a\t[-1, 3]\nb\t[]\nc\t[0]\n"): {"offset-negative"},
        ("typed-rows", RIGHT["typed-rows"].replace(b",,,b", b"P,,,b")): {"span-without-offsets"},
        ("ranking", RIGHT["ranking"].replace(b"-1e2", b"10")): {"rank-against-score"},
        ("tuple-rows", RIGHT["tuple-rows"].replace(b"X,a,2", b"Y,a,the food")): {"tuple-twice"},
    }
    for (track, data), codes in cases.items():
        report = check(task, track, data)
        assert {problem.code for problem in report.warnings} == codes
        assert report.ok
    assert problems(task, "plain", b"a\t[4, 3, 4]\nb\t[3]\nc\t[0]\n")["offset-outside-text"].places == ("line 2: 3",)


def test_comments_of_conll_u_are_read(task: Definition) -> None:
    data = RIGHT["bio"].replace(b"# id = a", b"# newdoc id = x\n# sent_id = a\n# text = In Rio de")
    assert check(task, "bio", data).problems == []
    assert repr(read(task, "bio", data)) == repr(read(task, "bio", RIGHT["bio"]))


def test_a_sentence_without_its_id_or_without_an_empty_line_has_one_error(task: Definition) -> None:
    nameless = problems(task, "bio", RIGHT["bio"].replace(b"# id = b\n", b""))
    assert {code: one.line for code, one in nameless.items()} == {"token-line": 6, "missing-items": None}
    joined = problems(task, "bio", RIGHT["bio"].replace(b"\n\n# id = b", b"\n# id = b"))
    assert {code: one.line for code, one in joined.items()} == {"token-line": 5}
    assert "an empty line before" in joined["token-line"].message


def test_documents_can_be_numbers(task: Definition) -> None:
    for track, data in {
        "lists": b"post\tpreds\nb\t[12 ,'x 3']\na\t[]\nc\t[ 007]\n",
        "ids": b'[{"id": "b", "value": [12, "x 3"]}, {"id": "a", "value": []}, {"id": "c", "value": ["007"]}]',
    }.items():
        assert check(task, track, data).problems == []
        answers = read(task, track, data)
        assert isinstance(answers, Ranking)
        assert answers.documents == ["12", "x 3", "007"]
    for value in (b"[1.5]", b"[true]", b"[null]", b"[-1]", b"[" + b"9" * 5000 + b"]"):
        found = problems(task, "ids", b'[{"id": "b", "value": %s}, {"id": "a", "value": []}]' % value)
        assert "documents-not-a-list" in found, value


def test_a_long_list_of_offsets_is_no_error(task: Definition) -> None:
    data = RIGHT["plain"].replace(b"[0]", str(list(range(40_000))).encode())
    assert set(problems(task, "plain", data)) == {"offset-outside-text"}


def test_a_tuple_is_named_by_its_place_and_its_column(task: Definition) -> None:
    rows = problems(task, "tuple-rows", RIGHT["tuple-rows"].replace(b"X,c", b"Yes,c"))["value-outside-domain"]
    assert (rows.line, rows.item, rows.places, rows.expected) == (3, "c", ("line 3 (kind): Yes",), "X or Y")
    data = RIGHT["tuple-objects"].replace(b'"X", "what": 2', b'"x", "what": 2')
    found = problems(task, "tuple-objects", data)["value-outside-domain"]
    assert (found.path, found.places, found.suggestion) == ("#1.value.2", ("a (kind): x",), "X")
    lists = problems(task, "tuple-lists", RIGHT["tuple-lists"].replace(b'["2", "X"]', b'"2"'))["tuples-not-a-list"]
    assert (lists.path, lists.expected) == ("#1.value", '[["…", "…"]]')


def test_columns_of_tuples_may_be_empty_if_declared(task: Definition) -> None:
    data = RIGHT["tuple-objects"].replace(b'"what": 2', b'"what": null')
    answers = read(task, "tuple-objects", data)
    assert isinstance(answers, Tuples)
    assert answers.of_item(0) == [("", "X"), ("the food", "Y")]
    assert repr(read(task, "tuple-objects", data.replace(b', "what": null', b""))) == repr(answers)


def test_items_without_tuples_may_be_missing_in_a_gold_file(task: Definition) -> None:
    gold = RIGHT["tuple-rows"].replace(b",b,\n", b"")
    assert score(task, "tuple-rows", RIGHT["tuple-rows"], gold=gold, items=ITEMS).scores == {"tuple_f1": 1.0}


def test_the_place_in_a_line_is_shown_too(task: Definition) -> None:
    assert problems(task, "lines", b'{"id": "a"}\n{"id" 1}')["json-syntax"].column == 7
    assert problems(task, "map", RIGHT["map"].replace(b"x|a|0", b"x|a|7"))["value-outside-domain"].column == 4


def test_judgements_are_the_gold_of_a_ranking(task: Definition) -> None:
    gold = b"a 0 d1 1\na 0 d2 0\nb 0 d9 2\nc 0 d3 1\n"
    assert score(task, "ranking", RIGHT["ranking"], gold=gold).scores == {"ndcg": pytest.approx(2 / 3)}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('separator: "|"', 'separator: "||"'),
        ('separator: "|"', "separator: '\"'"),
        ("values: number", "values: numbers"),
        ("{HS: hate, TR: target}", "{HS: hate, TR: hate}"),
        ("{kind: spans, spans: pairs, end: inclusive}", "{kind: spans, spans: rows}"),
        ("end: inclusive", "end: included"),
        ("optional: [what]", "optional: [who]"),
        ("{kind: [X, Y]}, file", "{sort: [X, Y]}, file"),
    ],
)
def test_wrong_options_are_rejected(task: Definition, tmp_path: Path, old: str, new: str) -> None:
    shutil.copytree(task.folder, tmp_path, dirs_exist_ok=True)
    (tmp_path / "task.yaml").write_text(TRACKS.replace(old, new), encoding="utf-8")
    with pytest.raises(DefinitionError, match="expected"):
        load_definition(tmp_path)


@pytest.mark.parametrize("track", RIGHT)
@pytest.mark.parametrize("content", [b"\xef\xbb\xbf", "\u00a0\n".encode()])
def test_a_file_of_nothing_but_a_mark_or_spaces_is_empty(task: Definition, track: str, content: bytes) -> None:
    report = Report()
    assert read_run(task.track(track), content, report, items=ItemIndex(ITEMS), lenient=True) is None
    assert [problem.code for problem in report] == ["empty-file"]


@pytest.mark.slow
@pytest.mark.parametrize("track", RIGHT)
@QUICK
@given(data=st.data())
def test_no_content_raises(task: Definition, track: str, data: st.DataObject) -> None:
    content = data.draw(mutated(RIGHT[track]) | st.binary(max_size=200))
    rules, items = task.track(track), ItemIndex(ITEMS)
    readers: list[Callable[[Report], Answers | None]] = [
        lambda report: read_run(rules, content, report, items=items),
        lambda report: read_run(rules, content, report, items=items, lenient=True),
        lambda report: read_gold(rules, content, rules.format, report),
    ]
    found = []
    for read in readers:
        report = Report()
        found.append(read(report))
        assert (found[-1] is None) == (not report.ok)
        json.dumps(report.as_dict(), ensure_ascii=False).encode()
    if found[0] is not None:
        assert sorted(found[0].ids) == ITEMS


def is_utf8(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize("track", ["map", "numbers", "kinds", "labels", "several", "shares", "cells"])
@QUICK
@given(data=st.data())
def test_fast_and_slow_readers_agree(task: Definition, track: str, data: st.DataObject) -> None:
    """Compare the readers on the same content. If the first line is blank, tables are read by the slower one."""
    content = data.draw(mutated(RIGHT[track]))
    if (
        b"\0" in content
        or foreign_kind(content)
        or content[:1] in b"\xef\xff\xfe\x00P%<{["
        or content[:2] == b"\xef\xbb"
        or not is_utf8(content)  # another encoding is recognized by its bytes, one of which is added here
    ):
        return
    quick, patient = Report(), Report()
    left, right = read(task, track, content, quick), read(task, track, b"\n" + content, patient)
    assert [problem.code for problem in quick] == [problem.code for problem in patient]
    assert repr(left) == repr(right)
