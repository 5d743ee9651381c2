"""Intervals and tie groups of overall rankings: computed in the background, and shown only with the scores."""

import json
from datetime import timedelta

import pytest

from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.evaluation.boards import find_board_work
from portal.evaluation.compare import compare_board
from portal.evaluation.compare_tracks import compare_combined
from portal.jobs import refresh_combined
from portal.models import Board, CombinedBoard, Phase
from portal.queries.boards.overall import overall
from portal.queries.boards.rank_bounds import mean_ranks_note
from tests.portal.remembered import remembered
from tests.portal.world import (
    EVALUATION,
    GOOD,
    PERFECT,
    POOR,
    RELEASE,
    STRANGER,
    new_team,
    organizer_of,
    pack_of,
    run_file,
    send,
    work_off,
)

pytestmark = pytest.mark.postgres

MINUTE = timedelta(minutes=1)
RULES = """overall:
  - {slug: mean, tracks: [one, two], by: mean-score, weights: [3, 1], missing: zero}
  - {slug: whole, tracks: [one, two], by: mean-score}
  - {slug: points, tracks: [one, two], by: borda}
"""
PAGE = "/tasks/tiny/leaderboard/?phase=evaluation"


def submit(team, values, number, at=EVALUATION):
    for track, given in values.items():
        send(team, f"{track}_{team.name}_{number}.json", run_file(given), at, "evaluation")
    work_off(at)


@pytest.fixture
def ranked_folder(tiny_folder):
    """The tiny task's folder, with overall rankings."""
    with (tiny_folder / "task.yaml").open("a") as file:
        file.write(RULES)
    return tiny_folder


@remembered
def ranked(db, ranked_folder):
    tiny = import_shared_task(None, ranked_folder, EVALUATION).shared_task
    submit(new_team(tiny, "Ostro"), {"one": PERFECT, "two": GOOD}, 1)
    submit(new_team(tiny, "Meltemi"), {"one": POOR, "two": GOOD}, 1)
    submit(new_team(tiny, "Sirocco"), {"one": GOOD}, 1)
    return tiny


def evaluation(tiny):
    return Phase.objects.select_related("shared_task").get(shared_task=tiny, slug="evaluation")


def due(at):
    """Return the slugs of the rankings to compare."""
    keys = [pk for work in find_board_work(at) for pk in work.combine]
    return set(CombinedBoard.objects.filter(pk__in=keys).values_list("slug", flat=True))


def compare_boards(tiny, at=RELEASE):
    boards = Board.objects.filter(phase=evaluation(tiny), gold__isnull=False)
    for board in boards.select_related("track__shared_task", "phase__shared_task", "gold"):
        compare_board(board, at)


def compare(tiny, at=RELEASE):
    """Do all pending work on the phase's boards and rankings."""
    compare_boards(tiny, at)
    due(at)
    for row in CombinedBoard.objects.select_related("phase__shared_task"):
        compare_combined(row, at)


def shown(tiny, viewer=STRANGER, at=RELEASE, slug="mean"):
    found = overall(list(tiny.tracks.all()), evaluation(tiny), viewer, at).combined
    return next((one for one in found if one.rule.slug == slug), None)


@pytest.mark.slow
def test_a_mean_score_has_intervals_and_groups_from_the_background(ranked):
    assert shown(ranked).comparison is None
    compare(ranked)
    mean, whole = shown(ranked), shown(ranked, slug="whole")
    assert [row.team for row in mean.rows] == ["Ostro", "Sirocco", "Meltemi"]
    for one in (mean, whole):
        assert all(row.interval[0] <= row.value <= row.interval[1] for row in one.rows)
        assert {row.group for row in one.rows} == {"A"}  # with only four items, no differences are found
        assert {(row.rank_low, row.rank_high) for row in one.rows} == {(1, len(one.rows))}
        assert [row.bounds.words for row in one.rows[1:]] == ["not distinguishable from the best"] * (len(one.rows) - 1)
        assert (one.rows[0].bracket, one.rows[-1].bracket) == ("first", "last")
        assert (one.comparison.rounds, one.comparison.level) == (10_000, 0.95)
    assert [row.team for row in whole.rows] == ["Ostro", "Meltemi"]
    # Sirocco's interval in track one, and 0 in the other track
    board = overall(list(ranked.tracks.all()), evaluation(ranked), STRANGER, RELEASE).boards[0]
    (low, high) = next(row.interval for row in board.rows if row.team == "Sirocco")
    assert mean.rows[1].interval == pytest.approx((0.75 * low, 0.75 * high))
    points = shown(ranked, slug="points")
    assert points.comparison is None
    assert {(row.interval, row.group) for row in points.rows} == {(None, "")}
    assert not CombinedBoard.objects.filter(slug="points").exists()


@pytest.mark.slow
def test_what_is_compared_when(ranked):
    assert due(EVALUATION) == set()  # open and hidden, so no one can see it
    assert due(RELEASE) == set()  # the boards come first
    compare_boards(ranked)
    assert due(RELEASE) == {"mean", "whole"}
    for pk in CombinedBoard.objects.values_list("pk", flat=True):
        refresh_combined(str(pk))
    rows = {row.slug: row for row in CombinedBoard.objects.all()}
    assert rows["mean"].comparison["intervals"]
    assert due(RELEASE + MINUTE) == set()
    submit(new_team(ranked, "Levante"), {"one": GOOD, "two": GOOD}, 1)
    compare_boards(ranked, RELEASE + 3 * MINUTE)
    CombinedBoard.objects.update(compared_at=RELEASE + 3 * MINUTE)
    assert due(RELEASE + 3 * MINUTE) == set()  # just compared
    assert due(RELEASE + 5 * MINUTE) == {"mean", "whole"}
    CombinedBoard.objects.update(busy_until=RELEASE + 6 * MINUTE)
    assert due(RELEASE + 5 * MINUTE) == set()  # a worker holds them
    CombinedBoard.objects.update(busy_until=None)
    (before,) = CombinedBoard.objects.filter(slug="mean").values_list("revision", flat=True)
    compare(ranked, RELEASE + 6 * MINUTE)
    assert CombinedBoard.objects.get(slug="mean").revision == before + 1
    Board.objects.all().changed()
    compare(ranked, RELEASE + 8 * MINUTE)  # nothing has changed
    assert CombinedBoard.objects.get(slug="mean").revision == before + 1


