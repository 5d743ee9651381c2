"""Run files have the same answers after being written and read back."""

import json
from pathlib import Path

import numpy as np
import pytest

from scoring.answers import Answers, Entities, Matrix, Ranking, Spans, Texts, Tuples
from scoring.baselines.trivial import empty_spans, every_character, majority
from scoring.definition import Definition, Track
from scoring.definition.tracks import FORMAT
from scoring.definition.yaml_values import parse_document
from scoring.formats import FORMATS, read_gold, read_run, suffix, write_run
from scoring.items.index import ItemIndex
from scoring.reports.problems import Report
from tests.scoring.formats.test_formats import ITEMS, RIGHT, task

__all__ = ["task"]

LABELS = Matrix(["1", "2", "3"], ("NO", "YES", "NEVER"), np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0]], bool))
TABLE = Matrix(["1_1", "1_2", "2_1"], ("HS", "TR"), np.array([[0, 1], [0, 1], [1, 0]]))


def track(kind: str, **options: object) -> Track:
    """Return a track whose format has these options of task.yaml."""
    report = Report()
    value = parse_document(json.dumps({"kind": kind, **options}), report, formats=FORMATS)
    assert value is not None
    fields: dict[str, object] = dict.fromkeys(Track.__dataclass_fields__) | {"format": FORMAT.read(value)}
    assert list(report) == []
    return Track(**fields)  # type: ignore[arg-type]


def read_back(where: Track, path: Path, ids: list[str]) -> Answers:
    report = Report()
    back = read_run(where, path.read_bytes(), report, items=ItemIndex(ids))
    assert [problem.code for problem in report if problem.code != "line-blank"] == []
    assert back is not None
    return back


def assert_same(back: Answers, answers: Answers) -> None:
    assert back.ids == answers.ids
    if isinstance(answers, Matrix):
        assert isinstance(back, Matrix)
        assert (back.columns, back.values.tolist(), back.extra) == (
            answers.columns,
            answers.values.tolist(),
            answers.extra,
        )
    elif isinstance(answers, Spans):
        assert isinstance(back, Spans)
        rows = range(len(answers.ids))
        assert [back.offsets(row) for row in rows] == [answers.offsets(row) for row in rows]
    elif isinstance(answers, Entities):
        assert isinstance(back, Entities)
        for name in ("kinds", "begins", "ends", "starts"):
            assert getattr(back, name).tolist() == getattr(answers, name).tolist()
        assert np.array_equal(back.lengths, answers.lengths)
    elif isinstance(answers, Texts):
        assert isinstance(back, Texts)
        assert [text.split() for (text,) in answers.texts] == [text.split() for (text,) in back.texts]
    elif isinstance(answers, Tuples):
        assert isinstance(back, Tuples)
        assert (back.rows, back.starts.tolist()) == (answers.rows, answers.starts.tolist())
    else:
        assert isinstance(back, Ranking)
        assert (back.documents, back.scores.tolist()) == (answers.documents, answers.scores.tolist())


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_read_and_written_reads_alike(task: Definition, name: str, tmp_path: Path) -> None:
    """Use the files of the formats' own tests, which cover all notations of answers."""
    where, given, written = task.track(name), tmp_path / "given", tmp_path / "written"
    given.write_bytes(RIGHT[name])
    answers = read_back(where, given, ITEMS)
    write_run(where, answers, written)
    assert_same(read_back(where, written, ITEMS), answers)


