"""Announcements by organizers, and where they appear."""

from xml.etree import ElementTree

import pytest
from django.test import Client

from portal.actions.announcements import publish_announcement
from portal.actions.base.errors import Invalid, NotAllowed
from portal.models import Announcement, AuditEntry, SharedTask, User
from tests.portal.remembered import remembered
from tests.portal.world import EVALUATION, organizer_of, person

ATOM = "{http://www.w3.org/2005/Atom}"
PAGE = "/tasks/tiny/organize/announcements/"


@remembered
def organizer(tiny: SharedTask) -> User:
    return organizer_of(tiny, "Oana")


def test_it_is_on_the_page_and_in_the_feeds_until_it_is_taken_back(organizer: User, sign_in, anybody) -> None:
    client = sign_in(organizer)
    body = {"title": "Data <b>", "text": "The *test* data are [there](javascript:x).<script>1</script>"}
    assert client.post(PAGE, body)["Location"] == PAGE
    shown = anybody.get("/tasks/tiny/").content.decode()
    assert "Data &lt;b&gt;" in shown
    assert "The <em>test</em> data" in shown
    assert "<script>1" not in shown
    assert "javascript:x)" in shown  # as text, not as a link
    for address, title in (("/announcements.atom", "Tiny: Data <b>"), ("/tasks/tiny/announcements.atom", "Data <b>")):
        (entry,) = ElementTree.fromstring(anybody.get(address).content).findall(f"{ATOM}entry")
        assert entry.findtext(f"{ATOM}title") == title
        assert "<em>test</em>" in (entry.findtext(f"{ATOM}summary") or "")
    announcement = Announcement.objects.get()
    assert client.post(f"{PAGE}{announcement.pk}/take-back/").status_code == 302
    assert "Data &lt;b&gt;" not in anybody.get("/tasks/tiny/").content.decode()
    assert [entry.verb for entry in AuditEntry.objects.filter(subject="announcement Data <b>")] == [
        "take_back_announcement",  # what the function was called before
        "publish_announcement",
    ]


def test_only_organizers_announce(tiny: SharedTask, organizer: User) -> None:
    with pytest.raises(NotAllowed):
        publish_announcement(person("Cleo"), tiny, EVALUATION, title="News", text="Text")
    for title, text in (("", "Text"), ("News", " "), ("N" * 121, "Text"), ("News", "T" * 4001)):
        with pytest.raises(Invalid):
            publish_announcement(organizer, tiny, EVALUATION, title=title, text=text)


def test_what_is_missing_is_said_next_to_the_form(organizer: User, sign_in) -> None:
    client: Client = sign_in(organizer)
    assert client.post(PAGE, {"title": "", "text": "Text"}).status_code == 422


def test_the_page_says_who_can_read_announcements(tiny: SharedTask, organizer: User, sign_in) -> None:
    client: Client = sign_in(organizer)
    assert "where everyone can read them" in client.get(PAGE).content.decode()
    SharedTask.objects.filter(pk=tiny.pk).update(state=SharedTask.State.DRAFT)
    shown = " ".join(client.get(PAGE).content.decode().split())
    assert "everyone can read" not in shown
    assert "only the task’s organizers can read them" in shown
