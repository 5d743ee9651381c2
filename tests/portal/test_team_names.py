"""Team names: two names in a task must not look the same."""

from datetime import timedelta
from importlib import import_module

import pytest
from django.apps import apps

from portal.actions.base.errors import Conflict, Invalid
from portal.actions.teams import register_team
from portal.models import Team
from tests.portal.world import EVALUATION, at_once, person

pytestmark = pytest.mark.postgres

ALIKE = {
    "case": "MELTEMI",
    "width": "Ｍｅｌｔｅｍｉ",
    "Cyrillic letter": "Mеltemi",
    "Greek capital": "Μeltemi",
    "Ukrainian small letter": "Meltemі",
    "letters that look like one": "Melterni",
    "mathematical letters": "𝐌𝐞𝐥𝐭𝐞𝐦𝐢",
    "hyphen": "Mel-temi",
    "underscore": "Meltemi_",
    "space": "Mel temi",
    "dot": "M.eltemi",
    "no-break space and dash": "Mel\u00a0\u2013 temi",
    "hyphens in other scripts": "Mel\u2010tem\u30fb\u05bei",
    "emoji style": "Meltemi\ufe0f",
}
INVISIBLE = {
    "zero-width joiner": "Melt\u200demi",
    "right-to-left override": "\u202eMeltemi",
    "isolate": "Mel\u2066temi",
    "grapheme joiner": "Mel\u034ftemi",
    "Hangul filler": "Meltemi\u3164",
    "half-width Hangul filler": "Meltemi\uffa0",
    "empty Braille pattern": "Meltemi\u2800",
    "variation selector": "Meltemi\U000e0100",
    "emoji style only": "\ufe0f\ufe0f",
}


@pytest.fixture
def tiny_folder(tiny_folder):
    """The tiny task's folder, changed to allow any team name."""
    path = tiny_folder / "task.yaml"
    path.write_text(path.read_text().replace('team: {name: "[A-Za-z0-9_-]{2,30}"', 'team: {name: ".{2,30}"'))
    return tiny_folder


@pytest.mark.slow
@pytest.mark.parametrize("name", ALIKE.values(), ids=ALIKE)
def test_a_name_that_looks_like_a_teams_is_not_free(meltemi, name):
    with pytest.raises(Conflict) as raised:
        register_team(person("Rival"), meltemi.shared_task, EVALUATION, name=name)
    assert raised.value.message == (
        f"The name {name} is too similar to the existing team Meltemi. Choose a clearly different name."
    )


@pytest.mark.parametrize("name", INVISIBLE.values(), ids=INVISIBLE)
def test_a_name_has_no_invisible_characters(tiny, name):
    with pytest.raises(Invalid, match="invisible character"):
        register_team(person("Rival"), tiny, EVALUATION, name=name)


def test_names_that_differ_are_free(meltemi):
    names = ["Meltem", "Meltemi2", "Мельтеми", "Ostro", "--", "++", "Meltemi+", "\u2600\ufe0f"]
    for number, name in enumerate(names):
        register_team(person(f"P{number}"), meltemi.shared_task, EVALUATION, name=name)
    assert meltemi.shared_task.teams.count() == len(names) + 1


def test_existing_teams_with_similar_names_keep_them(tiny):
    """Their keys were made by an earlier version, which distinguished them. No new team gets such a name."""
    for key, name in enumerate(["Race E", "RaceE", "Race-E", "Other"]):
        rows = {"name": name, "name_key": f"old key {key}", "created_at": EVALUATION + timedelta(days=3 - key)}
        Team.objects.create(shared_task=tiny, **rows)
    import_module("portal.migrations.0042_team_name_keys").fill_keys(apps, None)
    keys = dict(Team.objects.values_list("name", "name_key"))
    assert keys == {"Race-E": "racee", "RaceE": "racee\x1f2", "Race E": "racee\x1f3", "Other": "other"}
    with pytest.raises(Conflict):
        register_team(person("Rival"), tiny, EVALUATION, name="Race_E")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("names", [("CaseTeam0", "caseteam0"), ("RaceE", "Race-E"), ("Race-E", "Race_E")])
def test_one_of_two_simultaneous_teams_gets_the_name(tiny, names):
    people = [person("First"), person("Second")]
    results = at_once(
        [
            lambda user=user, name=name: register_team(user, tiny, EVALUATION, name=name)
            for user, name in zip(people, names, strict=True)
        ]
    )
    assert sorted((type(result) for result in results), key=str) == sorted([Team, Conflict], key=str)
    assert tiny.teams.count() == 1
