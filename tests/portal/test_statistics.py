"""Statistics of tracks and their baselines, errors that the best runs share, and labels by slice."""

import json
import re
from dataclasses import replace
from pathlib import Path
from shutil import copytree
from types import SimpleNamespace

import numpy as np
import pytest
from django.contrib.auth.models import AnonymousUser
from django.template.loader import render_to_string
from django.test import Client

from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.evaluation.compare import compare_board
from portal.figures.field import field_figures
from portal.figures.field import labels as field_labels
from portal.figures.render import render
from portal.figures.scores import labels_by_slices
from portal.figures.tracks import tracks_figures
from portal.models import Board, Phase, SharedTask, Track
from portal.paper.tables import all_runs_table, label_shares_table
from portal.queries.boards.all_runs import all_runs
from portal.queries.boards.insights import Insights, insights
from portal.queries.boards.label_shares import Share, label_shares
from portal.queries.boards.overall import overall
from portal.queries.boards.statistics import track_statistics
from scoring import DefinitionError, load_definition
from scoring.analysis.confusion import labels as labels_of
from scoring.analysis.details import field_details
from scoring.answers import Matrix
from scoring.definition import FormatSpec, RunField
from scoring.metrics.comparison import compare
from tests.portal.remembered import remembered
from tests.portal.world import (
    EVALUATION,
    GOOD,
    POOR,
    RELEASE,
    archive,
    board,
    new_team,
    pack_of,
    run_file,
    send,
    with_teams,
    work_off,
)
from tests.scoring.metrics.test_slices import sliced as in_groups

TABLES = ("statistics", "one-same-errors", "one-labels-source")


@pytest.fixture
def sliced_folder(tiny_folder: Path) -> Path:
    """The tiny task's folder, with two slices of two items each."""
    ids = (tiny_folder / "data/items.txt").read_text().split()
    lines = [f"{item}\t{'a' if place < 2 else 'b'}" for place, item in enumerate(ids)]
    (tiny_folder / "data/sources.tsv").write_text("\n".join(["id\tsource", *lines]) + "\n")
    path = tiny_folder / "task.yaml"
    slices = "slices: {source: {items: data/sources.tsv}}"
    path.write_text(path.read_text().replace("rank_by", f"{slices}\n    rank_by", 1))
    return tiny_folder


@remembered
def sliced(db: None, sliced_folder: Path) -> SharedTask:
    """The tiny task with three teams and the slices."""
    task = import_shared_task(None, sliced_folder, EVALUATION).shared_task
    with_teams(task, {"Ostro": GOOD, "Meltemi": POOR, "Sirocco": POOR})
    compare_board(Board.objects.get(track__slug="one", phase__slug="evaluation"), RELEASE)
    return task


def seen(shared_task: SharedTask) -> Insights:
    track = Track.objects.select_related("shared_task").get(shared_task=shared_task, slug="one")
    phase = Phase.objects.select_related("shared_task").get(shared_task=shared_task, slug="evaluation")
    return insights(track, phase, AnonymousUser(), RELEASE)


@pytest.mark.slow
def test_baselines_and_the_teams_above_them(sliced: SharedTask) -> None:
    (baseline,) = seen(sliced).baselines
    assert (baseline.name, baseline.value) == ("All yes", 0.75)
    assert (baseline.above, baseline.teams) == (0, 3)  # a team that is tied with the baseline is not above it


def test_statistics_of_all_tracks_with_four_decimals(sliced: SharedTask) -> None:
    phase = sliced.phases.get(slug="evaluation")
    table = overall(list(sliced.tracks.all()), phase, AnonymousUser(), RELEASE).statistics
    assert [one.track.slug for one in table.tracks] == ["one"]  # no team has a run in track two
    assert table.lines == [
        ("Teams", ["3"]),
        ("Min.", ["0.2500"]),
        ("Q1", ["0.2500"]),
        ("Mean", ["0.4167"]),
        ("Median", ["0.2500"]),
        ("Std. dev.", ["0.2887"]),
        ("Q3", ["0.5000"]),
        ("Max.", ["0.7500"]),
        ("All yes", ["0.7500"]),
        ("Teams above Q1", ["1 of 3 (33.3%)"]),  # the two others are equal to Q1
        ("Teams above Q3", ["1 of 3 (33.3%)"]),
        ("Teams above All yes", ["0 of 3 (0.0%)"]),
    ]


def test_lower_scores_can_be_better(sliced: SharedTask) -> None:
    found = seen(sliced).board
    columns = [replace(column, higher_is_better=False) for column in found.columns]
    (baseline,) = track_statistics(replace(found, columns=columns)).baselines
    assert (baseline.above, baseline.share) == (2, 2 / 3)


