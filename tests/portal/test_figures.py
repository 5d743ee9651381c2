"""Figures: drawn from the table next to them, accessible to people who can't see them, and hidden until the release."""

import re
from base64 import b64decode
from dataclasses import replace
from io import BytesIO

import pytest
from django.core.cache import caches
from django.test import Client
from fontTools.ttLib import TTFont

from portal.figures.classes import CURVES, by_class, class_figures, confusion, heat, roc, roc_of_runs, run_figures
from portal.figures.field import labels
from portal.figures.figure import Figure
from portal.figures.frame import axis, label_positions
from portal.figures.render import FORMATS, render
from portal.figures.scores import score_figures, time_axis
from portal.figures.theme import config
from portal.models import Evaluation, Run
from tests.portal.remembered import remembered
from tests.portal.world import EVALUATION, GOOD, POOR, RELEASE, board, pack_of, with_teams

CONFUSION = {"classes": ["NO", "YES"], "counts": [[3, 1], [0, 2]]}
FONT = re.compile(r"font-weight:(\d+);src:url\(data:font/woff2;base64,([^)]+)")


@remembered
def field(tiny):
    return with_teams(tiny, {"Ostro": GOOD, "Meltemi": GOOD, "Sirocco": POOR})


def figures_of(shared_task) -> dict[str, Figure]:
    found = score_figures(board(shared_task, RELEASE), board(shared_task, RELEASE, runs="all"))
    return {figure.name: figure for figure in found}


@pytest.mark.slow
def test_every_run_is_a_point_of_precision_against_recall(field):
    official, every = (board(field, RELEASE, runs=runs) for runs in ("official", "all"))
    keys = ("precision:YES", "recall:YES")
    columns = [replace(official.columns[0], key=key) for key in keys]
    boards = [
        replace(
            one,
            columns=[*one.columns, *columns],
            rows=[replace(row, scores={**row.scores, **dict.fromkeys(keys, 0.5)}) for row in one.rows * times],
        )
        for one, times in ((official, 1), (every, 2))
    ]
    figures = {figure.name: figure for figure in score_figures(*boards)}
    assert len(figures["precision-yes-against-recall-yes"].data) == 2 * len(every.rows)


def test_two_further_metrics_are_plotted_against_each_other(field):
    here = board(field, RELEASE)
    columns = [replace(here.columns[0], key=key) for key in ("hierarchical_f", "propensity_f")]
    rows = [replace(row, scores=row.scores | {"hierarchical_f": 0.5, "propensity_f": 0.4}) for row in here.rows]
    only = replace(here, columns=[here.ranking_column, *columns], rows=rows)
    names = [figure.name for figure in score_figures(only, only)]
    assert names[:3] == [
        "hierarchical-f-against-accuracy",
        "propensity-f-against-accuracy",
        "propensity-f-against-hierarchical-f",
    ]


def test_labels_per_item_and_their_shares_of_items_with_a_label():
    found = {"classes": ["a", "b"], "items": 4, "counts": [2, 1], "together": [[2, 1], [1, 1]], "sizes": [2, 1, 1]}
    bars, sizes, _together = labels(found)
    assert [[cell.text for cell in row] for row in bars.cells] == [
        ["a", "2", "0.5000", "1.0000"],
        ["b", "1", "0.2500", "0.5000"],
    ]
    assert sizes.alt == "0: 2, 1: 1, 2: 1"
    assert [figure.name for figure in labels({**found, "sizes": [0, 4], "together": [[2, 0], [0, 1]]})] == ["labels"]


def test_confusion_counts_and_shares_are_the_run_s():
    figure = confusion(CONFUSION)
    assert [[cell.text for cell in row] for row in figure.cells] == [
        ["NO", "NO", "3", "0.7500"],
        ["NO", "YES", "1", "0.2500"],
        ["YES", "NO", "0", "0.0000"],
        ["YES", "YES", "2", "1.0000"],
    ]
    assert figure.alt == "The run assigns the gold label to 5 of 6 items."


@pytest.mark.slow
def test_a_drawing_says_what_its_table_says():
    drawn = render(confusion(CONFUSION), "svg").decode()
    words = re.findall(r"<text[^>]*>([^<]+)</text>", drawn)
    assert {"NO", "YES", "3", "1", "0", "2", "75%", "25%", "0%", "100%"} <= set(words)
    assert "5 of 6 items" in drawn  # for people who cannot see the image


def test_an_image_carries_the_letters_that_it_uses_and_no_others():
    drawn = render(confusion(CONFUSION), "svg").decode()
    fonts = {int(weight): TTFont(BytesIO(b64decode(font))) for weight, font in FONT.findall(drawn)}
    letters = {weight: {chr(code) for code in font.getBestCmap()} for weight, font in fonts.items()}
    assert letters == {400: set("NOYES0123%57"), 600: set("gold run→")}


