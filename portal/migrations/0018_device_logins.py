"""Logins of the command line that a person allows in a browser."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("portal", "0017_rejected_in_words"),
    ]

    operations = [
        migrations.CreateModel(
            name="DeviceLogin",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("sha256", models.CharField(max_length=64, unique=True)),
                ("code", models.CharField(max_length=8, unique=True)),
                ("name", models.CharField(max_length=80)),
                ("address", models.GenericIPAddressField(null=True)),
                (
                    "scope",
                    models.CharField(
                        choices=[
                            ("read", "Read"),
                            ("submit", "Read and take part: submit runs, manage the team"),
                            ("organize", "Read, take part and organize"),
                        ],
                        max_length=8,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "Waiting"), ("allowed", "Allowed"), ("denied", "Denied")],
                        default="waiting",
                        max_length=7,
                    ),
                ),
                ("created_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                ("interval", models.PositiveIntegerField(default=5)),
                ("next_poll_at", models.DateTimeField()),
                (
                    "user",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="device_logins",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["address", "expires_at"], name="device_logins_of_an_address")],
            },
        ),
    ]
