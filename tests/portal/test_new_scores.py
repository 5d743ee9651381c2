"""New scores for released leaderboards: computed in the background, shown when organizers apply them with a reason."""

import pytest
from django.test import Client

from portal.actions import scores
from portal.actions.base.errors import Conflict, Invalid, NotAllowed
from portal.actions.release import restore_release, take_back_release
from portal.actions.scores import apply_scores
from portal.actions.task_folder.import_gold import add_gold_standard
from portal.evaluation import claim, compare, rescore
from portal.evaluation.compare import compare_board, is_to_be_kept
from portal.evaluation.rescore import adopt_scorer
from portal.models import AuditEntry, Board, BoardChange, ReleasedBoard
from portal.queries.boards.releases import keep_release
from portal.queries.boards.waiting_scores import waiting_scores
from portal.queries.duties import to_do
from portal.queries.runs import run_view, team_runs
from tests.portal.remembered import remembered
from tests.portal.world import (
    EVALUATION,
    GOOD,
    NOTE,
    PERFECT,
    POOR,
    POST,
    RELEASE,
    board,
    captain,
    organizer_of,
    person,
    ranked,
    run_file,
    with_teams,
    work_off,
)

BOARD = "/tasks/tiny/leaderboard/one/?phase=evaluation"


@remembered
def field(tiny):
    """Three scored teams, ranked Perfect, Good, Poor."""
    return with_teams(tiny, {"Perfect": PERFECT, "Good": GOOD, "Poor": POOR})


@remembered
def organizer(tiny):
    return organizer_of(tiny)


@remembered
def fixed(field, tiny_folder):
    """After the release, team Good's answers became the gold of track one, and all runs were scored again."""
    path = tiny_folder.with_name("good.json")
    path.write_bytes(run_file(GOOD))
    add_gold_standard(field.tracks.get(slug="one"), "test", path, POST)
    work_off(POST)
    return field


def accuracies(shown):
    return {row.team: row.scores["accuracy"] for row in shown.rows if row.kind == "team"}


@pytest.mark.slow
def test_a_new_gold_leaves_a_released_board_as_it_is_and_changes_a_live_one(fixed):
    shown = board(fixed, POST)
    assert (shown.gold_version, shown.rescored, shown.pending) == (1, None, 0)
    assert accuracies(shown) == {"Perfect": 1.0, "Good": 0.75, "Poor": 0.25}
    assert board(fixed, POST, "post").gold_version == 2


@pytest.mark.slow
def test_a_new_scorer_leaves_a_released_board_as_it_is(field, organizer, monkeypatch):
    before = board(field, POST).scorer
    for module in (claim, rescore, compare):
        monkeypatch.setattr(module, "scorer_version", "9.0.0")
    adopt_scorer(POST)
    work_off(POST)
    field.refresh_from_db()
    assert (field.scorer, board(field, POST).scorer) == ("9.0.0", before)
    assert board(field, POST, "post").scorer == "9.0.0"
    assert {line.board.next_scorer for line in waiting_scores(field, organizer, POST)} == {"9.0.0"}


@pytest.mark.slow
def test_a_board_that_is_not_released_follows_at_once(field, tiny_folder, organizer):
    path = tiny_folder / "gold" / "one.json"
    path.write_bytes(run_file(GOOD))
    add_gold_standard(field.tracks.get(slug="one"), "test", path, EVALUATION)
    work_off(EVALUATION)
    assert board(field, EVALUATION, viewer=organizer).gold_version == 2
    assert waiting_scores(field, organizer, EVALUATION) == []


@pytest.mark.slow
def test_a_team_sees_the_score_that_the_released_board_shows(fixed):
    team = fixed.teams.get(name="Good")
    (line,) = team_runs(team, captain(team), POST)
    view = run_view(line.run, captain(team), POST)
    assert [score.value for score in line.scores if score.ranks] == [0.75]
    assert view.evaluation.gold.version == 1
    page = Client()
    page.force_login(captain(team))
    assert "gold version 2" not in page.get(f"/runs/{line.run.pk}/").content.decode().lower()


def test_organizers_see_what_would_change(fixed, organizer):
    (line,) = waiting_scores(fixed, organizer, POST)
    assert (line.scored, line.count) == (5, 5)  # three teams, a baseline and the gold standard
    assert (line.effect.runs, line.effect.ranks, line.effect.missing) == (4, 2, 0)
    assert "1 released leaderboard has new scores to apply." in [step.text for step in to_do(fixed, POST)]


@pytest.mark.slow
def test_scores_that_are_still_being_computed_cannot_be_applied(field, organizer, tiny_folder):
    path = tiny_folder / "gold" / "one.json"
    path.write_bytes(run_file(GOOD))
    add_gold_standard(field.tracks.get(slug="one"), "test", path, POST)
    work_off(POST)
    (seen,) = waiting_scores(field, organizer, POST)
    scores.rescore(None, field, POST, reason="again")
    (line,) = waiting_scores(field, organizer, POST)
    assert line.effect is None
    with pytest.raises(Conflict):
        apply_scores(organizer, field, POST, wanted=[seen], note=NOTE)