@pytest.mark.parametrize(
    ("where", "answers"),
    [
        (track("json-labels", classes=("NO", "YES", "NEVER"), constants={"test_case": "T"}), LABELS),
        (
            track("json-labels", classes=("A", "B"), multi=True),
            Matrix(["1", "2"], ("A", "B"), np.array([[True, True], [False, True]])),
        ),
        (track("json-soft", classes=("A", "B")), Matrix(["1"], ("A", "B"), np.array([[0.25, 0.75]]))),
        (track("table", id=("comment", "sentence"), columns=("HS", "TR")), TABLE),
        (track("table", id=("id",), columns=("HS", "TR"), separator="\t", header="optional"), TABLE),
        (
            track("table", id=("id",), columns={"HS": "hate", "TR": "target"}, separator="|"),
            Matrix(["a_1", "b"], ("hate", "target"), np.array([[0, 1], [1, 0]])),
        ),
        (
            track("table", id=("id",), columns=("mood",), values="number", layout=("mood", "id"), header="none"),
            Matrix(["1", "2"], ("mood",), np.array([[-1.5], [1e-7]])),
        ),
        (
            track("table", id=("id",), columns=("HS",), group="tuple"),
            Matrix(["1", "2"], ("HS",), np.array([[1], [0]]), extra={"tuple": ["x", 'said "y", z']}),
        ),
        (
            track("table-labels", id=("id",), classes=("A", "B C"), multi=True, between="+", header="optional"),
            Matrix(["1", "2"], ("A", "B C"), np.array([[True, True], [False, True]])),
        ),
        (
            track("table-soft", id=("id",), classes=("A", "B"), headers=("p_a", "p_b")),
            Matrix(["1"], ("A", "B"), np.array([[0.25, 0.75]])),
        ),
        (
            track("table-soft", id=("id",), classes=("A", "B"), list="shares"),
            Matrix(["1", "2"], ("A", "B"), np.array([[0.25, 0.75], [1e-9, 1]])),
        ),
        (
            track("table", id=("id",), columns=("ann", "bob"), list="labels", separator="\t", header="none"),
            Matrix(["1", "2"], ("ann", "bob"), np.array([[0, 1], [1, 1]])),
        ),
        (
            track("trec-run", depth=2),
            Ranking(["q2", "q1"], ["d2", "d10", "d1"], np.array([0.5, 0.5, -1e-9]), np.array([0, 2, 3])),
        ),
        (
            track("trec-qrels"),
            Ranking(["q2", "q1"], ["d2", "d10", "d1"], np.array([2.0, 0, -1]), np.array([0, 2, 3])),
        ),
        (track("spans"), every_character({"1": "abc", "2": "", "3": "é!"})),
        (track("spans"), empty_spans(["1", "2"])),
        (track("text-lines"), Texts(["1", "2", "3"], [("two\nlines",), ("",), ("ñ",)])),
        (track("json-texts", value="output"), Texts(["b", "a"], [('"x" \\',), ("",)])),
    ],
)
def test_a_run_file_reads_back_as_what_was_written(where: Track, answers: Answers, tmp_path: Path) -> None:
    path = tmp_path / "deep" / "run"
    write_run(where, answers, path)
    assert_same(read_back(where, path, answers.ids), answers)


def test_constants_are_in_every_record(tmp_path: Path) -> None:
    where = track("json-labels", classes=("NO", "YES"), constants={"test_case": "EXIST2024"})
    write_run(where, majority(["9"], LABELS), tmp_path / "run.json")
    records = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))
    assert records == [{"test_case": "EXIST2024", "id": "9", "value": "NO"}]


def test_ends_of_pairs_are_counted_as_the_format_says(tmp_path: Path) -> None:
    answers = Spans.of_offsets(["1", "2"], np.array([3, 4, 8]), np.array([0, 3, 3]))
    for end, text in (("exclusive", "1\t[[3, 5], [8, 9]]\n2\t[]\n"), ("inclusive", "1\t[[3, 4], [8, 8]]\n2\t[]\n")):
        write_run(track("spans", spans="pairs", end=end), answers, tmp_path / "run")
        assert (tmp_path / "run").read_text(encoding="utf-8") == text