def test_the_same_incorrect_answer(sliced: SharedTask) -> None:
    missed = seen(sliced).missed
    assert missed is not None
    assert [(one.best, one.answer, one.count, one.share, one.of_items) for one in missed.same] == [
        (3, "", 1, 1.0, 0.25),
        (3, "NO", 1, 1.0, 0.25),
    ]


def test_a_comparison_without_shared_errors_is_still_shown(sliced: SharedTask) -> None:
    kept = Board.objects.get(track__slug="one", phase__slug="evaluation")
    for one in kept.comparison["field"]["missed"]:
        del one["same"]
    del kept.comparison["field"]["labels"]["slices"]
    kept.save()
    found = seen(sliced)
    assert found.missed is not None
    assert (found.missed.same, found.label_shares) == ([], [])


def test_labels_by_slice(sliced: SharedTask) -> None:
    (shares,) = seen(sliced).label_shares
    assert shares.items == [("a", 2), ("b", 2)]
    assert shares.rows == [("YES", [Share(1.0, 2), Share(0.5, 2)]), ("NO", [Share(0.0, 2), Share(0.5, 2)])]
    figures = {figure.name: figure for figure in field_figures(seen(sliced))}
    figure = figures["labels-by-source"]
    assert figure.data[1] == {"name": "YES", "part": "b", "value": 0.5, "answers": 2}
    assert [field.key for field in figure.fields] == ["name", "part", "value"]


def test_items_without_an_answer_do_not_count() -> None:
    """Check counts, figures, the table for papers, and the page for a gold standard with empty cells.

    Of the four items, the first two are of group x: 1 and 0 in `A`. The others are of group y: 1 in `A`, no answer in
    `A`. Nothing is known about `B` in y.
    """
    values = np.array([[1, 1], [0, 0], [1, 0], [0, 0]])
    absent = np.array([[False, False], [False, False], [False, True], [True, True]])
    gold = Matrix(list("abcd"), ("A", "B"), values, absent)
    found = labels_of(gold)
    assert (found.counts.tolist(), found.answers.tolist()) == ([2, 1], [3, 2])
    assert found.table().as_csv().splitlines() == ["class,items,answers,share", f"A,2,3,{2 / 3}", "B,1,2,0.5"]
    loaded = in_groups(gold, ["x", "x", "y", "y"])
    details = json.loads(json.dumps(field_details({"run": compare(loaded, gold)})["labels"]))
    assert details["sizes"] == [1, 0, 1]  # the last two items lack an answer
    bars = field_labels(details)[0]
    assert [[cell.text for cell in row] for row in bars.cells] == [["A", "2", "3", "0.6667"], ["B", "1", "2", "0.5000"]]

    options = {"columns": ("A", "B"), "headers": ("A", "B"), "values": ("0", "1"), "whole": None, "parts": ()}
    definition = SimpleNamespace(format=FormatSpec("table", options), slices={"group": SimpleNamespace(title="group")})
    (shares,) = label_shares(details, SimpleNamespace(definition=definition))  # type: ignore[arg-type]
    assert dict(shares.rows) == {
        "A 1": [Share(0.5, 2), Share(1.0, 1, is_of_some=True)],
        "A 0": [Share(0.5, 2), Share(0.0, 1, is_of_some=True)],
        "B 1": [Share(0.5, 2), Share(None, 0, is_of_some=True)],
        "B 0": [Share(0.5, 2), Share(None, 0, is_of_some=True)],
    }
    assert "answers" in [field.key for field in labels_by_slices(shares).fields]
    unknown = details | {"slices": {"group": {"x": {"items": 2, "counts": [0, 0], "answers": [0, 0]}}}}
    assert label_shares(unknown, SimpleNamespace(definition=definition)) == []  # type: ignore[arg-type]
    track = SimpleNamespace(slug="one", title="One")
    table = label_shares_table(SimpleNamespace(board=SimpleNamespace(track=track)), shares)  # type: ignore[arg-type]
    assert table.rows[2] == ["B 1", "50.00 (2)", "– (0)"]
    page = " ".join(render_to_string("insights/_label_shares.html", {"found": shares}).split())
    assert '100.00 <span class="soft">(1)</span>' in page


