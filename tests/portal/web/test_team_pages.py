"""What members can do on their team's page, and organizers' decisions about teams."""

import pytest
from django.test import Client

from portal.actions.teams import register_team
from portal.models import Membership, OutgoingMail, SharedTask, Team
from tests.portal.web.conftest import Clock
from tests.portal.world import EVALUATION, captain, new_team, organizer_of, person

PAGE = "/tasks/tiny/team/"
REQUESTS = "/tasks/gated/organize/teams/"


@pytest.fixture
def pending(gated: SharedTask) -> Team:
    return register_team(person("Cleo"), gated, EVALUATION, name="Bora", answers={"use": "<script>1</script>"})


@pytest.fixture
def decider(gated: SharedTask, sign_in) -> Client:
    user = organizer_of(gated, "Decider")
    return sign_in(user)


@pytest.mark.slow
def test_questions_are_asked_and_answered(gated: SharedTask, sign_in, at: Clock) -> None:
    at(EVALUATION)
    client = sign_in(person("Cleo"))
    page = "/tasks/gated/team/"
    assert "What will you use the data for?" in client.get(page).content.decode()
    rejected = client.post(page, {"name": "no spaces, please", "answer-kind": "pirates"})
    assert rejected.status_code == 422
    assert 'id="id_name_error"' in rejected.content.decode()
    rule = gated.definition.team.name_in_words
    assert [answer.content.decode().count(rule) for answer in (client.get(page), rejected)] == [1, 1]
    assert 'id="id_answer-use_error"' in rejected.content.decode()
    assert 'id="id_answer-kind_error"' in rejected.content.decode()
    assert client.post(page, {"name": "Bora", "answer-use": "a thesis"})["Location"] == page
    text = client.get(page).content.decode()
    assert "Waiting for approval" in text
    assert "a thesis" in text
    assert "Not allowed now:" in text
    assert "Read and sign the data agreement" in text


def test_what_a_form_does_not_ask_has_no_effect(gated: SharedTask, sign_in, at: Clock) -> None:
    at(EVALUATION)
    body = {
        "name": "Bora",
        "answer-use": "a thesis",
        "state": "approved",
        "decided_at": "2024-01-01",
        "data_password": "x",
    }
    sign_in(person("Cleo")).post("/tasks/gated/team/", body)
    team = Team.objects.get()
    assert (team.state, team.decided_at, team.data_password) == ("pending", None, "")


def test_a_closed_registration_has_no_form(gated: SharedTask, sign_in, at: Clock) -> None:
    closing = gated.closing_of_teams()
    assert closing is not None
    at(closing)
    client = sign_in(person("Late"))
    assert "Registration is closed" in client.get("/tasks/gated/team/").content.decode()
    answer = client.post("/tasks/gated/team/", {"name": "Late", "answer-use": "a thesis"})
    assert (answer.status_code, Team.objects.count()) == (403, 0)
    assert "Registration for this task is closed" in answer.content.decode()


@pytest.mark.slow
def test_an_invitation_is_sent_from_the_page(teammate: Client, stranger: Client, newcomer: Client) -> None:
    response = teammate.post(f"{PAGE}invite/", {"address": "ada@example.org"}, follow=True)
    assert "We’re sending the invitation to ada@example.org" in response.content.decode()
    assert "ada@example.org" not in stranger.get(PAGE).content.decode()
    assert newcomer.post(f"{PAGE}invite/", {"address": "ada@example.org"}).status_code == 404
    wrong = teammate.post(f"{PAGE}invite/", {"address": "ada"})
    assert wrong.status_code == 422
    assert "Email address: Enter a valid email address." in wrong.content.decode()
    assert OutgoingMail.objects.count() == 1


@pytest.mark.slow
def test_a_captain_hands_over_and_leaves(sender: Client, teammate: Client, meltemi: Team) -> None:
    assert sender.post(f"{PAGE}leave/").status_code == 409
    heir = Membership.objects.get(user__name="Teammate")
    assert teammate.post(f"{PAGE}hand-over/", {"member": heir.pk}).status_code == 403
    assert sender.post(f"{PAGE}hand-over/", {"member": heir.pk})["Location"] == PAGE
    assert captain(meltemi).name == "Teammate"
    assert "Create a team" in sender.post(f"{PAGE}leave/", follow=True).content.decode()


def test_members_of_other_teams_are_not_found(sender: Client, stranger: Client, meltemi: Team) -> None:
    foreign = Membership.objects.get(team__name="Notus")
    for member in (foreign.pk, 0, "x", ""):
        assert sender.post(f"{PAGE}hand-over/", {"member": member}).status_code == 404
    assert Membership.objects.filter(is_captain=True).count() == 2


@pytest.mark.parametrize("action", ["invite", "leave", "hand-over", "withdraw", "ask-again", "password"])
def test_actions_need_a_post_an_account_and_a_team(
    sender: Client, newcomer: Client, anybody: Client, action: str, meltemi: Team
) -> None:
    assert sender.get(f"{PAGE}{action}/").status_code == 405
    assert anybody.post(f"{PAGE}{action}/")["Location"].startswith("/accounts/login/")
    assert newcomer.post(f"{PAGE}{action}/").status_code == 404


