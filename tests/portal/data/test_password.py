"""The team's data password: other required checks, guessing, renewal, and where it must not appear."""

import logging

import pytest
from django.db import connection
from django.db.models import F
from django.test import Client

from portal.actions.approval import approve_team
from portal.actions.base.errors import ActionError, LimitReached, NotAllowed
from portal.actions.data_password import give_password, renew_password
from portal.actions.teams import join_team, register_team
from portal.models import AuditEntry, Download, FailedAttempt, OutgoingMail, Signature, Team
from portal.models.failed_attempt import AN_HOUR, FIRST_GUESSES, GUESSES, GUESSES_OF_A_TEAM
from tests.portal.data.gate import DATA, PASSWORD_PAGE, latest_password, status
from tests.portal.world import EVALUATION, POST, at_once, person, sign


@pytest.mark.slow
def test_the_right_password_is_not_enough(gated, reader, password, smtp):
    Signature.objects.all().delete()
    assert reader.post(PASSWORD_PAGE, {"password": password}).status_code == 403
    sign(Team.objects.get().members.get(), gated)
    Team.objects.update(state="pending")
    assert reader.post(PASSWORD_PAGE, {"password": password}).status_code == 403
    Team.objects.update(state="approved")
    rival = person("Rival")
    other = register_team(rival, gated, EVALUATION, name="Notus", answers={"use": "research"})
    approve_team(gated.organizers.get(), other, EVALUATION)
    sign(rival, gated)
    theirs = latest_password(smtp)
    assert reader.post(PASSWORD_PAGE, {"password": theirs}).status_code == 403
    assert status(reader) == 403
    assert reader.post(PASSWORD_PAGE, {"password": password}).status_code == 302
    assert status(reader) == 200
    Signature.objects.all().delete()  # the signature is required even after the password has been entered
    assert status(reader) == 403


@pytest.mark.slow
def test_wrong_guesses_shut_the_account_and_not_the_team(gated, reader, password):
    for number in range(1, GUESSES + 1):
        answer = reader.post(PASSWORD_PAGE, {"password": f"guess {number}"}).status_code
        assert answer == (429 if number == GUESSES else 403)
    assert reader.post(PASSWORD_PAGE, {"password": password}).status_code == 429
    assert reader.get(PASSWORD_PAGE).status_code == 429
    assert status(reader) == 403
    friend = person("Friend")
    join_team(friend, gated, EVALUATION, code=Team.objects.get().invitation_code)
    sign(friend, gated)
    elsewhere = Client()
    elsewhere.force_login(friend)
    assert elsewhere.post(PASSWORD_PAGE, {"password": password}).status_code == 302
    assert status(elsewhere) == 200
    reader.logout()
    reader.force_login(Team.objects.get().members.get(name="Cleo"))
    assert reader.post(PASSWORD_PAGE, {"password": password}).status_code == 429
    FailedAttempt.objects.update(at=F("at") - AN_HOUR)
    assert reader.post(PASSWORD_PAGE, {"password": password}).status_code == 302


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_guesses_at_once_are_no_more_than_guesses_in_a_row(gated, password, cleo):
    guesses = [lambda n=n: give_password(cleo, gated, EVALUATION, guess=f"guess {n}") for n in range(GUESSES + 10)]
    answers = at_once(guesses)
    assert FailedAttempt.objects.count() <= GUESSES
    assert {answer.code for answer in answers} <= {"wrong_password", "too_many_guesses"}


@pytest.mark.slow
def test_who_changes_teams_has_no_new_guesses(gated, password, cleo, organizer):
    for number in range(GUESSES):
        with pytest.raises(ActionError):
            give_password(cleo, gated, EVALUATION, guess=f"guess {number}")
    Team.objects.get().memberships.all().delete()
    other = register_team(cleo, gated, EVALUATION, name="Notus", answers={"use": "research"})
    approve_team(organizer, other, EVALUATION)
    with pytest.raises(LimitReached) as rejected:
        give_password(cleo, gated, EVALUATION, guess="another guess")
    assert rejected.value.code == "too_many_guesses"


