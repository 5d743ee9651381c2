"""The table of problem codes: complete, used, and translated with the same placeholders."""

import gettext
import re
import string

import polib
import pytest

from scoring.reports.messages import CATALOGUES, LANGUAGES
from scoring.reports.messages.counts import NOUNS, UNITS, counted
from scoring.reports.messages.en import MESSAGES, PHRASES
from scoring.reports.messages.expected import EXPECTED
from scoring.reports.problems import Problem, Report, translate
from tests.conftest import ROOT

SOURCES = {path: path.read_text(encoding="utf-8") for path in (ROOT / "scoring").rglob("*.py")}
PLACEHOLDERS = {"file", "line", "column", "item", "found", "expected", "suggestion", "count", "places"}
PARTS_OF_NAMES = ("case", "extension", "number", "team", "track", "file", "without-file", "folders")
NAME_PARTS = {f"name-{part}" for part in PARTS_OF_NAMES}

EXPECTED_ELSEWHERE = {  # kinds without an entry in EXPECTED → why
    "definition-yaml": "found is a sentence that says it",
    "definition-rule": "found is a sentence that says it",
    "definition-time": "found is a sentence that says it",
    "row-text": "the item's text, where it is reported",
    "json-read": "a note on what was read",
    "json-unused": "a note on what was read",
    "gold-view": "found is a sentence that says it",
    "tokens-differ": "the number of tokens, wherever it is reported",
    "trailing-separator": "the number of cells, wherever it is reported",
}


def test_every_code_is_used_and_every_used_code_is_there() -> None:
    code = r'"([a-z]+(?:-[a-z0-9]+)+)"'
    used = {
        match for path, text in SOURCES.items() if path.parent.name != "messages" for match in re.findall(code, text)
    }
    assert MESSAGES.keys() - used - NAME_PARTS == set()
    calls = r"(?:error|warning|add|_tell_ids|_warn)\(\s*" + code
    assert {match for text in SOURCES.values() for match in re.findall(calls, text)} <= MESSAGES.keys()


def test_every_kind_of_problem_says_what_is_expected() -> None:
    said = {code for code, message in MESSAGES.items() if "{expected}" in message}
    assert MESSAGES.keys() - said - EXPECTED.keys() == EXPECTED_ELSEWHERE.keys()
    assert not said & EXPECTED.keys(), "these get what is expected where they are found"
    for code in MESSAGES.keys() - said - EXPECTED_ELSEWHERE.keys():
        report = Report()
        report.error(code, found="x", item="x", line=1, suggestion="x", places=("x",))
        (problem,) = report
        assert problem.as_dict()["expected"] == EXPECTED[code]
        assert translate(problem, "es").message != problem.message, "the sentence is still translated"


def test_what_a_problem_expects_in_particular_is_kept() -> None:
    report = Report()
    report.error("no-rows", expected="12")
    report.error("no-rows")
    assert [problem.expected for problem in report] == ["12", "one row for each item"]


def test_messages_use_the_fields_of_a_problem_and_end_as_sentences() -> None:
    for code, message in MESSAGES.items():
        names = {name.split("!")[0] for _, name, _, _ in string.Formatter().parse(message) if name}
        assert names <= PLACEHOLDERS, code
        assert message.endswith((".", "?")), code


def placeholders(message: str) -> list[str]:
    return sorted(name for _, name, _, _ in string.Formatter().parse(message) if name is not None)


@pytest.mark.parametrize("language", [language for language in LANGUAGES if language != "en"])
def test_a_catalogue_has_every_text_with_the_same_placeholders_and_is_compiled(language: str) -> None:
    folder = CATALOGUES / language / "LC_MESSAGES"
    written = polib.pofile(str(folder / "scoring.po"))
    assert written.percent_translated() == 100
    assert len({entry.msgid for entry in written}) == len(written)
    words = {"valid", "invalid", "suggestion", "{} more {}", "… and {}"}
    assert {entry.msgid for entry in written if not entry.msgid_plural} == {*MESSAGES.values(), *PHRASES, *words}
    assert {entry.msgid_plural: entry.msgid for entry in written if entry.msgid_plural} == NOUNS
    assert all(placeholders(entry.msgid) == placeholders(entry.msgstr) for entry in written if not entry.msgid_plural)
    with (folder / "scoring.mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)
    for entry in written:
        if entry.msgid_plural:
            found = [compiled.ngettext(entry.msgid, entry.msgid_plural, count) for count in (1, 2)]
            assert found == [entry.msgstr_plural[0], entry.msgstr_plural[1]]
        else:
            assert compiled.gettext(entry.msgid) == entry.msgstr
    assert len(polib.mofile(str(folder / "scoring.mo"))) == len(written)


def test_a_problem_is_said_in_other_languages() -> None:
    report = Report()
    report.error("ragged-row", line=3, expected="4 cells", count=30, places=("line 3: 1 cell", "line 4: 2 cells"))
    report.error("own-code", "Own words.")
    ragged, own = report.problems
    assert translate(ragged, "en") == ragged
    assert translate(ragged, "es").message == (
        "Filas con más o menos celdas que las demás: línea 3: 1 celda, línea 4: 2 celdas, … y 28 filas más. "
        "Se esperaba 4 celdas."
    )
    assert "linha 3: 1 célula" in translate(ragged, "pt").message
    assert translate(own, "es") == own


def test_the_message_is_made_of_the_fields() -> None:
    report = Report()
    report.error("missing-items", item="a", count=3, places=("a", "b"))
    report.warning("own-code", "Own words with {braces}.")
    assert report.problems[0].message.startswith("Missing items: a, b, … and 1 more item.")
    assert report.problems[1].message == "Own words with {braces}."
    assert not report.ok


def test_a_copied_problem_gets_the_file_it_lacks() -> None:
    report, other = Report(), Report([Problem("warning", "x", "y"), Problem("warning", "x", "y", file="b")])
    report.extend(other, file="a")
    assert [problem.file for problem in report] == ["a", "b"]
    assert report.ok
    assert report.as_dict()["problems"][0]["places"] == []


def test_what_is_counted_is_named_in_every_language() -> None:
    assert UNITS.keys() <= MESSAGES.keys()
    assert NOUNS.keys() >= set(UNITS.values())
    report = Report()
    report.error("missing-items", count=2576, places=("a", "b"))
    report.error("ragged-row", count=1, places=("line 3: 1 cell",), expected="2 cells")
    many, one = report.problems
    assert "a, b, … and 2,574 more items." in many.message
    assert "a, b, … y 2.574 elementos más." in translate(many, "es").message
    assert "a, b, … e mais 2.574 itens." in translate(many, "pt").message
    assert "…" not in one.message
    assert (counted(many.unit, many.count), counted(one.unit, one.count)) == ("2,576 items", "1 row")
