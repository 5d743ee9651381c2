"""Importing gold again: corrections made on the website are kept, and changes that conflict with them are rejected."""

import importlib

import pytest
from django.apps import apps

from portal.actions.base.errors import Conflict
from portal.actions.gold import preview_former_gold, upload_gold
from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.evaluation.gold import check_gold_upload, drop_unused_gold
from portal.models import GoldStandard, GoldUpload
from portal.queries.duties import to_do
from portal.sealing import as_text, public_key
from portal.storage import open_gold
from tests.portal.remembered import remembered
from tests.portal.world import EVALUATION, POST, applied, person, run_file, sealed_file, set_up_second_factor

FIXED = run_file(["YES", "YES", "NO", "NO"])
OTHER = run_file(["NO", "NO", "NO", "NO"])


@remembered
def organizer(tiny):
    user = person("Oana")
    set_up_second_factor(user)
    tiny.organizers.add(user)
    return user


def in_use(task):
    return GoldStandard.objects.newest(task.tracks.get(slug="one"), "test")


def upload(task, organizer, content):
    """Upload gold and have a worker check it. If it is valid, apply it as the organizer."""
    track = task.tracks.get(slug="one")
    applied(upload_gold(organizer, track, EVALUATION, split="test", sealed=sealed_file(content)), EVALUATION)


@pytest.fixture
def fixed(tiny, organizer):
    """A task whose gold for track one was corrected on the website, as version 2."""
    upload(tiny, organizer, FIXED)
    assert in_use(tiny).version == 2
    return tiny


@pytest.fixture
def keyless(settings):
    """A function that imports a folder without the private key, and then has a worker compare the gold."""

    def do(folder):
        kept = settings.GOLD_PUBLIC_KEY, settings.GOLD_PRIVATE_KEYS
        settings.GOLD_PUBLIC_KEY, settings.GOLD_PRIVATE_KEYS = as_text(public_key()), []
        import_shared_task(None, folder, POST)
        settings.GOLD_PUBLIC_KEY, settings.GOLD_PRIVATE_KEYS = kept
        found = list(GoldUpload.objects.filter(state="received").order_by("track"))
        for waiting in found:
            check_gold_upload(waiting.pk, POST)
            waiting.refresh_from_db()
        return found[0].state

    return do


def test_an_unchanged_folder_keeps_a_fix_that_was_made_on_the_page(fixed, tiny_folder):
    assert import_shared_task(None, tiny_folder, POST).changes == []
    assert (in_use(fixed).version, open_gold(in_use(fixed).sealed_sha256)) == (2, FIXED)


def test_a_changed_folder_brings_a_version_and_the_next_fix_stays_as_well(tiny, organizer, tiny_folder):
    (tiny_folder / "gold/one.json").write_bytes(OTHER)
    changes = import_shared_task(None, tiny_folder, EVALUATION).changes
    assert changes == ["gold one test: version 2, 4 of 4 items have gold"]
    upload(tiny, organizer, FIXED)
    assert import_shared_task(None, tiny_folder, POST).changes == []
    assert in_use(tiny).version == 3


def test_gold_that_changed_in_the_folder_and_on_the_page_is_not_imported(fixed, tiny_folder):
    (tiny_folder / "gold/one.json").write_bytes(OTHER)
    path = tiny_folder / "task.yaml"
    path.write_text(path.read_text().replace('title: "Tiny"', 'title: "Huge"'))
    with pytest.raises(Conflict, match="version 2 was uploaded on the “Gold” page") as error:
        import_shared_task(None, tiny_folder, POST)
    assert len(error.value.message.splitlines()[1:]) == 1
    fixed.refresh_from_db()
    assert (fixed.title, in_use(fixed).version) == ("Tiny", 2)


@pytest.mark.slow
def test_each_way_out_of_that_conflict_works(fixed, organizer, tiny_folder):
    path = tiny_folder / "gold/one.json"
    before = path.read_bytes()
    path.write_bytes(OTHER)
    upload(fixed, organizer, OTHER)  # now the same gold as in the folder
    assert import_shared_task(None, tiny_folder, POST).changes == []
    upload(fixed, organizer, FIXED)
    assert import_shared_task(None, tiny_folder, POST).changes == []  # the folder's gold has not changed since
    assert in_use(fixed).version == 4
    path.write_bytes(before)
    with pytest.raises(Conflict):
        import_shared_task(None, tiny_folder, POST)
    imported = GoldStandard.objects.get(track__slug="one", version=3)
    applied(preview_former_gold(organizer, imported, EVALUATION), EVALUATION)
    assert import_shared_task(None, tiny_folder, POST).changes == ["gold one test: version 6, 4 of 4 items have gold"]
    path.unlink()
    upload(fixed, organizer, FIXED)
    assert import_shared_task(None, tiny_folder, POST).changes == []


def test_gold_that_came_on_the_page_first_is_not_replaced_without_a_question(tiny, organizer, tiny_folder):
    GoldStandard.objects.update(is_imported=False)
    (tiny_folder / "gold/one.json").write_bytes(OTHER)
    with pytest.raises(Conflict, match="was uploaded on the “Gold” page"):
        import_shared_task(None, tiny_folder, POST)


@pytest.mark.slow
def test_a_worker_compares_for_an_import_without_the_key(fixed, tiny_folder, keyless):
    assert keyless(tiny_folder) == "unchanged"
    assert in_use(fixed).version == 2
    GoldUpload.objects.update(received_at=EVALUATION)  # before the next import
    (tiny_folder / "gold/one.json").write_bytes(OTHER)
    assert keyless(tiny_folder) == "conflict"
    assert in_use(fixed).version == 2
    assert "1 gold file was rejected." in [step.text for step in to_do(fixed, POST)]
    assert drop_unused_gold() == 4


def test_a_worker_imports_only_what_changed_in_the_folder(tiny, tiny_folder, keyless):
    (tiny_folder / "gold/one.json").write_bytes(OTHER)
    assert keyless(tiny_folder) == "accepted"
    assert (in_use(tiny).version, in_use(tiny).is_imported) == (2, True)
    assert keyless(tiny_folder) == "unchanged"


def test_a_portal_of_before_knows_which_versions_imports_brought(fixed, organizer):
    first = GoldStandard.objects.get(track__slug="one", version=1)
    applied(preview_former_gold(organizer, first, EVALUATION), EVALUATION)
    GoldStandard.objects.update(is_imported=False)
    importlib.import_module("portal.migrations.0009_gold_is_imported").mark_imported(apps, None)
    marked = GoldStandard.objects.filter(track__slug="one").order_by("version").values_list("is_imported", flat=True)
    assert list(marked) == [True, False, False]
