"""Mails are canceled, teams wait for approval: labels and messages in plain words. No table changes."""

import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("portal", "0024_pushes"),
    ]

    operations = [
        migrations.AlterField(
            model_name="boardchange",
            name="note",
            field=models.CharField(
                max_length=300,
                validators=[
                    django.core.validators.RegexValidator("^[^\\x00-\\x1f\\x7f]*\\Z", "Use a single line of text.")
                ],
            ),
        ),
        migrations.AlterField(
            model_name="outgoingmail",
            name="kind",
            field=models.CharField(
                choices=[
                    ("team_approved", "team approved"),
                    ("team_declined", "team declined"),
                    ("team_waiting", "team waits for approval"),
                    ("invitation", "invitation"),
                    ("data_password", "new data password"),
                    ("agreement_changed", "agreement changed"),
                    ("runs_accepted", "upload accepted"),
                    ("runs_rejected", "upload rejected"),
                    ("runs_scored", "upload scored"),
                    ("runs_failed", "failed on our side"),
                    ("deadline_72", "deadline in 72 hours"),
                    ("deadline_24", "deadline in 24 hours"),
                    ("released", "leaderboard released"),
                    ("alert", "alert to administrators"),
                    ("account", "about an account"),
                ],
                max_length=20,
            ),
        ),
        migrations.AlterField(
            model_name="outgoingmail",
            name="state",
            field=models.CharField(
                choices=[("queued", "waiting"), ("sent", "sent"), ("failed", "given up"), ("needless", "canceled")],
                default="queued",
                max_length=8,
            ),
        ),
        migrations.AlterField(
            model_name="run",
            name="method",
            field=models.CharField(
                blank=True,
                max_length=80,
                validators=[
                    django.core.validators.RegexValidator("^[^\\x00-\\x1f\\x7f]*\\Z", "Use a single line of text.")
                ],
                verbose_name="Method",
            ),
        ),
    ]
