import pytest
from django.utils.html import strip_tags

from portal.export import defused
from portal.markdown import has_heading, render
from portal.web.templatetags.icons import STATES, state
from portal.web.templatetags.languages import languages
from portal.web.templatetags.problems import (
    breakable,
    further_count,
    further_places,
    more,
    renamed,
    shortened,
)


@pytest.mark.parametrize(
    "attack",
    [
        "<script>alert(1)</script>",
        '<img src=x onerror="alert(1)">',
        "[x](javascript:alert(1))",
        "<iframe src='//evil.example'></iframe>",
        '<p style="position:fixed" onclick="x()">x</p>',
        "![x](//evil.example/pixel.png)",
    ],
)
def test_markdown_lets_no_code_through(attack: str) -> None:
    html = render(attack)
    for danger in ("<script", "<img", "<iframe", 'href="javascript', "<p style", "<p onclick"):
        assert danger not in html


def test_markdown_tables_and_links() -> None:
    html = render("| a |\n| - |\n| [b](data/) |")
    assert '<table class="ruled secondary">' in html
    assert '<th scope="col">a</th>' in html
    assert 'href="data/"' in html


def test_a_page_with_a_title_of_its_own() -> None:
    assert has_heading("\n# Overview\ntext")
    assert not has_heading("## Part")


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_no_spreadsheet_runs_a_name(cell: str) -> None:
    assert defused(cell) == f"'{cell}"


def test_ordinary_names_are_exported_as_they_are() -> None:
    assert defused("task1_hard_Lak_NLP_2") == "task1_hard_Lak_NLP_2"


def test_a_state_is_word_icon_and_colour() -> None:
    for name, (_icon, tone, word) in STATES.items():
        html = state(name)
        assert str(word) in html
        assert 'aria-hidden="true"' in html
        assert f"tone-{tone}" in html


def test_what_differs_in_a_name_is_struck_and_put_in() -> None:
    html = renamed("task3_hard_Meltmi_1.json", "task3_hard_Meltemi_1.json")
    assert html == (
        '<code class="name whole">task3_<wbr>hard_<wbr><del class="was" data-was="Meltmi"></del><wbr>'
        '<ins class="be">Meltemi</ins><wbr>_<wbr>1.json</code>'
    )
    assert strip_tags(html) == "task3_hard_Meltemi_1.json"  # the text that is copied


def test_what_was_found_is_marked_in_the_message() -> None:
    problem = {"message": "The value <x> is no label.", "found": "<x>", "places": []}
    assert shortened(problem) == 'The value <code class="found name">&lt;x&gt;</code> is no label.'
    assert shortened(problem | {"found": None}) == "The value &lt;x&gt; is no label."


def test_a_long_list_of_places_is_folded() -> None:
    places = ["a", "b", "c", "d", "e"]
    problem = {"message": "Items without an entry: a, b, c, d, e. Add them.", "found": None, "places": places}
    problem |= {"code": "missing-items", "count": 5}
    assert shortened(problem) == "Items without an entry: a, b, c, …. Add them."
    assert (more(problem), further_count(problem), further_places(problem)) == (
        "4 more items",
        "2 more items",
        ["d", "e"],
    )
    cut_off = problem | {"message": "Items without an entry: a, b, c, d, e, … and 2,571 more items.", "count": 2576}
    assert shortened(cut_off) == "Items without an entry: a, b, c, …."
    assert (more(cut_off), further_count(cut_off)) == ("2,575 more items", "2,573 more items")
    assert further_places(cut_off) == ["d", "e", "… and 2,571 more items"]
    assert further_places(problem | {"places": ["a"]}) == []


def test_a_long_name_breaks_between_its_words() -> None:
    assert breakable("task1_hard_<b>.json") == "task1_<wbr>hard_<wbr>&lt;b&gt;.json"


def test_a_name_cannot_bring_markup() -> None:
    assert "<b>" not in renamed("<b>.json", "x.json")


def test_languages_by_name() -> None:
    assert languages(["en", "es", "x-unknown"]) == "English, Spanish, x-unknown"
