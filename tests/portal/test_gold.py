"""Sealed gold: who can open it, what its file reveals, how a worker checks it, and how keys change."""

import hashlib
import subprocess
import sys

import pytest
from django.core.management import call_command
from nacl.public import PrivateKey

from portal.actions.base.errors import Conflict, Invalid, NotAllowed, TooLarge
from portal.actions.gold import preview_former_gold, upload_gold
from portal.actions.task_folder.import_gold import add_gold_standard
from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.evaluation.gold import check_gold_upload, drop_unused_gold
from portal.evaluation.limits import ATTEMPTS
from portal.evaluation.reseal import reseal_all
from portal.evaluation.score import score_run
from portal.evaluation.sweep import gold_to_check
from portal.models import AuditEntry, GoldStandard, GoldUpload, Run
from portal.objects.interface import gold_objects
from portal.sealing import CannotOpen, SealedFile, as_text, new_private_key, private_key_file, public_key, seal, unseal
from portal.storage import open_gold
from tests.portal.remembered import remembered
from tests.portal.test_import import edit
from tests.portal.world import (
    EVALUATION,
    GOOD,
    NOTE,
    POST,
    applied,
    board,
    gold_path,
    organizer_of,
    person,
    run_file,
    sealed_file,
    send_run,
    work_off,
)

ONE = run_file(["YES", "YES", "NO", "NO"])
OTHER = ONE.replace(b"YES", b"NO")


def sealed(content, key=None):
    return b"".join(seal([content], key))


@pytest.fixture
def web(settings):
    """This process has only the public key, like the web server."""
    settings.GOLD_PUBLIC_KEY, settings.GOLD_PRIVATE_KEYS = as_text(public_key()), []


@remembered
def organizer(tiny):
    return organizer_of(tiny, "Oana")


def newest(tiny, track="one"):
    return GoldStandard.objects.newest(tiny.tracks.get(slug=track), "test")


def uploaded(tiny, organizer, content):
    """Upload gold and have a worker check it. If it is valid, apply it as the organizer."""
    track = tiny.tracks.get(slug="one")
    return applied(upload_gold(organizer, track, EVALUATION, split="test", sealed=sealed_file(content)), EVALUATION)


