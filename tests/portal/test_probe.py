"""What a machine still needs to work for a lane, and where the portal reports it."""

import json
from datetime import timedelta

import pytest
from django.conf import settings as portal_settings

from portal import jobs
from portal.evaluation.lanes import Lane
from portal.evaluation.probe import missing_for
from portal.models import WorkerHost
from portal.models.clock import database_now
from portal.sealing import new_private_key
from portal.worker import probe


def elsewhere(settings, tmp_path, which):
    """Configure a machine that has an empty folder in place of the portal's data or gold."""
    place = {"BACKEND": "portal.objects.folder.Folder", "OPTIONS": {"location": tmp_path / "empty"}}
    settings.STORAGES = settings.STORAGES | {which: place}


@pytest.mark.slow
def test_a_machine_that_has_all(tiny):
    assert [missing_for(lane) for lane in Lane] == [[]] * len(Lane)


def test_a_portal_without_shared_tasks_lacks_nothing(db):
    assert missing_for(Lane.SCORING) == []


@pytest.mark.slow
def test_a_machine_without_data(tiny, settings, tmp_path):
    elsewhere(settings, tmp_path, "data")
    for lane in Lane:
        (sentence,) = missing_for(lane)
        assert sentence.startswith("No shared task definition was found.")


def test_a_machine_whose_data_cannot_be_written(tiny, settings, tmp_path):
    (tmp_path / "empty").touch()
    elsewhere(settings, tmp_path, "data")
    (sentence,) = missing_for(Lane.MAIL)
    assert sentence == "Data can't be stored (Not a directory). Check AGON_STATE or AGON_S3_…"


@pytest.mark.slow
def test_a_machine_without_gold(tiny, settings, tmp_path):
    elsewhere(settings, tmp_path, "gold")
    (sentence,) = missing_for(Lane.SCORING)
    assert sentence.startswith("No gold standard was found")
    assert missing_for(Lane.MAIL) == []


@pytest.mark.slow
def test_a_machine_without_the_key(tiny, settings):
    settings.GOLD_PUBLIC_KEY = "0" * 64
    assert missing_for(Lane.BULK) == ["The gold key is missing. Set AGON_GOLD_PRIVATE_KEY_FILE."]
    assert missing_for(Lane.MAIL) == []


def test_a_machine_with_another_portals_key(tiny, settings):
    settings.GOLD_PRIVATE_KEYS = [new_private_key()]
    (sentence,) = missing_for(Lane.SCORING)
    assert sentence.startswith("The gold key can't open any gold standard")


@pytest.mark.slow
def test_one_missing_definition_stops_no_other_task(tiny, gated):
    folder = portal_settings.DATA_ROOT / "definitions" / tiny.definition_sha256
    folder.rename(folder.with_name("away"))
    assert missing_for(Lane.SCORING) == []


@pytest.fixture
def beating(db):
    for lane in Lane:
        jobs.heartbeat(lane)


def parts(client):
    return json.loads(client.get("/readyz").content)["parts"]


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_readyz_says_what_a_worker_lacks_until_it_has_it(client, tiny, beating, settings):
    settings.GOLD_PUBLIC_KEY = "0" * 64
    probe([Lane.SCORING])
    assert parts(client)["worker scoring"] == (
        "not accepting work: The gold key is missing. Set AGON_GOLD_PRIVATE_KEY_FILE."
    )
    assert parts(client)["worker mail"] == "ok"
    settings.GOLD_PUBLIC_KEY = ""
    probe([Lane.SCORING])
    assert parts(client)["worker scoring"] == "ok"


def test_a_clock_that_is_off_is_reported(client, beating):
    assert parts(client)["clocks"] == "ok"
    WorkerHost.objects.filter(lane=Lane.BULK).update(clock_offset=-300)
    assert parts(client)["clocks"] == "a machine's clock is 300 s behind the database's"
    WorkerHost.objects.update(at=database_now() - timedelta(minutes=3))
    assert parts(client)["clocks"] == "ok"


def test_machines_that_are_gone_are_forgotten(beating):
    at = database_now()
    WorkerHost.objects.filter(lane=Lane.BULK).update(at=at - timedelta(days=2))
    WorkerHost.objects.forget(at)
    assert set(WorkerHost.objects.values_list("lane", flat=True)) == set(Lane) - {Lane.BULK}
