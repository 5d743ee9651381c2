from django.core.management import call_command
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps


def make_table(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """The cache's, so that `migrate` makes all that the portal needs."""
    call_command("createcachetable", database=schema_editor.connection.alias, verbosity=0)


class Migration(migrations.Migration):
    dependencies = [("portal", "0001_initial")]

    operations = [migrations.RunPython(make_table, migrations.RunPython.noop)]
