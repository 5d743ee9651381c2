"""A login of the command line can ask for a token that is limited to one task."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("portal", "0027_runs_of_several_files"),
    ]

    operations = [
        migrations.AddField(
            model_name="devicelogin",
            name="task",
            field=models.SlugField(blank=True, default=""),
            preserve_default=False,
        ),
    ]
