"""Rejected uploads and wrong passwords as rows; the slot that a sender chose."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("portal", "0010_imported_windows"),
    ]

    operations = [
        migrations.AddField(
            model_name="submission",
            name="slot",
            field=models.CharField(blank=True, max_length=12),
        ),
        migrations.AddField(
            model_name="validation",
            name="killed_check",
            field=models.BooleanField(default=False),
        ),
        migrations.CreateModel(
            name="FailedAttempt",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(choices=[("upload", "Upload"), ("data_password", "Data Password")], max_length=13),
                ),
                ("at", models.DateTimeField()),
                (
                    "team",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="portal.team"),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["user", "kind", "at"], name="failed_attempts_of_a_person"),
                    models.Index(fields=["team", "kind", "at"], name="failed_attempts_of_a_team"),
                ],
            },
        ),
    ]
