"""Intervals and tie groups of overall rankings."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("portal", "0035_database_defaults"),
    ]

    operations = [
        migrations.CreateModel(
            name="CombinedBoard",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("slug", models.CharField(max_length=50)),
                ("comparison", models.JSONField(default=dict)),
                ("revision", models.PositiveBigIntegerField(default=0)),
                ("revisions", models.JSONField(default=dict)),
                ("compared_at", models.DateTimeField(null=True)),
                ("busy_until", models.DateTimeField(null=True)),
                (
                    "phase",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="combined_boards", to="portal.phase"
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("phase", "slug"), name="one_combined_board")],
            },
        ),
    ]
