"""Boards without pending work are skipped until something happens to them."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from portal.evaluation.boards import find_board_work
from portal.evaluation.compare import compare_board, is_to_be_kept
from portal.models import Board, ExtraTime, Phase, PhaseChange
from portal.models.board import LOOK_AGAIN
from portal.queries.boards.releases import keep_release
from tests.portal.remembered import remembered
from tests.portal.world import EVALUATION, GOOD, PERFECT, POST, new_team, organizer_of, send_run, work_off

pytestmark = pytest.mark.postgres

MINUTE = timedelta(minutes=1)
LATER = POST + timedelta(days=2)  # no date falls within a day of this time


@remembered
def settled(tiny):
    """The tiny task with a run in the evaluation phase. At LATER, nothing is left to do."""
    send_run(new_team(tiny, "Ostro"), GOOD, 1, EVALUATION)
    work_off(EVALUATION)
    finish(LATER)
    return tiny


def due(at):
    """Return the keys of the boards to refresh."""
    return [pk for work in find_board_work(at) for pk in work.refresh]


def finish(at):
    """Do all pending work."""
    for moment in (at, at + 2 * MINUTE, at + 3 * MINUTE):
        boards = Board.objects.filter(pk__in=due(moment))
        for board in boards.select_related("track__shared_task", "phase__shared_task", "gold"):
            compare_board(board, moment)
            board.refresh_from_db()
            if is_to_be_kept(board, moment):
                keep_release(board, moment)


def unsettled(at):
    return {str(board) for board in Board.objects.filter(gold__isnull=False).unsettled(at)}


@pytest.mark.slow
def test_boards_without_work_are_not_looked_at_for_a_day(settled):
    assert unsettled(LATER + 4 * MINUTE) == set()
    assert len(unsettled(LATER + LOOK_AGAIN + 4 * MINUTE)) == Board.objects.filter(gold__isnull=False).count() > 1


def test_a_new_score_makes_its_board_work_again(settled):
    send_run(settled.teams.get(), PERFECT, 1, LATER + 5 * MINUTE, "post")
    work_off(LATER + 5 * MINUTE)
    assert unsettled(LATER + 6 * MINUTE) == {"tiny/one post"}
    assert due(LATER + 9 * MINUTE) == [Board.objects.get(track__slug="one", phase__slug="post").pk]


def test_a_date_that_passes_makes_all_boards_of_its_task_work_again(settled):
    """For example, a phase's items may become public when a different phase closes."""
    Phase.objects.filter(slug="post").update(closes=LATER + 5 * MINUTE)
    assert unsettled(LATER + 4 * MINUTE) == set()
    assert len(unsettled(LATER + 6 * MINUTE)) > 1


def test_a_release_that_is_taken_back_is_noticed(settled):
    Phase.objects.filter(slug="evaluation").update(released=None, taken_back=LATER + 5 * MINUTE)
    assert "tiny/one evaluation" in unsettled(LATER + 6 * MINUTE)


@pytest.mark.parametrize("event", ["extra time granted", "extra time over", "dates moved"])
def test_extra_time_and_moved_dates_make_all_boards_work_again(settled, event):
    phase, by, then = Phase.objects.get(slug="evaluation"), organizer_of(settled), LATER + 5 * MINUTE
    if event == "dates moved":
        dates = {"opens_before": phase.opens, "opens_after": phase.opens}
        PhaseChange.objects.create(phase=phase, by=by, at=then, **dates)
    else:
        granted, until = (then, POST) if event == "extra time granted" else (POST, then)
        ExtraTime.objects.create(phase=phase, granted_by=by, granted_at=granted, until=until)
    assert unsettled(LATER + 4 * MINUTE) == set()
    assert len(unsettled(LATER + 6 * MINUTE)) > 1


def test_what_changes_during_a_look_is_looked_at_again(settled):
    board = Board.objects.get(track__slug="one", phase__slug="evaluation")
    Board.objects.filter(pk=board.pk).changed()
    Board.objects.settle_at(LATER + 4 * MINUTE, {board.pk: board.revision})
    assert unsettled(LATER + 5 * MINUTE) == {"tiny/one evaluation"}


def test_a_board_that_was_compared_just_now_is_not_settled_before_it_is_compared_again(settled):
    board = Board.objects.get(track__slug="one", phase__slug="evaluation")
    Board.objects.filter(pk=board.pk).update(compared_at=LATER + 5 * MINUTE)
    Board.objects.filter(pk=board.pk).changed()
    assert due(LATER + 5 * MINUTE + MINUTE / 2) == []
    assert due(LATER + 7 * MINUTE) == [board.pk]


def test_a_look_that_is_cut_short_goes_on_where_it_stopped(settled, monkeypatch):
    monkeypatch.setattr("portal.evaluation.boards.PORTION", 1)
    at = LATER + LOOK_AGAIN + 4 * MINUTE
    before = unsettled(at)
    next(find_board_work(at))
    assert len(unsettled(at)) == len(before) - 1
    assert len(list(find_board_work(at))) == len(before) - 1
    assert unsettled(at) == set()


def test_boards_are_marked_with_few_statements(settled):
    at = LATER + LOOK_AGAIN + 4 * MINUTE
    with CaptureQueriesContext(connection) as asked:
        assert due(at) == []
    assert len([query for query in asked.captured_queries if query["sql"].startswith("UPDATE")]) == 1