def test_a_ranking_holds_the_best_documents_as_many_as_it_may(tmp_path: Path) -> None:
    answers = Ranking(["q"], ["a", "b", "c"], np.array([1.0, 2.0, 2.0]), np.array([0, 3]))
    write_run(track("trec-run", depth=2), answers, tmp_path / "run")
    assert (tmp_path / "run").read_text(encoding="utf-8") == "q Q0 c 1 2.0 agon\nq Q0 b 2 2.0 agon\n"


def test_what_the_gold_lacks_stays_empty(tmp_path: Path) -> None:
    absent = np.array([[False, True]])
    answers = Matrix(["1"], ("HS", "TR"), np.array([[1, 0]]), absent)
    write_run(track("table", id=("id",), columns=("HS", "TR")), answers, tmp_path / "run")
    assert (tmp_path / "run").read_text(encoding="utf-8") == "id,HS,TR\n1,1,\n"
    listed = track("table", id=("id",), columns=("HS", "TR"), list="labels")
    write_run(listed, answers, tmp_path / "run")
    assert (tmp_path / "run").read_text(encoding="utf-8") == 'id,labels\n1,"[1, ]"\n'
    gold = read_gold(listed, (tmp_path / "run").read_bytes(), listed.format, Report())
    assert isinstance(gold, Matrix)
    assert_same(gold, answers)
    soft = Matrix(["1"], ("A", "B"), np.array([[0.5, 0.0]]), absent)
    write_run(track("json-soft", classes=("A", "B"), lines=True), soft, tmp_path / "run")
    assert json.loads((tmp_path / "run").read_text(encoding="utf-8")) == {"id": "1", "value": {"A": 0.5}}


@pytest.mark.parametrize(
    ("where", "ending"),
    [
        (track("json-labels", classes=("A",)), ".json"),
        (track("json-soft", classes=("A",), lines=True), ".jsonl"),
        (track("table-soft", id="id", classes=("A",), separator="\t"), ".tsv"),
        (track("table-labels", id="id", classes=("A",)), ".csv"),
        (track("spans", file="table", id="id", separator="\t"), ".tsv"),
        (track("spans", file="json"), ".json"),
        (track("spans"), ".txt"),
        (track("trec-run"), ".txt"),
    ],
)
def test_names_end_as_their_content_is_written(where: Track, ending: str) -> None:
    assert suffix(where) == ending


@pytest.mark.parametrize("name", ['q"t', "back\\slash", "tab\tbed", "two\nlines", "a,b", "{x}", "#3", "e\u0301"])
def test_a_name_with_any_character_can_be_a_class_a_column_or_a_key(name: str, tmp_path: Path) -> None:
    """Use characters that JSON, CSV or a message would escape."""
    ids, path = ["1", "2"], tmp_path / "run"
    labels = Matrix(ids, (name, "B"), np.eye(2, dtype=bool))
    shares = Matrix(ids, (name, "B"), np.eye(2))
    marks = Spans(ids, np.array([1, 2]), np.array([2, 3]), np.array([0, 1, 2]))
    table: dict[str, object] = {"id": ("id",)}
    for where, answers in (
        (track("json-labels", classes=labels.columns, constants={name: name}), labels),
        (track("json-labels", classes=labels.columns, id=name, multi=True, lines=True), labels),
        (track("json-soft", classes=shares.columns, sum=1), shares),
        (track("json-soft", classes=shares.columns, value=name), shares),
        (track("table-labels", classes=labels.columns, label=name, **table), labels),
        (track("table-soft", classes=shares.columns, **table), shares),
        (track("table", columns=labels.columns, **table), Matrix(ids, labels.columns, np.eye(2, dtype=int))),
        (track("spans", file="json", id=name, value="spans"), marks),
        (track("spans", file="table", spans="rows", start=name, stop="stop", **table), marks),
    ):
        write_run(where, answers, path)
        assert_same(read_back(where, path, ids), answers)
        path.write_bytes(path.read_bytes().replace(b"1", b"x"))
        read_run(where, path.read_bytes(), Report(), lenient=True)
