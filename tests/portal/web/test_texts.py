"""Text input of any content and length: the response reports problems, and is never a server error."""

import pytest

from portal.actions.agreement import sign_agreement
from portal.actions.announcements import publish_announcement
from portal.actions.base.errors import Invalid
from portal.actions.teams import register_team
from portal.models import AuditEntry, Signature
from portal.models.signature import text_sha256
from tests.portal.world import EVALUATION, organizer_of, person

pytestmark = pytest.mark.postgres


def test_an_address_with_nul_is_a_bad_request(anybody, sender, meltemi):
    for address in (
        "/tasks/tiny/insights/one/?phase=%00",
        "/tasks/tiny/leaderboard/one/?phase=evaluation%00",
        "/tasks/tiny/team/join/%00/",
        "/?search=%00",
    ):
        for client in (anybody, sender):
            response = client.get(address)
            assert response.status_code == 400, address
            assert b"null character" in response.content


def test_a_member_number_of_any_length_is_not_found(sender, meltemi):
    for member in ("9" * 5000, "9" * 18, "-1", "x", ""):
        assert sender.post("/tasks/tiny/team/hand-over/", {"member": member}).status_code == 404


@pytest.mark.parametrize(
    ("address", "values"),
    [
        ("/tasks/tiny/team/paper/", {"bibtex": "@misc{a,\0}", "link": ""}),
        ("/tasks/tiny/team/paper/", {"bibtex": "", "link": "https://example.org/\0"}),
        ("/tasks/tiny/team/paper/", {"bibtex": "x" * 100_000, "link": ""}),
        ("/tasks/tiny/team/invite/", {"address": "a\0@example.org"}),
    ],
)
def test_a_field_that_cannot_be_stored_is_named(sender, meltemi, address, values):
    assert sender.post(address, values).status_code == 422


def test_a_reason_of_any_content_is_answered(organizer, meltemi):
    for reason in ("no\0", "x" * 5000):
        response = organizer.post(f"/tasks/tiny/organize/teams/{meltemi.pk}/decline/", {"reason": reason})
        assert response.status_code == 422
    meltemi.refresh_from_db()
    assert meltemi.takes_part


def test_the_longest_title_is_audited_whole(tiny):
    title = "t" * 120
    user = organizer_of(tiny)
    publish_announcement(user, tiny, EVALUATION, title=title, text="Text")
    assert AuditEntry.objects.get(verb="publish_announcement").subject == f"announcement {title}"
    with pytest.raises(Invalid, match=r"Title has 121 characters\. Use at most 120\."):
        publish_announcement(user, tiny, EVALUATION, title=title + "t", text="Text")


def test_a_typed_name_has_120_characters_at_most(gated):
    user = person("Nora")
    sha256 = text_sha256(gated.definition.agreement.file.read_text())
    with pytest.raises(Invalid, match=r"Full name has 121 characters\. Use at most 120\."):
        sign_agreement(user, gated, EVALUATION, typed_name="N" * 121, sha256=sha256)
    assert not Signature.objects.exists()


def test_an_affiliation_has_200_characters_at_most(tiny):
    with pytest.raises(Invalid, match="Affiliation has 201 characters"):
        register_team(person("Nora"), tiny, EVALUATION, name="Notus", affiliation="a" * 201)
