"""No page, export or header may reveal anything about gold or hidden scores."""

import re
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from portal.actions.task_folder.import_gold import add_gold_standard
from portal.actions.uploads.validate_only import validate_only
from portal.models import Evaluation, Run, SharedTask, Team
from scoring.metrics import LoadedGold
from scoring.score import Result
from tests.canary import CANARY
from tests.portal.remembered import remembered
from tests.portal.web.conftest import Clock
from tests.portal.web.everything import answers, everything, readers
from tests.portal.world import (
    EVALUATION,
    GOOD,
    PERFECT,
    POOR,
    POST,
    RELEASE,
    board,
    captain,
    new_team,
    run_file,
    send_run,
    validated,
    work_off,
)


@remembered
def field(meltemi: Team) -> SharedTask:
    """Three teams with one scored run each. The scores have not been released yet."""
    for team, values in ((meltemi, GOOD), (new_team(meltemi.shared_task, "Notus"), PERFECT)):
        send_run(team, values, 1, EVALUATION)
    send_run(new_team(meltemi.shared_task, "Auster"), POOR, 1, EVALUATION)
    work_off(EVALUATION)
    return meltemi.shared_task


def change_all_scores() -> None:
    """Reverse the ranking, and change the digits of all scores."""
    for evaluation in Evaluation.objects.all():
        evaluation.scores = {key: 0.123456789 - value / 9 for key, value in evaluation.scores.items()}
        evaluation.rank_key = evaluation.run.track.rank_key(evaluation.scores)
        evaluation.details = {}
        evaluation.flags = []
        evaluation.save()


@pytest.mark.slow
def test_before_the_release_no_byte_depends_on_a_score(field: SharedTask, at: Clock) -> None:
    at(RELEASE - timedelta(milliseconds=1))
    people = list(readers(field, "Notus", "Auster"))
    before = [everything(field, client) for client in people]
    change_all_scores()
    for client, then in zip(people, before, strict=True):
        now = everything(field, client)
        assert [address for address in then if now[address] != then[address]] == []
    at(RELEASE)
    page = f"{reverse('leaderboard', args=['tiny', 'one'])}?phase=evaluation"
    assert answers(people[0], [page])[page] != before[0][page]


@pytest.mark.slow
def test_all_pages_and_exports_flip_at_the_same_moment(field: SharedTask, sender: Client, at: Clock) -> None:
    ours = Run.objects.get(team__name="Meltemi")
    pages = {"runs": reverse("team_runs", args=["tiny"]), "run": reverse("run", args=[ours.pk])}
    pages["upload"] = reverse("submission", args=["tiny", ours.submission_id])
    board_ = reverse("leaderboard", args=["tiny", "one"]) + "?phase=evaluation"
    pages |= {"board": board_, "csv": f"{board_}&format=csv", "json": f"{board_}&format=json"}

    def showing(moment: datetime) -> set[str]:
        at(moment)
        found = {name: sender.get(address).content.decode() for name, address in pages.items()}
        return {name for name, text in found.items() if "0.75" in text}

    assert showing(RELEASE - timedelta(milliseconds=1)) == set()
    assert showing(RELEASE) == set(pages)


def test_home_names_boards_from_the_release_on(field: SharedTask, at: Clock) -> None:
    link = reverse("leaderboards", args=["tiny"])
    at(RELEASE - timedelta(milliseconds=1))
    assert link not in Client().get("/").content.decode()
    at(RELEASE)
    assert link in Client().get("/").content.decode()


def finding(team: Team, name: str, body: bytes) -> dict[str, Any]:
    """Have the file validated, and return everything in the report that the team sees."""
    shared_task = team.shared_task
    phase = shared_task.phases.get(slug="evaluation")
    validation = validate_only(captain(team), phase, EVALUATION, content=[body], file_name=name)
    report = validated(validation, EVALUATION)
    return {"ok": report.is_valid, "problems": report.problems, "runs": report.runs}


@pytest.mark.parametrize("body", [run_file(GOOD), run_file(["MAYBE", *GOOD[1:]]), b'[{"id": "z"}]', b"no JSON"])
def test_a_check_says_the_same_whatever_the_gold_is(meltemi: Team, tiny_folder: Any, body: bytes) -> None:
    before = finding(meltemi, "one_Meltemi_1.json", body)
    other = [{"id": "d", "value": "NO"}, {"id": "a", "value": "NO"}]
    path = tiny_folder / "gold" / "other.json"
    path.write_text(str(other).replace("'", '"'))
    gold = add_gold_standard(meltemi.shared_task.tracks.get(slug="one"), "test", path, EVALUATION)
    assert gold.version == 2
    assert finding(meltemi, "one_Meltemi_1.json", body) == before


@pytest.mark.slow
def test_a_scorer_that_quotes_gold_as_it_fails_is_not_repeated(
    meltemi: Team, sender: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_definition: Any, _track: str, gold: LoadedGold, *_: Any) -> Result:
        raise ValueError(f"cannot compare with {CANARY}: {gold.answers}")

    monkeypatch.setattr("portal.evaluation.confined.runs.score_answers", fail)
    run = send_run(meltemi, GOOD, 1, EVALUATION)
    for hour in range(3):
        work_off(EVALUATION + timedelta(hours=hour))
    run.refresh_from_db()
    assert (run.state, run.problems) == ("unscorable", [])
    assert CANARY not in sender.get(reverse("run", args=[run.pk])).content.decode()
    assert "ValueError at test_hidden_gold.py" in caplog.text
    assert CANARY not in caplog.text


@pytest.mark.slow
def test_a_rescore_shows_no_more_digits_than_before(field: SharedTask, tiny_folder: Any, sender: Client) -> None:
    def digits() -> set[int]:
        page = sender.get(reverse("leaderboard", args=["tiny", "one"]) + "?phase=evaluation").content.decode()
        return {len(found) for found in re.findall(r"(?<![\d.])[01]\.(\d+)(?![\d.])", re.sub(r"<[^>]*>", " ", page))}

    before = digits()
    path = tiny_folder / "gold" / "one.json"
    path.write_text(path.read_text().replace('"c", "value": "YES"', '"c", "value": "NO"'))
    add_gold_standard(field.tracks.get(slug="one"), "test", path, EVALUATION)
    work_off(EVALUATION)
    assert board(field, POST).gold_version == 2
    assert digits() == before == {4}


def test_organizers_see_scores_before_everybody(field: SharedTask, organizer: Client, at: Clock) -> None:
    at(RELEASE - timedelta(milliseconds=1))
    page = reverse("leaderboard", args=["tiny", "one"]) + "?phase=evaluation"
    assert "0.7500" in organizer.get(page).content.decode()
    assert "0.7500" not in Client().get(page).content.decode()
