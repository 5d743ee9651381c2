"""Problems with a database's schema, each reported with its fix."""

import pytest
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from portal.models.schema import schema_problems

pytestmark = pytest.mark.postgres


@pytest.mark.slow
@pytest.mark.django_db
def test_a_database_that_fits():
    assert schema_problems() == []


@pytest.mark.slow
@pytest.mark.django_db
def test_a_newer_database_fits():
    MigrationRecorder(connection).record_applied("portal", "9999_of_the_next_version")
    assert schema_problems() == []


@pytest.mark.django_db
def test_a_missing_migration_is_named():
    MigrationRecorder(connection).record_unapplied("portal", "0016_worker_hosts")
    (problem,) = schema_problems()
    assert "is missing 1 migration (portal.0016_worker_hosts). Make a backup, then run manage.py migrate" in problem


@pytest.mark.slow
@pytest.mark.django_db
def test_a_column_that_no_migration_will_bring_is_named():
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE portal_team RENAME COLUMN affiliation TO other")
    (problem,) = schema_problems()
    assert "is missing 1 column (portal_team.affiliation), although every migration has been applied" in problem
    assert "Restore the most recent backup" in problem