@pytest.mark.slow
def test_applied_scores_are_shown_with_the_reason(fixed, organizer):
    revision = Board.objects.get(track__slug="one", phase__slug="evaluation").revision
    (change,) = apply_scores(organizer, fixed, POST, wanted=waiting_scores(fixed, organizer, POST), note=f" {NOTE} ")
    shown = board(fixed, POST)
    assert (shown.gold_version, accuracies(shown)) == (2, {"Perfect": 0.75, "Good": 1.0, "Poor": 0.5})
    assert ranked(shown) == [(1, "Good"), (2, "Perfect"), (3, "Poor")]
    assert (change.note, change.gold_before.version, change.gold_after.version, change.runs) == (NOTE, 1, 2, 4)
    assert Board.objects.get(pk=change.board_id).revision > revision
    assert waiting_scores(fixed, organizer, POST) == []
    entry = AuditEntry.objects.get(verb="apply_scores")
    assert (entry.actor, entry.detail["note"]) == (organizer, NOTE)
    page = Client().get(BOARD).content.decode()
    assert NOTE in page
    assert "Gold version 1 → 2." in page
    for address in (f"{BOARD}&format=json", "/tasks/tiny/leaderboard/?phase=evaluation&format=json"):
        assert NOTE in Client().get(address).content.decode()


@pytest.mark.slow
def test_what_was_released_before_is_kept_and_the_new_board_becomes_a_release(fixed, organizer):
    def keep():
        there = Board.objects.get(track__slug="one", phase__slug="evaluation")
        compare_board(there, POST)
        there.refresh_from_db()
        if is_to_be_kept(there, POST):
            keep_release(there, POST)

    keep()
    assert list(ReleasedBoard.objects.values_list("gold__version", flat=True)) == [1]
    apply_scores(organizer, fixed, POST, wanted=waiting_scores(fixed, organizer, POST), note=NOTE)
    keep()
    assert sorted(ReleasedBoard.objects.values_list("gold__version", flat=True)) == [1, 2]
    assert board(fixed, POST).since == 1


@pytest.mark.parametrize(
    ("note", "code"),
    [("", "required"), ("  ", "required"), ("x" * 301, "too_long"), ("two\nlines", "not_valid"), ("nul\0", "not_text")],
)
def test_a_change_needs_one_sentence(fixed, organizer, note, code):
    with pytest.raises(Invalid, match=code):
        apply_scores(organizer, fixed, POST, wanted=waiting_scores(fixed, organizer, POST), note=note)
    assert board(fixed, POST).gold_version == 1
    assert not BoardChange.objects.exists()


@pytest.mark.slow
def test_only_organizers_apply_and_only_what_they_have_seen(fixed, organizer, tiny_folder):
    seen = waiting_scores(fixed, organizer, POST)
    with pytest.raises(NotAllowed):
        apply_scores(person("Rival"), fixed, POST, wanted=seen, note=NOTE)
    with pytest.raises(Invalid):
        apply_scores(organizer, fixed, POST, wanted=[], note=NOTE)
    path = tiny_folder / "gold" / "one.json"
    path.write_bytes(run_file(POOR))
    add_gold_standard(fixed.tracks.get(slug="one"), "test", path, POST)
    work_off(POST)
    with pytest.raises(Conflict, match="Review them again"):
        apply_scores(organizer, fixed, POST, wanted=seen, note=NOTE)
    assert board(fixed, POST).gold_version == 1


@pytest.mark.slow
def test_taking_a_release_back_and_putting_it_back_changes_no_score(fixed, organizer):
    phase = fixed.phases.get(slug="evaluation")
    take_back_release(organizer, phase, POST)
    work_off(POST)
    scores.rescore(None, fixed, POST, reason="again")
    work_off(POST)
    restore_release(organizer, phase, POST)
    assert board(fixed, POST).gold_version == 1


@pytest.mark.slow
def test_the_page_applies_the_chosen_boards(fixed, organizer):
    client = Client()
    client.force_login(organizer)
    address = "/tasks/tiny/organize/scores/"
    assert "4 of 5 runs" in client.get(address).content.decode()
    (line,) = waiting_scores(fixed, organizer, POST)
    assert client.post(address, {"boards": ["1 2 3"], "note": NOTE}).status_code == 422
    assert client.post(address, {"note": NOTE}).status_code == 422
    assert client.post(address, {"boards": [line.key], "note": " "}).status_code == 422
    assert board(fixed, POST).gold_version == 1
    assert client.post(address, {"boards": [line.key], "note": NOTE}).status_code == 302
    assert board(fixed, POST).gold_version == 2
    assert "There are no new scores to apply" in client.get(address).content.decode()


@pytest.mark.slow
def test_a_newer_gold_says_nothing_of_itself_before_it_is_applied(fixed):
    anybody = Client()
    for address in (BOARD, f"{BOARD}&format=json", "/tasks/tiny/insights/one/?phase=evaluation"):
        page = anybody.get(address).content.decode()
        assert "version 2" not in page
        assert '"gold_version": 2' not in page


def test_the_first_scores_of_a_released_board_need_no_action(tiny):
    """For example, a baseline may be scored for the first time after the release."""
    work_off(RELEASE)
    assert board(tiny, RELEASE).gold_version == 1
    assert Board.objects.with_new_scores(RELEASE) == []
