"""Editing a task's folder on the website: edits are kept, checked as a push, and applied; versions can come back."""

from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from portal.actions.base.errors import ActionError
from portal.actions.task_folder import folder_edits
from portal.actions.task_folder.folder_edits import (
    EDITS,
    FILE_BYTES,
    discard_edit,
    edit_file,
    push_edits,
    push_version,
    remove_file,
)
from portal.actions.task_folder.pushed_folder import check_push
from portal.actions.task_folder.pushes import apply_push
from portal.models import AuditEntry, FolderEdit, GoldStandard, SharedTask, TaskPush, User
from portal.queries.working_copy import (
    EDITABLE_BYTES,
    WorkingCopy,
    bytes_of,
    digest,
    is_earlier_version,
    moved_phases,
    text_of,
)
from tests.portal.world import EVALUATION, RELEASE, organizer_of


@pytest.fixture
def organizer(tiny: SharedTask) -> User:
    return organizer_of(tiny)


@pytest.fixture
def browser(organizer: User) -> Client:
    client = Client()
    client.force_login(organizer)
    return client


def fresh(task: SharedTask) -> SharedTask:
    return SharedTask.objects.get(pk=task.pk)


def save(organizer: User, task: SharedTask, path: str, content: bytes) -> None:
    """Save a file as a person does who sees the present content."""
    task = fresh(task)
    edit_file(organizer, task, EVALUATION, path=path, content=content, base=digest(WorkingCopy(task).content(path)))


def checked(push: TaskPush) -> TaskPush:
    check_push(push.pk, EVALUATION)
    push.refresh_from_db()
    return push


def yaml_of(task: SharedTask) -> bytes:
    found = WorkingCopy(fresh(task)).content("task.yaml")
    assert found is not None
    return found


def title_changed(task: SharedTask, title: bytes = b"Tiny, second edition") -> bytes:
    lines = yaml_of(task).splitlines(keepends=True)
    return b"".join(b"title: " + title + b"\n" if line.startswith(b"title:") else line for line in lines)


@pytest.mark.slow
def test_an_edit_changes_the_task_once_it_is_checked_and_applied(tiny: SharedTask, organizer: User) -> None:
    before, gold = yaml_of(tiny), GoldStandard.objects.count()
    save(organizer, tiny, "task.yaml", title_changed(tiny))
    assert fresh(tiny).title == tiny.title
    push = checked(push_edits(organizer, fresh(tiny), EVALUATION))
    assert (push.state, push.problems) == ("ready", [])
    assert [change for change in push.changes if "title" in change]
    assert "+title: Tiny, second edition" in push.difference
    apply_push(organizer, push, EVALUATION, is_sure=True)
    assert fresh(tiny).title == "Tiny, second edition"
    assert not FolderEdit.objects.exists()
    assert GoldStandard.objects.count() == gold
    assert yaml_of(tiny) != before


@pytest.mark.slow
def test_a_version_comes_back_byte_for_byte(tiny: SharedTask, organizer: User) -> None:
    versions = []
    for title in (b"First", b"Second"):
        save(organizer, tiny, "task.yaml", title_changed(tiny, title))
        push = checked(push_edits(organizer, fresh(tiny), EVALUATION))
        apply_push(organizer, push, EVALUATION, is_sure=True)
        versions.append((TaskPush.objects.get(pk=push.pk), fresh(tiny).definition_sha256))
    (first, sha256), (second, _sha256) = versions
    assert (is_earlier_version(first), is_earlier_version(second)) == (True, False)
    again = checked(push_version(organizer, first, EVALUATION))
    apply_push(organizer, again, EVALUATION, is_sure=True)
    assert (fresh(tiny).title, fresh(tiny).definition_sha256) == ("First", sha256)
    TaskPush.objects.filter(pk=first.pk).update(files=[])
    with pytest.raises(ActionError, match="no longer stored"):
        push_version(organizer, TaskPush.objects.get(pk=first.pk), EVALUATION)


def test_two_people_lose_nothing(tiny: SharedTask, organizer: User) -> None:
    seen = digest(yaml_of(tiny))
    edit_file(organizer, tiny, EVALUATION, path="task.yaml", content=title_changed(tiny, b"Mine"), base=seen)
    with pytest.raises(ActionError) as rejected:
        edit_file(organizer, tiny, EVALUATION, path="task.yaml", content=title_changed(tiny, b"Theirs"), base=seen)
    assert rejected.value.code == "changed_meanwhile"
    assert b"Mine" in yaml_of(tiny)
    save(organizer, tiny, "task.yaml", title_changed(tiny, b"Theirs"))
    assert b"Theirs" in yaml_of(tiny)


