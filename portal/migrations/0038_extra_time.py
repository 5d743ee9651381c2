"""Extra time has the same name in the code as on the pages. The table keeps its name for earlier versions."""

import django.db.models.deletion
from django.contrib.contenttypes.management import RenameContentType
from django.db import migrations, models

VERBS = {"grant_grace": "grant_extra_time", "revoke_grace": "revoke_extra_time"}


def rename(verbs):
    def update(apps, _schema_editor):
        for before, after in verbs.items():
            apps.get_model("portal", "AuditEntry").objects.filter(verb=before).update(verb=after)

    return update


class Migration(migrations.Migration):
    dependencies = [
        ("portal", "0037_dates"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterModelTable("grace", "portal_grace"),
                migrations.RenameModel("Grace", "ExtraTime"),
                migrations.AlterField(
                    model_name="extratime",
                    name="phase",
                    field=models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="extra_times", to="portal.phase"
                    ),
                ),
                migrations.AlterField(
                    model_name="extratime",
                    name="team",
                    field=models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="extra_times",
                        to="portal.team",
                    ),
                ),
            ],
        ),
        RenameContentType("portal", "grace", "extratime"),
        migrations.RunPython(rename(VERBS), rename({after: before for before, after in VERBS.items()})),
    ]
