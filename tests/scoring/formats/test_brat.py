"""Runs in brat's standoff format: zips and folders, spans, relations, and problems with file and line."""

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring import Definition, DefinitionError, check, check_upload, limits, load_definition, score
from scoring.__main__ import main
from scoring.answers import Answers, Entities, Tuples
from scoring.formats import read_gold, read_run, write_run
from scoring.items.index import ItemIndex
from scoring.reports.problems import Report, in_language
from scoring.task_folder.folder import problems_of_folder
from scoring.task_folder.gold_file import check_gold
from tests.scoring.formats.test_fuzz import QUICK, mutated

ITEMS = ["d1", "d2", "d.3"]
TASK = """
agon: 1
slug: names
title: Names
year: 2027
languages: [en]
tracks:
  - slug: brat
    format: {kind: brat, classes: [PER, LOC]}
    items: items.txt
    texts: texts.csv
    metrics: [entity_f1, entity_f1_partial]
    rank_by: entity_f1
  - slug: lines
    format: {kind: typed-spans, classes: [PER, LOC], file: json}
    items: items.txt
    metrics: [entity_f1]
    rank_by: entity_f1
  - slug: relations
    format: {kind: brat-relations, classes: [PER, LOC], relations: [lives, near], symmetric: [near], most: 2}
    items: items.txt
    metrics: [tuple_f1, "tuple_f1:from+to", {name: tuple_f1_macro, by: relation}]
    rank_by: tuple_f1
naming: {run: "{track}_{team}_{number}[.zip]", number: [1, 2]}
phases: [{slug: open, opens: "2027-01-01 00:00 UTC", scores: at-once, official: best}]
gold: [{track: brat, file: gold.zip}]
"""
RIGHT = {
    "d1.ann": b"T1\tPER 0 5\tAlice\nT2\tLOC 9 13\tRome\nR1\tlives Arg1:T1 Arg2:T2\n#1\tAnnotatorNotes T1\tsure\n"
    b"T3\tPER 0 2;9 13\tAl Rome\n*\tEquiv T1 T2\nA1\tNegation T1\n",
    "d2.ann": b"",
    "d.3.ann": b"\xef\xbb\xbfT1\tLOC 4 8\tOslo\r\n",
}
MEANT = {"d1": [("PER", 0, 5), ("PER", 0, 13), ("LOC", 9, 13)], "d2": [], "d.3": [("LOC", 4, 8)]}


