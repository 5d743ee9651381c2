from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("portal", "0046_line_of_uploads")]

    operations = [
        migrations.AddField(
            model_name="workerhost",
            name="version",
            field=models.CharField(blank=True, db_default="", max_length=60),
        ),
    ]
