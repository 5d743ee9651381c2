"""Backup and restore: rows exact to the microsecond, files by hash, all or nothing, and only into an empty portal."""

import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from portal import __version__
from portal.actions.base.errors import ActionError
from portal.actions.task_folder.pushes import apply_push, push_task
from portal.backup.backup import MANIFEST, write_backup
from portal.backup.restore import restore_backup
from portal.evaluation.reconcile import reconcile
from portal.management.commands import backup as backup_command
from portal.models import (
    AuditEntry,
    Evaluation,
    GoldStandard,
    OutgoingMail,
    Reading,
    Run,
    SharedTask,
    Submission,
    Team,
    User,
    rows,
)
from portal.models.clock import database_now
from portal.objects.interface import data_objects, gold_objects
from portal.queries.receipts import receipt, verify
from portal.sealing import as_text, public_key
from portal.storage import open_gold, stored_file
from tests.conftest import ROOT
from tests.portal.remembered import remembered
from tests.portal.test_pushes import packed, pushed
from tests.portal.world import (
    EVALUATION,
    GOOD,
    POOR,
    archive,
    deliver,
    new_team,
    organizer_of,
    person,
    run_file,
    sealed_file,
    send,
    send_run,
    work_off,
)

pytestmark = pytest.mark.django_db(transaction=True)


@remembered
def lived_in(transactional_db, tiny):
    """A portal with scored, rejected and waiting runs."""
    at = EVALUATION.replace(microsecond=123457)  # a receipt's signature covers every digit
    team = new_team(tiny, "Meltemi")
    send_run(team, GOOD, 1, at)
    send(new_team(tiny, "Bora"), "one_Bora_1.json", b"[]", at)
    work_off(at)
    files = {f"one_{team.name}_2.json": run_file(POOR), f"two_{team.name}_1.json": run_file(GOOD)}
    send(team, "tiny_Meltemi.zip", archive(files), at)
    organizer_of(tiny, "Oana")
    return tiny


@pytest.fixture
def backup(lived_in, tmp_path):
    target = tmp_path / "backup.tar"
    manifest = write_backup(target, EVALUATION)
    assert manifest.damaged == []
    assert target.stat().st_mode & 0o777 == 0o600
    return target


@pytest.fixture
def somewhere_else(settings, tmp_path):
    """A function that simulates a different machine: it empties the database and switches to empty storage."""

    def move(*names: str) -> Path:
        for name in names or ("data", "gold"):
            place = {"BACKEND": "portal.objects.folder.Folder", "OPTIONS": {"location": tmp_path / "new" / name}}
            settings.STORAGES = {**settings.STORAGES, name: place}
        call_command("flush", interactive=False, verbosity=0)
        return tmp_path / "new"

    return move


def everything():
    """Return each table's rows in the format of a backup."""
    found = {}
    for table in rows.tables():
        lines = io.StringIO()
        rows.dump(table, lines)
        found[table._meta.label] = lines.getvalue()
    return found


@pytest.mark.slow
def test_every_receipt_verifies_after_a_restore(backup, somewhere_else):
    before = {submission.pk: receipt(submission) for submission in Submission.objects.all()}
    rows_before = everything()
    assert len(before) == 3
    somewhere_else()
    assert not Submission.objects.exists()
    restore_backup(backup)
    assert everything() == rows_before
    for submission in Submission.objects.all():
        again = receipt(submission)
        assert again == before[submission.pk]
        assert verify(json.dumps(again).encode()).ok
        with stored_file(submission.sha256) as body:
            assert body.stat().st_size == submission.size
    assert all(open_gold(gold.sealed_sha256) for gold in GoldStandard.objects.all())


@pytest.mark.slow
def test_work_continues_where_it_was_interrupted(backup, somewhere_else, tiny):
    somewhere_else()
    restore_backup(backup)
    work_off(EVALUATION)
    assert Run.objects.filter(team__name="Meltemi", state=Run.State.SCORED).count() == 3
    assert Evaluation.objects.count() > 3
    assert reconcile(SharedTask.objects.get(), EVALUATION) == []
    highest = AuditEntry.objects.latest("pk").pk
    assert AuditEntry.objects.create(verb="x", subject="x", at=EVALUATION).pk > highest  # keys are not reused
    assert User.objects.create_user("new@example.org").pk > 0
    assert OutgoingMail.objects.count() >= 0