def test_parts_count_where_the_whole_is_1() -> None:
    """The first column of Table 1 in HatEval 2019, computed from counts."""
    values = {"columns": ("HS", "TR"), "headers": ("HS", "TR"), "whole": "HS", "parts": ("TR",), "values": ("0", "1")}
    definition = SimpleNamespace(format=FormatSpec("table", values), slices={"target": SimpleNamespace(title="target")})
    labels = {"classes": ["HS", "TR"], "slices": {"target": {"immigrants": {"items": 1500, "counts": [630, 21]}}}}
    (shares,) = label_shares(labels, SimpleNamespace(definition=definition))  # type: ignore[arg-type]
    assert [(name, round(100 * (values[0].value or 0), 2)) for name, values in shares.rows] == [
        ("HS 1", 42.0),
        ("HS 0", 58.0),
        ("TR 1 where HS is 1", 3.33),
        ("TR 0 where HS is 1", 96.67),
    ]
    some = {"answers": [1500, 100], "answers_where": [[630, 42], [21, 21]]}
    labels["slices"]["target"]["immigrants"].update(some)  # type: ignore[index]
    (shares,) = label_shares(labels, SimpleNamespace(definition=definition))  # type: ignore[arg-type]
    assert shares.rows[2:] == [
        ("TR 1 where HS is 1", [Share(0.5, 42, is_of_some=True)]),
        ("TR 0 where HS is 1", [Share(0.5, 42, is_of_some=True)]),
    ]


@pytest.mark.slow
def test_the_pack_and_the_pages_show_them(sliced: SharedTask) -> None:
    archive = pack_of(sliced)
    tables = {name: archive.read(f"tables/{name}.tex").decode() for name in TABLES}
    assert "Teams above All yes & 0 of 3 (0.0\\%)" in tables["statistics"]
    assert "3 & NO & 1 & 100.0 & 25.0" in tables["one-same-errors"]
    assert "YES & 100.00 & 50.00" in tables["one-labels-source"]
    assert all(rf"\input{{tables/{name}}}" in archive.read("paper.tex").decode() for name in TABLES)
    analysis = Client().get("/tasks/tiny/insights/one/?phase=evaluation").content.decode()
    assert all(
        f"<h2>{head}</h2>" in analysis for head in ("Baselines", "Same incorrect answer from all of the best runs")
    )
    assert "<h2>Statistics</h2>" in Client().get("/tasks/tiny/leaderboard/?phase=evaluation").content.decode()


def test_columns_that_a_board_shows_first(sliced: SharedTask) -> None:
    def shown(query: str = "") -> list[str]:
        page = Client().get(f"/tasks/tiny/leaderboard/one/?phase=evaluation{query}").content.decode()
        return list(dict.fromkeys(re.findall(r'data-metric="([^"]+)"', page)))

    assert shown() == ["Acc", "Macro F1", "F1 YES"]
    path = sliced.definition.folder / "task.yaml"
    folder = copytree(path.parent, path.parent.with_name("again"))
    text = path.read_text().replace(
        "rank_by: accuracy", "rank_by: accuracy\n    board_columns: [accuracy, f1_macro]", 1
    )
    (folder / "task.yaml").write_text(text)
    import_shared_task(None, folder, RELEASE)
    assert shown() == ["Acc", "Macro F1"]
    assert shown("&column=f1:YES") == ["Acc", "F1 YES"]
    table = Client().get("/tasks/tiny/leaderboard/one/?phase=evaluation&format=csv").content.decode().splitlines()[0]
    assert "accuracy,f1_macro,f1:YES" in table


def test_runs_of_tracks_with_the_same_columns_are_in_one_table(sliced: SharedTask) -> None:
    phase = sliced.phases.get(slug="evaluation")
    boards = [board(sliced, RELEASE)] * 2  # as if there were two tracks with the same columns and runs
    found = all_runs(boards)
    assert found is not None
    assert [row.label for row, _track in found.rows][:4] == ["Meltemi", "Meltemi", "Ostro", "Ostro"]
    assert {column.short: value for column, value in found.means}["Acc"] == pytest.approx(
        (0.25 + 0.75 + 0.25 + 0.75) / 4
    )
    together = overall(list(sliced.tracks.all()), phase, AnonymousUser(), RELEASE)
    assert together.all_runs is None  # the tracks have different metrics
    shown = replace(together, all_runs=found)
    text = all_runs_table(shown, found).latex()
    assert "Mean &  &  & 0.5000" in text
    described = replace(found, run_fields=(RunField(key="model", label="Model"),))
    described.rows[0][0].fields["model"] = "BERT"  # type: ignore[index]
    assert "& BERT & Track one &" in all_runs_table(shown, described).latex()
    assert '<td data-label="Model">BERT</td>' in render_to_string("boards/_all_runs.html", {"found": described})
    assert "Ostro" in render_to_string("boards/_all_runs.html", {"found": found})