def test_many_accounts_of_a_team_share_its_guesses_and_its_other_members_go_on(gated, password, cleo):
    team = Team.objects.get()
    kind = FailedAttempt.Kind.DATA_PASSWORD
    rivals = [person(f"P{number}") for number in range(GUESSES_OF_A_TEAM // GUESSES)]
    rows = [FailedAttempt(user=rival, team=team, kind=kind, at=EVALUATION) for rival in rivals for _ in range(GUESSES)]
    FailedAttempt.objects.bulk_create(rows)
    for number in range(1, FIRST_GUESSES + 1):
        with pytest.raises(LimitReached if number == FIRST_GUESSES else NotAllowed):
            give_password(cleo, gated, EVALUATION, guess=f"guess {number}")
    friend = person("Friend")
    join_team(friend, team.shared_task, EVALUATION, code=team.invitation_code)
    sign(friend, gated)
    assert give_password(friend, gated, EVALUATION, guess=password)


@pytest.mark.slow
def test_a_rotated_password_ends_what_sessions_know(reader, password, cleo, smtp):
    reader.post(PASSWORD_PAGE, {"password": password})
    assert status(reader) == 200
    assert reader.post("/tasks/gated/team/password/").status_code == 302
    assert status(reader) == 403
    assert reader.post(PASSWORD_PAGE, {"password": password}).status_code == 403
    new = latest_password(smtp)
    assert status(reader) == 403
    assert reader.post(PASSWORD_PAGE, {"password": new}).status_code == 302
    assert status(reader) == 200


@pytest.mark.slow
def test_the_password_is_useless_after_leaving_the_team(gated, reader, password, cleo, organizer, smtp):
    reader.post(PASSWORD_PAGE, {"password": password})
    Team.objects.get().memberships.all().delete()
    other = register_team(cleo, gated, EVALUATION, name="Notus", answers={"use": "research"})
    approve_team(organizer, other, EVALUATION)
    latest_password(smtp)
    assert status(reader) == 403
    assert reader.post(PASSWORD_PAGE, {"password": password}).status_code == 403


def test_the_password_is_in_no_address_log_or_row(gated, reader, password, caplog):
    with caplog.at_level("DEBUG"):
        reader.post(PASSWORD_PAGE, {"password": password})
        response = reader.get(f"{DATA}test/")
    seen = [caplog.text, str(reader.session.items()), str(response.headers), reader.get(DATA).content.decode()]
    seen += [str(list(model.objects.values())) for model in (Team, OutgoingMail, AuditEntry, Download)]
    assert not [text for text in seen if password in text]
    assert len(password) * 6 >= 112  # bits of entropy


def test_an_internal_error_logs_no_password(cleo, gated, password, caplog):
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE portal_auditentry RENAME TO portal_gone")
    client = Client(raise_request_exception=False)
    client.force_login(cleo)
    assert client.post(PASSWORD_PAGE, {"password": password}).status_code in (500, 503)
    (console,) = [handler for handler in logging.getLogger().handlers if handler.name == "console"]
    logged = "\n".join(console.format(record) for record in caplog.records)
    assert "portal_auditentry" in logged
    assert password not in logged


def test_the_password_page_says_what_comes_first(gated, reader, client):
    text = reader.get(PASSWORD_PAGE).content.decode()
    assert "Wait until the organizers" in text
    assert "Read and sign" in text
    assert 'name="password"' not in text
    assert reader.get("/tasks/tiny/password/").status_code == 404
    with pytest.raises(NotAllowed):
        give_password(person("Lone"), gated, POST, guess="x")


@pytest.mark.slow
def test_a_password_is_renewed_by_captain_and_organizers_alone(gated, reader, password, organizer):
    friend = person("Friend")
    team = Team.objects.get()
    join_team(friend, team.shared_task, EVALUATION, code=team.invitation_code)
    reader.force_login(friend)
    assert reader.post("/tasks/gated/team/password/").status_code == 403
    reader.force_login(organizer)
    assert reader.post(f"/tasks/gated/organize/teams/{team.pk}/password/").status_code == 302
    team.refresh_from_db()
    assert (team.data_password, team.data_password_at) == ("", None)
    with pytest.raises(NotAllowed):
        renew_password(person("Lone"), team, EVALUATION)
