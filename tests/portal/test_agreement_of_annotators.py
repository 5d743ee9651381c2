"""Annotator agreement: computed by the import and shown with the scores. The votes themselves are not stored."""

import json
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client

from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.models import Phase, SharedTask
from tests.portal.remembered import remembered
from tests.portal.world import EVALUATION, GOOD, RELEASE, new_team, pack_of, send_run, work_off

ADDRESS = "/tasks/tiny/insights/one/?phase=evaluation"


@pytest.fixture
def voted_folder(tiny: SharedTask, tiny_folder: Path) -> Path:
    """The tiny task's folder, with votes since the second import. Two annotators agree on three of four items."""
    votes = {"a": ["YES", "YES"], "b": ["YES", "NO"], "c": ["YES", "YES"], "d": ["NO", "NO"]}
    (tiny_folder / "gold/votes.json").write_text(json.dumps(votes))
    path = tiny_folder / "task.yaml"
    path.write_text(path.read_text() + "votes: [{track: one, file: gold/votes.json}]\n")
    return tiny_folder


@remembered
def voted(tiny: SharedTask, voted_folder: Path) -> SharedTask:
    """A task with the votes of `voted_folder`."""
    result = import_shared_task(None, voted_folder, EVALUATION)
    assert "track one: annotator agreement test" in result.changes
    send_run(new_team(tiny, "Ostro"), GOOD, 1, EVALUATION)
    work_off(EVALUATION)
    return result.shared_task


@pytest.mark.slow
def test_it_is_shown_with_the_scores(voted: SharedTask) -> None:
    text = Client().get(ADDRESS).content.decode()
    assert "Annotator agreement" in text
    assert ">75.00<" in text
    assert r"YES & 4 & 0.7500" in pack_of(voted).read("tables/one-agreement.tex").decode()
    Phase.objects.filter(slug="evaluation").update(released=None)
    assert "Annotator agreement" not in Client().get(ADDRESS).content.decode()


@pytest.mark.slow
def test_a_folder_without_the_votes_changes_nothing(voted: SharedTask, tiny_folder: Path) -> None:
    (tiny_folder / "gold/votes.json").unlink()
    before = voted.tracks.get(slug="one").agreement
    assert before["test"][0]["pairwise"] == 0.75
    import_shared_task(None, tiny_folder, RELEASE)
    assert voted.tracks.get(slug="one").agreement == before


def test_the_votes_are_kept_nowhere(voted: SharedTask) -> None:
    assert not list(Path(settings.STATE_ROOT).rglob("votes.json"))
