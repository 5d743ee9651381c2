"""Runs can be listed by the time they were received, however many there are."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("portal", "0038_extra_time"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="run",
            index=models.Index(fields=["received_at"], name="run_received"),
        ),
    ]
