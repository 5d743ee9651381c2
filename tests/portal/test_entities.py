"""The template for entity tasks, from upload to leaderboard: scores, intervals, slices, run and item pages."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client
from django.urls import reverse

from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.evaluation.compare import compare_board
from portal.models import Board, Run, SharedTask
from portal.queries.boards.choices import Choices
from portal.queries.boards.leaderboard import leaderboard
from tasks import build
from tests.portal.test_items import work_on_items
from tests.portal.world import captain, new_team, send, work_off

DEVELOPMENT = datetime(2017, 5, 1, tzinfo=UTC)
LATER = datetime(2017, 7, 10, tzinfo=UTC)


@pytest.fixture
def entities(db: None, tmp_path: Path) -> SharedTask:
    return import_shared_task(None, build("entities", tmp_path / "task"), DEVELOPMENT).shared_task


@pytest.mark.slow
def test_from_upload_to_leaderboard_and_items(entities: SharedTask, client: Client, tmp_path: Path) -> None:
    gold = (tmp_path / "task/gold/dev.conll").read_bytes()
    half = gold.replace(b"I-person", b"O").replace(b"B-group", b"B-person")
    for name, body in (("Perfect", gold), ("Half", half)):
        send(new_team(entities, name), f"{name}_1.conll", body, DEVELOPMENT, "development")
    work_off(DEVELOPMENT)
    phase = entities.phases.get(slug="development")
    board = Board.objects.get(phase=phase)
    compare_board(board, LATER)
    shown = leaderboard(entities.tracks.get(), phase, AnonymousUser(), LATER, Choices(baselines=False))
    scores = {row.team: (row.rank, row.scores["entity_f1"], row.scores["entity_f1_surface"]) for row in shown.rows}
    assert scores["Perfect"] == (1, 1, 1)
    assert scores["Half"][0] == 2
    assert 0.3 < scores["Half"][1] < 0.9
    board.refresh_from_db()
    assert board.comparison["intervals"]
    assert board.comparison["slices"]["language"]["items"].keys() == {"en", "es", "pt"}

    run = Run.objects.get(team__name="Half")
    client.force_login(captain(run.team))
    shown_run = client.get(reverse("run", args=[run.pk]))
    (classes,) = shown_run.context["view"].evaluation.details["classes"]
    f1 = {line["name"]: line["f1"] for line in classes["lines"]}
    assert (f1["location"], f1["group"]) == (1, 0)
    assert "Classes" in shown_run.content.decode()

    work_on_items(LATER)
    response = client.get(reverse("run", args=[run.pk]))
    items = response.context["table"].items
    assert (items[3].gold, items[3].answers[0].value) == (["location 2–4", "product 8"], 1)
    page = response.content.decode()
    assert "marked characters, entities, tuples or words" in page
    assert "location 2–4, product 8" in page