def test_an_edit_of_a_file_that_changed_in_the_task_must_be_confirmed(tiny: SharedTask, organizer: User) -> None:
    save(organizer, tiny, "task.yaml", title_changed(tiny))
    FolderEdit.objects.update(instead_of="0" * 64)  # as if another push had been applied
    with pytest.raises(ActionError) as rejected:
        push_edits(organizer, fresh(tiny), EVALUATION)
    assert rejected.value.code == "edit_conflict"
    save(organizer, tiny, "task.yaml", yaml_of(tiny))
    assert push_edits(organizer, fresh(tiny), EVALUATION).state == "received"


def test_edits_are_undone(tiny: SharedTask, organizer: User) -> None:
    before = yaml_of(tiny)
    save(organizer, tiny, "task.yaml", title_changed(tiny))
    save(organizer, tiny, "task.yaml", before)  # written back by hand
    assert not FolderEdit.objects.exists()
    save(organizer, tiny, "pages/more.md", b"More.\n")
    discard_edit(organizer, fresh(tiny), EVALUATION, path="pages/more.md")
    assert WorkingCopy(fresh(tiny)).content("pages/more.md") is None
    with pytest.raises(ActionError) as rejected:
        push_edits(organizer, fresh(tiny), EVALUATION)
    assert rejected.value.code == "no_edits"
    verbs = list(AuditEntry.objects.filter(subject="file pages/more.md").values_list("verb", flat=True))
    assert sorted(verbs) == ["discard_edit", "edit_file"]


def test_files_are_removed_and_task_yaml_never(tiny: SharedTask, organizer: User) -> None:
    copy = WorkingCopy(tiny)
    page = next(file.path for file in copy.files() if file.path != "task.yaml")
    remove_file(organizer, tiny, EVALUATION, path=page, base=digest(copy.content(page)))
    assert {file.path: file.state for file in WorkingCopy(tiny).files()}[page] == "removed"
    with pytest.raises(ActionError) as rejected:
        remove_file(organizer, tiny, EVALUATION, path="task.yaml", base=digest(yaml_of(tiny)))
    assert rejected.value.code == "needed"


REJECTED = {
    "../outside.md": "bad_path",
    "/etc/passwd": "bad_path",
    "pages//x.md": "bad_path",
    "a\nb.md": "bad_path",
    "gold/one.json": "secret_file",
    ".hidden": "secret_file",
    "pages/run.py": "code_file",
    "setup.SH": "code_file",
}


def test_paths_that_lead_elsewhere_are_rejected(tiny: SharedTask, organizer: User) -> None:
    found = {}
    for path in REJECTED:
        with pytest.raises(ActionError) as error:
            edit_file(organizer, tiny, EVALUATION, path=path, content=b"x", base="")
        found[path] = error.value.code
    assert found == REJECTED
    assert not FolderEdit.objects.exists()


def test_edits_are_limited(tiny: SharedTask, organizer: User, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ActionError) as rejected:
        save(organizer, tiny, "pages/more.md", b"x" * (FILE_BYTES + 1))
    assert rejected.value.code == "too_large"
    monkeypatch.setattr(folder_edits, "EDITS", 1)
    save(organizer, tiny, "pages/more.md", b"x")
    with pytest.raises(ActionError) as rejected:
        save(organizer, tiny, "pages/other.md", b"x")
    assert rejected.value.code == "edit_limit"
    assert EDITS > 1


TEXTS = [b"", b"\n", b"a\nb", b"a\r\nb\r\n", b"\xef\xbb\xbfa\n", "é ü 𝔘\n".encode(), b"\n\nthree\n\n"]


@pytest.mark.parametrize("content", TEXTS)
def test_texts_survive_a_browser(content: bytes) -> None:
    """A browser sends line ends as CR LF."""
    text = text_of(content)
    assert text is not None
    assert bytes_of(text.replace("\n", "\r\n"), content) == content


