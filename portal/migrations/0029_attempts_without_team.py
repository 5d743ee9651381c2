"""Failed attempts can belong to a person alone: addresses that an organizer enters."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("portal", "0028_login_for_a_task"),
    ]

    operations = [
        migrations.AlterField(
            model_name="failedattempt",
            name="kind",
            field=models.CharField(
                choices=[("upload", "Upload"), ("data_password", "Data Password"), ("organizer", "Organizer")],
                max_length=13,
            ),
        ),
        migrations.AlterField(
            model_name="failedattempt",
            name="team",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="portal.team"
            ),
        ),
    ]
