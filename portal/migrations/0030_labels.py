"""Labels and choices in plain English. The tables do not change."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("portal", "0029_attempts_without_team"),
    ]

    operations = [
        migrations.AlterField(
            model_name="accesstoken",
            name="scope",
            field=models.CharField(
                choices=[
                    ("read", "Read"),
                    ("submit", "Read and take part (submit runs, manage the team)"),
                    ("organize", "Read, take part and organize"),
                ],
                max_length=8,
                verbose_name="Scope",
            ),
        ),
        migrations.AlterField(
            model_name="devicelogin",
            name="scope",
            field=models.CharField(
                choices=[
                    ("read", "Read"),
                    ("submit", "Read and take part (submit runs, manage the team)"),
                    ("organize", "Read, take part and organize"),
                ],
                max_length=8,
            ),
        ),
        migrations.AlterField(
            model_name="goldupload",
            name="state",
            field=models.CharField(
                choices=[
                    ("received", "received"),
                    ("checking", "checking"),
                    ("previewing", "computing preview"),
                    ("ready", "ready to apply"),
                    ("accepted", "accepted"),
                    ("unchanged", "unchanged"),
                    ("rejected", "rejected"),
                    ("conflict", "changed in the folder and on the page"),
                    ("failed", "failed on our side"),
                ],
                default="received",
                max_length=10,
            ),
        ),
        migrations.AlterField(
            model_name="outgoingmail",
            name="kind",
            field=models.CharField(
                choices=[
                    ("team_approved", "team approved"),
                    ("team_declined", "team declined"),
                    ("team_waiting", "team awaiting approval"),
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
                choices=[
                    ("queued", "waiting"),
                    ("sent", "sent"),
                    ("failed", "could not be sent"),
                    ("canceled", "canceled"),
                ],
                default="queued",
                max_length=8,
            ),
        ),
        migrations.AlterField(
            model_name="phase",
            name="run_numbers",
            field=models.CharField(
                choices=[("once", "each number once"), ("free", "numbers can be reused")], default="once", max_length=4
            ),
        ),
        migrations.AlterField(
            model_name="phase",
            name="scores",
            field=models.CharField(
                choices=[
                    ("at-once", "shown immediately"),
                    ("on-release", "shown on release"),
                    ("never", "never shown"),
                ],
                max_length=12,
            ),
        ),
        migrations.AlterField(
            model_name="run",
            name="kind",
            field=models.CharField(
                choices=[("team", "team run"), ("baseline", "baseline"), ("gold", "reference")],
                default="team",
                max_length=8,
            ),
        ),
        migrations.AlterField(
            model_name="run",
            name="system_type",
            field=models.CharField(
                blank=True,
                choices=[
                    ("prompted", "prompted language model"),
                    ("tuned", "fine-tuned language model or encoder"),
                    ("features", "features and a classifier"),
                    ("rules", "rules or a lexicon"),
                    ("ensemble", "ensemble"),
                    ("other", "other"),
                ],
                max_length=10,
                verbose_name="System type",
            ),
        ),
        migrations.AlterField(
            model_name="taskpush",
            name="state",
            field=models.CharField(
                choices=[
                    ("received", "received"),
                    ("checking", "being checked"),
                    ("rejected", "rejected"),
                    ("ready", "ready to apply"),
                    ("applied", "applied"),
                    ("failed", "failed on our side"),
                ],
                default="received",
                max_length=8,
            ),
        ),
        migrations.AlterField(
            model_name="user",
            name="email",
            field=models.EmailField(max_length=254, unique=True, verbose_name="email address"),
        ),
        migrations.AlterField(
            model_name="user",
            name="mails_about_deadlines",
            field=models.BooleanField(default=True, verbose_name="emails about deadlines"),
        ),
        migrations.AlterField(
            model_name="user",
            name="mails_about_results",
            field=models.BooleanField(default=True, verbose_name="emails about results"),
        ),
        migrations.AlterField(
            model_name="user",
            name="mails_about_runs",
            field=models.BooleanField(default=True, verbose_name="emails about runs"),
        ),
        migrations.AlterField(
            model_name="user",
            name="mails_about_teams",
            field=models.BooleanField(default=True, verbose_name="emails about teams"),
        ),
    ]