def test_teams_and_baselines_differ_in_shape_and_colour(field):
    figure = next(one for name, one in figures_of(field).items() if "-against-" in name)
    drawn = render(figure, "svg").decode()
    colours = dict(re.findall(r'<path[^>]*Run: ([\w ]+)[^>]* (fill="#\w+|stroke="#\w+)', drawn))
    assert colours["Ostro"] == 'fill="#15527f'
    assert colours["All yes"] == 'stroke="#8a9096'


@pytest.mark.parametrize("columns", [3, 11])
def test_a_wide_heatmap_fits_the_page_in_its_own_size(columns):
    names = [f"dehumanisation{number}" for number in range(columns)]
    drawn = heat(names, names, shown="words", shade="shade", across="", down="")
    assert drawn["width"]["step"] * columns <= 600


@pytest.mark.slow
def test_a_small_screen_gets_a_drawing_of_its_own_with_letters_of_one_size(field):
    columns = [str(number) for number in range(6)]
    drawing = heat(["Ostro"], columns, shown="words", shade="shade", across="", down="")
    cell = {"row": "Ostro", "column": "0", "words": "0.50", "shade": 0.5}
    for figure in (*figures_of(field).values(), Figure("heat", "", "", "", (), [cell], drawing)):
        small, large = (render(figure, "svg", is_small=is_small).decode() for is_small in (True, False))
        (width,) = re.findall(r'<svg[^>]* width="(\d+)"', small)
        assert int(width) <= 328, figure.name
        assert set(re.findall(r'font-size="([^"]*)"', small)) == set(re.findall(r'font-size="([^"]*)"', large))


@pytest.mark.parametrize(("ending", "first"), [("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF"), ("json", b"{")])
def test_every_format_is_what_it_says(ending, first):
    assert ending in FORMATS
    assert render(confusion(CONFUSION), ending).startswith(first)


def test_themes_differ_in_colour_alone():
    light, dark = (render(confusion(CONFUSION), "svg", theme).decode() for theme in ("light", "dark"))
    assert light != dark
    assert re.sub(r"#[0-9a-f]{6}|rgb\([^)]*\)", "", light) == re.sub(r"#[0-9a-f]{6}|rgb\([^)]*\)", "", dark)


def test_scores_by_class_have_a_row_a_run():
    lines = [{"name": "NO", "f1": 0.5}, {"name": "YES", "f1": None}]
    figure = by_class({"Meltemi": lines})
    assert [[cell.text for cell in row] for row in figure.cells] == [
        ["Meltemi", "NO", "0.5000"],
        ["Meltemi", "YES", "–"],
    ]


def test_no_curve_where_the_gold_lacks_a_class():
    assert roc([{"name": "YES", "roc": None}]) is None
    assert run_figures({}) == []


def test_scores_are_those_of_the_board(field):
    found = figures_of(field)
    shown = board(field, RELEASE)
    across = next(figure for name, figure in found.items() if "-against-" in name)
    drawn = {datum["name"]: datum["x"] for datum in across.data}
    assert drawn == {row.team or row.name: row.scores[shown.rank_by] for row in shown.rows}
    over_time = found["over-time"]
    assert sorted(datum["value"] for datum in over_time.data) == [0.25, 0.75, 0.75]


def test_far_baselines_are_named_outside_the_frame():
    frame = axis([0.4, 0.5], [0.45, -30.0], 500)
    assert frame.holds(0.45)
    assert not frame.holds(-30.0)


def test_labels_do_not_lie_over_each_other():
    assert label_positions([(100, 100), (110, 100)], ["Ostro", "Sirocco"]) == ["left", "right"]
    crowd = [(120, 115), (130, 135), (150, 120), (150, 115)]  # the first label has to give way to a later one
    found = label_positions(crowd, ["Ostro", "Sirocco", "Meltemi", "Levante"])
    assert found == ["left", "left", "below right", "right"]


def test_labels_of_several_lines_do_not_lie_over_others():
    points = [(100, 100), (100, 130)]
    assert label_positions(points, ["Ostro", "Sirocco"]) == ["right", "right"]
    assert label_positions(points, ["Ostro\nBora\nMistral", "Sirocco"]) == ["right", "left"]


def test_runs_with_equal_scores_share_a_label(field):
    figure = next(figure for name, figure in figures_of(field).items() if "-against-" in name)
    assert sorted(one["label"] for one in figure.data if one["kind"] == "team") == ["", "Meltemi\nOstro", "Sirocco"]
    drawn = render(figure, "svg").decode()
    lines = re.findall(r'<tspan(?: x="0" dy="16")?>([^<]+)</tspan>', drawn)
    assert lines == ["Meltemi", "Ostro"]
    fonts = {weight: TTFont(BytesIO(b64decode(font))) for weight, font in FONT.findall(drawn)}
    assert set("MeltemiOstro") <= {chr(code) for code in fonts["600"].getBestCmap()}


