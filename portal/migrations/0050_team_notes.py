import django.core.validators
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("portal", "0049_uploads_of_a_task")]

    operations = [
        migrations.AddIndex(
            model_name="auditentry",
            index=models.Index(fields=["shared_task", "subject"], name="audit_of_subject"),
        ),
        migrations.CreateModel(
            name="TeamNote",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "text",
                    models.TextField(
                        max_length=2000,
                        validators=[django.core.validators.MaxLengthValidator(2000)],
                        verbose_name="Note",
                    ),
                ),
                ("at", models.DateTimeField()),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "team",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="portal.team"),
                ),
            ],
            options={"ordering": ("-at", "-pk")},
        ),
    ]
