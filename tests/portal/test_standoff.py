"""Annotation files and relations, from an uploaded zip to the leaderboard and the run's page."""

import io
import zipfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client
from django.urls import reverse

from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.models import Run, SharedTask
from portal.queries.boards.choices import Choices
from portal.queries.boards.leaderboard import leaderboard
from tests.portal.test_items import work_on_items
from tests.portal.world import captain, new_team, send, work_off

OPEN, LATER = datetime(2017, 1, 5, tzinfo=UTC), datetime(2017, 3, 1, tzinfo=UTC)
TASK = """
agon: 1
slug: standoff
title: Standoff
year: 2017
languages: [en]
tracks:
  - slug: names
    format: {kind: brat, classes: [PER, LOC]}
    items: items.txt
    metrics: [entity_f1]
    rank_by: entity_f1
  - slug: links
    format: {kind: brat-relations, classes: [PER, LOC], relations: [lives]}
    items: items.txt
    metrics: [tuple_f1, tuple_f1_partial]
    rank_by: tuple_f1
naming: {run: "{track}_{team}_{number}.zip", number: [1, 2]}
phases:
  - {slug: test, opens: "2017-01-01 00:00 UTC", closes: "2017-02-01 00:00 UTC", scores: at-once, official: best}
gold:
  - {track: names, file: gold.zip, published: true}
  - {track: links, file: gold.zip, published: true}
"""
GOLD = {
    "d1.ann": b"T1\tPER 0 5\tAlice\nT2\tLOC 9 13\tRome\nR1\tlives Arg1:T1 Arg2:T2\n",
    "d2.ann": b"T1\tPER 0 3\tBob\n",
}


def zipped(contents: Mapping[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return file.getvalue()


@pytest.fixture
def standoff(db: None, tmp_path: Path) -> SharedTask:
    (tmp_path / "task.yaml").write_text(TASK, encoding="utf-8")
    (tmp_path / "items.txt").write_text("d1\nd2\n", encoding="utf-8")
    (tmp_path / "gold.zip").write_bytes(zipped(GOLD))
    return import_shared_task(None, tmp_path, OPEN).shared_task


@pytest.mark.slow
def test_a_zip_of_annotation_files_is_scored_as_one_run(standoff: SharedTask, client: Client) -> None:
    team = new_team(standoff, "Lak")
    wrong = {"d1.ann": GOLD["d1.ann"].replace(b"LOC 9 13", b"LOC 9 12"), "d2.ann": GOLD["d2.ann"]}
    for track in ("names", "links"):
        send(team, f"{track}_Lak_1.zip", zipped(wrong), OPEN, "test")
    send(team, "names_Lak_2.zip", zipped({**wrong, "d2.ann": b"Bob"}), OPEN, "test")
    work_off(OPEN)
    rejected = Run.objects.get(number=2)
    errors = [problem for problem in rejected.problems if problem["severity"] == "error"]
    assert [(problem["code"], problem["line"]) for problem in errors] == [("brat-line", 1)]
    phase = standoff.phases.get()
    scores = {}
    for track in standoff.tracks.all():
        (row,) = leaderboard(track, phase, AnonymousUser(), LATER, Choices(baselines=False)).rows
        scores |= row.scores
    assert scores["entity_f1"] == pytest.approx(2 / 3)
    assert (scores["tuple_f1"], scores["tuple_f1_partial"]) == (0, pytest.approx(4 / 5))

    work_on_items(LATER)
    run = Run.objects.get(track__slug="links")
    client.force_login(captain(team))
    response = client.get(reverse("run", args=[run.pk]))
    assert response.context["table"].items[0].gold == ["(lives; 0 5; PER; 9 13; LOC)"]
    assert "marked characters, entities, tuples or words" in response.content.decode()
