"""Files as programs write them and as people save them: each gets one message, with the right fix."""

import json

import pytest

from scoring import Definition, check, load_definition
from scoring.formats.changed_ids import changed_ids
from scoring.reports.messages import LANGUAGES
from scoring.reports.problems import Problem, translate
from tests.scoring.conftest import DEFINITION, ITEMS

TRACK = """
  - slug: task6-{slug}
    format: {{{format}}}
    items: {items}.txt
    texts: {items}.tsv
    metrics: ["{metric}"]
    rank_by: "{metric}"
naming:"""
FORMATS = {
    "labels": ("kind: table-labels, id: id, label: topic, classes: [colors, plants]", "accuracy"),
    "numbers": ("kind: table, id: id, columns: [score], values: number, low: 0, high: 1", "pearson:score"),
    "tabs": ("kind: table, separator: tab, quotes: none, header: optional, id: id, columns: [HS]", "accuracy"),
    "shares": (
        "kind: table-soft, separator: tab, quotes: none, header: none, id: id, list: soft, classes: [a, b], sum: 1",
        "cross_entropy",
    ),
    "lists": ("kind: id-lists, file: table, id: id, value: preds, separator: tab, quotes: none, depth: 3", "mrr"),
    "trec": ("kind: trec-run", "mrr"),
    "spans": ("kind: spans", "span_f1"),
    "tags": ("kind: conll, classes: [PER, creative-work], ids: comments", "entity_f1"),
    "sentences": ("kind: conll, classes: [PER]", "entity_f1"),
    "texts": ("kind: text-lines", "bleu"),
    "soft": ('kind: json-soft, classes: ["NO", A], sum: 1', "cross_entropy"),
    "multi": ("kind: json-labels, classes: [A, B], multi: true, constants: {test_case: TINY}", "f1_macro"),
}


def rows(row: str, header: str = "") -> str:
    """Return a line for each item. `row` may contain the item as {item} and its number as {n}."""
    return header + "".join(row.format(item=item, n=n) + "\n" for n, item in enumerate(ITEMS))


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Definition:
    text = DEFINITION
    for slug, (form, metric) in FORMATS.items():
        items = "numbers" if slug in ("texts", "sentences") else "items"
        text = text.replace("\nnaming:", TRACK.format(slug=slug, format=form, metric=metric, items=items), 1)
    folder = tmp_path_factory.mktemp("task")
    (folder / "task.yaml").write_text(text)
    for name, ids in ("items", ITEMS), ("numbers", range(1, len(ITEMS) + 1)):
        (folder / f"{name}.txt").write_text("".join(f"{item}\n" for item in ids))
        (folder / f"{name}.tsv").write_text("id\ttext\n" + "".join(f"{item}\tAnnabel\n" for item in ids))
    return load_definition(folder)


def found(task: Definition, track: str, text: str) -> list[Problem]:
    """Return the problems of a run, which must be in every language."""
    report = check(task, f"task6-{track}", text.encode())
    for problem in report:
        assert len({translate(problem, language).message for language in LANGUAGES}) == len(LANGUAGES), problem
    return list(report)


