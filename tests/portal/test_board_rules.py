"""What a board has besides scores: ties, aliases, intervals and tie groups, dates, and overall rankings."""

from datetime import timedelta

import pytest

from portal.actions.approval import approve_team, decline_team
from portal.actions.papers import set_paper
from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.actions.teams import ask_again, withdraw_team
from portal.evaluation.compare import METHOD, boards_to_refresh, compare_board
from portal.models import Board, Evaluation, Phase, Run, Team
from portal.queries.boards.overall import Placement, combined, overall
from portal.queries.boards.ties import letter
from portal.queries.boards.whiskers import scale
from portal.queries.runs import official_runs_of, team_runs
from scoring.definition import Overall
from tests.portal.remembered import remembered
from tests.portal.world import (
    EVALUATION,
    GOOD,
    MILLISECOND,
    PERFECT,
    POOR,
    POST,
    RELEASE,
    STRANGER,
    board,
    captain,
    copy_of,
    new_team,
    organizer_of,
    pack_of,
    ranked,
    scored,
    send_run,
    with_teams,
    work_off,
)

pytestmark = pytest.mark.postgres

DAY = timedelta(days=1)


@remembered
def field(tiny):
    return with_teams(tiny, {"Ostro": PERFECT, "Meltemi": GOOD, "Sirocco": POOR})


def with_rule(folder, rule):
    path = folder / "task.yaml"
    path.write_text(path.read_text().replace("rank_by: accuracy\n", f"rank_by: accuracy\n    {rule}\n", 1))
    return import_shared_task(None, folder, EVALUATION).shared_task


@pytest.mark.parametrize(
    ("rule", "ranks"),
    [("ties: exact", [1, 2, 2]), ("ties: rounded", [1, 1, 1]), ("ties: earlier", [1, 2, 3])],
)
def test_ties_by_the_tracks_rule(tiny_folder, db, rule, ranks):
    tiny = with_rule(tiny_folder, rule)
    run = scored(new_team(tiny, "Ostro"), {"accuracy": 0.50004}, EVALUATION)
    for name in ("Meltemi", "Sirocco"):
        copy_of(run, new_team(tiny, name), {"accuracy": 0.50001})
    assert [rank for rank, _team in ranked(board(tiny, RELEASE))] == ranks


@pytest.mark.slow
def test_teams_have_aliases_until_the_release(tiny):
    phases = tiny.phases.filter(slug="post")
    phases.update(team_names=Phase.TeamNames.ON_RELEASE, released=POST + DAY)
    for name, values in {"Ostro": GOOD, "Meltemi": POOR}.items():
        send_run(new_team(tiny, name), values, 1, POST, "post")
    work_off(POST)
    meltemi = captain(tiny.teams.get(name="Meltemi"))
    before, own, after = (
        board(tiny, POST, "post", baselines=False),
        board(tiny, POST, "post", baselines=False, viewer=meltemi),
        board(tiny, POST + DAY, "post", baselines=False),
    )
    assert before.has_aliases
    assert not [row for row in before.rows if "Ostro" in f"{row.team}{row.name}" or not row.team.startswith("Team ")]
    assert [row.team for row in own.rows] == [before.rows[0].team, "Meltemi"]
    assert ranked(after) == [(1, "Ostro"), (2, "Meltemi")]
    assert board(tiny, POST, "post", search="Ostro", baselines=False).rows == []


def compared(shared_task):
    found = Board.objects.select_related("track__shared_task", "phase__shared_task", "gold").get(
        track__slug="one", phase__slug="evaluation"
    )
    compare_board(found, RELEASE)
    return board(shared_task, RELEASE)


@pytest.mark.slow
def test_intervals_and_groups_come_from_the_background_and_stay(field):
    assert board(field, RELEASE).comparison is None
    shown = compared(field)
    teams = [row for row in shown.rows if row.kind == "team"]
    assert all(row.interval[0] <= row.scores["accuracy"] <= row.interval[1] for row in teams)
    # With only four items, all runs are tied.
    assert [(row.group, row.bracket) for row in teams] == [("A", "first"), ("A", "middle"), ("A", "last")]
    assert (shown.comparison.rounds, shown.comparison.level) == (10_000, 0.95)
    first = Board.objects.get(track__slug="one", phase__slug="evaluation").comparison
    compared(field)
    assert Board.objects.get(track__slug="one", phase__slug="evaluation").comparison == first


def test_each_group_has_its_letter_and_bracket(field):
    compared(field)
    found = Board.objects.get(track__slug="one", phase__slug="evaluation")
    last = max(found.comparison["groups"], key=lambda pk: Evaluation.objects.get(pk=pk).rank_key)
    found.comparison["groups"][last] = 2
    found.save()
    teams = [row for row in board(field, RELEASE).rows if row.kind == "team"]
    assert [(row.group, row.bracket) for row in teams] == [("A", "first"), ("A", "last"), ("B", "only")]


