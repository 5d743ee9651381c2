from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("portal", "0051_team_messages")]

    operations = [
        migrations.AddField(
            model_name="sharedtask",
            name="uploads_paused",
            field=models.CharField(blank=True, db_default="", default="", max_length=300),
        ),
    ]
