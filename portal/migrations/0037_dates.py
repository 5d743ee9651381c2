"""Indexes on dates, which regular jobs search."""

from django.db import migrations, models

DATES = {
    "phase": {"opens": "phase_opens", "closes": "phase_closes", "released": "phase_released"}
    | {"taken_back": "phase_taken_back"},
    "grace": {"until": "grace_until", "granted_at": "grace_granted_at"},
    "phasechange": {"at": "phase_change_at"},
    "sharedtask": {"imported_at": "task_imported_at"},
}


class Migration(migrations.Migration):
    dependencies = [
        ("portal", "0036_combined_boards"),
    ]

    operations = [
        migrations.AddIndex(model, models.Index(fields=[field], name=name))
        for model, names in DATES.items()
        for field, name in names.items()
    ]
