import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

BATCH = 500


def fill_codes(apps, schema_editor):
    """Fill the codes of uploads that were checked before the column existed."""
    uploads = apps.get_model("portal", "Submission").objects.order_by("pk")
    runs = apps.get_model("portal", "Run").objects.exclude(problems=[]).exclude(submission=None)
    codes = {}
    for key, problems in uploads.exclude(problems=[]).values_list("pk", "problems").iterator(chunk_size=BATCH):
        codes[key] = {problem["code"] for problem in problems}
    for key, problems in runs.values_list("submission", "problems").iterator(chunk_size=BATCH):
        codes.setdefault(key, set()).update(problem["code"] for problem in problems)
    for key, found in codes.items():
        if found:
            uploads.filter(pk=key).update(problem_codes=f" {' '.join(sorted(found))} ")


class Migration(migrations.Migration):
    dependencies = [("portal", "0048_folder_edits")]

    operations = [
        migrations.AddField(
            model_name="submission",
            name="problem_codes",
            field=models.TextField(db_default="", default="", editable=False),
        ),
        migrations.AddIndex(
            model_name="submission",
            index=models.Index(fields=["shared_task", "-received_at"], name="submission_of_task"),
        ),
        migrations.CreateModel(
            name="RejectedUpload",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("file_name", models.CharField(max_length=255)),
                ("size", models.PositiveBigIntegerField()),
                ("problems", models.JSONField(default=list)),
                ("problem_codes", models.TextField(default="")),
                ("received_at", models.DateTimeField()),
                (
                    "phase",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="portal.phase"),
                ),
                (
                    "sent_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "shared_task",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="rejected_uploads",
                        to="portal.sharedtask",
                    ),
                ),
                (
                    "team",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="rejected_uploads", to="portal.team"
                    ),
                ),
            ],
            options={
                "ordering": ("-received_at",),
                "indexes": [models.Index(fields=["shared_task", "-received_at"], name="rejected_upload_of_task")],
            },
        ),
        migrations.RunPython(fill_codes, migrations.RunPython.noop),
    ]
