"""The tables of the demo's database, and of a new database for a restore."""

from django.core.management import call_command
from django.core.management.commands.migrate import Command as Migrate
from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor


def migrate() -> None:
    """Bring the database up to date.

    An empty SQLite database gets its tables from the models, because running all migrations takes many times longer.
    The result is the same (`tests/portal/test_demo_tables.py`). If this is interrupted, the next call continues.
    """
    executor = MigrationExecutor(connection)
    if connection.vendor == "sqlite" and not executor.recorder.applied_migrations():
        command = Migrate()
        command.verbosity = 0
        command.sync_apps(connection, executor.loader.migrated_apps)
        call_command("createcachetable", verbosity=0)
        executor.recorder.ensure_schema()
        with transaction.atomic():
            for app, name in executor.loader.graph.nodes:
                executor.recorder.record_applied(app, name)
    call_command("migrate", verbosity=0)  # also adds the rows of content types and permissions


def is_migrated() -> bool:
    executor = MigrationExecutor(connection)
    return not executor.migration_plan(executor.loader.graph.leaf_nodes())
