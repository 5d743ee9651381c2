"""`remembered` restores what it has built before, and builds it again if anything has changed."""

import pytest
from django.core.cache import cache
from django.db import transaction

from portal.models import Run, SharedTask
from tests.migrated import delete_all_rows
from tests.portal.remembered import _rows, remembered
from tests.portal.world import EVALUATION, GOOD, new_team, person, send_run, stored_path

pytestmark = pytest.mark.postgres


class Field:
    """A remembered fixture that submits a run from a new team. Each call of `use` stands for a test."""

    def __init__(self, request, **given):
        self.made = 0
        self._use = remembered(self._make)._get_wrapped_function()
        self._request, self._given = request, given

    def _make(self, tiny, tiny_folder):
        self.made += 1
        return send_run(new_team(tiny, "Meltemi"), GOOD, 1, EVALUATION)

    def use(self):
        """Return the run and all rows, and roll back as after a test."""
        before = transaction.savepoint()
        run = self._use(self._request, **self._given)
        assert list(Run.objects.filter(team__name="Meltemi")) == [run]
        rows = _rows()
        new_team(run.track.shared_task, "Ostro")  # fails if the sequences would reuse keys
        transaction.savepoint_rollback(before)
        return run, rows


@pytest.fixture
def field(request, tiny, tiny_folder, monkeypatch):
    monkeypatch.setattr("tests.portal.remembered._recordings", {})
    return Field(request, tiny=tiny, tiny_folder=tiny_folder)


def test_it_is_built_once_and_restored(field):
    (first, rows), (second, again) = field.use(), field.use()
    assert field.made == 1
    assert second is not first
    assert again == rows


@pytest.mark.parametrize("what", ["row", "folder", "file"])
def test_it_is_built_again_if_anything_differs(field, tiny_folder, what):
    run, _rows = field.use()
    if what == "row":
        person("Ada")
    elif what == "folder":
        (tiny_folder / "notes.txt").write_text("new")
    else:
        stored_path(run.file_sha256).unlink()
    field.use()
    assert field.made == 2
    assert stored_path(run.file_sha256).exists()


def test_after_a_test_with_transactions_no_row_is_left(transactional_db, meltemi):
    assert SharedTask.objects.exists()
    cache.set("attempts", 1)
    delete_all_rows()
    assert not SharedTask.objects.exists()
    assert {table: len(rows) for table, rows in _rows().items() if rows} == {}
