from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("portal", "0053_extra_runs")]

    operations = [
        migrations.AddField(
            model_name="user",
            name="named_on_team_pages",
            field=models.BooleanField(db_default=False, default=False, verbose_name="named on team pages"),
        ),
        migrations.AddField(
            model_name="run",
            name="description_is_public",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name="run",
            name="note",
            field=models.CharField(blank=True, db_default="", max_length=500, verbose_name="Note"),
        ),
    ]
