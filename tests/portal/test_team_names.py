"""Team names: two names in a task must not look the same."""

import pytest

from portal.actions.base.errors import Conflict, Invalid
from portal.actions.teams import register_team
from portal.models import Team
from tests.portal.world import EVALUATION, at_once, person

ALIKE = {
    "case": "MELTEMI",
    "width": "Ｍｅｌｔｅｍｉ",
    "Cyrillic letter": "Mеltemi",
    "Greek capital": "Μeltemi",
    "Ukrainian small letter": "Meltemі",
    "letters that look like one": "Melterni",
    "mathematical letters": "𝐌𝐞𝐥𝐭𝐞𝐦𝐢",
}
INVISIBLE = {
    "zero-width joiner": "Melt\u200demi",
    "right-to-left override": "\u202eMeltemi",
    "isolate": "Mel\u2066temi",
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
    for number, name in enumerate(["Meltem", "Meltemi2", "Мельтеми", "Ostro"]):
        register_team(person(f"P{number}"), meltemi.shared_task, EVALUATION, name=name)
    assert meltemi.shared_task.teams.count() == 5


@pytest.mark.django_db(transaction=True)
def test_one_of_two_simultaneous_teams_gets_the_name(tiny):
    people = [person("First"), person("Second")]
    names = ["CaseTeam0", "caseteam0"]
    results = at_once(
        [
            lambda user=user, name=name: register_team(user, tiny, EVALUATION, name=name)
            for user, name in zip(people, names, strict=True)
        ]
    )
    assert sorted((type(result) for result in results), key=str) == sorted([Team, Conflict], key=str)
    assert tiny.teams.count() == 1
