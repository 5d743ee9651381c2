"""Runs have the task's own fields, such as the model."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("portal", "0032_files_of_pushes"),
    ]

    operations = [
        migrations.AddField(
            model_name="run",
            name="fields",
            field=models.JSONField(blank=True, default=dict),
        ),
    ]