def test_what_a_browser_would_change_is_not_edited_there() -> None:
    assert [text_of(content) for content in (b"\xff", b"a\rb", b"a\r\nb\n", b"a\0b", b"a" * (EDITABLE_BYTES + 1))] == [
        None
    ] * 5


def test_the_pages_walk_from_an_edit_to_a_push(tiny: SharedTask, browser: Client) -> None:
    folder = reverse("organize_folder", args=["tiny"])
    address = reverse("organize_file", args=["tiny"]) + "?path=task.yaml"
    shown = browser.get(folder).content.decode()
    assert "task.yaml" in shown
    assert "No edits" in shown
    assert "gold/one" not in shown
    form = browser.get(address).context["form"]
    given = {"text": title_changed(tiny).decode().replace("\n", "\r\n"), "base": form["base"].value()}
    assert browser.post(address, given | {"save": ""}).status_code == 302
    edited = browser.get(address).content.decode()
    assert "+title: Tiny, second edition" in edited
    stale = browser.post(address, given | {"text": "title: x", "save": ""})
    assert stale.status_code == 409
    assert "second edition" in stale.context["theirs"]
    saved = browser.post(address, {"text": "title: x", "base": stale.context["form"]["base"].value(), "push": ""})
    push = TaskPush.objects.get()
    assert saved["Location"] == reverse("push", args=[push.pk])
    assert checked(push).state == "rejected"
    problem = browser.get(reverse("push", args=[push.pk])).content.decode()
    assert f'href="{address}&amp;line=' in problem
    assert "Problems found by the last check" in browser.get(address).content.decode()


def test_a_page_is_previewed_without_being_saved(tiny: SharedTask, organizer: User, browser: Client) -> None:
    save(organizer, tiny, "pages/more.md", b"Before.\n")
    address = reverse("organize_file", args=["tiny"]) + "?path=pages/more.md"
    shown = browser.post(address, {"text": "**Bold** <script>", "base": "", "preview": ""}).content.decode()
    assert "<strong>Bold</strong> &lt;script&gt;" in shown
    assert WorkingCopy(tiny).content("pages/more.md") == b"Before.\n"


def test_files_are_added_with_and_without_a_body(tiny: SharedTask, browser: Client, tmp_path: Path) -> None:
    address = reverse("add_file", args=["tiny"])
    assert browser.post(address, {"path": "pages/new.md"}).status_code == 302
    (tmp_path / "x").write_bytes(b"\x89PNG")
    with (tmp_path / "x").open("rb") as file:
        assert browser.post(address, {"path": "images/a.png", "file": file}).status_code == 302
    copy = WorkingCopy(tiny)
    assert (copy.content("pages/new.md"), copy.content("images/a.png")) == (b"", b"\x89PNG")
    page = browser.get(reverse("organize_file", args=["tiny"]) + "?path=images/a.png")
    assert "can’t be edited in the browser" in page.content.decode()
    rejected = browser.post(address, {"path": "../x"})
    assert (rejected.status_code, bool(rejected.context["form"].errors["path"])) == (422, True)


def test_only_organizers_reach_the_folder(tiny: SharedTask, client: Client) -> None:
    names: dict[str, Any] = {"organize_folder": "get", "organize_file": "get", "add_file": "post", "push_edits": "post"}
    for name, method in names.items():
        answer = getattr(client, method)(reverse(name, args=["tiny"]))
        assert (answer.status_code, "login" in answer.get("Location", "")) == (302, True)


@pytest.mark.slow
def test_a_folder_without_its_datasets_keeps_them(gated: SharedTask) -> None:
    organizer = organizer_of(gated)
    before = fresh(gated)
    assert before.dataset_files
    save(organizer, gated, "task.yaml", title_changed(gated))
    push = checked(push_edits(organizer, fresh(gated), EVALUATION))
    assert (push.state, push.problems) == ("ready", [])
    assert not [change for change in push.changes if "dataset" in change]
    apply_push(organizer, push, EVALUATION, is_sure=True)
    assert fresh(gated).dataset_files == before.dataset_files


def test_times_that_differ_from_the_files_are_listed_but_rounds_are_not(tiny: SharedTask) -> None:
    assert moved_phases(tiny) == []
    tiny.phases.update(closes=RELEASE)
    moved = moved_phases(tiny)
    assert {phase.slug for phase in moved} == {phase.slug for phase in tiny.phases.all()}
    tiny.phases.update(round_days=7)
    assert moved_phases(tiny) == []
