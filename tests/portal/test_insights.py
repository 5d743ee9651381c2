"""The results analysis of a track: its page, its figures and the paper pack."""

import json
import re
import shutil
import subprocess
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.cache import caches
from django.db import connection
from django.db.models import F
from django.test import Client
from django.test.utils import CaptureQueriesContext

from portal.actions.papers import set_paper
from portal.evaluation.compare import compare_board
from portal.figures.field import field_figures
from portal.models import Board, Phase, Run, SharedTask, Team, Track
from portal.paper.latex import escaped
from portal.queries.boards.insights import Insights, insights
from portal.web.views import insights as pages
from scoring.definition import Organizer
from tests.portal.remembered import remembered
from tests.portal.test_papers import ENTRY
from tests.portal.world import (
    EVALUATION,
    GOOD,
    PERFECT,
    POOR,
    RELEASE,
    captain,
    copy_of,
    new_team,
    organizer_of,
    pack_of,
    queries,
    with_teams,
)

HOSTILE = r"\input{/etc/passwd} 100% & #1_x^2 ~ {$} [a] * 中 Ħ Łódź"


@remembered
def field(tiny: SharedTask) -> SharedTask:
    with_teams(tiny, {"Ostro": GOOD, "Meltemi": PERFECT, "Sirocco": POOR})
    compare_board(Board.objects.get(track__slug="one", phase__slug="evaluation"), RELEASE)
    return tiny


def seen(shared_task: SharedTask, at: datetime) -> Insights:
    track = Track.objects.select_related("shared_task").get(shared_task=shared_task, slug="one")
    phase = Phase.objects.select_related("shared_task").get(shared_task=shared_task, slug="evaluation")
    return insights(track, phase, AnonymousUser(), at)


@pytest.mark.slow
def test_a_field_in_figures(field: SharedTask) -> None:
    found = seen(field, RELEASE)
    statistics = {column.key: one for column, one in found.statistics}
    assert (statistics["accuracy"].runs, statistics["accuracy"].median) == (3, 0.75)
    assert list(found.field["disagreement"]) == ["Meltemi", "Ostro", "Sirocco"]
    assert found.field["disagreement"]["Meltemi"]["Ostro"] == 0.25
    assert found.field["difficulty"] == [0, 1, 2, 1]
    assert found.field["missed"][0]["missed"] == 0
    assert set(found.ranks) == {"Meltemi", "Ostro", "Sirocco"}


@pytest.mark.slow
def test_the_board_is_asked_for_once(field: SharedTask) -> None:
    asked = [queries(lambda: seen(field, RELEASE))]
    run = Run.objects.get(team__name="Ostro")
    for place in range(10):
        copy_of(run, new_team(field, f"Team-{place}"), {"accuracy": place / 10})
    with CaptureQueriesContext(connection) as context:
        assert len(seen(field, RELEASE).every_run.rows) == 15
    statements = [query["sql"] for query in context.captured_queries]
    assert len(statements) == asked[0] < 18
    assert sum('FROM "portal_releasedboard"' in sql for sql in statements) == 1


def test_figures_say_what_the_boards_say(field: SharedTask) -> None:
    found = seen(field, RELEASE)
    figures = {figure.name: figure for figure in field_figures(found)}
    rows = {row.team or row.name: row for row in found.board.rows}
    for datum in figures["intervals"].data:
        row = rows[datum["name"]]
        assert (datum["value"], datum["low"], datum["high"]) == (row.scores["accuracy"], *(row.interval or ()))
    assert {"rank-stability", "over-time", "by-class", "disagreement", "difficulty", "labels"} <= set(figures)


def test_nothing_before_the_release(field: SharedTask) -> None:
    found = seen(field, EVALUATION)
    assert field_figures(found) == []
    assert (found.details, found.ranks, found.field) == ({}, {}, {})
    assert all(one.runs == 0 for _column, one in found.statistics)


def test_hidden_scores_have_no_pages(field: SharedTask) -> None:
    Phase.objects.filter(slug="evaluation").update(released=None)
    client = Client()
    address = f"/tasks/{field.slug}/insights/one/"
    assert "0.75" not in client.get(f"{address}?phase=evaluation").content.decode()
    assert client.get(f"{address}over-time.svg?phase=evaluation").status_code == 404
    assert client.get(f"/tasks/{field.slug}/paper/evaluation.zip").status_code == 404


@pytest.mark.slow
def test_the_pages_once_released(field: SharedTask) -> None:
    client = Client()
    page = client.get(f"/tasks/{field.slug}/insights/one/?phase=evaluation")
    assert page.status_code == 200
    for source in set(re.findall(r'src="([^"]+\.svg[^"]*)"', page.content.decode())):
        assert client.get(source.replace("&amp;", "&")).content.startswith(b"<svg")
    assert f'href="/tasks/{field.slug}/paper/evaluation/"' in page.content.decode()


@pytest.mark.slow
def test_the_pack_s_tables_are_the_board_s(field: SharedTask) -> None:
    archive = pack_of(field)
    rows = json.loads(archive.read("data/one.json"))["rows"]
    table = archive.read("tables/one.tex").decode()
    cells = [line.rstrip("\\ ").split(" & ") for line in table.splitlines() if line.count(" & ") > 3][1:]
    shown = [(line[1], re.sub(r"\\textbf{(.*)}", r"\1", line[4])) for line in cells]
    assert shown == [
        (
            "" if row["rank"] is None else f"{row['rank']} ({row['rank_low']}--{row['rank_high']})",
            f"{row['scores']['accuracy']:.4f}",
        )
        for row in rows
    ]
    assert r"\textbf{1.0000}" in table