def test_another_method_compares_again_but_for_released_scores(field):
    """When the method changes, boards are compared again, except released ones, which must not change."""
    compared(field)
    mine = Board.objects.filter(track__slug="one", phase__slug="evaluation")
    made = mine.get().comparison
    assert made["method"] == METHOD
    older = {key: value for key, value in made.items() if key != "method"}
    mine.update(comparison=older)
    assert board(field, RELEASE).comparison.method == 1
    compared(field)
    assert mine.get().comparison == older
    field.phases.filter(slug="evaluation").update(released=None)
    compared(field)
    assert mine.get().comparison == made


def test_groups_are_gone_as_soon_as_another_run_counts(field):
    assert compared(field).has_groups
    send_run(new_team(field, "Levante"), GOOD, 1, EVALUATION)
    work_off(EVALUATION)
    assert not board(field, RELEASE).has_groups


@pytest.mark.slow
def test_what_is_compared_when(field):
    def due(at):
        return set(
            Board.objects.filter(pk__in=boards_to_refresh(Board.objects.all(), at)).values_list(
                "track__slug", "phase__slug"
            )
        )

    assert ("one", "evaluation") not in due(EVALUATION)  # open and hidden, so no one can see it
    assert ("one", "evaluation") in due(RELEASE)
    compared(field)
    assert ("one", "evaluation") in due(RELEASE)  # released, but not saved yet
    Board.objects.filter(phase__slug="evaluation").update(gold=None)
    assert ("one", "evaluation") not in due(RELEASE)


def test_whiskers_share_a_scale_with_round_ticks(field):
    shown = compared(field)
    found = scale(shown.rows)
    assert found.low < found.ticks[0] < found.ticks[-1] <= 1 < found.high
    assert [letter(group) for group in (1, 26, 27, 703)] == ["A", "Z", "AA", "AAA"]


@pytest.mark.slow
def test_the_board_as_of_a_moment(tiny):
    team = new_team(tiny, "Meltemi")
    send_run(team, POOR, 1, EVALUATION)
    send_run(team, GOOD, 2, EVALUATION + DAY)
    work_off(EVALUATION + DAY)

    def value(until):
        return [row.scores["accuracy"] for row in board(tiny, RELEASE, baselines=False, until=until).rows]

    assert (value(EVALUATION - MILLISECOND), value(EVALUATION), value(None)) == ([], [0.25], [0.75])


def teams_at(tiny, at):
    return [row.team for row in board(tiny, at).rows if row.kind == "team"]


def decline(tiny, name, at):
    organizer = organizer_of(tiny, "Oana")
    team = tiny.teams.get(name=name)
    decline_team(organizer, team, at, reason="No such lab.")
    return organizer, team


@pytest.mark.slow
def test_a_declined_team_is_on_no_board_that_is_not_released_until_it_is_approved(field):
    before = Board.objects.get(track__slug="one", phase__slug="evaluation").revision
    _organizer, team = decline(field, "Ostro", EVALUATION)
    assert Board.objects.get(track__slug="one", phase__slug="evaluation").revision > before
    assert teams_at(field, RELEASE) == ["Meltemi", "Sirocco"]
    team.refresh_from_db()
    ask_again(captain(team), team, EVALUATION, answers={})
    assert teams_at(field, RELEASE) == ["Meltemi", "Sirocco"]
    withdraw_team(captain(team), team, EVALUATION)
    assert teams_at(field, RELEASE) == ["Meltemi", "Sirocco"]
    withdraw_team(captain(field.teams.get(name="Meltemi")), field.teams.get(name="Meltemi"), EVALUATION)
    assert teams_at(field, RELEASE) == ["Sirocco"]


def test_who_is_approved_after_all_is_on_the_board_again(field):
    organizer, team = decline(field, "Ostro", EVALUATION)
    approve_team(organizer, team, EVALUATION)
    assert teams_at(field, RELEASE) == ["Ostro", "Meltemi", "Sirocco"]


def test_what_was_released_with_a_team_stays(field):
    decline(field, "Ostro", RELEASE)
    assert teams_at(field, RELEASE) == ["Ostro", "Meltemi", "Sirocco"]


def test_runs_by_type_of_system(field):
    field.teams.get(name="Meltemi").runs.update(system_type="tuned")
    assert ranked(board(field, RELEASE, baselines=False, system="tuned")) == [(2, "Meltemi")]


