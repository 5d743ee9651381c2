"""Mails that are no longer due are canceled, where the state was called needless."""

from django.db import migrations, models


def rename(before, after):
    def update(apps, _schema_editor):
        apps.get_model("portal", "OutgoingMail").objects.filter(state=before).update(state=after)

    return update


class Migration(migrations.Migration):
    dependencies = [
        ("portal", "0025_mails_in_words"),
    ]

    operations = [
        migrations.AlterField(
            model_name="outgoingmail",
            name="state",
            field=models.CharField(
                choices=[("queued", "waiting"), ("sent", "sent"), ("failed", "given up"), ("canceled", "canceled")],
                default="queued",
                max_length=8,
            ),
        ),
        migrations.RunPython(rename("needless", "canceled"), rename("canceled", "needless")),
    ]