@pytest.mark.slow
def test_they_are_not_shown_with_other_runs_rules_or_gold(ranked):
    compare(ranked)
    submit(ranked.teams.get(name="Meltemi"), {"one": GOOD}, 2)
    mean = shown(ranked)
    intervals = {row.team: row.interval for row in mean.rows}
    assert not mean.has_groups
    assert intervals["Meltemi"] is None
    assert intervals["Ostro"]
    compare(ranked, RELEASE + 2 * MINUTE)
    assert shown(ranked).has_groups
    row = CombinedBoard.objects.get(slug="mean")
    for change in ({"rule": [["one", "two"], [1, 1], "zero"]}, {"boards": {}}):
        CombinedBoard.objects.filter(slug="mean").update(comparison=row.comparison | change)
        assert shown(ranked).comparison is None
    impossible = row.comparison | {"intervals": {}, "groups": {}, "ranking": {}}
    CombinedBoard.objects.filter(slug="mean").update(comparison=impossible)
    assert [(row.rank, row.bounds) for row in shown(ranked).rows] == [(1, None), (2, None), (3, None)]
    assert "no confidence intervals, because the tracks share" in shown(ranked).missing_bounds
    failed = {key: value for key, value in row.comparison.items() if key not in ("intervals", "groups", "ranking")}
    CombinedBoard.objects.filter(slug="mean").update(comparison=failed)
    assert shown(ranked).missing_bounds == "Intervals could not be computed for these runs."


@pytest.mark.slow
def test_a_ranking_that_is_gone_is_deleted(ranked):
    compare(ranked)
    CombinedBoard.objects.filter(slug="mean").update(slug="former")
    compare(ranked)
    assert not CombinedBoard.objects.filter(slug="former").exists()


@pytest.mark.slow
def test_the_page_the_exports_and_the_paper_files_show_them(ranked, client):
    compare(ranked)
    low, high = shown(ranked).rows[0].interval
    text = client.get(PAGE).content.decode()
    assert text.count("95% interval</th>") + text.count("95% interval<svg") == 2
    assert f'aria-label="{low:.4f} to {high:.4f}"' in text
    assert mean_ranks_note(4) in text
    assert text.count('<span class="bounds">(1–3)</span>') == 3
    table = client.get(f"{PAGE}&format=csv").content.decode().splitlines()
    head = table[0].split(",")
    row = dict(zip(head, next(line for line in table if line.startswith("Ostro")).split(","), strict=True))
    assert (float(row["overall mean low"]), float(row["overall mean high"])) == (low, high)
    assert [row[f"overall mean {name}"] for name in ("rank low", "rank high", "tie group")] == ["1", "3", "A"]
    assert "overall points low" not in head
    for address in (f"{PAGE}&format=json", "/api/v1/tasks/tiny/leaderboards?phase=evaluation"):
        answer = client.get(address).json()
        (mean,) = [one for one in answer["overall"] if one["slug"] == "mean"]
        assert mean["intervals"] == {"level": 0.95, "rounds": 10_000, "seed": 1}
        assert (mean["rows"][0]["interval"], mean["rows"][0]["tie_group"]) == ([low, high], "A")
        assert (mean["rows"][0]["rank_low"], mean["rows"][0]["rank_high"]) == (1, 3)
    entries = pack_of(ranked)
    assert f"{low:.4f} to {high:.4f} & a" in entries.read("tables/overall-mean.tex").decode()


@pytest.mark.slow
def test_nothing_is_shown_before_the_release(ranked, client):
    compare(ranked)
    found = CombinedBoard.objects.get(slug="mean").comparison["intervals"].values()
    bounds = {bound for ends in found for bound in ends}
    secrets = {str(bound) for bound in bounds} | {f"{bound:.4f} to" for bound in bounds}
    ranked.phases.update(released=None)
    organizer = organizer_of(ranked)
    before = RELEASE - timedelta(days=1)
    assert list(CombinedBoard.objects.visible_to(STRANGER, before)) == []
    assert CombinedBoard.objects.visible_to(organizer, before).count() == 2
    assert shown(ranked, at=before) is None or not shown(ranked, at=before).rows
    assert shown(ranked, organizer, before).comparison is not None
    for address in (
        PAGE,
        f"{PAGE}&format=json",
        f"{PAGE}&format=csv",
        "/api/v1/tasks/tiny/leaderboards?phase=evaluation",
    ):
        text = client.get(address).content.decode()
        assert not [one for one in secrets if one in text]


@pytest.mark.slow
def test_nothing_is_shown_while_scores_are_shown_in_steps(ranked):
    compare(ranked)
    ranked.phases.update(ladder_step=0.05, closes=None)
    assert list(CombinedBoard.objects.visible_to(STRANGER, RELEASE)) == []
    assert json.dumps([row.interval for row in shown(ranked).rows]).count("null") == len(shown(ranked).rows)
