"""Fixtures shared by all suites."""

import gc
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.core.cache import caches

from tests.canary import eyes_open, gold_stays_hidden, pytest_runtest_makereport
from tests.migrated import django_db_modify_db_settings, django_db_setup, first_migration, migrated, quick_flush
from tests.services import Broker

__all__ = [
    "django_db_modify_db_settings",
    "django_db_setup",
    "eyes_open",
    "first_migration",
    "gold_stays_hidden",
    "migrated",
    "pytest_runtest_makereport",
    "quick_flush",
]

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
# Things that may be missing for a test, even in CI.
NO_SHARED = "../shared, with real data that may not be published here, is absent"
NO_DEBOOTSTRAP = "no bare Debian can be made here: that takes root and debootstrap"


PROGRAM_FIXTURES = {"broker", "demo", "s3"}

gc.disable()  # until the tests are collected: nothing of what is imported becomes garbage


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="leave out tests that are slow or start programs")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect what `--quick` leaves out: tests that are marked `slow` or have a fixture that starts a program."""
    if config.getoption("quick"):
        slow = {item for item in items if item.get_closest_marker("slow") or _starts_a_program(item)}
        config.hook.pytest_deselected(items=list(slow))
        items[:] = [item for item in items if item not in slow]


def pytest_collection_finish() -> None:
    """Exclude current objects from garbage collection, which makes forks faster."""
    gc.collect()
    gc.freeze()
    gc.enable()


def _starts_a_program(item: pytest.Item) -> bool:
    return not PROGRAM_FIXTURES.isdisjoint(getattr(item, "fixturenames", ()))


@pytest.fixture(autouse=True)
def no_kept_boards() -> None:
    """Clear cached boards. Each test has its own database, whose boards have the same names."""
    caches["boards"].clear()


@pytest.fixture(autouse=True)
def no_kept_gold() -> None:
    """Clear opened gold. Each test opens it again, although `tests.portal.remembered` restores the same rows."""
    from portal.evaluation import opened_gold

    opened_gold._kept.clear()


@pytest.fixture(scope="session")
def root() -> Path:
    """The root folder of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """Conformance cases and real data next to the checkout. Without them the test is skipped."""
    if not SHARED.is_dir():
        pytest.skip(NO_SHARED)
    return SHARED


@pytest.fixture
def broker(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Broker]:
    """A real Valkey at the address in the settings. Without this fixture nothing listens there."""
    port = urlsplit(settings.CELERY_BROKER_URL).port
    assert port is not None
    broker = Broker(tmp_path_factory.mktemp("valkey"), port)
    broker.start()
    monkeypatch.setattr("portal.jobs._publisher._quiet_until", 0.0)  # an earlier test may have failed to publish
    yield broker
    broker.kill()
