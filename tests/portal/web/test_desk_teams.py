"""The organizers' table of teams, its filters and its CSV, one team's page, notes, and decisions about many teams."""

import csv
import io
from datetime import timedelta

import pytest
from django.test import Client

from portal.actions.approval import approve_team
from portal.actions.base.errors import ActionError, Conflict
from portal.actions.desk.decisions import decline_teams
from portal.actions.desk.notes import add_note
from portal.actions.teams import register_team
from portal.models import AuditEntry, Download, OutgoingMail, SharedTask, Team, TeamNote, User
from portal.queries.desk.team_filter import TeamFilter, selected_teams
from portal.queries.desk.teams import all_team_rows, teams_page
from portal.queries.personal_data import personal_data
from tests.portal.remembered import remembered
from tests.portal.script import Script
from tests.portal.world import EVALUATION, GOOD, captain, organizer_of, person, queries, send, send_run, sign, work_off

pytestmark = pytest.mark.postgres

PAGE = "/tasks/gated/organize/teams/"
DAY = timedelta(days=1)


def registered(gated: SharedTask, name: str, kind: str = "university") -> Team:
    return register_team(person(name), gated, EVALUATION, name=name, answers={"use": "research", "kind": kind})


@remembered
def organizer(gated: SharedTask) -> User:
    return organizer_of(gated)


@remembered
def campaign(gated: SharedTask, organizer: User) -> SharedTask:
    """Four teams: one with a valid run, one with only rejected uploads, one approved and idle, and one that waits."""
    teams = {name: registered(gated, name) for name in ("Bora", "Notus", "Eurus")}
    registered(gated, "Auster", kind="company")
    for team in teams.values():
        approve_team(organizer, team, EVALUATION)
    for name in ("Bora", "Notus"):
        teams[name].refresh_from_db()
        sign(captain(teams[name]), gated)
    send_run(teams["Bora"], GOOD, 1, EVALUATION)
    send(teams["Notus"], "one_Notus_1.json", b"[]", EVALUATION)
    with pytest.raises(ActionError):
        send(teams["Notus"], "nine_Notus_1.json", b"[]", EVALUATION)
    work_off(EVALUATION)
    teams["Notus"].submissions.update(received_at=EVALUATION - 2 * DAY)
    User.objects.filter(name="Eurus").update(last_login=EVALUATION - 30 * DAY)
    Download.objects.create(
        shared_task=gated, dataset="test", team=teams["Notus"], user=captain(teams["Notus"]), at=EVALUATION - 2 * DAY
    )
    return gated


ALL = ["Auster", "Bora", "Eurus", "Notus"]


def test_filters_select_teams(campaign: SharedTask) -> None:
    expected = {
        (): ALL,
        ("search", "EURUS@example"): ["Eurus"],
        ("search", "unknown"): [],
        ("state", "pending"): ["Auster"],
        ("state", "nonsense"): [],
        ("answer", "kind=company"): ["Auster"],
        ("answer", "kind"): [],
        ("answer", "other=company"): [],
        ("signed", "yes"): ["Bora", "Notus"],
        ("signed", "no"): ["Auster", "Eurus"],
        ("downloaded", "yes"): ["Notus"],
        ("uploaded", "yes"): ["Bora", "Notus"],
        ("uploaded", "no"): ["Auster", "Eurus"],
        ("valid", "yes"): ["Bora"],
        ("valid", "no"): ["Auster", "Eurus", "Notus"],
        ("valid", "maybe"): [],
        ("seen", "day"): ["Bora"],
        ("seen", "week"): ["Bora", "Notus"],
        ("seen", "not-week"): ["Auster", "Eurus"],
        ("seen", "never"): [],
    }
    found = {}
    for key in expected:
        wanted = TeamFilter(**dict([key] if key else []))
        found[key] = [team.name for team in selected_teams(campaign, wanted, EVALUATION + timedelta(hours=1))]
    assert found == expected
    stuck = TeamFilter(downloaded="yes", valid="no", phase="evaluation")
    assert [team.name for team in selected_teams(campaign, stuck, EVALUATION)] == ["Notus"]
    elsewhere = TeamFilter(uploaded="yes", phase="post")
    assert list(selected_teams(campaign, elsewhere, EVALUATION)) == []


def test_rows_say_what_each_team_has_done(campaign: SharedTask) -> None:
    rows = {row.team.name: row for row in all_team_rows(campaign, TeamFilter(), EVALUATION)}
    notus = rows["Notus"]
    counts = (notus.uploads, notus.rejected, notus.runs, notus.valid_runs, notus.downloads, notus.has_signed)
    assert counts == (2, 2, 1, 0, 1, True)
    assert (rows["Bora"].valid_runs, rows["Eurus"].has_signed) == (1, False)
    assert str(notus.seen_on) == "2024-04-30", "the day of the last download or stored upload"
    assert str(rows["Eurus"].seen_on) == "2024-04-02"
    assert rows["Auster"].seen_on is None


def test_the_number_of_statements_does_not_depend_on_the_number_of_teams(campaign: SharedTask) -> None:
    few = queries(lambda: teams_page(campaign, TeamFilter(), "1", EVALUATION))
    for name in ("Zephyrus", "Boreas"):
        registered(campaign, name)
    assert queries(lambda: teams_page(campaign, TeamFilter(), "1", EVALUATION)) == few


