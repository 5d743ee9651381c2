"""All released leaderboards, and the latest one on the home page."""

from django.test import Client

from portal.models import Board, Phase, SharedTask, Team
from portal.queries.boards.releases import keep_release
from tests.portal.remembered import remembered
from tests.portal.web.conftest import Clock
from tests.portal.world import (
    EVALUATION,
    GOOD,
    MILLISECOND,
    POOR,
    RELEASE,
    captain,
    queries,
    send_run,
    with_teams,
    work_off,
)


@remembered
def field(tiny: SharedTask) -> SharedTask:
    """Two teams in a phase whose scores are released at RELEASE."""
    with_teams(tiny, {"Notus": GOOD, "Auster": POOR})
    tiny.phases.filter(slug="evaluation").update(released=RELEASE)
    return tiny


def found(**choice: str) -> list[str]:
    lines = Client().get("/results/", choice).context["found"].page
    return [f"{line.board.track.slug} {line.board.phase.slug}" for line in lines]


def test_leaderboards_are_listed_from_their_release_on(field: SharedTask, at: Clock) -> None:
    at(RELEASE - MILLISECOND)
    assert found() == []
    assert "Leaderboards appear here as soon as" in Client().get("/results/").content.decode()
    at(RELEASE)
    assert found() == ["one evaluation"]
    assert 'href="/tasks/tiny/leaderboard/one/?phase=evaluation"' in Client().get("/results/").content.decode()
    assert 'href="/results/"' in Client().get("/guide/").content.decode()
    SharedTask.objects.update(state=SharedTask.State.HIDDEN)
    assert found() == []


def test_they_are_found_by_task_metric_language_and_team(field: SharedTask, at: Clock) -> None:
    at(RELEASE)
    for words in ("tiny", "Track ONE", "accuracy", "notus", "tiny notus"):
        assert found(search=words) == ["one evaluation"], words
    for words in ("three", "spearman", "zephyr", "tiny zephyr"):
        assert found(search=words) == [], words
    language = field.languages[0]
    assert found(language=language) == ["one evaluation"]
    assert found(language="xx") == []
    assert "No leaderboards match your search." in Client().get("/results/", {"search": "zephyr"}).content.decode()


def test_names_that_boards_hide_are_not_found(field: SharedTask, at: Clock) -> None:
    at(RELEASE)
    hidden = {"scores": "at-once", "released": None, "team_names": "hidden-until-release"}
    Phase.objects.filter(slug="evaluation").update(**hidden)
    assert found() == found(search="tiny") == ["one evaluation"]
    assert found(search="notus") == []
    Phase.objects.filter(slug="evaluation").update(team_names="shown")
    assert found(search="notus") == ["one evaluation"]
    Team.objects.filter(name="Notus").update(state=Team.State.WITHDRAWN, withdrawn_at=EVALUATION)
    assert found(search="notus") == []


def test_more_boards_take_no_more_statements(field: SharedTask, at: Clock) -> None:
    at(RELEASE)
    before = queries(lambda: Client().get("/results/"))
    board = Board.objects.get(track__slug="one", phase__slug="evaluation")
    assert board.gold is not None
    Phase.objects.filter(slug="post").update(scores="at-once", opens=EVALUATION)
    send_run(Team.objects.get(name="Notus"), GOOD, 1, RELEASE, "post")
    work_off(RELEASE)
    assert len(found()) == 2
    assert queries(lambda: Client().get("/results/")) == before


def test_visitors_see_the_latest_results_on_the_home_page(field: SharedTask, at: Clock) -> None:
    at(RELEASE - MILLISECOND)
    assert "Latest results" not in Client().get("/").content.decode()
    at(RELEASE)
    keep_release(Board.objects.get(track__slug="one", phase__slug="evaluation"), RELEASE)
    text = Client().get("/").content.decode()
    assert "Latest results" in text
    assert text.index("Notus") < text.index("Auster")
    assert "0.7500" in text
    client = Client()
    client.force_login(captain(Team.objects.get(name="Notus")))
    assert "Latest results" not in client.get("/").content.decode()
    Phase.objects.filter(slug="evaluation").update(released=None, taken_back=RELEASE)
    assert "Latest results" not in Client().get("/").content.decode()
