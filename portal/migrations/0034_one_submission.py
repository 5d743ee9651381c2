"""Phases in which each team has one submission, and the newer submission that replaces an earlier one."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("portal", "0033_run_fields"),
    ]

    operations = [
        migrations.AddField(
            model_name="phase",
            name="max_submissions",
            field=models.PositiveSmallIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="submission",
            name="replaced_by",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="replaces",
                to="portal.submission",
            ),
        ),
    ]