@pytest.mark.slow
def test_no_figure_before_the_release(field, monkeypatch):
    run = Run.objects.get(team__name="Ostro")
    client = Client()
    client.force_login(run.team.members.get())
    address = f"/runs/{run.pk}/figures/confusion.svg"
    monkeypatch.setattr("portal.web.views.figures.database_now", lambda: EVALUATION)
    assert client.get(address).status_code == 404
    monkeypatch.setattr("portal.web.views.figures.database_now", lambda: RELEASE)
    assert client.get(address).status_code == 200
    assert Client().get(address).status_code == 404
    assert client.get(address.replace("confusion", "none")).status_code == 404
    assert client.get(f"{address}?theme=neon").status_code == 404


@pytest.mark.slow
def test_without_the_packages_that_draw_pages_and_packs_have_the_tables(field, monkeypatch):
    monkeypatch.setattr("portal.figures.figure.CAN_DRAW", False)
    insights = "/tasks/tiny/insights/one/"
    page = Client().get(f"{insights}?phase=evaluation").content.decode()
    assert "This portal shows figures as tables." in page
    assert "<details open>" in page
    assert "<img" not in page.partition("<figure")[2]
    assert Client().get(f"{insights}over-time.svg?phase=evaluation").status_code == 404
    names = pack_of(field).namelist()
    assert "figures/one-over-time.csv" in names
    assert not [name for name in names if name.endswith((".svg", ".pdf"))]
    monkeypatch.undo()
    assert Client().get(f"{insights}over-time.svg?phase=evaluation").status_code == 200


CURVE = {"roc": [[0, 0], [0.2, 0.9], [1, 1]], "auc": 0.85}


@pytest.mark.slow
def test_curves_of_all_runs_are_in_one_plot_with_their_areas():
    chance = {"roc": [[0, 0], [1, 1]], "auc": 0.5}
    figure = roc_of_runs({"BoW": CURVE, "Meltemi": chance})
    drawn = render(figure, "svg").decode()
    assert "0.850 BoW" in drawn
    assert "0.500 Meltemi" in drawn
    assert figure.alt == "The largest area is 0.850, for BoW."
    assert [[cell.text for cell in row] for row in figure.cells][1] == ["BoW", "0.8500", "0.2000", "0.9000"]
    lines = re.findall(r'stroke="(#\w+)"[^>]*stroke-width="1.6"(?: stroke-dasharray="([\d,]+)")?', drawn)
    (width,) = re.findall(r'<svg[^>]* width="(\d+)"', render(figure, "svg", is_small=True).decode())
    assert int(width) <= 328
    assert len(set(lines)) == 3  # chance and each run have their own color and dashes
    assert roc_of_runs({}) is None


def test_a_run_with_probabilities_has_its_own_curve():
    (figure,) = run_figures({"classes": [], "probabilities": CURVE})
    assert (figure.name, figure.data[0]["name"]) == ("roc-of-runs", "0.850 This run")


@pytest.mark.slow
def test_curves_are_hidden_like_the_scores(field):
    caches["figures"].clear()
    Evaluation.objects.update(details={"probabilities": CURVE})
    address = "/tasks/tiny/insights/one/roc-of-runs.svg?phase=evaluation"
    field.phases.filter(slug="evaluation").update(released=None)
    assert Client().get(address).status_code == 404
    field.phases.filter(slug="evaluation").update(released=RELEASE)
    drawn = Client().get(address).content.decode()
    assert all(f"0.850 {name}" in drawn for name in ("Ostro", "Meltemi", "Sirocco", "All yes"))
    assert "Gold Standard" not in drawn


def test_only_the_best_runs_have_curves():
    found = class_figures({f"run {number}": {"probabilities": CURVE} for number in range(CURVES + 1)})
    (figure,) = [one for one in found if one.name == "roc-of-runs"]
    assert {datum["run"] for datum in figure.data} == {f"run {number}" for number in range(CURVES)}


@pytest.mark.parametrize(
    ("days", "interval", "step"), [(3, "day", 2), (30, "week", 1), (119, "month", 1), (800, "month", 3)]
)
def test_a_long_time_axis_has_few_ticks(days: int, interval: str, step: int) -> None:
    assert time_axis(days)["tickCount"] == {"interval": interval, "step": step}


def test_a_small_figure_has_its_legend_below_and_the_whole_width_for_its_plot() -> None:
    assert config("light", is_small=True)["legend"]["orient"] == "bottom"
    assert "orient" not in config("light")["legend"]
