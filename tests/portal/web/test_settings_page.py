"""A person's account: settings, data download, and what remains after deletion."""

import json
from io import StringIO

import pytest
from allauth.account.models import EmailAddress
from allauth.usersessions.models import UserSession
from django.apps import apps
from django.db.models import ManyToManyRel
from django.test import Client
from django.urls import reverse

from portal.actions.account_settings import change_settings
from portal.actions.accounts import delete_account
from portal.actions.base.errors import Conflict, Invalid
from portal.actions.team_members import invite_by_mail
from portal.actions.teams import join_team, register_team
from portal.models import AuditEntry, OutgoingMail, Run, Team, User
from portal.models.rows import dump, tables
from portal.queries.personal_data import COLUMNS, personal_data, relations_to_people
from portal.web.templatetags.sessions import browser_in_words
from tests.portal.remembered import remembered
from tests.portal.world import EVALUATION, GOOD, person, send_run, set_up_second_factor, sign
from tests.services import text_of

PASSWORD = "a long winter in the north"
PAGE = "/settings/"


@remembered
def cleo(gated):
    """The captain and only member of a team, who has signed the agreement and uploaded a run."""
    user = person("Cleo")
    team = register_team(user, gated, EVALUATION, name="Bora", answers={"use": "research"})
    Team.objects.update(state=Team.State.APPROVED)
    team.refresh_from_db()
    sign(user, gated)
    user.affiliation, user.country = "University of the Aegean", "GR"
    user.set_password(PASSWORD)
    user.save()
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    send_run(team, GOOD, 1, EVALUATION)
    invite_by_mail(user, team, EVALUATION, address="nora@example.org")
    return user


@pytest.fixture
def browser(cleo):
    """Cleo's browser, just after Cleo entered the password."""
    client = Client()
    client.post("/accounts/login/", {"login": cleo.email, "password": PASSWORD})
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    return client


def values(**changes):
    own = {"name": "Cleo", "affiliation": "", "country": "", "time_zone": "UTC", "language": "en"}
    return own | changes


def test_what_is_saved_is_what_was_given(browser, cleo):
    given = values(name="Cleo C.", country="ES", time_zone="Europe/Madrid", language="es", mails_about_results="on")
    assert browser.post(PAGE, given).status_code == 302
    cleo.refresh_from_db()
    assert (cleo.name, cleo.country.name, cleo.time_zone, cleo.language) == ("Cleo C.", "Spain", "Europe/Madrid", "es")
    assert (cleo.mails_about_runs, cleo.mails_about_deadlines, cleo.mails_about_results) == (False, False, True)


@pytest.mark.parametrize(
    "wrong", [{"name": ""}, {"country": "XX"}, {"time_zone": "Mars/Olympus"}, {"language": "tlh"}], ids=str
)
def test_impossible_values_are_rejected_and_nothing_is_saved(browser, cleo, wrong):
    response = browser.post(PAGE, values(affiliation="elsewhere") | wrong)
    assert response.status_code == 422
    assert "Your changes were not saved" in response.content.decode()
    cleo.refresh_from_db()
    assert cleo.affiliation == "University of the Aegean"


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({"name": " "}, "Name is required."),
        ({"country": "XX"}, "Country: Value 'XX' is not a valid choice."),
        ({"time_zone": "Mars/Olympus"}, "Time zone: Choose a time zone from the list, for example Europe/Madrid."),
        ({"language": "tlh"}, "Language: Value 'tlh' is not a valid choice."),
    ],
    ids=str,
)
def test_the_action_knows_the_limits_too(cleo, wrong, problem):
    mails = dict.fromkeys(
        [
            "mails_about_runs",
            "mails_about_deadlines",
            "mails_about_results",
            "mails_about_teams",
            "named_on_team_pages",
        ],
        True,
    )
    with pytest.raises(Invalid) as caught:
        change_settings(cleo, cleo, EVALUATION, **values(affiliation="elsewhere") | mails | wrong)
    assert caught.value.message == problem
    cleo.refresh_from_db()
    assert cleo.affiliation == "University of the Aegean"


