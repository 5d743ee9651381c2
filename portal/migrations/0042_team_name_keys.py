"""Team names that differ only in spaces, hyphens or other punctuation count as one name. Existing ones are kept."""

from collections import Counter

from django.db import migrations
from django.db.models import CharField, Value
from django.db.models.functions import Cast, Concat

from portal.models.team_name import NAME_KEY_LENGTH, name_key


def fill_keys(apps, _schema_editor):
    """The first team registered has the key; the keys of later ones get a suffix that no name has.

    All keys are replaced by provisional ones first, because a new key may be another team's old one.
    """
    teams = apps.get_model("portal", "Team").objects
    teams.update(name_key=Concat(Value("\x1f"), Cast("pk", CharField())))
    known = Counter()
    for team in teams.order_by("created_at", "pk").only("shared_task_id", "name"):
        key = name_key(team.name)
        known[team.shared_task_id, key] += 1
        number = known[team.shared_task_id, key]
        suffix = f"\x1f{number}" if number > 1 else ""
        teams.filter(pk=team.pk).update(name_key=key[: NAME_KEY_LENGTH - len(suffix)] + suffix)


class Migration(migrations.Migration):
    dependencies = [("portal", "0041_valid_runs")]

    operations = [migrations.RunPython(fill_keys, migrations.RunPython.noop, elidable=False)]
