"""The Django admin: records are read-only, and changes leave an audit entry."""

import html
import re

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.contrib import admin
from django.urls import reverse

from portal.models import AuditEntry, SharedTask
from tests.portal.world import EVALUATION, GOOD, person, send_run, set_up_second_factor

pytestmark = pytest.mark.postgres


@pytest.fixture
def administrator(db, client):
    user = person("Admin")
    user.is_staff = user.is_superuser = True
    user.save()
    set_up_second_factor(user)
    client.force_login(user)
    return user


def test_it_asks_for_a_second_factor(db, client, administrator):
    assert client.get("/admin/").status_code == 200
    Authenticator.objects.all().delete()
    for page in ("/admin/", address(administrator, "change")):
        response = client.get(page)
        assert (response.status_code, reverse("mfa_index") in response.content.decode()) == (403, True)


def address(row, page):
    return reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_{page}", args=[row.pk])


@pytest.mark.slow
def test_runs_and_teams_cannot_be_changed_or_deleted(meltemi, client, administrator):
    run = send_run(meltemi, GOOD, 1, EVALUATION)
    for row in (run, run.submission, meltemi, AuditEntry.objects.first()):
        assert client.get(address(row, "change")).status_code == 200
        assert client.post(address(row, "change"), {"state": "scored"}).status_code == 403
        assert client.post(address(row, "delete"), {"post": "yes"}).status_code == 403
    run.refresh_from_db()
    assert run.state == "received"


def test_objects_with_runs_cannot_be_deleted(meltemi, client, administrator):
    send_run(meltemi, GOOD, 1, EVALUATION)
    for row in (meltemi.shared_task, meltemi.members.get()):
        assert client.post(address(row, "delete"), {"post": "yes"}).status_code == 403


def test_a_change_says_what_was_and_what_is(client, administrator):
    user = person("Milo")
    client.post(address(user, "change"), {"name": "Milo", "is_staff": "on"})
    user.refresh_from_db()
    entry = AuditEntry.objects.get(verb="admin_change")
    assert user.is_staff
    assert not user.is_active
    assert (entry.actor, entry.subject) == (administrator, f"user {user.pk}")
    assert entry.detail == {"is_active": ["True", "False"], "is_staff": ["False", "True"]}


def test_new_organizers_are_in_the_tasks_audit_log(tiny, client, administrator):
    organizer = person("Oana")
    client.post(address(tiny, "change"), {"organizers": [organizer.pk]})
    entry = AuditEntry.objects.get(verb="admin_change")
    assert list(tiny.organizers.all()) == [organizer]
    assert (entry.shared_task, entry.detail) == (tiny, {"organizers": ["", f"user {organizer.pk}"]})


def test_lost_second_factors_are_removed_one_or_many(client, administrator):
    for name in ("Milo", "Nora"):
        secret = set_up_second_factor(person(name))
        factor = Authenticator.objects.get(user__name=name)
        assert secret not in client.get(address(factor, "change")).content.decode()
    client.post(address(factor, "delete"), {"post": "yes"})
    chosen = {
        "action": "delete_selected",
        "_selected_action": Authenticator.objects.exclude(user=administrator).values_list("pk", flat=True),
        "post": "yes",
    }
    client.post(reverse("admin:mfa_authenticator_changelist"), chosen)
    assert Authenticator.objects.get().user == administrator
    assert AuditEntry.objects.filter(verb="admin_delete", actor=administrator).count() == 2


def test_an_address_may_be_called_verified(client, administrator):
    row = EmailAddress.objects.create(user=person("Milo"), email="milo@example.org", primary=True)
    client.post(address(row, "change"), {"verified": "on", "email": "other@example.org"})
    row.refresh_from_db()
    assert (row.verified, row.email) == (True, "milo@example.org")
    assert AuditEntry.objects.get(verb="admin_change").detail == {"verified": ["False", "True"]}


def test_passwords_are_changed_on_the_portals_page(client, administrator):
    response = client.get(reverse("admin:password_change"))
    assert (response.status_code, response.headers["Location"]) == (302, reverse("account_change_password"))


def test_every_model_that_can_be_changed_here_is_audited():
    from portal.admin import AuditedAdmin, RecordAdmin

    others = [model for model, own in admin.site._registry.items() if not isinstance(own, (AuditedAdmin, RecordAdmin))]
    assert others == []


def test_the_administration_has_the_sign_in_of_the_portal(client, db):
    response = client.get(reverse("admin:index"), follow=True)
    assert response.redirect_chain[-1][0].startswith(reverse("account_login"))


@pytest.mark.parametrize(
    ("model", "lookup"),
    [
        ("user", "password__startswith=md5"),
        ("user", "password=x"),
        ("team", "data_password__startswith=a"),
        ("team", "invitation_code__startswith=a"),
        ("team", "members__password__startswith=md5"),
        ("submission", "sent_by__password__startswith=md5"),
    ],
)
def test_lists_cannot_be_filtered_by_what_they_do_not_show(meltemi, client, administrator, model, lookup):
    """For lookups that are not allowed, Django returns status 400."""
    assert client.get(f"/admin/portal/{model}/?{lookup}").status_code == 400


def test_lists_can_be_filtered_by_what_they_show(meltemi, client, administrator):
    for address in ("user/?is_staff__exact=1", "team/?state__exact=approved", "run/?kind__exact=team"):
        assert client.get(f"/admin/portal/{address}").status_code == 200


def test_a_filter_offers_the_newest_tasks_and_the_search_finds_older_ones(meltemi, client, administrator):
    newer = [SharedTask(slug=f"newer-{n}", title=f"Newer {n}", year=2124, imported_at=EVALUATION) for n in range(60)]
    SharedTask.objects.bulk_create(newer)
    page = client.get("/admin/portal/team/").content.decode()
    assert page.count(">Newer ") == 50
    for query in (f"shared_task__id__exact={meltemi.shared_task_id}", f"q={meltemi.shared_task.slug}"):
        assert ">Meltemi</a>" in client.get(f"/admin/portal/team/?{query}").content.decode()


def test_a_state_with_two_reasons_is_one_choice(meltemi, client, administrator):
    """Runs that could not be checked and runs that could not be scored have the same words."""
    run = send_run(meltemi, GOOD, 1, EVALUATION)
    run.state = "unscorable"
    run.save()
    runs = reverse("admin:portal_run_changelist")
    page = client.get(runs).content.decode()
    links = re.findall(r'<a href="(\?[^"]*state__in=[^"]*)"[^>]*>\s*([^<]*?)\s*</a>', page)
    labels = [label for _, label in links]
    assert labels.count("failed on our side") == 1
    assert len(labels) == len({*labels}) > 4
    found = {label: client.get(runs + html.unescape(query)).context["cl"].result_count for query, label in links}
    assert found["failed on our side"] == 1