def zipped(contents: Mapping[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return file.getvalue()


@pytest.fixture
def task(tmp_path: Path) -> Definition:
    folder = tmp_path / "task"
    folder.mkdir()
    (folder / "task.yaml").write_text(TASK, encoding="utf-8")
    (folder / "items.txt").write_text("\n".join(ITEMS), encoding="utf-8")
    (folder / "texts.csv").write_text("id,text\nd1,Alice in Rome\nd2,Bob\nd.3,Not Oslo\n", encoding="utf-8")
    (folder / "gold.zip").write_bytes(zipped(RIGHT))
    return load_definition(folder)


def read(task: Definition, data: bytes) -> dict[str, list[tuple[str, int, int]]]:
    report = Report()
    answers = read_run(task.track("brat"), data, report, items=ItemIndex(ITEMS))
    assert isinstance(answers, Entities), list(report)
    return {item: answers.of_item(row) for row, item in enumerate(answers.ids)}


def test_text_bound_annotations_are_typed_spans(task: Definition) -> None:
    (unused,) = check(task, "brat", zipped(RIGHT))
    assert (unused.code, unused.severity, unused.count) == ("brat-unused", "warning", 4)
    assert unused.places[2] == "d1.ann, line 6: *\\tEquiv T1 T2"
    assert read(task, zipped(RIGHT)) == MEANT


def test_folders_texts_and_clutter_in_the_zip_do_not_matter(task: Definition) -> None:
    others = {"run/d1.txt": b"\xff" * 9, "run/annotation.conf": b"", "__MACOSX/run/._d1.ann": b"x", "run/": b""}
    data = zipped({f"run/{name}": content for name, content in RIGHT.items()} | others)
    assert check(task, "brat", data).ok
    assert read(task, data) == MEANT


def test_extensions_can_be_in_capital_letters(task: Definition) -> None:
    """Otherwise, such a file in the gold would be left out, and its item would have no spans."""
    capital = {name.replace(".ann", ".ANN"): content for name, content in RIGHT.items()}
    assert read(task, zipped(capital)) == MEANT
    assert score(task, "brat", zipped(RIGHT), zipped(capital), items=ITEMS).scores["entity_f1"] == 1
    (problem,) = check(task, "brat", zipped({**capital, "d1.ann": b""})).errors
    assert (problem.code, problem.places) == ("duplicate-ids", ("d1",))
    (problem,) = check(task, "brat", zipped({**capital, "d1.ANN": b"T1\tPERS 0 5\tAlice\n"})).errors
    assert problem.excerpt is not None


def test_fragments_can_be_spans_of_their_own(task: Definition) -> None:
    path = task.folder / "task.yaml"
    path.write_text(TASK.replace("brat, classes: [PER, LOC]", "brat, classes: [PER, LOC], fragments: split"))
    found = read(load_definition(path), zipped(RIGHT))
    assert found["d1"] == [("PER", 0, 2), ("PER", 0, 5), ("PER", 9, 13), ("LOC", 9, 13)]


def test_scores_are_those_of_the_same_spans_in_json(task: Definition) -> None:
    run = {**RIGHT, "d1.ann": b"T1\tPER 0 5\t\nT2\tPER 9 13\tRome\n"}
    spans = {item: [[begin, end, kind] for kind, begin, end in own] for item, own in MEANT.items()}
    gold = json.dumps([{"id": item, "value": own} for item, own in spans.items()]).encode()
    same = [{"id": "d1", "value": [[0, 5, "PER"], [9, 13, "PER"]]}, {"id": "d2", "value": []}]
    lines = json.dumps([*same, {"id": "d.3", "value": spans["d.3"]}]).encode()
    ours = score(task, "brat", zipped(run), zipped(RIGHT)).scores["entity_f1"]
    assert ours == score(task, "lines", lines, gold).scores["entity_f1"] == pytest.approx(2 * 2 / (3 + 4))


@pytest.mark.parametrize(
    ("name", "content", "code", "line", "place"),
    [
        ("d1.ann", b"T1\tPER 0 5\tAlice\nT2 LOC 9 13 Rome\n", "brat-line", 2, "d1.ann, line 2: T2 LOC 9 13 Rome"),
        ("d1.ann", b"T1\tPER 0 x\tAlice\n", "brat-line", 1, "d1.ann, line 1: T1\\tPER 0 x\\tAlice"),
        ("d1.ann", b"T1\tPER 0 5;\tAlice\n", "brat-line", 1, "d1.ann, line 1: T1\\tPER 0 5;\\tAlice"),
        ("d1.ann", b"\nT1\tPERS 0 5\tAlice\n", "label-outside-domain", 2, "d1.ann, line 2: PERS"),
        ("d2.ann", b"T1\tPER 5 5\t\n", "span-empty", 1, "d2.ann, line 1: 5 5"),
        ("d2.ann", b"T1\tPER 0 1\tB\nT2\tPER \xff", "not-utf8", 2, "d2.ann, line 2"),
        ("d2.ann", b"T1\tPER 0 4\tBob\n", "offset-outside-text", None, "d2: 3"),
        ("d2.ann", b"T1\tPER 0 9999999999\tBob\n", "offset-too-large", None, "d2: beyond 2147483647"),
        ("d4.ann", b"", "unknown-ids", None, "d4"),
        ("more/d1.ann", b"", "duplicate-ids", None, "d1"),
    ],
)
def test_errors_name_the_file_and_its_line(
    task: Definition, name: str, content: bytes, code: str, line: int | None, place: str
) -> None:
    report = check(task, "brat", zipped({**RIGHT, name: content}))
    (problem,) = report.errors
    assert (problem.code, problem.line, problem.places) == (code, line, (place,))


def test_names_of_runs_must_end_with_zip(task: Definition) -> None:
    (task.folder / "task.yaml").write_text(TASK.replace("[.zip]", "[.ann]"), encoding="utf-8")
    with pytest.raises(DefinitionError, match=r"naming\.run: names of runs must end with \.zip"):
        load_definition(task.folder)


def test_places_are_translated(task: Definition) -> None:
    report = in_language(check(task, "brat", zipped({**RIGHT, "d2.ann": b"Bob"})), "es")
    assert "d2.ann, línea 1: Bob" in report.errors[0].message


def test_a_missing_file_is_a_missing_item(task: Definition) -> None:
    (problem,) = check(task, "brat", zipped({"d1.ann": b"", "d.3.ann": b""})).errors
    assert (problem.code, problem.places) == ("missing-items", ("d2",))
    gold = zipped({"d1.ann": RIGHT["d1.ann"]})  # the other documents have no spans
    assert score(task, "brat", zipped(RIGHT), gold, items=ITEMS).scores["entity_f1"] == pytest.approx(2 * 3 / 7)


@pytest.mark.slow
def test_what_is_no_safe_zip_is_an_error(task: Definition, monkeypatch: pytest.MonkeyPatch) -> None:
    codes = [
        [problem.code for problem in check(task, "brat", data).errors]
        for data in (b"T1\tPER 0 5\tAlice\n", zipped({"a.txt": b""}), zipped(RIGHT)[:-9])
    ]
    assert codes == [["documents-no-zip"], ["documents-none"], ["documents-no-zip"]]
    bomb = zipped({"d1.ann": bytes(40_000_000), "d2.ann": b"", "d.3.ann": b""})
    assert len(bomb) < 100_000
    assert [problem.code for problem in check(task, "brat", bomb).errors] == ["archive-too-large"]
    lines = zipped({**RIGHT, "d1.ann": b"T1\tPER 0 5\t\n" * 150_000})
    assert [problem.code for problem in check(task, "brat", lines).errors] == ["too-many-entries"]
    monkeypatch.setattr(limits, "DOCUMENTS", 2)
    (problem,) = check(task, "brat", zipped(RIGHT)).errors
    assert (problem.code, problem.found) == ("documents-no-zip", "3")


def test_an_uploaded_zip_is_one_run(task: Definition, tmp_path: Path) -> None:
    path = tmp_path / "upload"
    path.write_bytes(zipped(RIGHT))
    upload = check_upload(task, path, "brat_Lak_1.zip", "Lak")
    assert upload.report.ok
    assert [(run.run.track, run.run.number, run.run.entry, run.items) for run in upload.runs] == [("brat", 1, "", 3)]
    lines = json.dumps([{"id": item, "value": []} for item in ITEMS]).encode()
    path.write_bytes(zipped({"lines_Lak_1": lines}))
    assert [run.run.track for run in check_upload(task, path, "names.zip", "Lak").runs] == ["lines"]


def test_the_command_line_reads_a_zip_and_a_folder(
    task: Definition, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    for name, content in RIGHT.items():
        (folder / name).write_bytes(content)
    (tmp_path / "brat_Lak_1.zip").write_bytes(zipped(RIGHT))
    given = ["--task", str(task.folder)]
    assert main(["check", *given, str(tmp_path / "brat_Lak_1.zip")]) == 0
    assert main(["check", *given, "--track", "brat", str(folder)]) == 0
    assert main(["explain", *given, "brat_Lak_1.zip"]) == 0
    assert "brat_Lak_1.zip: brat: track brat, team Lak, run 1" in capsys.readouterr().out
    gold = ["--gold", str(task.folder / "gold.zip")]
    assert main(["score", *given, "--track", "brat", *gold, "--json", str(folder)]) == 0
    assert json.loads(capsys.readouterr().out)["scores"]["entity_f1"] == 1
    out = tmp_path / "out"
    # The track `lines` has no gold, so the exit code is 1.
    assert main(["baselines", *given, "--only", "gold", "--only", "nothing", "--out", str(out)]) == 1
    assert read(task, (out / "test/brat/gold.zip").read_bytes()) == MEANT
    assert read(task, (out / "test/brat/nothing.zip").read_bytes()) == {"d1": [], "d2": [], "d.3": []}


def relations(task: Definition, data: bytes) -> dict[str, list[tuple[str, ...]]]:
    report = Report()
    answers = read_run(task.track("relations"), data, report, items=ItemIndex(ITEMS))
    assert isinstance(answers, Tuples), list(report)
    return {item: answers.of_item(row) for row, item in enumerate(answers.ids)}


RELATIONS = {**RIGHT, "d1.ann": RIGHT["d1.ann"] + b"R2\tnear Arg1:T2 Arg2:T3\n"}
LIVES, NEAR = ("lives", "0 5", "PER", "9 13", "LOC"), ("near", "0 13", "PER", "9 13", "LOC")


def test_relations_are_tuples_of_two_spans(task: Definition, tmp_path: Path) -> None:
    assert [problem.code for problem in check(task, "relations", zipped(RELATIONS))] == ["brat-unused"]
    assert relations(task, zipped(RELATIONS)) == {"d1": [LIVES, NEAR], "d2": [], "d.3": []}
    turned = zipped({**RELATIONS, "d1.ann": RELATIONS["d1.ann"].replace(b"Arg1:T2 Arg2:T3", b"Arg1:T3 Arg2:T2")})
    assert relations(task, turned) == relations(task, zipped(RELATIONS))
    write_run(task.track("relations"), Tuples.of_sets(("",) * 5, {"d1": [LIVES, NEAR], "d2": []}), tmp_path / "r.zip")
    both = zipped({"d.3.ann": b"", **entries(tmp_path / "r.zip")})
    assert relations(task, both) == relations(task, zipped(RELATIONS))


def test_arguments_are_read_by_their_names(task: Definition) -> None:
    turned = RIGHT["d1.ann"].replace(b"lives Arg1:T1 Arg2:T2", b"lives Arg2:T2 Arg1:T1")
    assert relations(task, zipped({**RIGHT, "d1.ann": turned}))["d1"] == [LIVES]
    named = RIGHT["d1.ann"].replace(b"lives Arg1:T1 Arg2:T2", b"lives Who:T1 Where:T2")
    assert relations(task, zipped({**RIGHT, "d1.ann": named}))["d1"] == [LIVES]


def test_equivalences_are_relations_if_their_type_is_declared(task: Definition) -> None:
    lines = (
        RIGHT["d1.ann"].replace(b"*\tEquiv T1 T2\n", b"*\tnear T2 T1 T3\n").replace(b"R1\tlives Arg1:T1 Arg2:T2\n", b"")
    )
    (path := task.folder / "task.yaml").write_text(TASK.replace("most: 2", "most: 3"))
    found = relations(load_definition(path), zipped({**RIGHT, "d1.ann": lines}))["d1"]
    pairs = [(("0 13", "PER"), ("0 5", "PER")), (("0 13", "PER"), ("9 13", "LOC")), (("0 5", "PER"), ("9 13", "LOC"))]
    assert found == [("near", *first, *second) for first, second in pairs]
    directed = lines.replace(b"near T2 T1 T3", b"lives T2 T1")
    assert relations(task, zipped({**RIGHT, "d1.ann": directed}))["d1"] == [LIVES]
    long = b"*\tnear" + b"".join(b" T%d" % number for number in range(1, 5001)) + b"\n"
    spans = b"".join(b"T%d\tPER 0 5\t\n" % number for number in range(1, 5001))
    report = Report()
    read_run(task.track("relations"), zipped({**RIGHT, "d1.ann": spans + long}), report)
    assert [problem.code for problem in report.errors] == ["too-many-tuples"]


def test_equivalences_whose_type_has_a_direction_are_reported(task: Definition) -> None:
    """A run's line `R1 lives Arg1:T2 Arg2:T1` would not match such a line in the gold."""
    lines = RIGHT["d1.ann"].replace(b"*\tEquiv T1 T2\n", b"*\tlives T2 T1\n")
    found = {problem.code: problem for problem in check(task, "relations", zipped({**RIGHT, "d1.ann": lines}))}
    assert (found["brat-direction"].severity, found["brat-direction"].line) == ("warning", 6)
    assert (found["tuple-twice"].severity, found["tuple-twice"].line) == ("warning", 6)
    lines = RIGHT["d1.ann"].replace(b"*\tEquiv T1 T2\n", b"*\tnear T2 T1\n")
    found = {problem.code: problem for problem in check(task, "relations", zipped({**RIGHT, "d1.ann": lines}))}
    assert not {"brat-direction", "tuple-twice"} & found.keys()


def test_a_relation_refers_to_annotations_that_exist(task: Definition) -> None:
    lines = RIGHT["d1.ann"].replace(b"*\tEquiv T1 T2", b"*\tnear T1 T9")
    (problem,) = check(task, "relations", zipped({**RIGHT, "d1.ann": lines})).errors
    assert (problem.code, problem.line, problem.found) == ("brat-reference", 6, "T9")


OFFSETS = {  # the annotations of d1, whose text is “Alice in Rome”, and d2, whose text is “😀é\nBob\nEve”
    "shifted": (
        "T1\tPER 1 6\tAlice\nT2\tLOC 10 14\tRome\n",
        "T1\tPER 4 7\tBob\n",
        "offset-shifted",
        "offsets 1 smaller",
        3,
    ),
    "UTF-16": (
        "T1\tPER 0 5\tAlice\n",
        "T1\tPER 4 7\tBob\nT2\tPER 8 11\tEve\n",
        "offset-units",
        "characters, not UTF-16 units",
        2,
    ),
    "bytes": ("", "T1\tPER 7 10\tBob\nT2\tPER 11 14\tEve\n", "offset-units", "characters, not bytes", 2),
    "CRLF": ("", "T1\tPER 4 7\tBob\nT2\tPER 9 12\tEve\n", "offset-units", "line breaks as one character, not two", 2),
    "other": ("T1\tPER 0 5\tClara\n", "", "offset-text", "“Clara”", 1),
}


@pytest.mark.parametrize("kind", OFFSETS)
@pytest.mark.parametrize("track", ["brat", "relations"])
def test_texts_that_are_not_at_their_offsets(task: Definition, kind: str, track: str) -> None:
    first, second, code, expected, count = OFFSETS[kind]
    (task.folder / "texts.csv").write_text('id,text\nd1,Alice in Rome\nd2,"😀é\nBob\nEve"\nd.3,Not Oslo\n')
    text = TASK.replace("    metrics: [tuple_f1,", "    texts: texts.csv\n    metrics: [tuple_f1,")
    (path := task.folder / "task.yaml").write_text(text)
    data = zipped({"d1.ann": first.encode(), "d2.ann": second.encode(), "d.3.ann": b"T1\tLOC 4 8\tOslo\n"})
    found = [one for one in check(load_definition(path), track, data) if one.code.startswith("offset-")]
    (problem,) = [one for one in found if one.code != "offset-outside-text"]
    assert (problem.code, problem.severity, problem.expected, problem.count) == (code, "warning", expected, count)
    scored = score(load_definition(path), "brat", data, zipped(RIGHT), items=ITEMS).report
    assert code in {one.code for one in scored.warnings}


@pytest.mark.parametrize(
    "row",
    [
        "T1\tPER 0 5\tAlice",
        "T1\tPER 0 5;9 13\tAlice Rome",
        "T1\tPER 0 13\tAlice  in Rome ",
        "T1\tPER 0 6\tAlice",
        "T1\tPER 0 5\t",
        "T1\tPER 0 5",
    ],
)
def test_texts_are_at_their_offsets(task: Definition, row: str) -> None:
    assert list(check(task, "brat", zipped({**RIGHT, "d1.ann": row.encode()}))) == []


def test_gold_whose_texts_are_not_at_their_offsets_is_reported_without_them(task: Definition) -> None:
    gold = zipped({**RIGHT, "d1.ann": b"T1\tPER 1 6\tAlice\nT2\tLOC 10 14\tRome\n"})
    (task.folder / "gold.zip").write_bytes(gold)
    (problem,) = check_gold(task, "brat", gold).report
    assert (problem.code, problem.severity, problem.line, problem.expected) == (
        "offset-shifted",
        "warning",
        1,
        "offsets 1 smaller",
    )
    assert "Alice" not in str(problem)
    assert "lice" not in str(problem)
    (warning,) = [one for one in problems_of_folder(task) if "offset" in one.message]
    assert (warning.severity, warning.file) == ("warning", "gold.zip")
    assert "1–6 is “lice ”, not “Alice”" in warning.message
    other = zipped({**RIGHT, "d1.ann": b"T1\tPER 0 5\tClara\n"})
    assert "Clara" not in str([*check_gold(task, "brat", other).report])


def entries(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_relations_are_scored_as_tuples(task: Definition) -> None:
    run = zipped({**RELATIONS, "d1.ann": RELATIONS["d1.ann"].replace(b"lives Arg1:T1", b"near Arg1:T1")})
    found = score(task, "relations", run, zipped(RELATIONS), items=ITEMS).scores
    assert found == {"tuple_f1": 1 / 2, "tuple_f1:from+to": 1.0, "tuple_f1_macro": pytest.approx((0 + 2 / 3) / 2)}


@pytest.mark.parametrize(
    ("old", "new", "code", "line", "place"),
    [
        (b"R1\tlives", b"R1 lives", "brat-line", 3, "d1.ann, line 3: R1 lives Arg1:T1 Arg2:T2"),
        (b"R1\tlives", b"R1\tloves", "label-outside-domain", 3, "d1.ann, line 3: loves"),
        (b"Arg1:T1", b"Arg1:T9", "brat-reference", 3, "d1.ann, line 3: T9"),
        (b"T2\tLOC", b"T1\tLOC", "brat-id-twice", 2, "d1.ann, line 2: T1"),
        (b"T2\tLOC", b"T2\tORG", "label-outside-domain", 2, "d1.ann, line 2: ORG"),
        (b"#1\t", b"R3\tnear Arg1:T1 Arg2:T3\n#1\t", "too-many-tuples", None, "d1: 3"),
    ],
)
def test_errors_of_relations_name_the_file_and_its_line(
    task: Definition, old: bytes, new: bytes, code: str, line: int | None, place: str
) -> None:
    report = check(task, "relations", zipped({**RELATIONS, "d1.ann": RELATIONS["d1.ann"].replace(old, new)}))
    problem = report.errors[0]
    assert (problem.code, problem.line, problem.places) == (code, line, (place,))


def test_what_is_written_reads_alike(task: Definition, tmp_path: Path) -> None:
    answers = read_run(task.track("brat"), zipped(RIGHT), Report(), items=ItemIndex(ITEMS))
    assert answers is not None
    for _ in range(2):
        write_run(task.track("brat"), answers, tmp_path / "run.zip")
        assert read(task, (tmp_path / "run.zip").read_bytes()) == MEANT


@pytest.mark.slow
@pytest.mark.parametrize("track", ["brat", "relations"])
@QUICK
@given(data=st.data())
def test_no_content_raises(task: Definition, track: str, data: st.DataObject) -> None:
    inner = data.draw(mutated(RIGHT["d1.ann"]))
    outer = data.draw(st.just(zipped({**RIGHT, "d1.ann": inner})) | mutated(zipped(RIGHT)) | st.binary(max_size=200))
    rules, items = task.track(track), ItemIndex(ITEMS)
    readers: list[Callable[[Report], Answers | None]] = [
        lambda report: read_run(rules, outer, report, items=items),
        lambda report: read_run(rules, outer, report, items=items, lenient=True),
        lambda report: read_gold(rules, outer, rules.format, report),
    ]
    for read in readers:
        report = Report()
        assert (read(report) is None) == (not report.ok)
        json.dumps(report.as_dict(), ensure_ascii=False).encode()