def test_teams_with_a_paper_keep_their_ranks(field):
    meltemi = field.teams.get(name="Meltemi")
    set_paper(captain(meltemi), meltemi, RELEASE, link="https://meltemi.example/paper")
    assert ranked(board(field, RELEASE, baselines=False)) == [(1, "Ostro"), (2, "Meltemi"), (3, "Sirocco")]
    assert ranked(board(field, RELEASE, baselines=False, papers=True)) == [(2, "Meltemi")]
    assert {row.kind for row in board(field, RELEASE, papers=True).rows} > {"team"}


def test_papers_do_not_reveal_who_is_behind_an_alias(field):
    meltemi = field.teams.get(name="Meltemi")
    set_paper(captain(meltemi), meltemi, RELEASE, link="https://meltemi.example/paper")
    field.phases.update(team_names=Phase.TeamNames.ON_RELEASE, released=POST + DAY, scores=Phase.Scores.AT_ONCE)
    rows = [row.team for row in board(field, EVALUATION, baselines=False, papers=True).rows]
    assert len(rows) == 3
    assert "Meltemi" not in rows


@pytest.mark.slow
def test_what_the_index_chooses_is_what_the_rule_says(tiny):
    """Leaderboards and teams' own pages choose the same run (see `portal.models.official`)."""
    team = new_team(tiny, "Meltemi")
    for number, values in enumerate([PERFECT, PERFECT, POOR], start=1):
        # the last two runs arrive at the same time
        send_run(team, values, number, EVALUATION + min(number, 2) * MILLISECOND)
    work_off(EVALUATION)

    def official(rule):
        tiny.phases.update(official=rule)
        phase = tiny.phases.get(slug="evaluation")
        found = Evaluation.objects.official(phase, tiny.tracks.get(slug="one").gold_standards.get(), tiny.scorer)
        (own,) = official_runs_of(team_runs(team, captain(team), RELEASE), captain(team), RELEASE)
        return [one.run.number for one in found], [own.run.number]

    assert official("best") == ([1], [1])  # the earlier of two equal runs
    assert official("last") == official("chosen") == ([3], [3])
    team.runs.filter(number=2).update(chosen_at=EVALUATION)
    assert official("chosen") == ([2], [2])
    team.runs.filter(number=2).update(withdrawn_at=EVALUATION)
    assert official("chosen") == ([3], [3])
    Evaluation.objects.filter(run__number=1).update(rank_key=None, scores={"accuracy": None})
    assert official("best") == ([3], [3])
    Evaluation.objects.update(rank_key=None, scores={"accuracy": None})
    assert official("best") == ([1], [1])


@pytest.mark.slow
def test_tracks_side_by_side(field):
    shown = overall(list(field.tracks.all()), field.phases.get(slug="evaluation"), STRANGER, RELEASE)
    assert [row.team for row in shown.rows] == ["Meltemi", "Ostro", "Sirocco"]
    assert [cell and (cell.rank, cell.is_first) for cell in shown.rows[1].cells] == [(1, True), None]
    hidden = overall(list(field.tracks.all()), field.phases.get(slug="evaluation"), STRANGER, EVALUATION)
    assert (hidden.visible, hidden.rows, hidden.combined) == (False, (), ())
    assert hidden.statistics.tracks == []


@pytest.mark.slow
def test_a_ranking_over_tracks_says_whose_it_is(tiny_folder, db, client):
    with (tiny_folder / "task.yaml").open("a") as file:
        file.write(
            "overall:\n  - {slug: all, title: Together, tracks: [one, two], by: borda, weights: [2, 0.5], "
            'note: "The portal\'s own."}\n'
            "  - {slug: mean, tracks: [one, two], by: mean-score, missing: zero}\n"
        )
    send_run(new_team(import_shared_task(None, tiny_folder, EVALUATION).shared_task, "Ostro"), GOOD, 1, EVALUATION)
    work_off(EVALUATION)
    team = Team.objects.get(name="Ostro")
    address = "/tasks/tiny/leaderboard/?phase=evaluation"
    text = client.get(address).content.decode()
    assert "Together" in text
    assert "The portal&#x27;s own." in text
    assert "Track weights: 2 : 0.5." in text
    assert text.count("your team") == 0
    table = client.get(f"{address}&format=csv").content.decode().splitlines()
    assert table[0].endswith(
        "two accuracy,overall all rank,overall all borda,overall mean rank,overall mean mean-score,"
        "overall mean low,overall mean high,overall mean rank low,overall mean rank high,overall mean tie group"
    )
    assert table[1] == "Ostro,1,0.75,,,1,0.0,1,0.375,,,,,"
    assert "A track in which a team has no ranked run counts as 0." in text
    answer = client.get(f"{address}&format=json").json()
    assert answer["rows"] == [{"team": "Ostro", "tracks": {"one": {"rank": 1, "value": 0.75}}}]
    nothing = {"interval": None, "rank_low": None, "rank_high": None, "tie_group": ""}
    assert answer["overall"][0]["rows"] == [{"rank": 1, "team": "Ostro", "value": 0.0, **nothing}]
    assert [(one["weights"], one["missing"]) for one in answer["overall"]] == [([2, 0.5], "unranked"), ([], "zero")]
    assert answer["tracks"][0]["gold_version"] == 1
    client.force_login(captain(team))
    assert client.get(address).content.decode().count("your team") == 3
    entries = pack_of(team.shared_task)
    assert "1 & Ostro & 0" in entries.read("tables/overall-all.tex").decode()
    assert "no ranked run counts as 0." in entries.read("tables/overall-mean.tex").decode()
    assert entries.read("data/overall.csv").decode().splitlines() == table
    assert rb"\input{tables/overall-all}" in entries.read("paper.tex")
    team.shared_task.phases.update(released=None)
    assert "Ostro" not in client.get(f"{address}&format=json").content.decode()