@pytest.mark.slow
def test_a_push_that_is_not_applied_fails_in_a_restore(lived_in, somewhere_else, tiny_folder, tmp_path):
    """Backups contain neither the gold nor the public files of such pushes."""
    organizer = User.objects.get(organized_tasks=lived_in)
    (tiny_folder / "gold/one.json").write_bytes((tiny_folder / "gold/two.json").read_bytes())
    ready = pushed(organizer, packed(tiny_folder), lived_in)
    waiting = push_task(organizer, lived_in, EVALUATION, sealed=sealed_file(packed(tiny_folder)))
    assert ready.state == "ready"
    assert write_backup(tmp_path / "backup.tar", EVALUATION).damaged == []
    somewhere_else()
    restore_backup(tmp_path / "backup.tar")
    for push in (ready, waiting):
        push.refresh_from_db()
        assert (push.state, push.prepared, push.sealed_sha256) == ("failed", {}, "")
    with pytest.raises(ActionError, match="push_not_ready"):
        apply_push(User.objects.get(pk=organizer.pk), ready, EVALUATION, is_sure=True)


def test_the_rows_are_a_snapshot_and_no_writer_waits(lived_in):
    def upload() -> None:
        send_run(Team.objects.get(name="Bora"), GOOD, 2, EVALUATION)
        connection.close()

    with rows.snapshot():
        assert Submission.objects.count() == 3
        with ThreadPoolExecutor() as others:
            others.submit(upload).result(10)
        assert Submission.objects.count() == 3
    assert Submission.objects.count() == 4


@pytest.mark.slow
def test_what_commits_while_a_backup_is_written_is_not_in_it(lived_in, tmp_path, monkeypatch):
    dump, dumped = rows.dump, []

    def write():
        Reading.objects.note(Reading.RESTORE, EVALUATION)
        connection.close()

    def dump_and_write(table, file):
        count = dump(table, file)
        if not dumped:
            with ThreadPoolExecutor(1) as pool:
                pool.submit(write).result()
        dumped.append(table)
        return count

    monkeypatch.setattr(rows, "dump", dump_and_write)
    manifest = write_backup(tmp_path / "backup.tar", EVALUATION)
    assert dumped[0] is not Reading
    assert Reading.objects.exists()
    assert manifest.rows["portal.reading"] == 0


@pytest.mark.slow
def test_a_portal_that_is_in_use_is_left_alone(backup, somewhere_else):
    with pytest.raises(ActionError, match="database is not empty"):
        restore_backup(backup)
    place = somewhere_else()
    (place / "data/files").mkdir(parents=True)
    (place / "data/files/other").touch()
    with pytest.raises(ActionError, match="files/other"):
        restore_backup(backup)
    assert rows.is_empty()


def test_an_older_portal_that_is_in_use_is_not_migrated(backup):
    newest = MigrationRecorder.Migration.objects.filter(app="portal").latest("name")
    newest.delete()
    try:
        with pytest.raises(CommandError, match="database is not empty"):
            call_command("restore", backup)
        assert not MigrationRecorder.Migration.objects.filter(app="portal", name=newest.name).exists()
    finally:
        newest.save()


@pytest.mark.slow
def test_a_restore_that_broke_off_can_be_begun_again(backup, somewhere_else):
    place = somewhere_else()
    restore_backup(backup)
    call_command("flush", interactive=False, verbosity=0)
    assert list((place / "data").rglob("*"))
    restore_backup(backup)
    assert Submission.objects.count() == 3


