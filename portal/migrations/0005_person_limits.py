"""Runs count for the person who uploaded them, too: filled from the submissions that are there. When teams withdrew.

Teams that have withdrawn before keep their runs on all boards.
"""

from collections import Counter
from datetime import UTC
from typing import Any

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

COUNTED = ("received", "scoring", "scored")


def count_runs_of_persons(apps: Any, schema_editor: Any) -> None:
    run_model, quota_model = apps.get_model("portal", "Run"), apps.get_model("portal", "Quota")
    used: Counter[tuple[int, int, int, str]] = Counter()
    runs = run_model.objects.filter(kind="team", state__in=COUNTED).order_by("pk")
    values = runs.values_list("submission__sent_by", "phase", "track", "received_at", "phase__runs_per_day")
    for user, phase, track, at, a_day in values.iterator():
        for day in ("",) if a_day is None else ("", at.astimezone(UTC).date().isoformat()):
            used[user, phase, track, day] += 1
    quota_model.objects.bulk_create(
        (
            quota_model(user_id=user, phase_id=phase, track_id=track, day=day, used=count)
            for (user, phase, track, day), count in used.items()
        ),
        batch_size=500,
    )
    if schema_editor.connection.vendor == "postgresql":  # checks the new rows' keys now: indexes follow
        schema_editor.execute("SET CONSTRAINTS ALL IMMEDIATE")


def forget_persons(apps: Any, _schema_editor: Any) -> None:
    apps.get_model("portal", "Quota").objects.filter(team__isnull=True).delete()


class Migration(migrations.Migration):
    dependencies = [("portal", "0004_board_change")]

    operations = [
        migrations.AlterField(
            model_name="quota",
            name="team",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="portal.team"
            ),
        ),
        migrations.AddField(
            model_name="quota",
            name="user",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddConstraint(
            model_name="quota",
            constraint=models.UniqueConstraint(fields=("user", "phase", "track", "day"), name="one_quota_row_a_person"),
        ),
        migrations.AddConstraint(
            model_name="quota",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("team__isnull", False), ("user__isnull", True)),
                    models.Q(("team__isnull", True), ("user__isnull", False)),
                    _connector="OR",
                ),
                name="quota_of_a_team_or_a_person",
            ),
        ),
        migrations.AddField("team", "withdrawn_at", models.DateTimeField(null=True)),
        migrations.RunPython(count_runs_of_persons, forget_persons),
    ]
