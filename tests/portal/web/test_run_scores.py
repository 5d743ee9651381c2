"""A run's page: its rank and its earlier scores."""

import pytest
from django.test import Client

from portal.actions.scores import rescore
from portal.evaluation.compare import compare_board
from portal.models import Board, Evaluation, Run, SharedTask
from portal.models.clock import database_now
from tests.portal.remembered import remembered
from tests.portal.world import EVALUATION, GOOD, POOR, RELEASE, captain, new_team, send_run, work_off


@remembered
def run(tiny: SharedTask) -> Run:
    run = send_run(new_team(tiny, "Ostro"), GOOD, 1, EVALUATION)
    send_run(new_team(tiny, "Bora"), POOR, 1, EVALUATION)
    work_off(EVALUATION)
    compare_board(Board.objects.get(track__slug="one", phase__slug="evaluation"), RELEASE)
    return run


def page(run: Run) -> str:
    client = Client()
    assert run.team is not None
    client.force_login(captain(run.team))
    return client.get(f"/runs/{run.pk}/").content.decode()


@pytest.mark.slow
def test_it_says_rank_and_interval(run: Run) -> None:
    assert "Rank 1." in page(run)
    assert "95% interval of" in page(run)


@pytest.mark.slow
def test_it_keeps_what_an_older_scorer_gave_and_why_it_was_scored_again(run: Run) -> None:
    Evaluation.objects.filter(run=run).update(scorer="0.0.1", scores={"accuracy": 0.125}, created_at=EVALUATION)
    rescore(None, run.track.shared_task, EVALUATION, reason="A column was read twice")
    work_off(database_now())
    shown = page(run)
    assert "0.1250" in shown
    assert "scorer 0.0.1" in shown
    assert "rescored: A column was read twice" in shown


@pytest.mark.slow
def test_it_says_nothing_before_the_release(run: Run) -> None:
    run.phase.released = None
    run.phase.save()
    assert "Rank" not in page(run)
    assert "interval" not in page(run)