def add_figure_of(metric: str, folder: Path) -> None:
    """Give the tiny task the same columns in both tracks, and a figure of all tracks."""
    (folder / "data/languages.tsv").write_text("id\tlang\na\ten\nb\ten\nc\tes\nd\tes\n")
    path = folder / "task.yaml"
    text = path.read_text().replace('metrics: [accuracy, f1_macro, "f1:YES"]', "metrics: [accuracy]")
    tables = "{test: data/languages.tsv, later: data/languages.tsv}"
    slices = f'slices: {{language: {{column: lang, items: {tables}}}}}\n    metrics: [accuracy, "accuracy@language=es"]'
    path.write_text(f'{text.replace("metrics: [accuracy]", slices)}\nall_runs_figure: "{metric}"\n')


def with_runs(folder: Path) -> SharedTask:
    """Import the folder and return the task with runs of two teams in both tracks."""
    task = import_shared_task(None, folder, EVALUATION).shared_task
    for name, values in {"Ostro": GOOD, "Meltemi": POOR}.items():
        team = new_team(task, name)
        files = {f"{track}_{name}_1.json": run_file(values) for track in ("one", "two")}
        send(team, f"tiny_{name}.zip", archive(files), EVALUATION)
    work_off(EVALUATION)
    return task


@pytest.fixture
def paired_folder(tiny_folder: Path) -> Path:
    add_figure_of("accuracy", tiny_folder)
    return tiny_folder


@remembered
def paired(paired_folder: Path, db: None) -> SharedTask:
    return with_runs(paired_folder)


@pytest.mark.slow
def test_a_metric_of_all_runs_is_drawn_by_track_with_the_mean(paired: SharedTask) -> None:
    phase = paired.phases.select_related("shared_task").get(slug="evaluation")
    found = overall(list(paired.tracks.all()), phase, AnonymousUser(), RELEASE)
    (figure,) = tracks_figures(found)
    assert figure.name == "by-track"
    assert found.all_runs is not None
    values = {(one["name"], one["track"]): one["value"] for one in figure.data}
    assert values == {(row.label, track.title): row.scores["accuracy"] for row, track in found.all_runs.rows}
    assert ("All yes", "Track two") in values
    mean = sum(values.values()) / len(values)
    assert figure.drawing["layer"][1]["data"]["values"] == [{"value": pytest.approx(mean)}]
    assert f"{mean:.4f}" in figure.caption
    assert b"stroke-dasharray" in render(figure, "svg")


@pytest.mark.slow
def test_the_figure_of_all_tracks_is_on_the_page_and_in_the_pack_once_the_scores_are_public(paired: SharedTask) -> None:
    address = "/tasks/tiny/leaderboard/by-track.svg?phase=evaluation"
    assert f'src="{address}' in Client().get("/tasks/tiny/leaderboard/?phase=evaluation").content.decode()
    assert Client().get(address).content.startswith(b"<svg")
    assert Client().get("/tasks/tiny/leaderboard/by-track.svg").content.startswith(b"<svg")
    assert Client().get(address.replace("evaluation", "none")).status_code == 404
    pack = pack_of(paired)
    files = {f"figures/all-tracks-by-track.{ending}" for ending in ("csv", "pdf", "svg")}
    assert files <= set(pack.namelist())
    assert "all-tracks-by-track.pdf" in pack.read("paper.tex").decode()
    paired.phases.filter(slug="evaluation").update(released=None)
    assert Client().get(address).status_code == 404


@pytest.mark.slow
def test_the_figure_of_all_tracks_has_an_address_for_every_metric(tiny_folder: Path, db: None) -> None:
    add_figure_of("accuracy@language=es", tiny_folder)
    with_runs(tiny_folder)
    page = Client().get("/tasks/tiny/leaderboard/?phase=evaluation").content.decode()
    (address,) = re.findall(r'src="(/tasks/tiny/leaderboard/[^"?]*\.svg)', page)
    assert Client().get(address, {"phase": "evaluation"}).content.startswith(b"<svg")


def test_the_figure_of_all_tracks_needs_a_metric_that_exists(tiny_folder: Path) -> None:
    path = tiny_folder / "task.yaml"
    path.write_text(f"{path.read_text()}\nall_runs_figure: acuracy\n")
    with pytest.raises(DefinitionError) as error:
        load_definition(tiny_folder)
    assert [(one.item, one.suggestion) for one in error.value.report.errors] == [("all_runs_figure", "accuracy")]
