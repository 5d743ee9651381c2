"""Line ends, blank last lines and byte-order marks do not change what is read, in any format and any kind of file."""

from collections.abc import Callable
from itertools import cycle
from pathlib import Path

import pytest

from scoring.answers import Answers
from scoring.check import read_ids
from scoring.formats import FORMATS, is_numbered, read_gold, read_run
from scoring.formats.several import packed
from scoring.gold.votes_file import read_marks, read_named_votes, read_votes
from scoring.items.index import ItemIndex
from scoring.items.texts import read_texts
from scoring.reports.problems import Report
from tests.scoring.formats.test_writing import assert_same, track

ITEMS = ["1", "2", "3"]
BRAT = {"1": "T1\tP 0 3\tAnn\nT2\tL 13 17\tRome\nR1\tin Arg1:T1 Arg2:T2\n", "2": "", "3": "T1\tP 2 5\tBob\n"}
Content = str | dict[str, str]
RUNS: list[tuple[str, dict[str, object], Content]] = [
    (
        "json-labels",
        {"classes": ["A", "B"]},
        '[\n{"id": "1", "value": "A"},\n{"id": "2", "value": "B"},\n{"id": "3", "value": "B"}\n]\n',
    ),
    (
        "json-labels",
        {"classes": ["A", "B"], "lines": True},
        '{"id": "1", "value": "A"}\n{"id": "2", "value": "B"}\n{"id": "3", "value": "B"}\n',
    ),
    (
        "json-soft",
        {"classes": ["A"], "lines": True},
        '{"id": "1", "value": {"A": 1}}\n{"id": "2", "value": {"A": 0.5}}\n{"id": "3", "value": {"A": 0}}\n',
    ),
    ("table", {"id": "id", "columns": ["x"]}, "id,x\n1,0\n2,1\n3,0\n"),
    ("table", {"id": "id", "columns": ["x"]}, 'id,x\n"1",0\n"2","1"\n3,0\n'),
    (
        "table-labels",
        {"id": "id", "classes": ["A", "B"], "separator": "\t", "header": "none", "quotes": "none"},
        "1\tA\n2\tB\n3\tB\n",
    ),
    ("table-soft", {"id": "id", "classes": ["A", "B"]}, "id,A,B\n1,0.5,0.5\n2,1,0\n3,0,1\n"),
    ("spans", {}, "1\t[0, 1]\n2\t[]\n3\t[5]\n"),
    ("spans", {"file": "table", "spans": "rows", "id": "id"}, "id,start,stop\n1,0,2\n2,,\n3,5,6\n"),
    (
        "spans",
        {"file": "json", "lines": True},
        '{"id": "1", "value": [0, 1]}\n{"id": "2", "value": []}\n{"id": "3", "value": [5]}\n',
    ),
    ("typed-spans", {"classes": ["P"]}, '1\t[[0, 3, "P"]]\n2\t[]\n3\t[[2, 5, "P"]]\n'),
    ("conll", {"classes": ["P"]}, "Ann\tB-P\nsaw\tO\n\nBob\tB-P\n\nme\tO\n\n"),
    (
        "conll",
        {"classes": ["P"], "ids": "comments"},
        "# id = 1\nAnn B-P\nsaw O\n\n# id = 2\nBob B-P\n\n# id = 3\nme O\n\n",
    ),
    ("brat", {"classes": ["P", "L"]}, BRAT),
    ("brat-relations", {"classes": ["P", "L"], "relations": ["in"]}, BRAT),
    ("trec-run", {}, "1 Q0 a 1 2.5 s\n1 Q0 b 2 2 s\n2 Q0 a 1 1 s\n3 Q0 c 1 1 s\n"),
    ("trec-qrels", {}, "1 0 a 1\n2 0 b 0\n3 0 b 2\n"),
    (
        "id-lists",
        {},
        '[\n{"id": "1", "value": ["a", "b"]},\n{"id": "2", "value": []},\n{"id": "3", "value": ["c"]}\n]\n',
    ),
    ("id-lists", {"file": "table", "id": "id"}, 'id,documents\n1,"[1, 2]"\n2,[]\n3,[7]\n'),
    ("text-lines", {}, "one two\nthree\nfour\n"),
    ("text-lines", {"ids": "first"}, "1\tone two\n2\tthree\n3\tfour\n"),
    ("table-texts", {"id": "id"}, "id,text\n1,one two\n2,three\n3,four\n"),
    (
        "json-texts",
        {"lines": True},
        '{"id": "1", "value": "a b"}\n{"id": "2", "value": ""}\n{"id": "3", "value": "c"}\n',
    ),
    ("tuples", {"columns": ["what"], "file": "table", "id": "id"}, "id,what\n1,food\n1,wine\n2,\n3,food\n"),
]


