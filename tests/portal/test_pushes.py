"""Organizing without access to the server: a pushed zip becomes a draft; a later one is compared and applied."""

import shutil
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import DataError, OperationalError
from django.test import Client
from django.urls import reverse

from portal import jobs
from portal.actions.base.errors import ActionError, TooLarge
from portal.actions.task_folder import pushed_folder, pushes
from portal.actions.task_folder.drafts import delete_draft
from portal.actions.task_folder.pushed_folder import DRAFTS, check_push
from portal.actions.task_folder.pushes import PUSHES_AN_HOUR, apply_push, is_stale, push_new_task, push_task
from portal.evaluation.limits import PUSH_SECONDS
from portal.evaluation.pushes import claim, due, expire, forget_leftovers
from portal.models import AuditEntry, GoldStandard, OutgoingMail, PhaseChange, Run, SharedTask, TaskPush, User
from portal.models.clock import database_now
from portal.models.push import KEPT, WAITS
from portal.objects import folder
from portal.objects.folder import Folder
from portal.objects.interface import gold_objects
from portal.storage import open_gold
from tests.portal.test_import import edit
from tests.portal.world import (
    EVALUATION,
    POST,
    board,
    new_team,
    organizer_of,
    person,
    sealed_file,
    send_run,
    set_up_second_factor,
    work_off,
)
from tests.scoring.uploads.test_archives import zipped


@pytest.fixture
def creator(db: None) -> User:
    user = person("Carla")
    user.may_create_tasks = True
    user.save()
    set_up_second_factor(user)
    return user


