"""Team names that readers cannot tell apart are one name; existing ones that are too similar are kept and reported."""

from collections import defaultdict

from django.db import migrations, models

from portal.models.team_name import NAME_KEY_LENGTH, name_key


def fill_keys(apps, _schema_editor):
    """The first team registered holds the key; the keys of later ones get a suffix that no name has."""
    teams = apps.get_model("portal", "Team").objects.order_by("created_at", "pk")
    known = defaultdict(list)
    for team in teams:
        key = name_key(team.name)
        alike = known[team.shared_task_id, key]
        alike.append(team.name)
        suffix = f"\x1f{len(alike)}" if len(alike) > 1 else ""
        team.name_key = key[: NAME_KEY_LENGTH - len(suffix)] + suffix
        team.save(update_fields=["name_key"])
    for (task, _key), names in known.items():
        if len(names) > 1:
            slug = apps.get_model("portal", "SharedTask").objects.get(pk=task).slug
            print(f"  {slug}: these team names are easily mistaken for each other: {', '.join(names)}")


class Migration(migrations.Migration):
    dependencies = [("portal", "0013_mails_about_teams")]

    operations = [
        migrations.RemoveConstraint("team", "team_name_once_a_task"),
        migrations.AddField("team", "name_key", models.CharField(default="", max_length=255), preserve_default=False),
        migrations.AlterField("auditentry", "subject", models.CharField(max_length=255)),
        migrations.RunPython(fill_keys, migrations.RunPython.noop),
        migrations.AddConstraint(
            "team", models.UniqueConstraint(fields=("shared_task", "name_key"), name="team_name_once_a_task")
        ),
    ]
