"""A run whose check has ended is `valid` until it is scored."""

from django.db import migrations, models
from django.db.models import Q


def mark_as_valid(apps, _schema_editor):
    runs = apps.get_model("portal", "Run").objects
    is_checked = Q(submission__isnull=True) | Q(submission__state="accepted")
    runs.filter(is_checked, state="received").update(state="valid")
    runs.filter(state="scoring").update(state="valid")


def mark_as_received(apps, _schema_editor):
    runs = apps.get_model("portal", "Run").objects
    runs.filter(state="valid").update(state="received")
    runs.filter(state="unscorable").update(state="failed")


class Migration(migrations.Migration):
    dependencies = [("portal", "0040_replaced_validations")]

    operations = [
        migrations.AlterField(
            model_name="run",
            name="state",
            field=models.CharField(
                choices=[
                    ("received", "received"),
                    ("checking", "checking"),
                    ("valid", "valid"),
                    ("scored", "scored"),
                    ("rejected", "rejected"),
                    ("failed", "failed on our side"),
                    ("unscorable", "failed on our side"),
                ],
                default="received",
                max_length=10,
            ),
        ),
        migrations.RunPython(mark_as_valid, mark_as_received),
    ]
