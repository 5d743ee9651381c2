"""Phases that repeat in rounds."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("portal", "0030_labels"),
    ]

    operations = [
        migrations.AddField(
            model_name="phase",
            name="round_days",
            field=models.PositiveSmallIntegerField(blank=True, null=True),
        ),
    ]