@pytest.mark.parametrize("kind", ["flipped", "cut", "missing", "more", "none"])
def test_a_damaged_backup_changes_nothing(backup, somewhere_else, tmp_path, kind):
    body = bytearray(backup.read_bytes())
    place = body.index(run_file(GOOD))
    if kind == "flipped":
        body[place + 5] ^= 1
    elif kind == "cut":
        del body[len(body) // 2 :]
    elif kind == "none":
        body = bytearray(b"no archive at all")
    damaged = tmp_path / "damaged.tar"
    damaged.write_bytes(body)
    if kind == "missing":
        with tarfile.open(backup) as old, tarfile.open(damaged, "w") as new:
            for entry in [entry for entry in old if "files/" not in entry.name]:
                new.addfile(entry, old.extractfile(entry))
    if kind == "more":
        with tarfile.open(damaged, "a") as more:
            more.addfile(tarfile.TarInfo("data/../../evil"))
    empty = somewhere_else()
    with pytest.raises(ActionError, match=r"damaged|not a backup"):
        restore_backup(damaged)
    assert rows.is_empty()
    assert not list(data_objects().names()) + list(gold_objects().names())
    assert not (empty / "evil").exists()


def test_what_is_missing_or_damaged_is_said(lived_in, tmp_path, capsys):
    submission = Submission.objects.first()
    with stored_file(submission.sha256) as body:
        content = body.read_bytes()
        body.write_bytes(b"rotten")
        try:
            with pytest.raises(CommandError, match=f"{submission.sha256}: damaged"):
                call_command("backup", tmp_path)
            body.unlink()
            with pytest.raises(CommandError, match=f"{submission.sha256}: No such file"):
                call_command("backup", tmp_path / "second.tar")
        finally:
            body.write_bytes(content)
    assert len(list(tmp_path.glob("agon-*.tar"))) == 1
    with pytest.raises(CommandError, match="already exists"):
        call_command("backup", tmp_path / "second.tar")


@pytest.mark.slow
def test_no_key_and_no_session_is_in_it(backup, settings, client):
    client.force_login(User.objects.first())
    with tarfile.open(backup) as tar:
        names = tar.getnames()
    assert not [name for name in names if "session" in name]
    body = backup.read_bytes()
    for secret in ("secret-key", "receipt-key.pem", "gold-private-key"):
        path = settings.STATE_ROOT / secret
        assert not path.exists() or path.read_bytes().strip() not in body
    assert b"PRIVATE KEY" not in body
    assert "PUBLIC KEY" in manifest_of(backup)["receipt_key"]


def rewritten(backup, name, change):
    """Write a copy of the backup with one member changed and its digest in the manifest updated."""
    target = backup.with_name("rewritten.tar")
    with tarfile.open(backup) as old, tarfile.open(target, "w") as new:
        bodies = {entry.name: old.extractfile(entry).read() for entry in old}
        bodies[name] = change(bodies[name])
        manifest = json.loads(bodies[MANIFEST])
        if name != MANIFEST:
            manifest["members"][name] = {"sha256": hashlib.sha256(bodies[name]).hexdigest(), "size": len(bodies[name])}
            bodies[MANIFEST] = json.dumps(manifest).encode()
        for member, body in bodies.items():
            entry = tarfile.TarInfo(member)
            entry.size = len(body)
            new.addfile(entry, io.BytesIO(body))
    return target


def test_a_backup_says_which_version_made_it(backup, settings):
    manifest = manifest_of(backup)
    assert (manifest["agon"], manifest["revision"]) == (__version__, settings.REVISION)
    assert len(settings.REVISION) == 40


@pytest.mark.slow
def test_a_backup_whose_rows_lack_a_column_is_rejected_as_a_whole(backup, somewhere_else):
    older = rewritten(backup, "database/portal.team.jsonl", lambda rows: rows.replace(b'"affiliation"', b'"other"'))
    somewhere_else()
    with pytest.raises(ActionError, match=r"The backup has no portal_team.affiliation. It was made before Agon 0.1.0"):
        restore_backup(older)
    assert rows.is_empty()


def test_a_manifest_of_another_version_is_not_a_damaged_one(backup, somewhere_else):
    def change(body):
        return json.dumps(json.loads(body) | {"migrations": ["portal.9999_x"], "members": "other", "more": 1}).encode()

    newer = rewritten(backup, MANIFEST, change)
    somewhere_else()
    with pytest.raises(ActionError, match="different database tables"):
        restore_backup(newer)


def test_another_version_of_the_tables_is_rejected(backup, somewhere_else):
    backup = rewritten(backup, MANIFEST, lambda body: json.dumps(json.loads(body) | {"revision": "0123abcd"}).encode())
    somewhere_else()
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO django_migrations (app, name, applied) VALUES ('portal', '9999_x', %s)", [EVALUATION]
        )
    try:
        with pytest.raises(ActionError, match=r"with Agon \S+ \(0123abcd\), which has different database tables"):
            restore_backup(backup)
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM django_migrations WHERE name = '9999_x'")


def test_a_folder_moves_into_a_bucket(backup, somewhere_else, bucket):
    somewhere_else("gold")
    restore_backup(backup)
    assert [name for name in bucket.names() if name.endswith(".zip")]
    with stored_file(Submission.objects.first().sha256) as body:
        assert body.stat().st_size
    work_off(EVALUATION)
    again = backup.with_name("again.tar")
    assert write_backup(again, EVALUATION).damaged == []


