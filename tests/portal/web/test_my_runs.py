"""My runs in all tasks, rejected uploads, and notes for the team."""

from typing import Any

import pytest
from django.test import Client

from portal.actions.base.errors import ActionError
from portal.actions.runs import note_run
from portal.actions.teams import register_team
from portal.models import Phase, Run, SharedTask, Submission, Team
from portal.queries.personal_data import personal_data
from tests.portal.remembered import remembered
from tests.portal.web.conftest import Clock
from tests.portal.world import (
    EVALUATION,
    GOOD,
    PERFECT,
    POST,
    captain,
    new_team,
    person,
    queries,
    run_file,
    send,
    send_run,
    work_off,
)


@remembered
def runs(meltemi: Team) -> dict[str, Run]:
    """A run whose scores are hidden, one whose score is shown, and a rejected upload."""
    meltemi.shared_task.phases.filter(slug="evaluation").update(released=None)
    hidden = send_run(meltemi, GOOD, 1, EVALUATION)
    shown = send_run(meltemi, PERFECT, 1, POST, "post")
    send(meltemi, "one_Meltemi_2.json", run_file(["MAYBE"]), POST, "post")
    work_off(POST)
    assert set(Run.objects.filter(team=meltemi).values_list("state", flat=True)) == {"scored", "rejected"}
    return {"hidden": hidden, "shown": shown}


def listed(client: Client, **choice: str) -> list[str]:
    return [line.run.phase.slug for line in client.get("/runs/", choice).context["found"].lines]


def test_runs_are_listed_newest_first_and_filtered_by_what_is_shown(
    runs: dict[str, Run], sender: Client, stranger: Client, at: Clock
) -> None:
    at(POST)
    assert listed(sender) == ["post", "evaluation"]
    assert listed(sender, phase="tiny/post") == listed(sender, state="scored") == ["post"]
    assert listed(sender, state="valid") == ["evaluation"]  # its scores are hidden, so it is not shown as scored
    assert listed(sender, track="tiny/two") == listed(sender, state="failed") == listed(sender, track="x") == []
    assert listed(stranger) == []
    assert "No runs match these filters." in sender.get("/runs/", {"state": "failed"}).content.decode()
    assert "have not uploaded any runs yet" in stranger.get("/runs/").content.decode()
    assert Client().get("/runs/").status_code == 302
    text = sender.get("/runs/").content.decode()
    assert "0.7500" not in text
    assert "1.0000" in text


def test_rejected_uploads_have_their_own_tab(runs: dict[str, Run], sender: Client, stranger: Client) -> None:
    found = Submission.objects.get(state="rejected")
    for address in ("/runs/", "/tasks/tiny/runs/"):
        assert f"/submissions/{found.pk}/" not in sender.get(address).content.decode()
        rejected = sender.get(address, {"tab": "rejected"}).content.decode()
        assert rejected.count("/submissions/") == rejected.count(f"/submissions/{found.pk}/") == 1
        assert "/submissions/" not in stranger.get(address, {"tab": "rejected"}).content.decode()


def test_more_runs_and_tasks_take_no_more_statements(
    runs: dict[str, Run], sender: Client, gated: SharedTask, at: Clock
) -> None:
    at(POST)
    Run.objects.filter(pk=runs["shown"].pk).update(state="valid")  # its task is read to see whether it has gold
    before = queries(lambda: sender.get("/runs/"))
    elsewhere = register_team(person("Ostro"), gated, EVALUATION, name="Ostro", answers={"use": "research"})
    elsewhere.memberships.update(user=captain(Team.objects.get(name="Meltemi")))
    run = runs["hidden"]
    copy: dict[str, Any] = {"team": elsewhere, "track": gated.tracks.get(slug="one"), "submission": run.submission}
    phase = Phase.objects.get(shared_task=gated, slug="evaluation")
    Run.objects.create(**copy, phase=phase, name="x.json", state="valid", received_at=POST, number=9)
    assert queries(lambda: sender.get("/runs/")) <= before
    assert len(listed(sender)) == 3


def test_only_the_team_sees_its_note(
    runs: dict[str, Run], sender: Client, teammate: Client, stranger: Client, organizer: Client
) -> None:
    run = runs["shown"]
    page = f"/runs/{run.pk}/"
    assert sender.post(f"{page}note/", {"note": "Seed 3"})["Location"] == page
    for address in (page, "/runs/", "/tasks/tiny/runs/"):
        assert "Seed 3" in teammate.get(address).content.decode()
    for client in (stranger, organizer):
        assert "Seed 3" not in client.get(page).content.decode()
        assert client.post(f"{page}note/", {"note": "Mine"}).status_code in (403, 404)
    assert "Seed 3" not in Client().get("/tasks/tiny/leaderboard/one/?phase=post").content.decode()
    assert "Seed 3" in str(personal_data(captain(Team.objects.get(name="Meltemi"))))
    assert sender.post(f"{page}note/", {"note": "x" * 501}).status_code == 422
    with pytest.raises(ActionError):
        note_run(captain(new_team(run.shared_task, "Auster")), run, POST, note="Mine")
    assert sender.post(f"{page}note/", {"note": ""}).status_code == 302
    assert "Seed 3" not in sender.get(page).content.decode()
