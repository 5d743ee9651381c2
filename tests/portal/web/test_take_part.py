"""The checklist from a visitor to a valid run, and the person's tasks on the home page."""

from datetime import timedelta

from django.test import Client

from portal.actions.approval import approve_team
from portal.models import Download, ExtraRuns, Run, SharedTask, Team
from portal.queries.my_tasks import my_tasks
from portal.queries.quota import remaining
from portal.queries.take_part import Checklist
from tests.portal.web.conftest import Clock
from tests.portal.world import (
    EVALUATION,
    GOOD,
    captain,
    new_team,
    organizer_of,
    person,
    queries,
    send_run,
    sign,
    work_off,
)

PAGE = "/tasks/gated/take-part/"


def states(client: Client) -> dict[str, str]:
    checklist: Checklist = client.get(PAGE).context["checklist"]
    return {step.name: step.state for step in checklist.steps}


def test_each_step_leads_to_the_next(gated: SharedTask, at: Clock) -> None:
    at(EVALUATION)
    visitor = Client()
    assert states(visitor) == {
        "account": "next", "team": "later", "agreement": "later", "data": "later", "run": "later",
    }  # fmt: skip
    assert f"/accounts/signup/?next={PAGE}" in visitor.get(PAGE).content.decode()
    assert f'href="{PAGE}"' in visitor.get("/tasks/gated/").content.decode()
    user, client = person("Nora"), Client()
    client.force_login(user)
    assert states(client)["team"] == "next"
    form = client.get(f"/tasks/gated/team/?next={PAGE}").context["form"]
    given = {name: "research" if "use" in name else "Nora" if name == "name" else "" for name in form.fields}
    assert client.post(f"/tasks/gated/team/?next={PAGE}", given)["Location"] == PAGE
    team = Team.objects.get(name="Nora")
    assert states(client)["team"] == "waiting"
    approve_team(organizer_of(gated), team, EVALUATION)
    assert states(client)["agreement"] == "next"
    assert f"/tasks/gated/agreement/?next={PAGE}" in client.get(PAGE).content.decode()
    sign(user, gated)
    assert states(client)["data"] == "next"
    Download.objects.create(shared_task=gated, dataset="training", user=user, team=team, at=EVALUATION)
    assert states(client)["run"] == "next"
    run = send_run(team, GOOD, 1, EVALUATION)
    assert states(client)["run"] == "next"
    work_off(EVALUATION)
    assert set(states(client).values()) == {"done"}
    Run.objects.filter(pk=run.pk).update(state="rejected")
    assert states(client)["run"] == "next"
    assert f'href="{PAGE}"' not in client.get("/tasks/gated/leaderboard/one/").content.decode()


def test_forms_come_back_only_to_this_portal(gated: SharedTask, at: Clock) -> None:
    at(EVALUATION)
    client = Client()
    client.force_login(person("Nora"))
    form = client.get("/tasks/gated/team/").context["form"]
    given = {name: "research" if "use" in name else "Nora" if name == "name" else "" for name in form.fields}
    answer = client.post("/tasks/gated/team/?next=//evil.example/", given)
    assert answer["Location"] == "/tasks/gated/team/"


def total_left(team: Team) -> int:
    phase = team.shared_task.phases.get(slug="evaluation")
    return sum(line.left or 0 for line in remaining(team, captain(team), phase, EVALUATION))


def test_my_tasks_come_first_with_what_is_missing(meltemi: Team, at: Clock) -> None:
    at(EVALUATION)
    client = Client()
    client.force_login(captain(meltemi))
    (mine,) = client.get("/").context["my_tasks"]
    assert (mine.team, mine.is_open, mine.phase.slug, mine.last) == (meltemi, True, "evaluation", None)
    assert mine.missing is not None
    assert (mine.missing.text, mine.missing.page) == ("No valid run yet", "submit")
    before = mine.left
    send_run(meltemi, GOOD, 1, EVALUATION)
    work_off(EVALUATION)
    (mine,) = my_tasks(captain(meltemi), EVALUATION)
    assert before is not None
    assert mine.left == before - 1 == total_left(meltemi)
    granted = {"reason": "Outage", "granted_by": captain(meltemi), "granted_at": EVALUATION}
    ExtraRuns.objects.create(team=meltemi, phase=mine.phase, runs=2, **granted)
    assert my_tasks(captain(meltemi), EVALUATION)[0].left == total_left(meltemi) == before + 3
    assert mine.last is not None
    assert (mine.last.state, mine.last.scores) == ("valid", [])  # the scores are hidden
    assert mine.missing is not None
    assert mine.missing.text == "No valid run in two"
    text = client.get("/").content.decode()
    assert text.index("My tasks") < text.index('id="open"')
    assert "0.7500" not in text
    assert "My tasks" not in Client().get("/").content.decode()
    assert my_tasks(captain(meltemi), EVALUATION + timedelta(days=3650))[0].phase.slug != "evaluation"


def test_more_tasks_take_no_more_statements(meltemi: Team, gated: SharedTask, at: Clock) -> None:
    at(EVALUATION)
    client, user = Client(), captain(meltemi)
    client.force_login(user)
    send_run(meltemi, GOOD, 1, EVALUATION)
    work_off(EVALUATION)
    before = queries(lambda: my_tasks(user, EVALUATION))
    other = Team.objects.create(
        shared_task=gated, name="Meltemi", name_key="meltemi", state=Team.State.APPROVED, created_at=EVALUATION
    )
    other.memberships.create(user=user, shared_task=gated, is_captain=True, joined_at=EVALUATION)
    sign(user, gated)
    send_run(other, GOOD, 1, EVALUATION)
    work_off(EVALUATION)
    assert len(my_tasks(user, EVALUATION)) == 2
    assert queries(lambda: my_tasks(user, EVALUATION)) == before
    assert new_team(meltemi.shared_task, "Notus").pk not in {mine.team.pk for mine in my_tasks(user, EVALUATION)}
