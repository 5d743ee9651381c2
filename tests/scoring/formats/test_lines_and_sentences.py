"""Files whose items are numbered lines or sentences, tagged tokens, rankings with ties, and items without any label."""

import pytest

from scoring.answers import Entities, Matrix
from scoring.definition import Track
from scoring.formats import read_gold, read_run
from scoring.items.index import ItemIndex
from scoring.items.texts import tokens_of
from scoring.reports.messages import LANGUAGES
from scoring.reports.problems import Problem, Report, translate
from tests.scoring.formats.test_writing import track

NUMBERS = ItemIndex(["1", "2", "3"])


def problems(where: Track, text: str, items: ItemIndex = NUMBERS, **options: object) -> list[Problem]:
    report = Report()
    read_run(where, text.encode(), report, items=items, **options)  # type: ignore[arg-type]
    for problem in report:
        assert len({translate(problem, language).message for language in LANGUAGES}) == len(LANGUAGES)
    return list(report)


@pytest.mark.parametrize(
    ("text", "code", "severity", "found"),
    [
        ("b\nc\n", "line-count", "error", "2 lines"),
        ("b\n", "line-count", "error", "1 line"),
        ("a\nb\nc\nd\n", "line-count", "error", "4 lines"),
        ("a\n\nb\n\nc\n\n", "line-count", "error", "5 lines, 2 of them blank"),
        ("b\nc\n\n", "line-blank", "warning", None),
        ("a\n\nc", "line-blank", "warning", None),
    ],
)
def test_lines_are_counted_not_named(text: str, code: str, severity: str, found: str | None) -> None:
    (problem,) = problems(track("text-lines"), text)
    assert (problem.code, problem.severity, problem.found) == (code, severity, found)


def test_the_last_blank_line_is_no_text() -> None:
    assert problems(track("text-lines"), "a\nb\nc\n\n \n") == []
    where = track("text-lines")
    for items, count in ((NUMBERS, 3), (ItemIndex(["1", "2"]), 2), (None, 2)):
        gold = read_gold(where, b"a\nb\n\n\n", where.format, Report(), items=items)
        assert gold is not None
        assert len(gold.ids) == count


SENTENCES = "a O\nb O\n\nc B-P\n\nd O\n\n"
LENGTHS = {"1": 2, "2": 1, "3": 1}
BIO = track("conll", classes=["P"])


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        (SENTENCES.removeprefix("a O\nb O\n\n"), "sentence-count", 1),
        (SENTENCES.removesuffix("d O\n\n"), "sentence-count", None),
        (SENTENCES.replace("b O\n\n", "b O\n"), "sentence-count", 1),
        (SENTENCES.replace("a O\n", "a O\n\n"), "sentence-count", 1),
        ("-DOCSTART- O\n\n" + SENTENCES, "document-line", 1),
        ("-DOCSTART- -X- -X- O\n\n" + SENTENCES, "document-line", 1),
        ("# newdoc id = x\n# text = a b\n" + SENTENCES, "comment-line", 1),
        (SENTENCES.replace("c B-P", "# a comment\nc B-P"), "comment-line", 4),
        ("#begin document (x); part 0\n" + SENTENCES, "comment-line", 1),
        (SENTENCES.replace("c B-P", "#nerd B-X"), "label-outside-domain", 4),
        (SENTENCES.replace("c B-P", "#\tB-X"), "label-outside-domain", 4),
        (SENTENCES.replace("c B-P", "\tB-P"), "token-line", 4),
    ],
)
def test_what_is_no_sentence_is_reported_with_its_line(text: str, code: str, line: int | None) -> None:
    (problem,) = problems(BIO, text, text_lengths=LENGTHS)
    assert (problem.code, problem.severity, problem.line) == (code, "error", line)


def test_documents_may_be_sentences_of_the_track() -> None:
    items, lengths = ItemIndex(["1", "2", "3", "4"]), {"1": 1, "2": 2, "3": 1, "4": 1}
    assert problems(BIO, "-DOCSTART- O\n\n" + SENTENCES, items, text_lengths=lengths) == []
    report = Report()
    read_gold(BIO, ("-DOCSTART- O\n\n" + SENTENCES).encode(), BIO.format, report, items=NUMBERS)
    assert [(problem.code, problem.line) for problem in report] == [("document-line", 1)]


def test_documents_before_sentences_with_ids_are_reported() -> None:
    text = "-DOCSTART- O\n\n# id = 1\na O\n\n# id = 2\n#\tO\n\n# id = 3\n-DOCSTART- O\n"
    (problem,) = problems(track("conll", classes=["P"], ids="comments"), text)
    assert (problem.code, problem.count, problem.line) == ("document-line", 1, 1)