@pytest.mark.parametrize("size", [0, 1, 65_495, 65_496, 65_497, 131_072, 300_000])
def test_what_is_sealed_in_pieces_comes_back(size):
    content = bytes(range(256)) * (size // 256 + 1)
    pieces = [content[:size][start : start + 10_000] for start in range(0, size, 10_000)]
    assert unseal(b"".join(seal(pieces))) == content[:size]


def test_a_file_is_sealed_up_to_its_limit_and_the_rest_is_only_counted():
    whole, large = sealed_file(ONE), SealedFile(len(ONE))
    assert (unseal(b"".join(whole)), whole.length, whole.size) == (ONE, len(ONE), len(sealed(ONE)))
    for piece in (ONE, b"x" * 10_000, b"x" * 100_000):
        large.add(piece)
    large.end()
    assert (large.length, large.size < 1000) == (len(ONE) + 110_000, True)


def test_a_sealed_file_reveals_nothing_of_its_content():
    first, again, other = sealed(ONE), sealed(ONE), sealed(OTHER)
    assert first != again
    assert len(first) == len(other)  # although the labels have different lengths
    assert b"value" not in first


@pytest.mark.parametrize(
    "spoil", [lambda it: it[:-1], lambda it: it[:70_000], lambda it: it[:-1] + b"!", lambda it: b"[]"]
)
def test_a_changed_or_cut_file_is_not_opened(spoil):
    with pytest.raises(CannotOpen):
        unseal(spoil(sealed(b"x" * 200_000)))


def test_without_the_private_key_nothing_is_opened(tiny, web):
    with pytest.raises(CannotOpen, match="does not have the private key"):
        open_gold(newest(tiny).sealed_sha256)
    with pytest.raises(CannotOpen, match="does not have the private key"):
        unseal(sealed(ONE), [PrivateKey.generate()])


@pytest.mark.slow
@pytest.mark.parametrize("is_web", [True, False])
def test_a_process_with_webs_settings_opens_no_gold_on_the_workers_own_disk(tiny, settings, is_web):
    given = {"AGON_GOLD_PUBLIC_KEY": as_text(public_key())} if is_web else {}
    program = "import django, sys; django.setup(); from portal.storage import open_gold; open_gold(sys.argv[1])"
    done = subprocess.run(
        [sys.executable, "-c", program, newest(tiny).sealed_sha256],
        env={"DJANGO_SETTINGS_MODULE": "portal.settings", "AGON_STATE": str(settings.STATE_ROOT), **given},
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, "CannotOpen" in done.stderr) == ((1, True) if is_web else (0, False))


def test_the_key_that_is_made_where_none_is_given_is_for_its_owner_alone(tiny):
    assert private_key_file().stat().st_mode & 0o777 == 0o600


def test_no_row_can_be_compared_with_a_guess(tiny):
    kept = [gold.sealed_sha256 for gold in GoldStandard.objects.all()]
    kept += [str(entry.detail) for entry in AuditEntry.objects.all()]
    guesses = {getattr(hashlib, name)(ONE).hexdigest() for name in ("md5", "sha1", "sha256", "sha512")}
    assert not [text for text in kept for guess in guesses if guess in text]


@pytest.mark.slow
def test_no_row_says_how_many_items_the_gold_has(tiny):
    work_off(EVALUATION)
    assert set(Run.objects.filter(state="scored").values_list("items", flat=True)) == {None}


@pytest.mark.slow
def test_an_upload_becomes_the_newest_version_and_all_is_scored_again(tiny, organizer, meltemi):
    send_run(meltemi, ["NO"] * 4, 1, EVALUATION)
    work_off(EVALUATION)
    upload = uploaded(tiny, organizer, OTHER)
    assert (upload.state, upload.gold.version) == ("accepted", 2)
    assert [problem["code"] for problem in upload.problems] == ["gold-undefined"]  # the gold has no YES
    assert board(tiny, EVALUATION, viewer=organizer).rescored == (0, 3)
    work_off(EVALUATION)
    assert [row.scores["accuracy"] for row in board(tiny, POST).rows if row.kind == "team"] == [1.0]
    verbs = set(AuditEntry.objects.filter(actor=organizer).values_list("verb", flat=True))
    assert verbs == {"upload_gold", "apply_gold"}
    assert AuditEntry.objects.get(actor=organizer, verb="apply_gold").detail["note"] == NOTE


def test_the_same_gold_again_makes_no_version(tiny, organizer):
    assert uploaded(tiny, organizer, (gold := open_gold(newest(tiny).sealed_sha256))).state == "unchanged"
    assert uploaded(tiny, organizer, gold).gold.version == newest(tiny).version == 1


@pytest.mark.slow
def test_an_earlier_gold_comes_back_as_the_newest_version(tiny, organizer, meltemi):
    first = newest(tiny)
    send_run(meltemi, ["NO"] * 4, 1, EVALUATION)
    work_off(EVALUATION)
    before = [row.scores for row in board(tiny, POST).rows]
    uploaded(tiny, organizer, OTHER)
    work_off(EVALUATION)
    renewed = applied(preview_former_gold(organizer, first, EVALUATION), EVALUATION).gold
    assert (renewed.version, open_gold(renewed.sealed_sha256)) == (3, open_gold(first.sealed_sha256))
    work_off(EVALUATION)
    assert (board(tiny, POST).gold_version, [row.scores for row in board(tiny, POST).rows]) == (3, before)
    entry = AuditEntry.objects.get(subject="gold one test version 3")
    assert (entry.verb, entry.detail["returned_to"]) == ("apply_gold", 1)
    with pytest.raises(Conflict):
        preview_former_gold(organizer, first, EVALUATION)
    with pytest.raises(NotAllowed):
        preview_former_gold(person("Rival"), first, EVALUATION)


INVALID = {
    "no JSON": (b"id,value\na,YES", "table-for-json"),
    "a strange label": (b'[{"id": "a", "value": "SECRET"}]', "label-outside-domain"),
    "a strange item": (ONE[:-1] + b', {"id": "SECRET", "value": "YES"}]', "unknown-ids"),
    "an id twice": (ONE.replace(b'"b"', b'"a"'), "duplicate-ids"),
    "nothing": (b"", "empty-file"),
    "two items of four": (run_file(["YES", "NO"]), "gold-incomplete"),
}


@pytest.mark.parametrize(("content", "code"), INVALID.values(), ids=INVALID)
def test_invalid_gold_is_rejected_without_showing_its_content(tiny, organizer, content, code):
    upload = uploaded(tiny, organizer, content)
    assert (upload.state, newest(tiny).version) == ("rejected", 1)
    assert [problem["code"] for problem in upload.problems] == [code]
    for word in ("SECRET", "id,value", "'a'", '"a"'):
        assert word not in str(upload.problems)


def test_errors_of_gold_name_place_and_count(tiny, organizer):
    (problem,) = uploaded(tiny, organizer, run_file(["YES", "NO", "SECRET", "OTHER"])).problems
    assert (problem["item"], problem["count"]) == ("#3", 2)
    assert problem["message"].startswith("Labels that the track does not define: (not shown). Expected")
    assert "YES" in problem["message"]


@pytest.mark.slow
def test_gold_that_lists_some_items_is_accepted_where_the_folder_says_so(tiny, tiny_folder, organizer):
    assert newest(tiny).counts == (4, 4)
    (problem,) = uploaded(tiny, organizer, run_file(["YES", "NO"])).problems
    assert "has 2 of 4 items" in problem["message"]
    edit(tiny_folder, "file: gold/one.json", "file: gold/one.json, covers: listed")
    import_shared_task(None, tiny_folder, EVALUATION)
    assert uploaded(tiny, organizer, run_file(["YES", "NO"])).state == "accepted"
    assert newest(tiny).counts == (2, 4)
    first = GoldStandard.objects.get(track__slug="one", version=1)
    applied(preview_former_gold(organizer, first, EVALUATION), EVALUATION)
    assert newest(tiny).counts == (4, 4)


def test_rejected_files_are_deleted_at_night_and_no_others(tiny, organizer):
    waiting = upload_gold(organizer, tiny.tracks.get(slug="two"), EVALUATION, split="test", sealed=sealed_file(OTHER))
    rejected, accepted = uploaded(tiny, organizer, b"no gold"), uploaded(tiny, organizer, OTHER)
    assert drop_unused_gold() == 1
    assert drop_unused_gold() == 0
    assert not gold_path(rejected.sealed_sha256).exists()
    assert open_gold(accepted.sealed_sha256) == open_gold(waiting.sealed_sha256) == OTHER
    rejected.refresh_from_db()
    assert (rejected.state, rejected.sealed_sha256, len(rejected.problems)) == ("rejected", "", 1)
    assert reseal_all() == 0


def test_only_organizers_upload_gold_and_only_for_splits_that_are(tiny, organizer):
    track = tiny.tracks.get(slug="one")
    with pytest.raises(NotAllowed):
        upload_gold(person("Rival"), track, EVALUATION, split="test", sealed=sealed_file(ONE))
    with pytest.raises(Invalid):
        upload_gold(organizer, track, EVALUATION, split="nowhere", sealed=sealed_file(ONE))
    assert not GoldUpload.objects.exists()


def test_gold_over_the_limit_is_not_stored(tiny, organizer, monkeypatch):
    names = set(gold_objects().names())
    monkeypatch.setattr("portal.actions.gold.GOLD_BYTES", len(ONE) - 1)
    with pytest.raises(TooLarge) as error:
        upload_gold(organizer, tiny.tracks.get(slug="one"), EVALUATION, split="test", sealed=sealed_file(ONE))
    assert (error.value.code, error.value.params) == ("too_large", {"limit": len(ONE) - 1})
    assert (set(gold_objects().names()), GoldUpload.objects.count()) == (names, 0)


def test_gold_without_its_key_waits_and_the_old_one_stays(tiny, organizer, monkeypatch):
    stranger = PrivateKey.generate().public_key
    monkeypatch.setattr("portal.sealing.public_key", lambda: stranger)
    upload = upload_gold(organizer, tiny.tracks.get(slug="one"), EVALUATION, split="test", sealed=sealed_file(ONE))
    for _ in range(ATTEMPTS):
        upload.refresh_from_db()
        check_gold_upload(upload.pk, upload.lease_ends)
    upload.refresh_from_db()
    assert (upload.state, upload.attempts, newest(tiny).version) == ("received", 0, 1)


def test_an_upload_whose_hint_was_lost_is_found(tiny, organizer):
    upload = upload_gold(organizer, tiny.tracks.get(slug="one"), EVALUATION, split="test", sealed=sealed_file(OTHER))
    assert gold_to_check(EVALUATION) == []
    assert gold_to_check(POST) == [upload.pk]


def test_an_import_without_the_key_leaves_the_comparison_to_a_worker(tiny, tiny_folder, web):
    changes = import_shared_task(None, tiny_folder, EVALUATION).changes
    assert changes == [f"gold {track} test: a worker will compare it with version 1" for track in ("one", "two")]
    assert set(GoldUpload.objects.values_list("state", flat=True)) == {"received"}


def test_the_first_gold_needs_no_key(db, tiny_folder, web):
    changes = import_shared_task(None, tiny_folder, EVALUATION).changes
    assert "gold one test: version 1, 4 of 4 items have gold" in changes


@pytest.mark.slow
def test_keys_change_and_the_old_one_is_needed_no_more(tiny, organizer, meltemi, settings, capsys):
    waiting = upload_gold(organizer, tiny.tracks.get(slug="one"), EVALUATION, split="test", sealed=sealed_file(OTHER))
    old = private_key_file().read_text().split()
    settings.GOLD_PUBLIC_KEY = as_text(public_key())  # the worker's settings still have the old public key
    settings.GOLD_PRIVATE_KEYS = [new_private_key(), *old]
    before = newest(tiny).sealed_sha256
    call_command("gold_keys", "rotate")
    assert "3 files" in capsys.readouterr().out
    settings.GOLD_PRIVATE_KEYS = settings.GOLD_PRIVATE_KEYS[:1]
    assert newest(tiny).sealed_sha256 != before
    assert not gold_path(before).exists()
    applied(waiting, EVALUATION)
    run = send_run(meltemi, GOOD, 1, EVALUATION)
    work_off(EVALUATION)
    assert Run.objects.get(pk=run.pk).evaluations.get().gold.version == 2
    call_command("gold_keys", "rotate")
    assert "0 files" in capsys.readouterr().out


def test_a_key_in_a_file_is_renewed_there_and_the_last_one_is_kept(tiny, capsys):
    try:
        (first,) = private_key_file().read_text().split()
        call_command("gold_keys", "rotate")
        second, kept = private_key_file().read_text().split()
        assert kept == first != second
        assert private_key_file().stat().st_mode & 0o777 == 0o600
        assert open_gold(newest(tiny).sealed_sha256)
        call_command("gold_keys", "rotate")
        assert private_key_file().read_text().split()[1:] == [second]
    finally:
        private_key_file().write_text(first)


def test_the_command_prints_what_goes_into_the_settings(settings, capsys):
    call_command("gold_keys", "new")
    private, public = (line.split("=")[1] for line in capsys.readouterr().out.splitlines())
    settings.GOLD_PRIVATE_KEYS = [private]
    assert unseal(sealed(ONE)) == ONE
    assert as_text(public_key()) == public
    call_command("gold_keys", "public")
    assert public in capsys.readouterr().out


@pytest.mark.slow
def test_gold_that_was_resealed_in_between_costs_no_attempt(tiny, tiny_folder, meltemi):
    run = send_run(meltemi, GOOD, 1, EVALUATION)
    work_off(EVALUATION)
    add_gold_standard(run.track, "test", tiny_folder / "gold" / "two.json", EVALUATION)
    gold_path(newest(tiny).sealed_sha256).rename(aside := gold_path("aside"))
    assert not score_run(run.pk, EVALUATION)
    assert Run.objects.get(pk=run.pk).attempts == 0
    aside.rename(gold_path(newest(tiny).sealed_sha256))
    assert score_run(run.pk, POST)


@pytest.mark.parametrize("is_dataset", [True, False])
def test_gold_that_a_public_file_reveals_is_rejected(tiny, organizer, tiny_folder, is_dataset):
    (tiny_folder / "data/sample.json").write_bytes(OTHER)
    if is_dataset:
        (tiny_folder / "task.yaml").open("a").write(
            "datasets:\n  - {slug: sample, file: data/sample.json, access: public}\n"
        )
    import_shared_task(None, tiny_folder, EVALUATION)
    upload = upload_gold(organizer, tiny.tracks.get(slug="one"), EVALUATION, split="test", sealed=sealed_file(OTHER))
    assert check_gold_upload(upload.pk, EVALUATION) == []
    upload.refresh_from_db()
    errors = [problem for problem in upload.problems if problem["severity"] == "error"]
    assert (upload.state, [(problem["code"], problem["file"]) for problem in errors]) == (
        "rejected",
        [("folder-secret", "data/sample.json")],
    )
