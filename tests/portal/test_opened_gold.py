"""Decrypted gold standards: how a worker caches them and passes them to its children."""

import pickle

import pytest

from portal.evaluation import opened_gold as kept
from portal.evaluation.errors import HostError
from portal.evaluation.opened_gold import opened_gold
from portal.models import GoldStandard, Track
from portal.objects.interface import gold_objects
from portal.sealing import seal
from portal.storage import store_sealed_gold


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    monkeypatch.setattr(kept, "_kept", type(kept._kept)())


def opened(gold):
    shared_task = gold.track.shared_task
    return opened_gold(gold, shared_task.definition, shared_task.definition_sha256)


def test_it_is_opened_once_and_again_where_the_definition_changes(meltemi, tiny):
    gold = GoldStandard.objects.get(track__slug="one")
    first = opened(gold)
    gold_objects().delete(gold.sealed_sha256)
    assert opened(gold) is first
    with pytest.raises(OSError, match=gold.sealed_sha256):
        opened_gold(gold, tiny.definition, "another")


def test_the_least_used_leaves_when_they_are_many(meltemi, monkeypatch):
    one, two = (GoldStandard.objects.get(track__slug=slug) for slug in ("one", "two"))
    monkeypatch.setattr(kept, "GOLD_BYTES_KEPT", len(opened(one)) + len(opened(two)) - 1)
    first, second = opened(one), opened(two)
    assert opened(two) is second
    assert opened(one) is not first


def test_without_its_items_it_is_not_opened(meltemi, tiny):
    gold = GoldStandard.objects.get(track__slug="one")
    items = tiny.definition.track("one").items["test"]
    away = items.rename(items.with_suffix(".away"))
    try:
        with pytest.raises(HostError):
            opened(gold)
    finally:
        away.rename(items)
    assert len(pickle.loads(opened(gold))) == 4


def test_what_cannot_be_read_says_where_and_quotes_nothing(meltemi):
    track = Track.objects.get(slug="one")
    bad = GoldStandard(track=track, split="test", version=9, sealed_sha256=store_sealed_gold(seal([b"canary"])))
    with pytest.raises(HostError, match=r"^GoldError at score\.py:\d+ < score\.py:\d+ < opened_gold") as raised:
        opened(bad)
    assert "canary" not in f"{raised.value!r} {raised.value.__cause__!r}"
