"""The reason why a score is undefined: shown with the scores everywhere, and nowhere while they are hidden."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from django.core.cache import caches
from django.test import Client
from django.utils import translation

from agon.answers import Leaderboard
from agon.answers import Run as RunAnswer
from agon.commands.leaderboard import _text as board_text
from agon.commands.runs import run_text
from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.mail.messages import message
from portal.models import Evaluation, OutgoingMail, Run, SharedTask, User
from portal.queries.mails import facts
from tests.portal.remembered import remembered
from tests.portal.script import Script
from tests.portal.web.conftest import Clock
from tests.portal.web.conftest import at as at
from tests.portal.world import EVALUATION, RELEASE, captain, new_team, remind, send, work_off

TASK = """
agon: 1
slug: numbers
title: "Numbers"
year: 2024
languages: [en]
team: {name: "[A-Za-z0-9_-]{2,30}", approval: automatic}
pages: {overview: pages/overview.md}
tracks:
  - slug: one
    title: "Track one"
    format: {kind: table, id: id, columns: {score: {kind: number}}}
    items: data/items.txt
    metrics: [pearson, mae]
    rank_by: pearson
  - slug: two
    title: "Track two"
    format: {kind: table, id: id, columns: {score: {kind: number}}}
    items: data/items.txt
    metrics: [pearson, mae]
    rank_by: pearson
naming: {run: "{track}_{team}_{number}.csv", number: [1, 2]}
phases:
  - {slug: evaluation, title: Evaluation, opens: "2024-05-01 00:00 UTC", closes: "2024-05-16 00:00 UTC",
     scores: on-release, released: "2024-05-24 10:00 UTC", official: last}
gold:
  - {track: one, file: gold/one.csv}
  - {track: two, file: gold/two.csv}
"""
REASONS = {  # track → why its run is undefined: in track one for the run, in track two for the gold
    "one": ("all predictions are equal", "todas las predicciones son iguales", "todas as previsões são iguais"),
    "two": ("all gold values are equal", "", ""),
}


def table(*values: float) -> str:
    return "id,score\n" + "".join(f"{item},{value}\n" for item, value in zip("abcd", values, strict=True))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    contents = {
        "task.yaml": TASK,
        "pages/overview.md": "# Numbers\n",
        "data/items.txt": "a\nb\nc\nd\n",
        "gold/one.csv": table(1, 2, 3, 4),
        "gold/two.csv": table(3, 3, 3, 3),
    }
    for name, text in contents.items():
        (tmp_path / "numbers" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "numbers" / name).write_text(text)
    return tmp_path / "numbers"


@remembered
def numbers(db: None, folder: Path) -> SharedTask:
    """A task with two runs whose ranking score is undefined."""
    task: SharedTask = import_shared_task(None, folder, EVALUATION).shared_task
    team = new_team(task, "Meltemi")
    send(team, "one_Meltemi_1.csv", table(2, 2, 2, 2).encode(), EVALUATION)
    send(team, "two_Meltemi_1.csv", table(1, 2, 3, 4).encode(), EVALUATION)
    work_off(EVALUATION)
    assert [one.scores["pearson"] for one in Evaluation.objects.all()] == [None, None]
    return task


def seen(track: str) -> Iterator[tuple[str, str]]:
    """Yield what the team's captain sees of its run, by page or program."""
    for name in ("boards", "rates", "default"):
        caches[name].clear()
    run = Run.objects.get(track__slug=track)
    assert run.team is not None
    user, client = captain(run.team), Client()
    client.force_login(user)
    ask = Script(user)
    yield "board page", client.get(f"/tasks/numbers/leaderboard/{track}/").content.decode()
    yield "run page", client.get(f"/runs/{run.pk}/").content.decode()
    board = ask(f"/tasks/numbers/leaderboards/{track}").content.decode()
    own_run = ask(f"/tasks/numbers/runs/{run.pk}").content.decode()
    yield "API, board", board
    yield "API, run", own_run
    yield "API, CSV", b"".join(ask(f"/tasks/numbers/leaderboards/{track}.csv")).decode()
    yield "agon runs view", run_text(msgspec.json.decode(own_run, type=RunAnswer))
    if '"rows"' in board:
        yield "agon leaderboard", board_text(msgspec.json.decode(board, type=Leaderboard))


def mails(language: str) -> str:
    """Return the text of all emails about runs and scores."""
    User.objects.update(language=language)
    about = OutgoingMail.objects.select_related(
        "shared_task", "team__shared_task", "user", "phase", "submission__phase"
    )
    with translation.override(language):
        found = [(mail, facts(mail, RELEASE)) for mail in about.exclude(kind__contains="team")]
        return "\n".join(message(mail, known, RELEASE).body for mail, known in found if known is not None)


@pytest.mark.slow
@pytest.mark.parametrize("track", REASONS)
def test_the_reason_is_shown_with_the_scores_and_nowhere_before(numbers: SharedTask, at: Clock, track: str) -> None:
    reason = REASONS[track][0]
    at(EVALUATION)
    before = {**dict(seen(track)), "emails": mails("en")}
    assert [place for place, text in before.items() if reason in text] == []
    at(RELEASE)
    remind(RELEASE)
    after = {**dict(seen(track)), "emails": mails("en")}
    assert "agon leaderboard" in after
    assert [place for place, text in after.items() if reason not in text] == []


@pytest.mark.slow
def test_emails_give_the_reason_in_their_language(numbers: SharedTask) -> None:
    remind(RELEASE)
    for language, reason in zip(("en", "es", "pt"), REASONS["one"], strict=True):
        assert reason in mails(language)


@pytest.mark.slow
def test_the_check_warns_about_equal_predictions_before_the_release(numbers: SharedTask) -> None:
    found = {run.track.slug: [problem["code"] for problem in run.problems] for run in Run.objects.all()}
    assert found == {"one": ["constant-predictions"], "two": []}
