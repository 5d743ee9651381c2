"""Simultaneous actions: only one push is applied, drafts never share a slug, and at least one organizer remains."""

from threading import Event, Lock

import pytest
from django.db.models.signals import pre_save

from portal.actions.base.errors import ActionError
from portal.actions.organizers import add_organizer, remove_organizer
from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.actions.task_folder.pushed_folder import check_push
from portal.actions.task_folder.pushes import apply_push, push_new_task
from portal.evaluation.pushes import claim
from portal.models import GoldStandard, SharedTask, TaskPush
from portal.models.push import TaskPushQuerySet
from tests.portal.remembered import remembered
from tests.portal.test_import import edit
from tests.portal.test_pushes import packed, pushed
from tests.portal.world import EVALUATION, at_once, organizer_of, person, sealed_file, set_up_second_factor

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = 3


@remembered
def organizer(tiny):
    return organizer_of(tiny)


def codes(results):
    return [result.code if isinstance(result, ActionError) else "done" for result in results]


@pytest.mark.slow
def test_one_of_two_pushes_applied_simultaneously_is_stale(tiny, organizer, tiny_folder):
    for number in range(ROUNDS):
        found = []
        for name in ("uno", "due"):
            text = (tiny_folder / "task.yaml").read_text().split("\n")
            text = [f'    title: "{name} {number}"' if "    title: " in line else line for line in text]
            (tiny_folder / "task.yaml").write_text("\n".join(text))
            found.append(pushed(organizer, packed(tiny_folder), tiny))
        results = at_once([lambda push=push: apply_push(organizer, push, EVALUATION) for push in found])
        assert sorted(codes(results)) == ["done", "push_stale"]
        applied = found[codes(results).index("done")]
        assert TaskPush.objects.filter(state="applied").count() == number + 1
        assert (
            SharedTask.objects.get().definition_sha256
            == TaskPush.objects.get(pk=applied.pk).shared_task.definition_sha256
        )


def test_one_push_is_applied_once(tiny, organizer, tiny_folder):
    (tiny_folder / "gold/one.json").write_bytes((tiny_folder / "gold/two.json").read_bytes())
    push = pushed(organizer, packed(tiny_folder), tiny)
    results = at_once([lambda: apply_push(organizer, push, EVALUATION, is_sure=True)] * 2)
    assert sorted(codes(results)) == ["done", "push_not_ready"]
    assert GoldStandard.objects.filter(track__slug="one").count() == 2


@pytest.mark.slow
def test_a_push_that_meets_an_import_is_stale_or_comes_first(tiny, organizer, tiny_folder):
    edit(tiny_folder, 'title: "Track one"', 'title: "Track uno"')
    push = pushed(organizer, packed(tiny_folder), tiny)
    edit(tiny_folder, 'title: "Track two"', 'title: "Track due"')
    imported = lambda: import_shared_task(None, tiny_folder, EVALUATION)  # noqa: E731
    results = at_once([lambda: apply_push(organizer, push, EVALUATION), imported])
    assert codes(results)[1] == "done"
    assert codes(results)[0] in ("done", "push_stale")
    titles = list(tiny.tracks.order_by("slug").values_list("title", flat=True))
    assert titles == ["Track uno", "Track due"]  # the import is either the second change or the only one


@pytest.fixture
def first_pushes(db, tiny_folder):
    """Two pushes of the same new task by different people."""
    found = []
    for name in ("Carla", "Carl"):
        user = person(name)
        user.may_create_tasks = True
        user.save()
        set_up_second_factor(user)
        found.append(push_new_task(user, user, EVALUATION, sealed=sealed_file(packed(tiny_folder))))
    return found


def test_of_two_pushes_only_one_is_claimed(first_pushes):
    for _ in range(ROUNDS):
        tokens = at_once([lambda push=push: claim(push.pk, EVALUATION) for push in first_pushes])
        assert len([token for token in tokens if token]) == 1
        TaskPush.objects.release(state="received")


@pytest.mark.slow
def test_one_of_two_first_pushes_with_one_slug_creates_a_draft(first_pushes, monkeypatch):
    """The two are checked simultaneously, because each worker thinks that the other's lease has ended."""
    monkeypatch.setattr(TaskPushQuerySet, "being_checked", lambda pushes, _at: pushes.none())
    is_first, has_draft = Lock(), Event()

    def wait(**given):
        """Delay the first new task until the other push has created its draft.

        On SQLite, where the other push waits for the first, delay it for a second.
        """
        if is_first.acquire(blocking=False):
            has_draft.wait(timeout=1)

    def check(push):
        check_push(push.pk, EVALUATION)
        has_draft.set()

    pre_save.connect(wait, SharedTask)
    try:
        at_once([lambda push=push: check(push) for push in first_pushes])
    finally:
        pre_save.disconnect(wait, SharedTask)
    assert sorted(TaskPush.objects.values_list("state", flat=True)) == ["applied", "rejected"]
    task = SharedTask.objects.get()
    assert list(task.organizers.all()) == [TaskPush.objects.get(state="applied").sent_by]


def test_two_organizers_who_remove_each_other_leave_one(tiny, organizer):
    for number in range(ROUNDS):
        other = person(f"Otto{number}")
        set_up_second_factor(other)
        (one,) = tiny.organizers.all()
        add_organizer(one, tiny, EVALUATION, address=other.email)
        results = at_once(
            [
                lambda one=one, other=other: remove_organizer(one, tiny, EVALUATION, address=other.email),
                lambda one=one, other=other: remove_organizer(other, tiny, EVALUATION, address=one.email),
            ]
        )
        assert tiny.organizers.count() == 1, codes(results)
