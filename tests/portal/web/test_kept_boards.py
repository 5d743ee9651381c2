"""Cached boards: fast for everyone, never outdated, and never shown to the wrong reader."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import caches
from django.db import connection
from django.test import Client

from portal.actions.runs import choose_official_run, describe_run, withdraw_run
from portal.actions.scores import rescore
from portal.models import Board, ExtraTime, Phase, Run, SharedTask, Team, User
from portal.models.clock import database_now
from tests.portal.remembered import remembered
from tests.portal.world import EVALUATION, GOOD, PERFECT, POOR, POST, captain, person, queries, send_run, work_off

pytestmark = pytest.mark.postgres

HOUR = timedelta(hours=1)
ONE = "/tasks/tiny/leaderboard/one/?phase=evaluation"
ADDRESSES = [ONE, f"{ONE}&format=csv", f"{ONE}&format=json", "/tasks/tiny/leaderboard/?phase=evaluation"]


@remembered
def runs(meltemi: Team) -> list[Run]:
    """Three scored runs in a released phase with a public board."""
    for number, values in enumerate([GOOD, PERFECT, POOR], start=1):
        send_run(meltemi, values, number, EVALUATION)
    work_off(EVALUATION)
    return list(Run.objects.filter(team=meltemi).order_by("number"))


def text_of(answer: Any) -> str:
    """Return the page without the places where file names may break."""
    return answer.content.decode().replace("<wbr>", "")


@pytest.mark.slow
def test_the_second_reader_gets_the_same_page_for_one_question(anybody: Client, runs: list[Run]) -> None:
    first = anybody.get(ONE)
    assert "one_Meltemi_3.json" in text_of(first)
    assert queries(lambda: anybody.get(ONE)) == 1
    second = Client().get(ONE)
    assert (second.content, second["ETag"]) == (first.content, first["ETag"])
    assert second["Content-Security-Policy"] == first["Content-Security-Policy"]


def test_a_first_view_after_a_change_needs_few_statements(anybody: Client, runs: list[Run]) -> None:
    anybody.get(ONE)
    Board.objects.changed()
    assert queries(lambda: anybody.get(ONE)) <= 14


def test_a_browser_that_has_the_page_gets_304(anybody: Client, runs: list[Run]) -> None:
    etag = anybody.get(ONE)["ETag"]
    for known in (etag, f"W/{etag}"):
        again = anybody.get(ONE, headers={"If-None-Match": known})
        assert (again.status_code, again.content, again["ETag"]) == (304, b"", etag)
        assert again["Cache-Control"] == "no-cache"


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_closed_database_connection_breaks_no_page(anybody: Client, runs: list[Run]) -> None:
    anybody.get(ONE)
    if connection.vendor == "postgresql":  # SQLite has no connection to lose
        connection.connection.close()
    assert anybody.get(ONE).status_code == 200


@pytest.mark.parametrize("address", ADDRESSES)
def test_what_was_kept_is_gone_when_the_scores_are_hidden_again(
    anybody: Client, tiny: SharedTask, runs: list[Run], address: str
) -> None:
    public = anybody.get(address)
    for released in (None, database_now() + HOUR):
        tiny.phases.filter(slug="evaluation").update(released=released)
        hidden = anybody.get(address, headers={"If-None-Match": public["ETag"]})
        text = hidden.content.decode()
        assert hidden.status_code == 200
        assert "ETag" not in hidden
        assert "no-store" in hidden["Cache-Control"]
        assert "Meltemi" not in text
        assert "0.25" not in text


@pytest.mark.parametrize("address", ADDRESSES)
def test_what_was_hidden_is_not_kept_and_all_paths_flip_together(
    anybody: Client, tiny: SharedTask, runs: list[Run], address: str
) -> None:
    tiny.phases.filter(slug="evaluation").update(released=database_now() + HOUR)
    assert "Meltemi" not in anybody.get(address).content.decode()
    assert not caches["boards"]._cache  # type: ignore[attr-defined]
    tiny.phases.filter(slug="evaluation").update(released=database_now())
    assert "Meltemi" in anybody.get(address).content.decode()


@pytest.mark.slow
def test_what_organizers_see_early_is_not_kept(
    anybody: Client, organizer: Client, tiny: SharedTask, runs: list[Run]
) -> None:
    tiny.phases.filter(slug="evaluation").update(released=None)
    assert "one_Meltemi_3.json" in text_of(organizer.get(ONE))
    assert not caches["boards"]._cache  # type: ignore[attr-defined]
    assert "Meltemi" not in anybody.get(ONE).content.decode()


@pytest.mark.slow
def test_only_members_see_their_own_row(anybody: Client, runs: list[Run], sender: Client, stranger: Client) -> None:
    assert "your team" in sender.get(ONE).content.decode()
    assert all("your team" not in reader.get(ONE).content.decode() for reader in (anybody, stranger))
    assert sender.get(ONE)["Cache-Control"] == "private, no-store"


CHANGES: dict[str, Callable[[User, Run], object]] = {
    "chosen": lambda user, run: choose_official_run(user, run, EVALUATION),
    "withdrawn": lambda user, run: withdraw_run(user, run, EVALUATION, reason="wrong"),
    "described": lambda user, run: describe_run(user, run, EVALUATION, method="XLM-T"),
    "scored": lambda user, run: (send_run(run.team, GOOD, 1, POST, "post"), work_off(POST)),
    "renamed": lambda user, run: Phase.objects.filter(pk=run.phase_id).update(title="Final"),
    "another rule": lambda user, run: Phase.objects.filter(pk=run.phase_id).update(official="best"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_of_a_board_changes_its_name(anybody: Client, runs: list[Run], change: str) -> None:
    address = ONE.replace("evaluation", "post") if change == "scored" else ONE
    before = anybody.get(address)["ETag"]
    CHANGES[change](captain(runs[0].team), runs[0])
    assert anybody.get(address)["ETag"] != before


def test_a_board_is_open_until_the_last_extra_time_has_ended(
    anybody: Client, tiny: SharedTask, runs: list[Run]
) -> None:
    now = database_now()
    phase = tiny.phases.get(slug="evaluation")
    tiny.phases.filter(pk=phase.pk).update(scores="at-once", closes=now - HOUR)
    over = anybody.get(ONE)
    extra_time = ExtraTime.objects.create(
        phase=phase, until=now + HOUR, granted_by=captain(runs[0].team), granted_at=now
    )
    extended = anybody.get(ONE)
    assert ("Final" in over.content.decode(), "Open" in extended.content.decode()) == (True, True)
    assert "Final" not in extended.content.decode()
    ExtraTime.objects.filter(pk=extra_time.pk).update(until=now)
    assert anybody.get(ONE)["ETag"] == over["ETag"] != extended["ETag"]


def test_new_gold_shows_at_once_that_runs_are_scored_again(anybody: Client, tiny: SharedTask, runs: list[Run]) -> None:
    before = Board.objects.get(track__slug="one", phase__slug="evaluation").revision
    run = Run.objects.get(pk=runs[0].pk)
    assert "Rescoring" not in anybody.get(ONE).content.decode()
    rescore(None, tiny, POST, reason="to see the same bits")
    assert Board.objects.get(track=run.track, phase=run.phase).revision > before


def test_a_name_that_is_not_ours_gets_nothing_that_was_kept(anybody: Client, runs: list[Run]) -> None:
    assert anybody.get(ONE).status_code == 200
    assert anybody.get(ONE, headers={"Host": "evil.example"}).status_code == 400


def test_addresses_that_are_too_long_are_not_kept(anybody: Client, runs: list[Run]) -> None:
    anybody.get(f"{ONE}&search={'x' * 500}")
    assert not caches["boards"]._cache  # type: ignore[attr-defined]


def test_addresses_that_ask_the_same_share_a_board_and_others_fill_nothing(anybody: Client, runs: list[Run]) -> None:
    first, again = anybody.get(f"{ONE}&runs=all&search=x"), anybody.get(f"{ONE}&search=x&runs=all")
    assert first["ETag"] == again["ETag"]
    kept = len(caches["boards"]._cache)  # type: ignore[attr-defined]
    assert "utm=1" in anybody.get(f"{ONE}&utm=1").content.decode()  # the page's links keep the parameter
    assert len(caches["boards"]._cache) == kept  # type: ignore[attr-defined]


@pytest.mark.slow
def test_large_boards_are_not_kept(anybody: Client, newcomer: Client, runs: list[Run], monkeypatch: Any) -> None:
    monkeypatch.setattr("portal.web.board_cache._LARGEST", 100)
    assert (anybody.get(ONE).status_code, newcomer.get(ONE).status_code) == (200, 200)
    assert not caches["boards"]._cache  # type: ignore[attr-defined]


@pytest.mark.slow
def test_people_without_a_part_in_it_share_one_table(
    newcomer: Client, sign_in: Callable[[User], Client], runs: list[Run]
) -> None:
    newcomer.get(ONE)
    kept = len(caches["boards"]._cache)  # type: ignore[attr-defined]
    sign_in(person("Another")).get(ONE)
    assert len(caches["boards"]._cache) == kept == 1  # type: ignore[attr-defined]