def test_what_is_not_the_persons_to_say_has_no_effect(browser, cleo):
    stolen = {"is_staff": "on", "is_superuser": "on", "email": "other@example.org", "date_joined": "2000-01-01"}
    browser.post(PAGE, values(**stolen))
    cleo.refresh_from_db()
    assert (cleo.is_staff, cleo.is_superuser, cleo.email) == (False, False, "cleo@example.org")


def test_a_new_address_counts_when_its_link_is_followed(browser, cleo, smtp):
    browser.post("/accounts/email/", {"action_add": "", "email": "cleo@new.example"})
    cleo.refresh_from_db()
    assert cleo.email == "cleo@example.org"
    path = next(word for word in text_of(smtp.mails[-1]).split() if "/confirm-email/" in word).split("/", 3)[3]
    browser.post(f"/{path}")
    cleo.refresh_from_db()
    assert cleo.email == "cleo@new.example"
    assert EmailAddress.objects.get(user=cleo).email == "cleo@new.example"


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on Linux"),
        ("Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0",
         "Edge on Windows"),
        ("curl/8.5.0", "curl"),
        ("A browser in a library", "A browser in a library"),
        ("", ""),
    ],
)  # fmt: skip
def test_a_browser_is_named_in_words(said, words):
    assert browser_in_words(said) == words


@pytest.mark.slow
def test_the_other_sessions_are_listed_and_ended(browser, cleo):
    other = Client(headers={"user-agent": "A browser in a library"})
    other.post("/accounts/login/", {"login": cleo.email, "password": PASSWORD})
    assert "A browser in a library" in browser.get("/accounts/sessions/").content.decode()
    browser.post("/accounts/sessions/")
    assert other.get(PAGE).status_code == 302
    assert browser.get(PAGE).status_code == 200


@pytest.mark.slow
def test_one_other_session_is_ended_and_no_one_elses(browser, cleo):
    others = [Client(headers={"user-agent": name}) for name in ("library", "train")]
    for other in others:
        other.post("/accounts/login/", {"login": cleo.email, "password": PASSWORD})
    session = UserSession.objects.get(user_agent="library")
    page = f"/settings/sessions/{session.pk}/end/"
    stranger = Client()
    stranger.force_login(person("Rival"))
    assert stranger.post(page).status_code == 404
    assert page in browser.get("/accounts/sessions/").content.decode()
    assert browser.post(page)["Location"] == "/accounts/sessions/"
    assert [client.get(PAGE).status_code for client in (*others, browser)] == [302, 200, 200]


def test_the_data_to_download_are_complete_and_hold_no_secret(browser, cleo):
    secret = set_up_second_factor(cleo)
    response = browser.get(reverse("export_data"))
    text = response.content.decode()
    found = json.loads(text)
    assert response["Content-Disposition"] == 'attachment; filename="agon-my-data.json"'
    assert found["account"]["country"] == "GR"
    assert found["signatures, user"][0]["typed name"] == "Cleo"
    assert found["submissions, sent by"][0]["file name"] == "one_Bora_1.json"
    (run,) = found["runs that you uploaded"]
    assert (run["name"], run["chosen at"]) == ("one_Bora_1.json", None)
    assert not [key for key in {*found, *found["account"], *run} if "_" in key]
    assert {entry["verb"] for entry in found["audit entries, actor"]} >= {"submit", "register_team"}
    assert "Bora" in text
    for hidden in (secret, cleo.password, UserSession.objects.get(user=cleo).session_key):
        assert hidden not in text


def test_every_table_about_people_has_its_columns(db):
    relations = [relation for relation in relations_to_people() if not isinstance(relation, ManyToManyRel)]
    labels = {relation.related_model._meta.label for relation in relations}
    assert {*labels, "portal.User"} == COLUMNS.keys()
    for label, columns in COLUMNS.items():
        names = {field.name for field in apps.get_model(label)._meta.concrete_fields}
        assert set(columns) <= names - {"password", "token", "sealed_sha256", "preview", "problems", "effects"}, label


