"""Pushes name their public files, and those that are not applied in time expire."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("portal", "0031_rounds"),
    ]

    operations = [
        migrations.AddField(
            model_name="taskpush",
            name="files",
            field=models.JSONField(default=list),
        ),
        migrations.AlterField(
            model_name="taskpush",
            name="state",
            field=models.CharField(
                choices=[
                    ("received", "received"),
                    ("checking", "being checked"),
                    ("rejected", "rejected"),
                    ("ready", "ready to apply"),
                    ("expired", "expired"),
                    ("applied", "applied"),
                    ("failed", "failed on our side"),
                ],
                default="received",
                max_length=8,
            ),
        ),
    ]