def test_the_table_the_csv_and_the_api_have_the_same_teams(
    campaign: SharedTask, organizer: User, client: Client
) -> None:
    client.force_login(organizer)
    query = "?downloaded=yes&valid=no"
    text = client.get(PAGE + query).content.decode()
    assert ("Notus" in text, "Eurus" in text, "Auster" in text) == (True, False, False)
    rows = list(csv.DictReader(io.StringIO(client.get(f"{PAGE}selected.csv{query}").content.decode())))
    assert [(row["team"], row["rejected_uploads"], row["last_seen"]) for row in rows] == [("Notus", "2", "2024-04-30")]
    ask = Script(organizer, "organize")
    (team,) = ask(f"/tasks/gated/organize/teams{query}").json()
    assert (team["name"], team["uploads"], team["last_seen"]) == ("Notus", 2, "2024-04-30")
    assert "No teams match these filters." in client.get(f"{PAGE}?state=withdrawn").content.decode()


@pytest.mark.slow
def test_a_page_shows_everything_about_a_team(campaign: SharedTask, organizer: User, client: Client) -> None:
    client.force_login(organizer)
    team = campaign.teams.get(name="Notus")
    address = f"{PAGE}{team.pk}/"
    answer = client.post(f"{address}note/", {"text": "Wrote by phone: <b>stuck</b>."}, follow=True)
    text = answer.content.decode().replace("<wbr>", "")
    for part in (
        "notus@example.org",
        "one_Notus_1.json",
        "nine_Notus_1.json",
        "approved the team",
        "research",
        "test:",
    ):
        assert part in text
    assert "Wrote by phone: &lt;b&gt;stuck&lt;/b&gt;." in text
    assert AuditEntry.objects.get(verb="add_note").detail == {}, "the log does not repeat the note"
    assert client.post(f"{address}note/", {"text": ""}).status_code == 422
    note = TeamNote.objects.get()
    assert (
        "Wrote by phone"
        not in client.post(f"/tasks/gated/organize/notes/{note.pk}/delete/", follow=True).content.decode()
    )
    assert not TeamNote.objects.exists()


@pytest.mark.slow
def test_only_the_organizers_of_the_task_see_a_team_and_its_notes(
    campaign: SharedTask, tiny: SharedTask, organizer: User, client: Client
) -> None:
    team = campaign.teams.get(name="Notus")
    note = add_note(organizer, team, EVALUATION, text="A secret note")
    for reader, slugs in ((captain(team), ["gated"]), (organizer_of(tiny, "Other"), ["gated", "tiny"])):
        client.force_login(reader)
        for slug in slugs:
            assert client.get(f"/tasks/{slug}/organize/teams/{team.pk}/").status_code == 404
            assert client.post(f"/tasks/{slug}/organize/notes/{note.pk}/delete/").status_code == 404
        assert "A secret note" not in client.get("/tasks/gated/team/").content.decode()
        assert "A secret note" not in client.get("/settings/export/").content.decode()
    assert "notus" not in client.get("/tasks/tiny/organize/teams/").content.decode().lower()
    assert "A secret note" in str(personal_data(organizer)), "its author's own data"


def test_all_selected_teams_are_approved_once(campaign: SharedTask, organizer: User, client: Client) -> None:
    registered(campaign, "Zephyrus")
    client.force_login(organizer)
    confirmation = client.get(f"{PAGE}approve-all/?answer=kind%3Dcompany").content.decode()
    assert "1 team is approved" in confirmation
    assert ("Auster" in confirmation, "Zephyrus" in confirmation) == (True, False)
    posted = client.post(f"{PAGE}approve-all/?answer=kind%3Dcompany", {"seen": "1"}, follow=True).content.decode()
    assert "1 team was approved." in posted
    assert campaign.teams.get(name="Auster").state == "approved"
    assert campaign.teams.get(name="Zephyrus").state == "pending"
    assert OutgoingMail.objects.filter(kind="team_approved", team__name="Auster").count() == 1
    again = client.post(f"{PAGE}approve-all/?answer=kind%3Dcompany", {"seen": "1"})
    assert (again.status_code, "has changed from 1 to 0" in again.content.decode()) == (409, True)


def test_declining_all_needs_a_reason_and_the_number_seen(
    campaign: SharedTask, organizer: User, client: Client
) -> None:
    client.force_login(organizer)
    address = f"{PAGE}decline-all/"
    assert client.post(address, {"seen": "1", "reason": ""}).status_code == 422
    with pytest.raises(Conflict, match="selection_changed"):
        decline_teams(organizer, campaign, EVALUATION, wanted=TeamFilter(), seen=2, reason="Too late.")
    assert client.post(address, {"seen": "1", "reason": "Too late."}).status_code == 302
    assert Team.objects.get(name="Auster").reason == "Too late."
    assert set(campaign.teams.values_list("name", "state")) == {
        ("Auster", "declined"), ("Bora", "approved"), ("Eurus", "approved"), ("Notus", "approved")
    }, "only teams that wait are declined"  # fmt: skip


def test_a_script_decides_by_filter_and_no_unknown_filter_selects_all(campaign: SharedTask, organizer: User) -> None:
    ask = Script(organizer, "organize")
    path = "/tasks/gated/organize/teams"
    wrong = ask(f"{path}/approve", "POST", {"wanted": {"kind": "company"}, "seen": 1})
    assert wrong.status_code == 422
    done = ask(f"{path}/approve", "POST", {"wanted": {"answer": "kind=company"}, "seen": 1})
    assert (done.status_code, done.json()) == (200, {"teams": ["Auster"]})
    declined = ask(f"{path}/decline", "POST", {"wanted": {}, "seen": 0, "reason": "Too late."})
    assert declined.json() == {"teams": []}
    noted = ask(f"{path}/{campaign.teams.get(name='Bora').pk}/notes", "POST", {"text": "Called."})
    assert noted.json()["text"] == "Called."
    assert ask(f"{path}/notes/{noted.json()['id']}", "DELETE").status_code == 204