LABELS = rows("{item},plants", "id,topic\n")
OBJECTS = [{"id": item, "spans": [3, 4]} for item in ITEMS]
BY_LINE = "".join(json.dumps(entry) + "\n" for entry in OBJECTS)
TAGGED = {"tokens": ["Ann", "ran"], "tags": ["B-PER", "O"]}
FILES = {
    "labels alone, one of them like the first": (
        "labels",
        "plants\ncolors\nplants\n",
        "header-column-missing",
        "id,topic",
    ),
    "lines of a log before the header": (
        "labels",
        f"INFO: loading\nINFO: done\n{LABELS}",
        "lines-before-header",
        "line 3",
    ),
    "a title before the header": ("labels", f"My run,\n\n{LABELS}", "lines-before-header", "line 3"),
    "a table in a code fence": ("labels", f"```csv\n{LABELS}```\n", "code-fence", "```"),
    "printed by pandas": ("labels", rows("{item:>4} plants", "  id  topic\n"), "wrong-separator", "spaces"),
    "blanks in place of tabs": ("tabs", rows("{item}    1", "id    HS\n"), "wrong-separator", "spaces"),
    "an HTML table": ("labels", "<table>\n<tr><td>i0</td><td>plants</td></tr>\n</table>", "not-a-text", "HTML table"),
    "written by savetxt": ("tabs", rows("{item}\t1.000000000000000000e+00"), "decimal-point", "Write 1 "),
    "cells with commas in lists": ("shares", rows("{item},[0.5, 0.5]"), "wrong-separator", "commas"),
    "quoted cells with another separator": (
        "lists",
        rows("{item},\"['d1', 'd2']\"", "id,preds\n"),
        "wrong-separator",
        "commas",
    ),
    "lists with scores": (
        "lists",
        rows("{item}\t[('d1', 0.5), ('d2', 0.5)]", "id\tpreds\n"),
        "documents-not-a-list",
        "['d7', 'd2']",
    ),
    "JSON for spans": ("spans", json.dumps(OBJECTS), "json-for-lines", "i0<TAB>[10, 11, 12]"),
    "JSON Lines for spans": ("spans", BY_LINE, "json-for-lines", "<TAB>"),
    "a list of lists for spans": ("spans", json.dumps([[1, 2]] * len(ITEMS)), "json-for-lines", "<TAB>"),
    "spans as CSV": ("spans", rows('{item},"[3, 4]"'), "span-line", "id<TAB>[offsets]"),
    "spans without ids": ("spans", rows("[3, {n}]"), "span-line", "id<TAB>[offsets]"),
    "no spans as an empty cell": (
        "spans",
        "i0\t\n" + "".join(f"{item}\t[3]\n" for item in ITEMS[1:]),
        "span-not-offsets",
        "[]",
    ),
    "JSON for TREC": ("trec", BY_LINE, "json-for-lines", "q1 Q0 d7 1 12.5 run1"),
    "JSON for tags": ("tags", json.dumps([TAGGED]), "json-for-lines", "Rome<TAB>B-PER"),
    "JSON for texts": ("texts", json.dumps(["One text.", "Another."]), "json-for-lines", "one text per line"),
    "a header before texts": ("texts", rows("Text {n}.", "text\n"), "header-line", "text"),
    "texts in quotation marks": ("texts", rows('"Text {n}."'), "text-decorated", '"…"'),
    "numbered texts": ("texts", rows("{n}. Ann ran."), "text-decorated", "0. …, 1. …"),
    "texts with a marker": ("texts", rows("Ann has {n}.</s>"), "text-decorated", "…</s>"),
    "texts as JSON Lines": ("texts", rows('{{"id": {n}, "text": "Ann ran."}}'), "text-decorated", '{"id": …'),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_gets_one_message_with_its_fix(task: Definition, name: str) -> None:
    track, text, code, words = FILES[name]
    problems = found(task, track, text)
    assert [problem.code for problem in problems] == [code]
    assert words in problems[0].message
    assert problems[0].line or problems[0].item or code == "not-a-text"


@pytest.mark.parametrize(
    ("track", "text"),
    [
        ("texts", rows("The number {n}.")),
        ("texts", rows('"Nothing."')),
        ("texts", rows("{n} people came.").replace("3 people", "Three people")),
        ("labels", LABELS),
        ("labels", rows("{item},plants,id", "topic,id,text\n").replace("topic,id", "id,topic")),
        ("tags", "".join(f"# id = {item}\n{{\tO\n\n" for item in ITEMS)),
    ],
)
def test_ordinary_files_are_not_mistaken(task: Definition, track: str, text: str) -> None:
    assert not {"text-decorated", "lines-before-header", "code-fence", "json-for-lines"}.intersection(
        problem.code for problem in found(task, track, text)
    )


def test_lines_before_a_header_keep_their_numbers(task: Definition) -> None:
    before, label = found(task, "labels", f"# run 1\n{LABELS.replace('i3,plants', 'i3,plant')}")
    assert (before.code, before.line, label.code, label.line) == ("lines-before-header", 2, "label-outside-domain", 6)


@pytest.mark.parametrize(
    ("cell", "suggestion"),
    [("37.3%", "0.373"), ("[0.5]", "0.5"), ("tensor(0.5)", "0.5"), ("np.float64(0.5)", "0.5"), ("\u22120,5", None)],
)
def test_what_a_number_means_is_suggested(task: Definition, cell: str, suggestion: str | None) -> None:
    (problem,) = found(task, "numbers", rows(f'{{item}},"{cell}"', "id,score\n"))
    assert problem.suggestion == suggestion


@pytest.mark.parametrize(
    ("tag", "suggestion"),
    [
        ("S-PER", "B-PER"),
        ("E-PER", "I-PER"),
        ("L_creative_work", "I-creative-work"),
        ("b-per", "B-PER"),
        ("0", "O"),
        ("PER", None),
        ("to", None),
    ],
)
def test_a_tag_of_another_scheme_keeps_its_place_in_the_entity(
    task: Definition, tag: str, suggestion: str | None
) -> None:
    (problem,) = found(task, "tags", "".join(f"# id = {item}\nAnn\t{tag}\n\n" for item in ITEMS))
    assert (problem.code, problem.suggestion) == ("label-outside-domain", suggestion)


def test_comments_with_tabs_are_comments(task: Definition) -> None:
    run = "".join(f"# id {item}\tdomain=test\nAnn _ _ B-PER\n\n" for item in ITEMS)
    (problem,) = found(task, "sentences", run)
    assert (problem.code, problem.count, problem.line) == ("comment-line", len(ITEMS), 1)
    assert found(task, "sentences", "#\tO\n\n" * len(ITEMS)) == []


@pytest.mark.parametrize(
    ("value", "codes"),
    [
        ("0.7", ["value-not-shares"]),
        ({"NO": "0.7", "A": "0.3"}, ["share-not-a-number"]),
        ({"NO": 0.7, "A": 0.4}, ["wrong-sum"]),
        ({"NO": 0.7}, ["missing-label", "wrong-sum"]),
    ],
)
def test_the_sum_of_values_that_are_not_numbers_is_no_problem(
    task: Definition, value: object, codes: list[str]
) -> None:
    problems = found(task, "soft", json.dumps([{"id": item, "value": value} for item in ITEMS]))
    assert [problem.code for problem in problems] == codes


@pytest.mark.parametrize(
    ("value", "suggestion"),
    [("A", '["A"]'), ("A, B", '["A", "B"]'), ("['A', 'B']", '["A", "B"]'), ("A, C", None)],
)
def test_all_labels_in_a_text_are_suggested(task: Definition, value: str, suggestion: str | None) -> None:
    run = [{"id": item, "value": value, "test_case": "TINY"} for item in ITEMS]
    (problem,) = found(task, "multi", json.dumps(run))
    assert (problem.code, problem.suggestion) == ("value-not-a-list", suggestion)


def test_misnamed_keys_are_recognized_by_their_content(task: Definition) -> None:
    run = [{"id_TINY": item, "labels": ["A"], "test_case": "TINY"} for item in ITEMS]
    (problem,) = found(task, "multi", json.dumps(run))
    assert (problem.code, problem.suggestion) == ("json-missing-key", "id_TINY → id, labels → value")
    (problem,) = found(task, "multi", json.dumps([{"id_TINY": item, "labels": ["A"]} for item in ITEMS]))
    assert (problem.code, problem.suggestion) == ("json-missing-key", "id_TINY → id, labels → value")


def test_ids_of_several_columns_get_decimals_from_pandas() -> None:
    items = [f"{n}_{place}" for n in range(5) for place in (1, 2)]
    changed = changed_ids([f"{item.replace('_', '.0_')}.0" for item in items], items, len(items))
    assert changed is not None
    assert (changed.right, changed.still_missing) == ("0_1", [])