def test_the_command_notes_when_and_prunes_in_spite_of_a_damaged_file(lived_in, tmp_path, capsys):
    old, kept, other = (tmp_path / name for name in ("agon-20200101T000000Z.tar", "agon-29990101T000000Z.tar", "a.tar"))
    for path in (old, kept, other):
        path.write_bytes(b"")
    stuck = tmp_path / "agon-20190101T000000Z.tar"
    stuck.mkdir()  # a folder cannot be deleted like a file
    submission = Submission.objects.order_by("received_at")[0]
    with stored_file(submission.sha256) as stored:
        stored.chmod(0o600)
        stored.write_bytes(b"damaged")
    with pytest.raises(CommandError, match="missing or damaged"):
        call_command("backup", tmp_path, keep=30)
    assert "could not be deleted" in capsys.readouterr().err
    assert (old.exists(), kept.exists(), other.exists()) == (False, True, True)
    assert Reading.objects.get(name="backup").value == 1
    assert Reading.objects.get(name="backup").at > database_now() - timedelta(minutes=1)


@pytest.mark.slow
def test_without_a_new_backup_the_old_ones_stay(lived_in, tmp_path, monkeypatch):
    def fail(*_):
        raise OSError("no space left")

    old = tmp_path / "agon-20200101T000000Z.tar"
    old.touch()
    monkeypatch.setattr(backup_command, "write_backup", fail)
    with pytest.raises(CommandError, match="No backup was made: no space left"):
        call_command("backup", tmp_path, keep=30)
    assert old.exists()
    assert not Reading.objects.exists()


@pytest.mark.slow
def test_the_newest_backup_is_restored_on_trial(lived_in, settings, tmp_path, monkeypatch, capsys):
    """The trial gets its keys from the environment. The portal's rows and files do not change."""
    monkeypatch.setenv("AGON_RECEIPT_KEY_FILE", str(settings.STATE_ROOT / "receipt-key.pem"))
    monkeypatch.setenv("AGON_GOLD_PUBLIC_KEY", as_text(public_key()))
    monkeypatch.setenv("DJANGO_SETTINGS_MODULE", "portal.settings")
    place = tmp_path / "backups"
    place.mkdir()
    with pytest.raises(CommandError, match="contains no backup"):
        call_command("rehearse", place)
    call_command("backup", place)
    before = everything()
    call_command("rehearse", place)
    assert "can be restored" in capsys.readouterr().out
    assert Reading.objects.get(name="restore").value == 0
    Reading.objects.filter(name="restore").delete()
    assert everything() == before
    (archive_file,) = place.iterdir()  # nothing else is left
    content = bytearray(archive_file.read_bytes())
    content[len(content) // 2] ^= 1
    archive_file.write_bytes(content)
    with pytest.raises(CommandError, match=r"cannot be restored: [\s\S]*damaged"):
        call_command("rehearse", place)
    assert Reading.objects.get(name="restore").value == 1


def test_a_failed_unit_is_mailed_to_administrators_once_a_day(tiny, smtp):
    admin = person("Ada")
    admin.is_staff = True
    admin.save()
    for _ in range(2):
        call_command("report_failure", "agon-backup")
    deliver(database_now())
    (mail,) = smtp.to(admin.email)
    assert mail["Subject"].startswith("Agon:")
    assert "journalctl -u agon-backup" in mail.get_body(("plain",)).get_content().replace("\n", " ")


@pytest.mark.slow
def test_by_command_into_a_portal_of_its_own(backup, settings, tmp_path):
    """The processes have their own state and an SQLite database. The backup may come from PostgreSQL."""
    state = tmp_path / "state"
    state.mkdir()
    for key in ("receipt-key.pem", "gold-private-key"):
        shutil.copy(settings.STATE_ROOT / key, state)
    environment = {**os.environ, "AGON_STATE": str(state), "DJANGO_SETTINGS_MODULE": "portal.settings"}
    environment.pop("DATABASE_URL", None)

    def manage(*words: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "manage.py", *map(str, words)]
        return subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True)

    restored = manage("restore", backup)
    assert (restored.returncode, restored.stderr) == (0, "")
    assert f"into SQLite {state}/" in restored.stdout
    assert manage("backup", tmp_path / "again.tar").returncode == 0
    first, second = (manifest_of(path) for path in (backup, tmp_path / "again.tar"))
    assert {**first, "made_at": ""} == {**second, "made_at": ""}
    rejected = manage("restore", backup)
    assert rejected.returncode == 1
    assert "not empty" in rejected.stderr


def manifest_of(path: Path) -> dict[str, object]:
    with tarfile.open(path) as tar:
        return json.load(tar.extractfile("manifest.json"))
