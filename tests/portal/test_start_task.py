"""New tasks from a template, and copies of earlier tasks."""

from datetime import date
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from portal.actions.base.errors import ActionError
from portal.actions.task_folder.pushed_folder import check_push
from portal.actions.task_folder.start import TEMPLATES, start_task
from portal.models import Announcement, GoldStandard, Run, SharedTask, TaskPush, User
from tests.portal.world import EVALUATION, organizer_of, person

GIVEN: dict[str, Any] = {"slug": "mine-2027", "title": "Mine: 2027"}


@pytest.fixture
def creator(gated: SharedTask) -> User:
    user = organizer_of(gated)
    user.may_create_tasks = True
    user.save()
    return user


def started(user: User, source: str, **given: Any) -> TaskPush:
    push = start_task(user, user, EVALUATION, source=source, **GIVEN | given)
    check_push(push.pk, EVALUATION)
    push.refresh_from_db()
    return push


@pytest.mark.slow
def test_a_template_becomes_a_draft_with_gold(creator: User) -> None:
    push = started(creator, "template:softlabels", first_day=date(2027, 3, 1))
    assert (push.state, push.problems) == ("applied", [])
    task = SharedTask.objects.get(slug="mine-2027")
    assert (task.title, task.state, list(task.organizers.all())) == ("Mine: 2027", "draft", [creator])
    assert min(phase.opens for phase in task.phases.all()).date() == date(2027, 3, 1)
    assert GoldStandard.objects.filter(track__shared_task=task).exists()


@pytest.mark.slow
def test_a_copy_has_data_but_no_gold_teams_or_announcements(gated: SharedTask, creator: User) -> None:
    Announcement.objects.create(shared_task=gated, title="News", text="Well.", by=creator, at=EVALUATION)
    push = started(creator, f"task:{gated.slug}")
    assert push.state == "applied", push.problems
    assert {problem["severity"] for problem in push.problems} == {"warning"}
    assert all("Runs wait to be scored" in problem["message"] for problem in push.problems)
    task = SharedTask.objects.get(slug="mine-2027")
    assert [dataset.slug for dataset in task.definition.datasets] == list(task.dataset_files)
    assert {key: one["sha256"] for key, one in task.dataset_files.items()} == {
        key: one["sha256"] for key, one in gated.dataset_files.items()
    }
    assert not GoldStandard.objects.filter(track__shared_task=task).exists()
    assert not task.teams.exists()
    assert not task.announcements.exists()
    assert not Run.objects.filter(track__shared_task=task, kind="team").exists()


REJECTED = [
    ({"source": "template:nothing"}, "no_source"),
    ({"source": "task:other"}, "no_source"),
    ({"source": "../etc"}, "no_source"),
    ({"slug": "My Task"}, "bad_slug"),
    ({"slug": "other"}, "slug_taken"),
    ({"source": "task:gated", "first_day": date(9999, 12, 31)}, "bad_day"),
]


def test_what_cannot_be_started_says_why(gated: SharedTask, creator: User) -> None:
    SharedTask.objects.create(
        slug="other", title="Of others", year=2026, definition_sha256="0" * 64, imported_at=EVALUATION
    )
    found = []
    for given, _code in REJECTED:
        with pytest.raises(ActionError) as rejected:
            start_task(creator, creator, EVALUATION, **{"source": "template:softlabels"} | GIVEN | given)
        found.append(rejected.value.code)
    assert found == [code for _given, code in REJECTED]
    assert not TaskPush.objects.exists()


def test_the_page_offers_templates_and_own_tasks(gated: SharedTask, creator: User, client: Client) -> None:
    client.force_login(creator)
    page = client.get(reverse("new_task")).content.decode()
    assert all(f'value="template:{name}"' in page for name in TEMPLATES)
    assert f'value="task:{gated.slug}"' in page
    given = GIVEN | {"source": f"task:{gated.slug}", "first_day": "2027-03-01"}
    rejected = client.post(reverse("start_task"), given | {"slug": "My Task"})
    assert (rejected.status_code, list(rejected.context["start"].errors)) == (422, ["slug"])
    assert client.post(reverse("start_task"), given)["Location"] == reverse("push", args=[TaskPush.objects.get().pk])
    client.force_login(person("Someone"))
    assert client.post(reverse("start_task"), given).status_code == 404
