"""The board, Compare runs and the docs say the same about ranks, because all of it comes from the same p-values."""

import json
from pathlib import Path

import numpy as np

from portal.evaluation.compare import compare_board
from portal.evaluation.confined.compare import groups, ranking
from portal.models import Board, SharedTask
from portal.queries.boards.rank_bounds import RankBounds, mean_ranks_note, rank_bounds, ranks_note
from portal.web.templatetags.boards import rank_bar
from scoring.significance import PairTests
from scoring.significance.ranking import shared_ranks
from tests.portal.remembered import remembered
from tests.portal.world import GOOD, PERFECT, POOR, RELEASE, board, with_teams
from tests.scoring.significance.test_ranking import random_tests

ADDRESS = "/tasks/tiny/leaderboard/one/?phase=evaluation"
ROOT = Path(__file__).resolve().parents[2]


def test_the_board_says_what_the_docs_and_compare_say_on_random_boards() -> None:
    """The rank's interval counts the differences with p ≤ 0.05 on Compare runs, as scoring.md says."""
    rng = np.random.default_rng(2)
    for _board in range(1000):
        tests = random_tests(rng)
        stored = json.loads(json.dumps(ranking(tests)))
        ranks = dict(zip(tests.names, shared_ranks(tests.values).tolist(), strict=True))
        shown, compared, runs = rank_bounds(stored, ranks), tests.p_values.tolist(), len(tests.names)
        assert list(shown) == list(tests.names if runs > 1 else ())
        for place, bounds in enumerate(shown.values()):
            better = [other for other in range(place) if compared[place][other] <= 0.05]
            worse = [other for other in range(place + 1, runs) if compared[place][other] <= 0.05]
            assert (bounds.low, bounds.high) == (1 + len(better), runs - len(worse))
            best = [other for other in range(runs) if ranks[tests.names[other]] == 1]
            is_like_best = place not in best and not set(best) & set(better)
            assert ("not distinguishable from the best" in bounds.words) == is_like_best
            following = min((rank for rank in ranks.values() if rank > ranks[tests.names[place]]), default=None)
            after = {other for other in range(runs) if ranks[tests.names[other]] == following}
            assert ("better than" in bounds.words) == (bool(after) and after <= set(worse))
            assert ("better than all others" in bounds.words) == (len(worse) == runs - 1)
            for other, others in enumerate(shown.values()):
                differ = other != place and compared[place][other] <= 0.05
                assert bool(set(bounds.letters) & set(others.letters)) == (not differ)


def test_groups_stay_as_they_were() -> None:
    """A group starts at the first run that differs from the best run of the group before."""
    rng = np.random.default_rng(3)
    for _board in range(100):
        tests = random_tests(rng)
        found, number, leader = groups(tests), 1, 0
        for place, name in enumerate(tests.names):
            if tests.p_values[leader, place] <= 0.05:
                number, leader = number + 1, place
            assert found.get(name, 1) == number


def test_letters_are_left_out_if_they_are_too_many_to_read() -> None:
    values = np.arange(30.0)[::-1]
    apart = PairTests([str(place) for place in range(30)], values, np.zeros((30, 30)))
    assert {letters for *_found, letters in ranking(apart).values()} == {""}
    assert [low for low, *_found in ranking(apart).values()] == list(range(1, 31))


def test_runs_that_were_not_tested_have_no_bounds() -> None:
    """They can be anywhere below, so the tested runs may have any of their ranks, too."""
    stored = {"a": [1, 1, True, True, "a"], "b": [2, 2, False, False, "b"]}
    assert rank_bounds(stored, {"a": 1, "b": 2, "c": 3, "d": 4}) == {
        "a": RankBounds(1, 3, False, True, "a"),
        "b": RankBounds(2, 4, False, False, "b"),
    }
    assert rank_bounds(stored, {"a": 1, "c": 2, "b": 3}) == {}  # a run between them is not tested yet
    assert rank_bounds(stored, {"a": 1}) == {}
    assert rank_bounds({}, {"a": 1}) == {}


def test_a_rank_is_in_its_interval_even_if_the_board_rounds() -> None:
    stored = {"a": [1, 1, True, True, "a"], "b": [2, 2, False, False, "b"]}
    assert rank_bounds(stored, {"a": 1, "b": 1})["b"] == RankBounds(1, 2, False, False, "b")


def test_the_docs_have_the_sentence_of_the_pages() -> None:
    docs = " ".join((ROOT / "docs" / "scoring.md").read_text(encoding="utf-8").split())
    what, together, *_how = ranks_note(500).split(". ")
    assert what in docs.replace(" (Mogstad, Romano, Shaikh and Wilhelm 2024)", "")
    assert f"{together}." in docs
    assert mean_ranks_note(500).startswith(what.replace("runs", "teams"))


@remembered
def field(tiny: SharedTask) -> SharedTask:
    with_teams(tiny, {"Ostro": PERFECT, "Meltemi": GOOD, "Sirocco": GOOD, "Notus": POOR})
    compare_board(_row(), RELEASE)
    return tiny


def _row() -> Board:
    boards = Board.objects.select_related("track__shared_task", "phase__shared_task", "gold")
    return boards.get(track__slug="one", phase__slug="evaluation")


def test_the_page_shows_bounds_in_place_of_letters(field, client) -> None:
    shown = board(field, RELEASE)
    assert [(row.rank, row.rank_low, row.rank_high) for row in shown.teams] == [
        (1, 1, 4),
        (2, 1, 4),
        (2, 1, 4),
        (4, 1, 4),
    ]
    assert {row.group for row in shown.teams} == {"A"}
    text = client.get(ADDRESS).content.decode()
    assert text.count('<span class="bounds">(1–4)</span>') == 4
    assert text.count("not distinguishable from the best") == 3
    assert shown.ranks_note == ranks_note(4)
    assert shown.ranks_note in text
    assert "tie group" not in text
    compared = client.get("/tasks/tiny/insights/one/compare/?phase=evaluation&run=Ostro&run=Notus").content.decode()
    assert shown.ranks_note in compared
    assert "p, corrected for all pairs" in compared


def test_a_board_that_was_released_with_letters_keeps_them(field, client) -> None:
    row = _row()
    older = {key: value for key, value in row.comparison.items() if key not in ("ranking", "items")}
    older["leads"] = {name: {other: lead[:4] for other, lead in own.items()} for name, own in older["leads"].items()}
    older["ranks"] = {name: [1, 4] for name in older["groups"]}
    Board.objects.filter(pk=row.pk).update(comparison=older | {"method": 3})
    compare_board(_row(), RELEASE)
    assert _row().comparison["method"] == 3
    text = client.get(ADDRESS).content.decode()
    assert "Runs with the same letter form a tie group" in text
    assert "confidence interval of a rank" not in text
    compared = client.get("/tasks/tiny/insights/one/compare/?phase=evaluation&run=Ostro&run=Notus").content.decode()
    assert "The tie groups on the leaderboard use p-values corrected for multiple comparisons." in compared
    assert "corrected for all pairs" not in compared


def test_the_bar_goes_from_the_first_to_the_last_rank(field) -> None:
    row = board(field, RELEASE).teams[1]
    assert '<line x1="0.0%" x2="100.0%" y1="50%" y2="50%"/><circle cx="33.33%"' in rank_bar(row, 4)