def packed(folder: Path, **instead: bytes) -> bytes:
    files = {path.relative_to(folder.parent).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    return zipped({name: path.read_bytes() for name, path in files.items()} | instead)


def pushed(user: User, content: bytes, task: SharedTask | None = None, at: Any = EVALUATION) -> TaskPush:
    """Push a folder and have a worker check it."""
    sealed = sealed_file(content)
    push = push_task(user, task, at, sealed=sealed) if task else push_new_task(user, user, at, sealed=sealed)
    check_push(push.pk, at)
    push.refresh_from_db()
    return push


def codes(push: TaskPush) -> set[str]:
    return {problem["code"] for problem in push.problems if problem["severity"] == "error"}


@pytest.mark.slow
def test_the_first_push_creates_a_draft_that_only_its_organizer_sees(creator: User, tiny_folder: Path) -> None:
    push = pushed(creator, packed(tiny_folder))
    assert (push.state, push.problems) == ("applied", [])
    task = push.shared_task
    assert task is not None
    assert (task.slug, task.state, list(task.organizers.all())) == ("tiny", "draft", [creator])
    assert list(SharedTask.objects.visible_to(creator)) == [task]
    assert not SharedTask.objects.visible_to(person("Someone")).exists()
    assert {(gold.track.slug, gold.version, gold.counts) for gold in GoldStandard.objects.all()} == {
        ("one", 1, (4, 4)),
        ("two", 1, (4, 4)),
    }
    assert open_gold(GoldStandard.objects.get(track__slug="one").sealed_sha256) == (
        (tiny_folder / "gold/one.json").read_bytes()
    )
    assert not list(task.definition.folder.rglob("gold"))
    assert Run.objects.filter(kind="baseline").count() == 6
    entry = AuditEntry.objects.get(verb="create_draft")
    assert (entry.actor, entry.shared_task) == (creator, task)
    work_off(EVALUATION)
    assert board(task, EVALUATION, viewer=creator).rows


@pytest.mark.slow
def test_the_sealed_zip_is_deleted_once_it_is_judged_and_nothing_open_is_left(
    creator: User, tiny_folder: Path, settings: Any
) -> None:
    before = set(gold_objects().names())
    push = pushed(creator, packed(tiny_folder))
    gold = {one.sealed_sha256 for one in GoldStandard.objects.all()}
    assert set(gold_objects().names()) - before == gold
    assert push.sealed_sha256 == ""
    word = (tiny_folder / "gold/one.json").read_bytes()
    for path in Path(settings.STATE_ROOT).rglob("*"):
        assert not path.is_file() or path.name == "gold-private-key" or word not in path.read_bytes()


def test_all_problems_come_back_with_file_and_line(creator: User, tiny_folder: Path) -> None:
    edit(tiny_folder, "rank_by: accuracy", "rank_by: acuracy")
    edit(tiny_folder, "{2,30}", "{2,30}+(a+)+")
    push = pushed(creator, packed(tiny_folder))
    assert push.state == "rejected"
    assert {problem["file"] for problem in push.problems} == {"task.yaml"}
    lines = (tiny_folder / "task.yaml").read_text().splitlines()
    assert [lines[problem["line"] - 1].split(":")[0].strip() for problem in push.problems] == [
        "team",
        "rank_by",
        "rank_by",
    ]
    assert push.shared_task is None


def test_problems_of_files_quote_no_gold(creator: User, tiny_folder: Path) -> None:
    (tiny_folder / "gold/one.json").write_text('[\n {"id": "1", "test_case": "T", "value": "Schibboleth"}\n]')
    (tiny_folder / "pages/overview.md").write_bytes(b"# One\n\xff\n")
    push = pushed(creator, packed(tiny_folder))
    assert {(problem["file"], problem["line"]) for problem in push.problems} == {("pages/overview.md", 2)}
    (tiny_folder / "pages/overview.md").write_text("# One\n")
    push = pushed(creator, packed(tiny_folder))
    assert {problem["file"] for problem in push.problems} == {"gold/one.json"}
    assert "Schibboleth" not in str(push.problems)


@pytest.mark.slow
def test_a_later_push_shows_the_difference_and_changes_nothing_until_it_is_applied(
    creator: User, tiny_folder: Path
) -> None:
    task = pushed(creator, packed(tiny_folder)).shared_task
    assert task is not None
    before = task.definition_sha256
    edit(tiny_folder, 'title: "Track one"', 'title: "Track uno"')
    (tiny_folder / "pages/overview.md").write_text("# Another text\n")
    push = pushed(creator, packed(tiny_folder), task)
    assert push.state == "ready"
    assert push.changes == [
        "track one: title Track one → Track uno",
        "pages/overview.md: changed",
        "task.yaml: changed",
    ]
    assert '+    title: "Track uno"' in push.difference
    assert (push.effects, push.touches_runs) == ([], False)
    task.refresh_from_db()
    assert task.definition_sha256 == before
    assert task.tracks.get(slug="one").title == "Track one"
    apply_push(creator, push, EVALUATION)
    push.refresh_from_db()
    assert push.state == "applied"
    assert task.tracks.get(slug="one").title == "Track uno"
    assert SharedTask.objects.get().definition.pages["overview"].read_text() == "# Another text\n"
    assert AuditEntry.objects.get(verb="apply_push").actor == creator


@pytest.mark.slow
def test_a_removed_dataset_and_a_new_deadline_are_listed(creator: User, tiny_folder: Path) -> None:
    definition, file = tiny_folder / "task.yaml", tiny_folder / "data/sample.tsv"
    text = definition.read_text()
    file.write_text("sample")
    definition.write_text(f"{text}datasets: [{{slug: sample, title: Sample, file: data/sample.tsv, access: public}}]\n")
    task = pushed(creator, packed(tiny_folder)).shared_task
    definition.write_text(text.replace("2024-05-16 00:00 UTC", "2024-05-17 00:00 UTC"))
    file.unlink()
    push = pushed(creator, packed(tiny_folder), task)
    assert push.changes == [
        "phase evaluation: closes 2024-05-16 00:00 UTC → 2024-05-17 00:00 UTC",
        "task.yaml: changed",
        "dataset sample: removed",
    ]


@pytest.mark.slow
def test_the_same_folder_again_changes_nothing(creator: User, tiny_folder: Path) -> None:
    task = pushed(creator, packed(tiny_folder)).shared_task
    push = pushed(creator, packed(tiny_folder), task)
    assert (push.state, push.changes, push.effects) == ("ready", [], [])


@pytest.fixture
def organizer(tiny: SharedTask) -> User:
    return organizer_of(tiny)


@pytest.mark.slow
def test_what_touches_runs_must_be_confirmed(tiny: SharedTask, organizer: User, tiny_folder: Path) -> None:
    team = new_team(tiny, "Meltemi")
    send_run(team, ["NO"] * 4, 1, EVALUATION)
    work_off(EVALUATION)
    shutil.copy(tiny_folder / "gold/two.json", tiny_folder / "gold/one.json")
    push = pushed(organizer, packed(tiny_folder), tiny)
    assert push.changes == ["gold one test: version 2, 4 of 4 items have gold"]
    assert push.effects == ["1 run will be rescored."]
    assert not Run.objects.filter(state="valid", kind="team").exists()
    with pytest.raises(ActionError, match="push_unsure"):
        apply_push(organizer, push, EVALUATION)
    assert GoldStandard.objects.filter(track__slug="one").count() == 1
    apply_push(organizer, push, EVALUATION, is_sure=True)
    newest = GoldStandard.objects.newest(tiny.tracks.get(slug="one"), "test")
    assert newest is not None
    assert (newest.version, newest.is_imported) == (2, True)
    assert Run.objects.filter(state="valid", kind="team").count() == 1


@pytest.mark.slow
def test_runs_that_came_after_the_check_must_be_confirmed_too(
    tiny: SharedTask, organizer: User, tiny_folder: Path, client: Client
) -> None:
    shutil.copy(tiny_folder / "gold/two.json", tiny_folder / "gold/one.json")
    push = pushed(organizer, packed(tiny_folder), tiny)
    assert (push.touches_runs, push.effects) == (False, [])
    send_run(new_team(tiny, "Meltemi"), ["NO"] * 4, 1, EVALUATION)
    work_off(EVALUATION)
    with pytest.raises(ActionError, match="push_unsure") as unsure:
        apply_push(organizer, push, EVALUATION)
    assert "1 run will be rescored." in unsure.value.message
    assert not Run.objects.filter(state="valid", kind="team").exists()
    client.force_login(organizer)
    address = reverse("push", args=[push.pk])
    answer = client.post(address)
    assert answer.status_code == 422
    page = answer.content.decode()
    assert (page.count("1 run will be rescored."), page.count("Select this box")) == (1, 1)
    client.post(address, {"is_sure": "on"})
    push.refresh_from_db()
    assert push.state == "applied"


@pytest.mark.slow
def test_pages_of_pushes_outlive_a_deleted_draft(creator: User, tiny_folder: Path, client: Client) -> None:
    first = pushed(creator, packed(tiny_folder))
    assert first.shared_task is not None
    edit(tiny_folder, 'title: "Track one"', 'title: "Track uno"')
    second = pushed(creator, packed(tiny_folder), first.shared_task)
    third = push_task(creator, first.shared_task, EVALUATION, sealed=sealed_file(packed(tiny_folder)))
    delete_draft(creator, first.shared_task, EVALUATION)
    client.force_login(creator)
    for push in (first, second):
        answer = client.get(reverse("push", args=[push.pk]))
        assert answer.status_code == 200
        assert "Apply push" not in answer.content.decode()
        assert "was deleted" in answer.content.decode()
    check_push(third.pk, EVALUATION)
    third.refresh_from_db()
    assert codes(third) == {"folder-slug"}


def test_gold_of_old_pushes_is_deleted_unless_they_are_applied_meanwhile(
    tiny: SharedTask, organizer: User, tiny_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = set(gold_objects().names())
    shutil.copy(tiny_folder / "gold/two.json", tiny_folder / "gold/one.json")
    push = pushed(organizer, packed(tiny_folder), tiny)
    kept = set(gold_objects().names()) - before
    assert len(kept) == 1
    deleted: list[str] = []

    def delete(name: str) -> None:
        with pytest.raises(ActionError, match="push_not_ready"):
            apply_push(organizer, push, EVALUATION, is_sure=True)
        deleted.append(name)

    with monkeypatch.context() as patch:
        patch.setattr(Folder, "delete", lambda self, name: delete(name))
        forget_leftovers(EVALUATION + KEPT)
    assert set(deleted) == kept
    push.refresh_from_db()
    assert (push.state, push.prepared) == ("expired", {})


def test_a_deadline_that_moves_is_shown_and_recorded_by_name(
    tiny: SharedTask, organizer: User, tiny_folder: Path
) -> None:
    edit(tiny_folder, 'closes: "2024-05-16 00:00 UTC"', 'closes: "2024-05-17 00:00 UTC"')
    push = pushed(organizer, packed(tiny_folder), tiny)
    assert push.touches_runs
    assert any("Evaluation changes from Wed 1 May, 00:00 UTC" in effect for effect in push.effects), push.effects
    assert not PhaseChange.objects.exists()
    apply_push(organizer, push, EVALUATION, is_sure=True)
    assert PhaseChange.objects.get().by == organizer


def test_what_cannot_be_applied_is_a_problem_of_the_push(tiny: SharedTask, organizer: User, tiny_folder: Path) -> None:
    edit(tiny_folder, 'closes: "2024-05-16 00:00 UTC"', 'closes: "2024-05-02 12:30 UTC"')
    push = pushed(organizer, packed(tiny_folder), tiny)
    assert (push.state, codes(push)) == ("rejected", {"window"})


@pytest.mark.slow
def test_a_push_is_stale_once_the_task_has_changed(tiny: SharedTask, organizer: User, tiny_folder: Path) -> None:
    edit(tiny_folder, 'title: "Track one"', 'title: "Track uno"')
    first = pushed(organizer, packed(tiny_folder), tiny)
    edit(tiny_folder, 'title: "Track two"', 'title: "Track due"')
    second = pushed(organizer, packed(tiny_folder), tiny)
    assert not is_stale(first)
    apply_push(organizer, second, EVALUATION)
    assert is_stale(first)
    with pytest.raises(ActionError, match="push_stale"):
        apply_push(organizer, first, EVALUATION)
    with pytest.raises(ActionError, match="push_not_ready"):
        apply_push(organizer, second, EVALUATION)
    assert tiny.tracks.get(slug="two").title == "Track due"


def test_the_slug_is_free_or_the_tasks_own(tiny: SharedTask, organizer: User, creator: User, tiny_folder: Path) -> None:
    push = pushed(creator, packed(tiny_folder))
    assert codes(push) == {"folder-slug"}
    assert push.problems[0]["line"] == 2
    edit(tiny_folder, "slug: tiny", "slug: other")
    assert codes(pushed(organizer, packed(tiny_folder), tiny)) == {"folder-slug"}
    assert SharedTask.objects.count() == 1


@pytest.mark.slow
def test_another_tasks_gold_cannot_be_guessed_by_its_slug(
    tiny: SharedTask, creator: User, organizer: User, tiny_folder: Path
) -> None:
    """The response is the same whether or not the guess is correct, and however the gold was uploaded."""
    shutil.copytree(tiny_folder, tiny_folder.parent / "other")
    edit(tiny_folder.parent / "other", "slug: tiny", "slug: other")
    own = pushed(creator, packed(tiny_folder.parent / "other")).shared_task
    GoldStandard.objects.filter(track__shared_task=tiny, track__slug="one").update(is_imported=False)
    for guess in ("one", "two"):
        (tiny_folder / "gold/one.json").write_bytes((tiny_folder / f"gold/{guess}.json").read_bytes())
        for task in (None, own):
            before = set(gold_objects().names())
            push = pushed(creator, packed(tiny_folder), task)
            assert [problem["code"] for problem in push.problems] == ["folder-slug"], (guess, task)
            assert set(gold_objects().names()) == before


def test_gold_uploaded_on_the_page_is_not_overwritten(tiny: SharedTask, organizer: User, tiny_folder: Path) -> None:
    GoldStandard.objects.filter(track__slug="one").update(is_imported=False)
    shutil.copy(tiny_folder / "gold/two.json", tiny_folder / "gold/one.json")
    push = pushed(organizer, packed(tiny_folder), tiny)
    assert codes(push) == {"gold-changed-twice"}
    assert push.problems[0]["file"] == "gold/one.json"


def test_a_folder_without_its_gold_changes_none(tiny: SharedTask, organizer: User, tiny_folder: Path) -> None:
    shutil.rmtree(tiny_folder / "gold")
    push = pushed(organizer, packed(tiny_folder), tiny)
    assert (push.state, push.changes) == ("ready", [])


def test_limits_of_pushes_and_drafts(creator: User, tiny_folder: Path) -> None:
    content = packed(tiny_folder)
    push = push_new_task(creator, creator, EVALUATION, sealed=sealed_file(content))
    with pytest.raises(ActionError, match="push_running"):
        push_new_task(creator, creator, EVALUATION, sealed=sealed_file(content))
    names = set(gold_objects().names())
    TaskPush.objects.update(state="rejected")
    fields = {"is_first": True, "sent_by": creator, "size": 1, "state": "rejected", "received_at": EVALUATION}
    TaskPush.objects.bulk_create(TaskPush(**fields) for _ in range(PUSHES_AN_HOUR - 1))
    with pytest.raises(ActionError, match="push_limit"):
        push_new_task(creator, creator, EVALUATION, sealed=sealed_file(content))
    TaskPush.objects.filter(pk=push.pk).update(size=2**30)
    TaskPush.objects.exclude(pk=push.pk).delete()
    with pytest.raises(ActionError, match="push_bytes"):
        push_new_task(creator, creator, EVALUATION, sealed=sealed_file(content))
    for number in range(DRAFTS):
        task = SharedTask.objects.create(slug=f"d{number}", title="D", year=2024, imported_at=EVALUATION, state="draft")
        task.organizers.add(creator)
    TaskPush.objects.all().delete()
    push_new_task(creator, creator, EVALUATION, sealed=sealed_file(content))  # drafts by other people do not count
    names = set(gold_objects().names())
    for task in SharedTask.objects.all():
        TaskPush.objects.create(shared_task=task, **fields)
    with pytest.raises(ActionError, match="draft_limit"):
        push_new_task(creator, creator, EVALUATION, sealed=sealed_file(content))
    assert set(gold_objects().names()) == names


def test_a_folder_over_the_limit_is_not_stored(
    creator: User, tiny: SharedTask, organizer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = set(gold_objects().names())
    monkeypatch.setattr(pushes, "PUSH_BYTES", 9)
    for push in (partial(push_new_task, creator, creator), partial(push_task, organizer, tiny)):
        with pytest.raises(TooLarge, match="limit is 9 bytes"):
            push(EVALUATION, sealed=sealed_file(b"x" * 10))
    assert (set(gold_objects().names()), TaskPush.objects.count()) == (names, 0)


def test_unpacked_files_count_within_the_day_and_need_space(
    tiny: SharedTask, organizer: User, tiny_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = 2**20
    (tiny_folder / "pages/more.txt").write_bytes(bytes(range(256)) * (size // 256))
    push = push_task(organizer, tiny, EVALUATION, sealed=sealed_file(packed(tiny_folder)))
    with monkeypatch.context() as patch:
        patch.setattr(folder, "SPARE_BYTES", 2**60)
        check_push(push.pk, EVALUATION)
    push.refresh_from_db()
    assert push.state == "received"
    check_push(push.pk, POST)
    push.refresh_from_db()
    assert push.state == "ready"
    assert push.size > size
    monkeypatch.setattr(pushes, "BYTES_A_DAY", size)
    with pytest.raises(ActionError, match="push_bytes"):
        push_task(organizer, tiny, EVALUATION, sealed=sealed_file(b""))


def test_only_accounts_that_may_create_tasks_push_new_ones(creator: User, tiny_folder: Path) -> None:
    someone = person("Someone")
    set_up_second_factor(someone)
    with pytest.raises(ActionError, match="may_not_create"):
        push_new_task(someone, someone, EVALUATION, sealed=sealed_file(b""))
    names = set(gold_objects().names())
    push = push_new_task(creator, creator, EVALUATION, sealed=sealed_file(packed(tiny_folder)))
    User.objects.filter(pk=creator.pk).update(may_create_tasks=False)
    check_push(push.pk, EVALUATION)
    push.refresh_from_db()
    assert codes(push) == {"may_not_create"}
    assert (set(gold_objects().names()), push.prepared) == (names, {})
    assert not SharedTask.objects.exists()


def test_a_draft_needs_a_second_factor_and_room_when_it_is_created(creator: User, tiny_folder: Path) -> None:
    push = push_new_task(creator, creator, EVALUATION, sealed=sealed_file(packed(tiny_folder)))
    creator.authenticator_set.all().delete()
    check_push(push.pk, EVALUATION)
    push.refresh_from_db()
    assert codes(push) == {"no_second_factor"}
    set_up_second_factor(creator)
    push = push_new_task(creator, creator, EVALUATION, sealed=sealed_file(packed(tiny_folder)))
    for number in range(DRAFTS):
        task = SharedTask.objects.create(slug=f"d{number}", title="D", year=2024, imported_at=EVALUATION, state="draft")
        fields = {"is_first": True, "size": 1, "state": "applied", "received_at": EVALUATION}
        TaskPush.objects.create(shared_task=task, sent_by=creator, **fields)
    check_push(push.pk, EVALUATION)
    push.refresh_from_db()
    assert codes(push) == {"draft_limit"}
    assert not SharedTask.objects.filter(slug="tiny").exists()


def test_the_sweep_finds_pushes_and_gives_up_after_an_hour(creator: User, tiny_folder: Path) -> None:
    administrator = User.objects.create_superuser("admin@agon.example", name="Ada")
    before = set(gold_objects().names())
    push = push_new_task(creator, creator, EVALUATION, sealed=sealed_file(packed(tiny_folder)))
    assert due(EVALUATION) == []
    assert due(POST) == [push.pk]
    expire(POST)
    push.refresh_from_db()
    assert push.state == "failed"
    (mail,) = OutgoingMail.objects.all()
    assert (mail.kind, mail.user, mail.occasion) == ("alert", administrator, f"failed push {push.pk}")
    expire(POST)
    assert OutgoingMail.objects.count() == 1
    assert forget_leftovers(POST) == 1
    assert set(gold_objects().names()) == before


@pytest.mark.slow
def test_a_result_that_cannot_be_recorded_waits_longer_each_time(
    creator: User, tiny_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def record(*_args: object) -> bool:
        raise OperationalError

    User.objects.create_superuser("admin@agon.example", name="Ada")
    names = set(gold_objects().names())
    push = push_new_task(creator, creator, EVALUATION, sealed=sealed_file(packed(tiny_folder)))
    with monkeypatch.context() as patch:
        patch.setattr(pushed_folder, "_record", record)
        at, attempts = EVALUATION, 0
        while at < EVALUATION + WAITS:
            check_push(push.pk, at)
            push.refresh_from_db()
            assert (push.state, push.token) == ("received", None)
            assert push.lease_ends is not None
            at, attempts = push.lease_ends, attempts + 1
    assert 8 < attempts < 12
    mails = OutgoingMail.objects.values_list("occasion", flat=True)
    assert list(mails) == [f"push OperationalError {EVALUATION:%Y-%m-%d %H}"]  # one per hour
    assert set(gold_objects().names()) - names == {push.sealed_sha256}
    check_push(push.pk, at)
    push.refresh_from_db()
    assert push.state == "applied"


def test_an_error_in_our_code_fails_the_push_and_its_sender_can_push_again(
    creator: User, tiny_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def record(*_args: object) -> bool:
        raise DataError

    administrator = User.objects.create_superuser("admin@agon.example", name="Ada")
    names = set(gold_objects().names())
    with monkeypatch.context() as patch:
        patch.setattr(pushed_folder, "_record", record)
        push = pushed(creator, packed(tiny_folder))
    assert push.state == "failed"
    (mail,) = OutgoingMail.objects.all()
    assert (mail.user, mail.occasion) == (administrator, f"failed push {push.pk}")
    assert set(gold_objects().names()) - names == {push.sealed_sha256}
    assert pushed(creator, packed(tiny_folder)).state == "applied"


def test_a_copy_of_gold_that_only_the_portal_has_is_an_error(
    tiny: SharedTask, organizer: User, tiny_folder: Path
) -> None:
    (tiny_folder / "gold/one.json").rename(tiny_folder / "data/copy.json")
    assert codes(pushed(organizer, packed(tiny_folder), tiny)) == {"folder-secret"}


def test_a_rejected_push_leaves_no_gold(tiny: SharedTask, organizer: User, tiny_folder: Path) -> None:
    GoldStandard.objects.filter(track__slug="two").update(is_imported=False)
    (tiny_folder / "gold/two.json").write_bytes(b" " + (tiny_folder / "gold/two.json").read_bytes())
    shutil.copy(tiny_folder / "gold/two.json", tiny_folder / "gold/one.json")
    names = set(gold_objects().names())
    assert codes(pushed(organizer, packed(tiny_folder), tiny)) == {"gold-changed-twice"}
    assert set(gold_objects().names()) == names


def test_a_very_long_definition_is_not_compared(tiny: SharedTask, organizer: User, tiny_folder: Path) -> None:
    path = tiny_folder / "task.yaml"
    path.write_text(path.read_text() + "# more\n" * 3000)
    push = pushed(organizer, packed(tiny_folder), tiny)
    assert push.state == "ready"
    assert push.difference == "… task.yaml has more than 3000 lines, so its changes are not shown"


def test_a_second_hint_at_a_push_starts_no_process(
    creator: User, tiny_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr(jobs.subprocess, "run", lambda command, **_: started.append(command))
    push = push_new_task(creator, creator, EVALUATION, sealed=sealed_file(packed(tiny_folder)))
    jobs.check_push(str(push.pk))
    assert [command[-2:] for command in started] == [["check_push", str(push.pk)]]
    call_command("check_push", str(push.pk))
    push.refresh_from_db()
    assert push.state == "applied"
    jobs.check_push(str(push.pk))
    assert len(started) == 1


def test_a_push_waits_while_another_is_checked_but_not_for_a_dead_worker(
    creator: User, tiny: SharedTask, organizer: User, tiny_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[str] = []
    monkeypatch.setattr(jobs.subprocess, "run", lambda command, **_: started.append(command[-1]))
    at = database_now()
    sealed = sealed_file(packed(tiny_folder))
    held, push = push_new_task(creator, creator, at, sealed=sealed), push_task(organizer, tiny, at, sealed=sealed)
    assert claim(held.pk, at)
    jobs.check_push(str(held.pk))
    jobs.check_push(str(push.pk))
    check_push(push.pk, at + timedelta(seconds=PUSH_SECONDS - 1))
    assert (TaskPush.objects.get(pk=push.pk).state, started) == ("received", [])
    TaskPush.objects.filter(pk=held.pk).update(lease_ends=at)  # its worker has died
    jobs.check_push(str(push.pk))
    assert started == [str(push.pk)]
    check_push(push.pk, at)
    assert TaskPush.objects.get(pk=push.pk).state == "ready"
