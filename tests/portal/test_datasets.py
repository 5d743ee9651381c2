"""A new version of a dataset: who gets which bytes, and how an import treats it."""

import pytest

from portal.actions import datasets
from portal.actions.base.errors import ActionError
from portal.actions.datasets import replace_dataset
from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.models import AuditEntry, Download, SharedTask
from portal.objects.interface import data_objects
from portal.storage import stored_file
from tests.portal.remembered import remembered
from tests.portal.world import EVALUATION, organizer_of, person


@remembered
def organizer(gated):
    return organizer_of(gated, "Oana")


def replace(user, task, content, slug="test", **options):
    return replace_dataset(user, task, EVALUATION, dataset=task.dataset(slug), content=[content], **options)


def handed_out(slug="test"):
    with stored_file(SharedTask.objects.get(slug="gated").stored_dataset(slug).sha256) as path:
        return path.read_bytes()


def test_the_new_file_is_handed_out_and_the_old_ones_checksum_is_on_record(gated, organizer):
    before = gated.stored_dataset("test").sha256
    now = replace(organizer, gated, b"second")
    assert (handed_out(), now.instead_of) == (b"second", before)
    assert replace(organizer, gated, b"third").instead_of == before
    entries = AuditEntry.objects.filter(verb="replace_dataset").order_by("pk")
    assert [entry.detail["before"] for entry in entries] == [before, now.sha256]


def test_a_file_that_someone_has_is_replaced_only_when_one_is_sure(gated, organizer):
    row = Download(shared_task=gated, dataset="test", sha256=gated.stored_dataset("test").sha256, at=EVALUATION)
    row.save()
    with pytest.raises(ActionError, match="Confirm that you want to replace it"):
        replace(organizer, gated, b"second")
    replace(organizer, gated, b"second", is_sure=True)
    assert replace(organizer, gated, b"third").size == 5  # no confirmation: no one has downloaded the second


def test_a_download_knows_what_became_of_its_file(gated, organizer, gated_folder):
    def stored():
        return Download.objects.select_related("shared_task").get()

    Download(shared_task=gated, dataset="test", sha256=gated.stored_dataset("test").sha256, at=EVALUATION).save()
    assert (stored().is_replaced, stored().is_withdrawn) == (False, False)
    replace(organizer, gated, b"second", is_sure=True)
    assert (stored().is_replaced, stored().is_withdrawn) == (True, False)
    path = gated_folder / "task.yaml"
    path.write_text(
        path.read_text().replace("  - {slug: test, title: Test, file: data/test.tsv, access: password}\n", "")
    )
    import_shared_task(None, gated_folder, EVALUATION)
    assert stored().is_withdrawn


def test_an_import_keeps_it_until_the_folder_has_another_file(gated, organizer, gated_folder):
    replace(organizer, gated, b"second")
    assert import_shared_task(None, gated_folder, EVALUATION).changes == []
    (gated_folder / "pages/terms.md").touch()
    (gated_folder / "data/training.tsv").write_text("another\n")
    import_shared_task(None, gated_folder, EVALUATION)
    assert (handed_out(), handed_out("training")) == (b"second", b"another\n")
    (gated_folder / "data/test.tsv").write_text("from the folder\n")
    import_shared_task(None, gated_folder, EVALUATION)
    assert handed_out() == b"from the folder\n"


@pytest.mark.parametrize(("content", "code"), [(b"", "empty"), (b"test\t0123456789\n" * 100, "same_file")])
def test_what_is_no_new_version_is_rejected(gated, organizer, content, code):
    with pytest.raises(ActionError) as raised:
        replace(organizer, gated, content)
    assert raised.value.code == code


def test_a_file_above_the_limit_is_rejected_and_leaves_nothing(gated, organizer, monkeypatch):
    monkeypatch.setattr(datasets, "DATASET_BYTES", 5)
    before = set(data_objects().names())
    with pytest.raises(ActionError) as raised:
        replace(organizer, gated, b"second")
    assert (raised.value.code, raised.value.params, raised.value.http_status) == ("too_large", {"limit": 5}, 413)
    assert set(data_objects().names()) == before
    assert not AuditEntry.objects.filter(verb="replace_dataset").exists()


def test_strangers_and_files_of_rules_are_rejected(gated, organizer, gated_folder):
    with pytest.raises(ActionError, match="Only the task’s organizers"):
        replace(person("Stranger"), gated, b"second")
    path = gated_folder / "task.yaml"
    path.write_text(path.read_text().replace("file: data/sample.tsv", "file: data/items.txt"))
    task = import_shared_task(None, gated_folder, EVALUATION).shared_task
    with pytest.raises(ActionError, match="import the folder"):
        replace(organizer, task, b"second", "sample")