def test_earlier_names_and_addresses_are_in_the_data_and_are_erased_with_the_account(browser, cleo):
    """Also where others wrote them, in lists, and in another case."""
    team, rival = cleo.teams.get(), person("Rival")
    invite_by_mail(cleo, team, EVALUATION, address="nora@example.org")
    OutgoingMail.objects.notify(cleo, OutgoingMail.Kind.RELEASED, "release", EVALUATION)
    other = register_team(rival, team.shared_task, EVALUATION, name="Notus", answers={"use": "research"})
    invite_by_mail(rival, other, EVALUATION, address="CLEO@example.org")
    for name, email in (("Kleopatra", "cleo@example.org"), ("Kleo", "kleo@new.example")):
        cleo.name, cleo.email = name, email
        cleo.save()
    changes = {"name": ["Kleopatra", "Kleo"], "email": ["cleo@example.org", "kleo@new.example"]}
    AuditEntry.objects.record(rival, "admin_change", cleo, EVALUATION, **changes)
    EmailAddress.objects.update(email="kleo@new.example")

    found = browser.get(reverse("export_data")).json()
    assert {"Cleo", "Kleopatra", "cleo@example.org"} <= {one["text"] for one in found["earlier names, user"]}
    assert [one["address"] for one in found["audit entries that contain your addresses"]] == ["CLEO@example.org"]
    assert {one["address"] for one in found["emails to your addresses"]} == {"cleo@example.org", "CLEO@example.org"}

    delete_account(cleo, cleo, EVALUATION)
    with StringIO() as file:
        for table in tables():
            if table._meta.label != "sessions.Session":
                dump(table, file)
        left = file.getvalue()
    for trace in ("Cleo", "CLEO", "cleo@", "Kleo", "kleo@"):
        assert trace not in left, left[left.index(trace) - 200 : left.index(trace) + 50]
    assert "nora@example.org" in left


def test_a_person_of_the_same_name_keeps_it_in_their_invitations(cleo):
    namesake = person("Other")
    User.objects.filter(pk=namesake.pk).update(name="Cleo")
    namesake.refresh_from_db()
    team = register_team(namesake, cleo.teams.get().shared_task, EVALUATION, name="Notus", answers={"use": "research"})
    mail = invite_by_mail(namesake, team, EVALUATION, address="milo@example.org")
    delete_account(cleo, cleo, EVALUATION)
    mail.refresh_from_db()
    assert mail.details["inviter"] == "Cleo"


def test_taking_data_away_or_deleting_asks_for_the_password_again(cleo):
    client = Client()
    client.post("/accounts/login/", {"login": cleo.email, "password": PASSWORD})
    for response in (client.get(reverse("export_data")), client.post(reverse("delete_account"))):
        assert response.url.startswith("/accounts/reauthenticate/")
    cleo.refresh_from_db()
    assert cleo.is_active


@pytest.mark.slow
def test_a_deleted_account_leaves_the_teams_records_and_nothing_of_the_person(browser, cleo):
    set_up_second_factor(cleo)
    team = cleo.teams.get()
    assert browser.post(reverse("delete_account")).url == "/"
    assert browser.get(PAGE).status_code == 302
    team.refresh_from_db()
    assert team.state == Team.State.WITHDRAWN
    assert Run.objects.get(team=team).name == "one_Bora_1.json"
    gone = User.objects.get(pk=cleo.pk)
    assert gone.signatures.get().sha256
    assert not gone.is_active
    left = json.dumps(personal_data(gone), default=str)
    for trace in ('"Cleo"', "cleo@example.org", "Aegean", "192.0.2.1", "127.0.0.1"):
        assert trace not in left
    assert OutgoingMail.objects.get(address="nora@example.org").details["inviter"] == f"Deleted account {cleo.pk}"
    assert AuditEntry.objects.filter(verb="delete_account", actor=cleo).exists()
    assert Client().post("/accounts/login/", {"login": "cleo@example.org", "password": PASSWORD}).status_code == 200


def test_a_captain_hands_over_first(browser, cleo):
    team = cleo.teams.get()
    join_team(person("Milo"), team.shared_task, EVALUATION, code=team.invitation_code)
    assert team.name in browser.get(reverse("delete_account")).content.decode()
    response = browser.post(reverse("delete_account"))
    assert response.status_code == 409
    assert "choose a new captain for these teams or withdraw them: Bora." in response.content.decode()
    cleo.refresh_from_db()
    assert cleo.is_active


def test_the_last_administrator_stays(db):
    first = person("Ada")
    first.is_superuser = True
    first.save()
    with pytest.raises(Conflict, match="last administrator"):
        delete_account(first, first, EVALUATION)