@pytest.mark.parametrize(
    ("line", "column"),
    [
        ("0 00\tI-P\tx", 2),
        ("\u00a0\tI-P\tx", 2),
        (" \tI-P\tx", 2),
        ("0\u00a000 I-P x", 2),
        ("0\tNN\tI-P\t", None),
        ("0\t I-P ", None),
        ("0   NN \u3000 I-P", None),
    ],
)
def test_tokens_may_contain_blanks(line: str, column: int | None) -> None:
    where = track("conll", classes=["P"], **({"column": column} if column else {}))
    data = f"10\tB-P\tx\n{line}\n\n".encode() if column else f"10\tB-P\n{line}\n\n".encode()
    report = Report()
    run = read_run(where, data, report, items=ItemIndex(["1"]), text_lengths={"1": 2})
    gold = read_gold(where, data, where.format, report)
    assert list(report) == []
    for answers in (run, gold):
        assert isinstance(answers, Entities)
        assert answers.of_item(0) == [("P", 0, 2)]
    assert isinstance(gold, Entities)
    assert gold.texts is not None
    assert len(tokens_of(gold.texts["1"])) == 2


TIES = {
    "ranked by name, last first": ("q c 1 1\nq b 2 1\n", None),
    "ranked otherwise": ("q b 1 1\nq c 2 1\n", 2),
    "equal only as C floats": ("q b 1 1.00000002\nq c 2 1.00000001\n", 2),
    "without ranks": ("q b 0 1\nq c 0 1\n", None),
    "one of three": ("q c 1 1\nq a 2 1\nq b 3 1\n", 3),
    "after others": ("q z 1 3\nq b 2 1\nq x 3 1\nq a 4 0\n", 3),
    "equal ranks": ("q z 1 1\nq a 1 1\nq m 2 1\n", 3),
    "in lines that are not sorted": ("q c 2 1\nq b 1 1\n", 1),
    "in another query": ("q b 1 1\np c 1 1\n", None),
}


@pytest.mark.parametrize("kind", TIES)
def test_ties_that_are_not_ordered_by_rank(kind: str) -> None:
    lines, line = TIES[kind]
    text = "".join("{} Q0 {} {} {} me\n".format(*one.split()) for one in lines.splitlines())
    found = problems(track("trec-run"), text, ItemIndex(list(dict.fromkeys(one[0] for one in lines.splitlines()))))
    assert [(one.code, one.severity, one.line) for one in found] == ([("rank-in-tie", "warning", line)] if line else [])


def test_ties_are_reported_next_to_ranks_against_scores() -> None:
    text = "q Q0 b 1 1 s\nq Q0 c 2 1 s\nq Q0 d 3 9 s\n"
    codes = [problem.code for problem in problems(track("trec-run"), text, ItemIndex(["q"]))]
    assert codes == ["rank-against-score", "rank-in-tie"]


EMPTY = [
    ("json-labels", {}, '[{"id": "1", "value": ["A"]}, {"id": "2", "value": []}, {"id": "3", "value": ["B", "A"]}]'),
    ("table-labels", {"id": "id"}, "id,label\n1,A\n2,\n3,B A\n"),
    ("table-labels", {"id": "id", "header": "none", "separator": "\t"}, "1\tA\n2\t\n3\tB A\n"),
]


@pytest.mark.parametrize(("kind", "options", "text"), EMPTY)
def test_items_without_a_label_where_the_format_allows_them(kind: str, options: dict[str, object], text: str) -> None:
    multi = {**options, "classes": ["A", "B"], "multi": True}
    assert [problem.code for problem in problems(track(kind, **multi), text)] == ["no-label"]
    where = track(kind, **multi, empty="allowed")
    report = Report()
    for found in (
        read_run(where, text.encode(), report, items=NUMBERS),
        read_gold(where, text.encode(), where.format, report),
    ):
        assert isinstance(found, Matrix)
        assert found.values.tolist() == [[True, False], [False, False], [True, True]]
    assert list(report) == []
    twice = text.replace("A]", "B]") if kind == "json-labels" else text.replace("B A", "B B")
    if kind == "table-labels":
        assert [problem.code for problem in problems(where, twice)] == ["label-twice"]


def test_only_items_with_several_labels_can_have_none() -> None:
    with pytest.raises(AssertionError, match="empty: found allowed; expected reject"):
        track("json-labels", classes=["A", "B"], empty="allowed")
