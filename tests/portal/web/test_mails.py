"""Unsubscribe links, which need neither sign-in nor CSRF token, and the organizers' list of emails."""

import re

import pytest
from django.test import Client

from portal.mail import unsubscribe
from portal.models import User
from tests.portal.world import EVALUATION, GOOD, captain, deliver, send_run, work_off

WISHES = ("mails_about_runs", "mails_about_deadlines", "mails_about_results")


@pytest.fixture
def link(meltemi, smtp, settings):
    """The path of the unsubscribe link in an email to Meltemi's captain about an upload."""
    settings.PUBLIC_URL = "https://agon.example"
    send_run(meltemi, GOOD, 1, EVALUATION)
    work_off(EVALUATION)
    deliver()
    mail = smtp.mails[0]
    (address,) = re.findall(r"<https://agon\.example(/\S+)>", mail["List-Unsubscribe"])
    assert mail["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    for kind in ("plain", "html"):
        assert address in mail.get_body((kind,)).get_content()
    return address


@pytest.fixture
def mail_program():
    """A client with CSRF checks and without cookies, like a mail program."""
    return Client(enforce_csrf_checks=True)


def wishes(user: User):
    user.refresh_from_db()
    return [getattr(user, wish) for wish in WISHES]


@pytest.mark.slow
def test_looking_changes_nothing(meltemi, link, mail_program):
    page = mail_program.get(link)
    assert page.status_code == 200
    assert "Unsubscribe" in page.content.decode()
    assert wishes(captain(meltemi)) == [True, True, True]


@pytest.mark.slow
def test_one_click_stops_that_kind_alone_and_twice_is_no_harm(meltemi, link, mail_program, smtp):
    for _ in range(2):
        page = mail_program.post(link, {"List-Unsubscribe": "One-Click"})
        assert page.status_code == 200
        assert "You have unsubscribed" in page.content.decode()
    assert wishes(captain(meltemi)) == [False, True, True]
    before = len(smtp.mails)
    send_run(meltemi, GOOD, 2, EVALUATION)
    work_off(EVALUATION)
    deliver()
    assert len(smtp.mails) == before


@pytest.mark.slow
def test_a_changed_link_is_invalid(meltemi, link, mail_program):
    user = captain(meltemi)
    token = unsubscribe.token(user, "mails_about_runs")
    for changed in (
        token.replace("runs", "results"),
        token.replace(str(user.pk), str(user.pk + 1), 1),
        token[:-1] + ("A" if token[-1] != "A" else "B"),
        unsubscribe.token(user, "is_active"),  # signed, but not an email setting
        "1:mails_about_runs",
        "nonsense",
    ):
        assert mail_program.post(f"/mails/stop/{changed}/").status_code == 404, changed
    assert wishes(user) == [True, True, True]


@pytest.mark.slow
def test_organizers_find_mails_by_kind_and_state(meltemi, link, organizer):
    page = "/tasks/tiny/organize/mails/"
    everything = organizer.get(page).content.decode()
    assert "Upload scored" in everything
    assert everything.count("meltemi@example.org") == 1
    assert organizer.get(page, {"kind": "runs_accepted", "state": "sent"}).content.decode().count("meltemi@") == 1
    assert "No emails match" in organizer.get(page, {"state": "failed"}).content.decode()