def with_ends(*ends: str) -> Callable[[str], str]:
    """Return a function that replaces the ends of lines with these, in turn."""

    def change(text: str) -> str:
        following = cycle(ends)
        return "".join(line + next(following) for line in text.split("\n")[:-1])

    return change


CHANGES: dict[str, Callable[[str], str]] = {
    "CRLF": with_ends("\r\n"),
    "CR": with_ends("\r"),
    "mixed": with_ends("\n", "\r\n", "\r", "\r\n"),
    "no final line end": lambda text: text.removesuffix("\n"),
    "a blank last line": lambda text: text + "\n",
    "blank last lines": lambda text: with_ends("\r\n")(text) + "\r\n\r\n",
    "blank last lines after CR": lambda text: with_ends("\r")(text) + "\r\r",
    "a byte-order mark": lambda text: "\ufeff" + text,
    "a byte-order mark and CRLF": lambda text: "\ufeff" + with_ends("\r\n")(text),
    "a byte-order mark and CR": lambda text: "\ufeff" + with_ends("\r")(text),
}


def in_bytes(content: Content, change: Callable[[str], str] = str) -> bytes:
    if isinstance(content, str):
        return change(content).encode()
    return packed({f"{item}.ann": change(text).encode() for item, text in content.items()})


def read(kind: str, options: dict[str, object], data: bytes) -> list[Answers | None]:
    """Read a file as a run and as gold. The gold of `trec-run` has another format, and its run is read twice."""
    where, index, report = track(kind, **options), ItemIndex(ITEMS), Report()
    run = read_run(where, data, report, items=index)
    of_gold = index if is_numbered(where.format) else None
    gold = run if kind == "trec-run" else read_gold(where, data, where.format, report, items=of_gold)
    assert report.errors == []
    return [run, gold]


def test_all_formats_are_here() -> None:
    assert {kind for kind, _, _ in RUNS} == FORMATS.keys()


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(("kind", "options", "content"), RUNS)
def test_runs_and_gold_read_alike(kind: str, options: dict[str, object], content: Content, change: str) -> None:
    plain = read(kind, options, in_bytes(content))
    changed = read(kind, options, in_bytes(content, CHANGES[change]))
    for one, same in zip(plain, changed, strict=True):
        assert one is not None
        assert same is not None
        assert_same(same, one)


@pytest.mark.parametrize("change", CHANGES)
def test_lists_of_items_and_their_texts_read_alike(tmp_path: Path, change: str) -> None:
    ids, texts, table = tmp_path / "items.txt", tmp_path / "texts.tsv", tmp_path / "texts.csv"
    ids.write_bytes(CHANGES[change]("a\u2028b\nc d\n\ne\n").encode())
    texts.write_bytes(CHANGES[change]("id\ttext\na\tAnn's \u2028.\nb\t\n").encode())
    table.write_bytes(CHANGES[change]('id,text\na,"Ann, ""x"""\nb,\n').encode())
    assert read_ids(ids, Report()) == ["a\u2028b", "c d", "e"]
    assert read_texts(texts, ["id"]) == {"a": "Ann's \u2028.", "b": ""}
    assert read_texts(table, ["id"]) == {"a": 'Ann, "x"', "b": ""}


@pytest.mark.parametrize("change", CHANGES)
def test_votes_read_alike(change: str) -> None:
    rows = "item,annotator,label\n1,ann,A\u2028\n1,bob,\n2,ann,B\n"
    marks = 'item,annotator,label\n1,ann,"[1, 2]"\n2,ann,[]\n'
    data, marked = (CHANGES[change](text).encode() for text in (rows, marks))
    listed = CHANGES[change]('{"1": ["A"],\n"2": ["B", null]}\n').encode()
    assert read_votes(Path("votes.csv"), content=data) == {"1": [["A\u2028"], []], "2": [["B"], []]}
    assert read_named_votes(Path("votes.csv"), content=data)["2"] == {"ann": ["B"]}
    assert read_votes(Path("votes.json"), content=listed) == {"1": [["A"]], "2": [["B"], []]}
    assert read_marks(Path("marks.csv"), content=marked) == {"1": [[1, 2]], "2": [[]]}
