"""A run may have several files: its entry lists their paths, which are longer than one."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("portal", "0026_canceled_mails"),
    ]

    operations = [
        migrations.AlterField(
            model_name="run",
            name="entry",
            field=models.TextField(blank=True),
        ),
    ]
