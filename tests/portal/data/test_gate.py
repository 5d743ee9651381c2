"""Access to data: who may download what, and which steps each reader still has to complete."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import AnonymousUser

from portal.actions.approval import approve_team, decline_team
from portal.actions.data_password import give_password
from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.models import AuditEntry, Download, Team
from portal.permissions import Obstacle, data_access
from tests.portal.data.gate import DATA, PASSWORD_PAGE, body, latest_password, obstacles, status
from tests.portal.world import EVALUATION, RELEASE, person, sign


def test_obstacles_are_named_one_after_the_other(gated, cleo, organizer, smtp):
    lone, visitor = person("Lone"), AnonymousUser()
    for user in (lone, visitor, cleo):
        assert obstacles(user, gated, "public") == []
    assert obstacles(visitor, gated, "registered") == [Obstacle.SIGNED_OUT]
    assert obstacles(lone, gated, "approved") == [Obstacle.NO_TEAM, Obstacle.UNSIGNED]
    assert obstacles(cleo, gated, "registered") == [Obstacle.UNSIGNED]
    assert obstacles(cleo, gated, "password") == [Obstacle.PENDING, Obstacle.UNSIGNED, Obstacle.PASSWORD]
    sign(cleo, gated)
    assert obstacles(cleo, gated, "registered") == []
    approve_team(organizer, Team.objects.get(), EVALUATION)
    assert obstacles(cleo, gated, "password") == [Obstacle.PASSWORD]
    stamp = give_password(cleo, gated, EVALUATION, guess=f" {latest_password(smtp)}\n")
    assert obstacles(cleo, gated, "password", stamp=stamp) == []
    for state, obstacle in [("declined", Obstacle.DECLINED), ("withdrawn", Obstacle.WITHDRAWN)]:
        Team.objects.update(state=state)
        assert obstacles(cleo, gated, "approved", stamp=stamp) == [obstacle]
    assert obstacles(organizer, gated, "password") == []
    cleo.is_active = False
    assert obstacles(cleo, gated, "registered") == [Obstacle.SIGNED_OUT]


def test_release_times_hold_for_all_but_organizers(gated, cleo, organizer):
    sign(cleo, gated)
    later = gated.dataset("later")
    before = RELEASE - timedelta(milliseconds=1)
    for user, at, found in [(cleo, before, [Obstacle.NOT_RELEASED]), (cleo, RELEASE, []), (organizer, before, [])]:
        assert data_access(user, gated).obstacles(later.access, later.released, at) == found


def test_from_nothing_to_the_file(gated, reader, password):
    rejected = reader.get(f"{DATA}test/")
    assert rejected.status_code == 403
    assert PASSWORD_PAGE in rejected.content.decode()
    assert reader.post(PASSWORD_PAGE, {"password": password})["Location"] == DATA
    response = reader.get(f"{DATA}test/")
    assert response.getvalue() == body(gated, "test")
    assert response["Content-Disposition"] == 'attachment; filename="gated-test.tsv"'
    assert response["Content-Length"] == str(len(body(gated, "test")))
    assert "You can download the data" in reader.get(PASSWORD_PAGE).content.decode()
    assert AuditEntry.objects.filter(verb="give_password").count() == 1


def test_the_page_shows_size_checksum_and_licence(gated, client):
    text = client.get(DATA).content.decode()
    assert gated.stored_dataset("training").sha256 in text
    assert "CC-BY-4.0" in text
    later = gated.dataset("later")
    assert later.released is not None
    assert gated.stored_dataset("later").sha256 in text  # the dataset has been released by now
    assert "Sign in" in text
    assert f"{DATA}sample/" in text
    assert f"{DATA}training/" not in text


def test_before_its_release_a_file_has_no_checksum(db, gated_folder, client):
    path = gated_folder / "task.yaml"
    path.write_text(path.read_text().replace("2024-05-24", "2199-05-24"))
    task = import_shared_task(None, gated_folder, EVALUATION).shared_task
    text = client.get(DATA).content.decode()
    assert task.stored_dataset("later").sha256 not in text
    assert task.stored_dataset("test").sha256 in text


@pytest.mark.parametrize(
    "path",
    [
        "/media/", "/media/data/test.tsv", "/static/..%2fdata/test.tsv", "/static/../.agon/data/", "/data/definitions/",
        f"{DATA}..%2ftest/", f"{DATA}%2e%2e/test.tsv", f"{DATA}test.tsv", f"{DATA}test/test.tsv", f"{DATA}nothing/",
        "/protected/definitions/", "/tasks/gated/data/gold/",
    ],
)  # fmt: skip
def test_nothing_lies_under_a_public_path(reader, password, path):
    for headers in ({}, {"Range": "bytes=0-"}):
        assert reader.get(path, headers=headers).status_code == 404
        assert reader.head(path, headers=headers).status_code == 404
    assert not Download.objects.exists()


@pytest.mark.parametrize("headers", [{}, {"Range": "bytes=0-3"}])
def test_range_and_head_requests_are_checked_too(client, gated, headers):
    for name in ("training", "development", "test", "later"):
        assert client.get(f"{DATA}{name}/", headers=headers).status_code == 403
        head = client.head(f"{DATA}{name}/", headers=headers)
        assert (head.status_code, head.content) == (403, b"")
        assert "ETag" not in head
    assert not Download.objects.exists()


def test_a_declined_or_deactivated_account_loses_the_data_at_once(reader, password, cleo, organizer):
    reader.post(PASSWORD_PAGE, {"password": password})
    decline_team(organizer, Team.objects.get(), EVALUATION, reason="no")
    assert status(reader) == status(reader, "training") == 403
    Team.objects.update(state="approved")
    cleo.is_active = False
    cleo.save()
    assert status(reader, "training") == 403
    assert reader.get(PASSWORD_PAGE)["Location"].startswith("/accounts/login/")