PLACES = {
    "A": {"x": Placement(1, 0.9, 3), "y": Placement(3, 0.1, 3)},
    "B": {"x": Placement(2, 0.5, 3), "y": Placement(1, 0.8, 3)},
    "C": {"x": Placement(3, 0.2, 3)},
    "D": {"y": Placement(2, 0.4, 3)},
}


@pytest.mark.parametrize(
    ("by", "weights", "expected"),
    [
        ("borda", (), [(1, "B", 3.0), (2, "A", 2.0), (3, "D", 1.0), (4, "C", 0.0)]),
        ("mean-rank", (), [(1, "B", 1.5), (2, "A", 2.0)]),
        ("mean-score", (), [(1, "B", 0.65), (2, "A", 0.5)]),
        ("borda", (3.0, 1.0), [(1, "A", 6.0), (2, "B", 5.0), (3, "D", 1.0), (4, "C", 0.0)]),
        ("mean-rank", (3.0, 1.0), [(1, "A", 1.5), (2, "B", 1.75)]),
        ("mean-score", (3.0, 1.0), [(1, "A", 0.7), (2, "B", 0.575)]),
    ],
)
def test_several_tracks_as_one(by, weights, expected):
    rule = Overall(slug="all", title="All", tracks=("x", "y"), by=by, weights=weights)
    rows = combined(rule, PLACES, high_is_good=True).rows
    assert [(row.rank, row.team, row.value) for row in rows] == [
        (rank, team, pytest.approx(value)) for rank, team, value in expected
    ]


@pytest.mark.parametrize(
    ("missing", "weights", "expected"),
    [
        ("unranked", (), [(1, "B", 0.65), (2, "A", 0.5)]),
        ("zero", (), [(1, "B", 0.65), (2, "A", 0.5), (3, "D", 0.2), (4, "C", 0.1)]),
        ("skip", (), [(1, "B", 0.65), (2, "A", 0.5), (3, "D", 0.4), (4, "C", 0.2)]),
        ("zero", (3.0, 1.0), [(1, "A", 0.7), (2, "B", 0.575), (3, "C", 0.15), (4, "D", 0.1)]),
        ("skip", (3.0, 1.0), [(1, "A", 0.7), (2, "B", 0.575), (3, "D", 0.4), (4, "C", 0.2)]),
    ],
)
def test_a_track_without_a_ranked_run_counts_as_declared(missing, weights, expected):
    rule = Overall(slug="all", title="All", tracks=("x", "y"), by="mean-score", weights=weights, missing=missing)
    rows = combined(rule, PLACES | {"E": {"z": Placement(1, 0.9, 1)}}, high_is_good=True).rows
    assert [(row.rank, row.team, row.value) for row in rows] == [
        (rank, team, pytest.approx(value)) for rank, team, value in expected
    ]


def test_database_and_run_agree_on_which_runs_can_be_official(tiny):
    track, phase = tiny.tracks.get(slug="one"), tiny.phases.get(slug="evaluation")
    common = {"kind": Run.Kind.BASELINE, "track": track, "phase": phase, "received_at": EVALUATION}
    Run.objects.bulk_create(
        Run(name=f"{state} {withdrawn_at}", state=state, withdrawn_at=withdrawn_at, **common)
        for state in Run.State
        for withdrawn_at in (None, EVALUATION)
    )
    runs = list(Run.objects.filter(track=track, phase=phase))
    eligible = {run for run in runs if run.is_eligible}
    assert {run.state for run in eligible} == {"received", "checking", "valid", "scored", "unscorable"}
    assert set(Run.objects.filter(track=track, phase=phase).eligible()) == eligible