def test_only_the_captain_withdraws(sender: Client, teammate: Client, meltemi: Team) -> None:
    assert "Withdraw Meltemi" not in teammate.get(PAGE).content.decode()
    assert teammate.post(f"{PAGE}withdraw/").status_code == 403
    assert "Your team was withdrawn" in sender.post(f"{PAGE}withdraw/", follow=True).content.decode()
    assert "Your team Meltemi can’t submit runs" in sender.get("/tasks/tiny/submit/").content.decode()


@pytest.mark.slow
def test_organizers_approve(decider: Client, pending: Team, sign_in) -> None:
    text = decider.get(REQUESTS).content.decode()
    assert "One team is waiting for your decision" in text
    assert "&lt;script&gt;1" in text
    assert "cleo@example.org" in text
    done = decider.post(f"{REQUESTS}{pending.pk}/approve/", follow=True).content.decode()
    assert "Bora was approved" in done
    assert "No teams are waiting" in done
    assert "Approved" in sign_in(captain(pending)).get("/tasks/gated/team/").content.decode()
    again = decider.post(f"{REQUESTS}{pending.pk}/approve/")
    assert again.status_code == 409
    assert "can’t be approved or declined" in again.content.decode()


def test_addresses_and_answers_stay_visible_after_approval(decider: Client, pending: Team) -> None:
    decider.post(f"{REQUESTS}{pending.pk}/approve/")
    text = decider.get(REQUESTS).content.decode()
    assert "cleo@example.org" in text
    assert "What will you use the data for?" in text
    assert "&lt;script&gt;1" in text


def test_organizers_see_where_people_come_from(decider: Client, pending: Team, sign_in) -> None:
    pending.members.update(affiliation="University of the Aegean", country="GR")
    assert "University of the Aegean, Greece" in decider.get(REQUESTS).content.decode()
    decider.post(f"{REQUESTS}{pending.pk}/approve/")
    assert "University of the Aegean, Greece" in decider.get(REQUESTS).content.decode()


def test_a_new_team_may_have_its_captains_affiliation(tiny: SharedTask, sign_in) -> None:
    user = person("Milo")
    user.affiliation = "University of the Aegean"
    user.save()
    assert 'value="University of the Aegean"' in sign_in(user).get(PAGE).content.decode()


@pytest.mark.slow
def test_a_declined_team_reads_why_and_asks_again(decider: Client, pending: Team, sign_in) -> None:
    without_reason = decider.post(f"{REQUESTS}{pending.pk}/decline/", {"reason": ""})
    assert (without_reason.status_code, '<details class="more" open>' in without_reason.content.decode()) == (422, True)
    assert '<details class="more" open>' not in decider.get(REQUESTS).content.decode()
    assert decider.post(f"{REQUESTS}{pending.pk}/decline/", {"reason": "Say more."}).status_code == 302
    client = sign_in(captain(pending))
    text = client.get("/tasks/gated/team/").content.decode()
    assert "Say more." in text
    assert "Request approval again" in text
    assert client.post("/tasks/gated/team/ask-again/", {"answer-use": ""}).status_code == 422
    text = client.post("/tasks/gated/team/ask-again/", {"answer-use": "a thesis"}, follow=True).content.decode()
    assert "Waiting for approval" in text
    assert "Say more." in decider.get(REQUESTS).content.decode()  # why the team was declined the first time


@pytest.mark.slow
def test_organizers_of_another_task_find_nothing(organizer: Client, pending: Team, decider: Client) -> None:
    for part in ("", "teams/", "mails/", "audit/"):
        assert organizer.get(f"/tasks/gated/organize/{part}").status_code == 404
        assert organizer.get(f"/tasks/tiny/organize/{part}").status_code == 200
    for address in (f"{REQUESTS}{pending.pk}/approve/", f"/tasks/tiny/organize/teams/{pending.pk}/approve/"):
        assert organizer.post(address).status_code == 404
    pending.refresh_from_db()
    assert pending.state == "pending"
    assert decider.get(f"{REQUESTS}{pending.pk}/approve/").status_code == 405


def test_mails_and_the_audit_log_are_listed(decider: Client, pending: Team) -> None:
    assert "Team awaiting approval" in decider.get("/tasks/gated/organize/mails/").content.decode()
    decider.post(f"{REQUESTS}{pending.pk}/decline/", {"reason": "Say more."})
    mails = decider.get("/tasks/gated/organize/mails/?page=none").content.decode()
    assert "cleo@example.org" in mails
    assert "Waiting to be sent" in mails
    log = decider.get("/tasks/gated/organize/audit/").content.decode()
    assert "declined the team" in log
    assert "Say more." in log


def test_rival_teams_are_not_listed_for_participants(sender: Client, tiny: SharedTask) -> None:
    new_team(tiny, "Sirocco")
    assert sender.get("/tasks/tiny/organize/teams/").status_code == 404
