"""Columns since 0.1.0 have defaults in the database, so that web processes of an earlier version can insert rows."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("portal", "0034_one_submission"),
    ]

    operations = [
        migrations.AlterField(
            model_name="goldstandard",
            name="note",
            field=models.CharField(blank=True, db_default="", default="", max_length=300),
        ),
        migrations.AlterField(
            model_name="goldupload",
            name="basis",
            field=models.CharField(blank=True, db_default="", default="", max_length=64),
        ),
        migrations.AlterField(
            model_name="goldupload",
            name="preview",
            field=models.JSONField(db_default={}, default=dict),
        ),
        migrations.AlterField(
            model_name="run",
            name="fields",
            field=models.JSONField(blank=True, db_default={}, default=dict),
        ),
        migrations.AlterField(
            model_name="sharedtask",
            name="state",
            field=models.CharField(
                choices=[("draft", "draft"), ("open", "open"), ("hidden", "hidden")],
                db_default="open",
                default="open",
                max_length=6,
            ),
        ),
        migrations.AlterField(
            model_name="taskpush",
            name="files",
            field=models.JSONField(db_default=[], default=list),
        ),
        migrations.AlterField(
            model_name="user",
            name="may_create_tasks",
            field=models.BooleanField(db_default=False, default=False, verbose_name="may create tasks"),
        ),
    ]