@pytest.mark.slow
def test_the_pack_names_what_made_its_numbers(field: SharedTask) -> None:
    archive = pack_of(field)
    readme = archive.read("README.md").decode()
    assert "one: gold version 1, scorer" in readme
    assert field.definition_sha256 in readme
    assert archive.read("references.bib").startswith(b"@misc{")
    assert "Scores were released on 2024-05-24" in readme
    assert "Scores will be released on 2024-05-24" in pack_of(field, EVALUATION).read("README.md").decode()
    field.phases.update(released=None)
    assert "Scores have not been released" in pack_of(field).read("README.md").decode()
    field.phases.update(released=RELEASE)
    assert pack_of(field).read("tables/one.tex") == archive.read("tables/one.tex")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_the_pack_compiles_whatever_teams_and_organizers_call_themselves(
    field: SharedTask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    organizers = Organizer(name=HOSTILE, affiliation="R&D_2"), Organizer(name="Oana")
    monkeypatch.setattr(SharedTask, "definition", replace(field.definition, organizers=organizers))
    ostro = Team.objects.get(name="Ostro")
    set_paper(captain(ostro), ostro, EVALUATION, bibtex=ENTRY)
    Team.objects.filter(pk=ostro.pk).update(name=HOSTILE)
    pack_of(field).extractall(tmp_path)
    assert r"R\&D\_2 \and Oana}" in (tmp_path / "paper.tex").read_text()
    latex = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    for command in (latex, ["bibtex", "paper"], latex):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace", check=False)
        assert done.returncode == 0, done.stdout[-2000:]
        assert "root:" not in done.stdout
    assert "winds" in (tmp_path / "paper.bbl").read_text()


def test_text_is_printed_unchanged() -> None:
    assert escaped(r"a_b & {c}\d") == r"a\_b \& \{c\}\textbackslash{}d"
    assert escaped("中") == "U+4E2D"


@pytest.mark.slow
def test_runs_side_by_side(field: SharedTask) -> None:
    client = Client()
    address = f"/tasks/{field.slug}/insights/one/compare/?phase=evaluation"
    assert "Select at least two runs" in client.get(address).content.decode()
    (lead,) = client.get(f"{address}&run=Ostro&run=Meltemi").context["leads"]
    assert (lead.ahead, lead.behind, lead.lead, lead.disagreement) == ("Meltemi", "Ostro", 0.25, 0.25)
    assert lead.low <= lead.lead <= lead.high
    assert len(client.get(f"{address}&run=Ostro&run=Meltemi&run=Sirocco").context["leads"]) == 3
    Phase.objects.filter(slug="evaluation").update(released=None)
    hidden = client.get(f"{address}&run=Ostro&run=Meltemi")
    assert hidden.context["leads"] == []
    assert "0.75" not in hidden.content.decode()


@pytest.mark.slow
def test_few_runs_are_compared_at_a_time(field: SharedTask, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "COMPARED", 2)
    address = f"/tasks/{field.slug}/insights/one/compare/?phase=evaluation&run=Ostro&run=Sirocco"
    assert "runs at a time" not in client.get(address).text
    page = client.get(f"{address}&run=Meltemi")
    assert list(page.context["chosen"]) == ["Meltemi", "Ostro"]
    assert len(page.context["leads"]) == 1
    assert "You can compare 2 runs at a time." in page.text


@pytest.mark.slow
def test_a_board_without_intervals_says_why(field: SharedTask, client: Client) -> None:
    pages = (
        f"/tasks/{field.slug}/leaderboard/one/?phase=evaluation",
        f"/tasks/{field.slug}/insights/one/compare/?phase=evaluation&run=Ostro&run=Meltemi",
    )

    def say(words: str) -> bool:
        return all(words in client.get(page).content.decode() for page in pages)

    Board.objects.update(comparison={}, revision=F("revision") + 1)
    assert say("Intervals and tests are being computed.")
    Board.objects.update(comparison={"metric": "accuracy"}, revision=F("revision") + 1)
    assert say("Intervals and tests could not be computed for these runs.")


@pytest.mark.slow
def test_public_figures_are_prepared_once_for_each_state(
    field: SharedTask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    caches["figures"].clear()
    prepared = []

    def noted(*given: Any) -> Insights:
        prepared.append(given)
        return insights(*given)

    monkeypatch.setattr(pages.queries, "insights", noted)
    address = f"/tasks/{field.slug}/insights/one/%s.svg?phase=evaluation"
    assert [client.get(address % name).status_code for name in ("intervals", "over-time")] == [200, 200]
    assert len(prepared) == 1
    Board.objects.update(revision=F("revision") + 1)
    client.get(address % "intervals")
    assert len(prepared) == 2
    client.force_login(organizer_of(field))  # sees names where others see aliases
    client.get(address % "intervals")
    assert len(prepared) == 3
    client.logout()
    Phase.objects.filter(slug="evaluation").update(released=None)
    assert client.get(address % "intervals").status_code == 404
