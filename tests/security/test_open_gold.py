"""Gold of individual items: it is on no page and in no export while a phase with these items accepts runs.

The gold of each item is a range of characters whose offsets appear nowhere else.
"""

import io
import re
import zipfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.cache import caches
from django.http.response import HttpResponseBase
from django.urls import reverse

from portal.evaluation.compare import compare_board
from portal.evaluation.items import boards_to_publish, publish_items
from portal.models import Board, GoldItems, Phase, RunItems, SharedTask
from portal.models.clock import database_now
from tests.portal.remembered import remembered
from tests.portal.world import EVALUATION, send, work_off
from tests.security.conftest import World
from tests.security.pages import address_of
from tests.security.test_access import OWN_NAMES

ITEMS = ("a", "b", "c", "d")
GOLD = {item: 7_314_150 + 1000 * number for number, item in enumerate(ITEMS)}  # the first marked character
FIRST = re.compile(rb"(?<![\d.])(?:" + b"|".join(str(first).encode() for first in GOLD.values()) + rb")(?!\d)")
ROLES = ("anonymous", "captain", "organizer")
METRIC = "metrics: [span_f1]\n    rank_by: span_f1"
LABELS = 'format: {kind: json-labels, classes: ["YES", "NO"]}'


def spans(marked: dict[str, int]) -> str:
    return "".join(f"{item}\t[{first}, {first + 1}]\n" for item, first in marked.items())


@pytest.fixture
def gated_folder(gated_folder: Path) -> Path:
    """A task whose track one uses spans, publishes its items' gold, and accepts runs for another year."""
    path = gated_folder / "task.yaml"
    text = path.read_text().replace(LABELS, "format: {kind: spans}", 1)
    text = text.replace(
        'metrics: [accuracy, f1_macro, "f1:YES"]\n    rank_by: accuracy', "metrics: [span_f1]\n    rank_by: span_f1"
    )
    text = text.replace("file: gold/one.json}", "file: gold/one.json, published: true}")
    closes = (database_now() + timedelta(days=365)).strftime("%Y-%m-%d 00:00 UTC")
    path.write_text(
        text.replace(
            'opens: "2024-06-01 00:00 UTC", split: test',
            f'opens: "2024-06-01 00:00 UTC", closes: "{closes}", split: test',
        )
    )
    (gated_folder / "gold/one.json").write_text(spans(GOLD))
    (gated_folder / "baselines/one_yes.json").write_text(spans(dict.fromkeys(ITEMS, 3)))
    return gated_folder


@remembered
def scored(world: World, gated: SharedTask) -> World:
    """The world with scored runs from two teams in both phases, the first of which has been released."""
    for team in (world.bora, gated.teams.get(name="Notus")):
        for phase, at in (("evaluation", EVALUATION), ("post", database_now())):
            body = spans(dict.fromkeys(ITEMS, 5)).encode()
            run = send(team, f"one_{team.name}_3.json", body, at, phase).runs.get()
            if team == world.bora and phase == "post":
                world.run = run
    work_off(database_now())
    look_after_boards()
    assert world.run.evaluations.exists()
    return world


def look_after_boards() -> None:
    """Run the bulk worker's jobs for boards and items."""
    boards = Board.objects.select_related("track__shared_task", "phase__shared_task", "gold")
    for board in boards.filter(gold__isnull=False):
        compare_board(board, database_now())
    while due := boards_to_publish(Board.objects.all(), database_now()):
        for board in boards.filter(pk__in=due):
            publish_items(board, database_now())


def addresses(world: World) -> Iterator[str]:
    """Yield each of the portal's own URLs, including the filters and formats of pages about runs."""
    yield from (address_of(world, name) for name in OWN_NAMES if name != "account_logout")
    scored = Board.objects.get(track__slug="one", track__shared_task__slug="gated", phase__slug="post")
    for phase in ("evaluation", "post"):
        board = reverse("leaderboard", args=["gated", "one"]) + f"?phase={phase}&runs=all"
        yield from (board, f"{board}&format=csv", f"{board}&format=json")
        for page in ("insights", "compare"):
            teams = "&run=Bora&run=Notus&items=all" if page == "compare" else ""
            yield reverse(page, args=["gated", "one"]) + f"?phase={phase}{teams}"
        overall = reverse("leaderboards", args=["gated"]) + f"?phase={phase}"
        yield from (overall, f"{overall}&format=csv", f"{overall}&format=json")
        yield reverse("paper", args=["gated", phase])
    for run in scored.track.runs.all():
        yield from (
            reverse("run", args=[run.pk]) + query for query in ("", "?items=all", "?items=wrong", "?items=missed")
        )


def holding(world: World) -> list[str]:
    """Return each role and URL for which the response contains an item's gold."""
    found = []
    for role in ROLES:
        for cache in ("default", "boards"):
            caches[cache].clear()
        client = world.client(role)
        found += [f"{role} {address}" for address in addresses(world) if is_shown(client.get(address))]
    return found


def is_shown(response: HttpResponseBase) -> bool:
    return any(FIRST.search(part) for part in parts(response))


def parts(response: HttpResponseBase) -> Iterator[bytes]:
    """Yield the body and, if it is an archive, the files in it."""
    body = response.getvalue()
    yield body
    if zipfile.is_zipfile(io.BytesIO(body)):
        archive = zipfile.ZipFile(io.BytesIO(body))
        yield from map(archive.read, archive.namelist())


def test_no_page_and_no_export_holds_gold_of_items_on_which_a_phase_accepts_runs(scored: World) -> None:
    assert not GoldItems.objects.exists()
    assert not RunItems.objects.exists()
    assert holding(scored) == []


def test_compared_runs_and_a_run_s_page_hold_it_once_every_phase_has_closed(scored: World) -> None:
    compare = reverse("compare", args=["gated", "one"]) + "?phase=post&run=Bora&run=Notus&items=all"
    own = reverse("run", args=[scored.run.pk])

    def are_shown() -> tuple[bool, bool]:
        return is_shown(scored.client("anonymous").get(compare)), is_shown(scored.client("captain").get(own))

    Phase.objects.filter(slug="post").update(closes=database_now())
    look_after_boards()
    assert are_shown() == (True, True)
    Phase.objects.filter(slug="post").update(closes=database_now() + timedelta(hours=1))
    assert are_shown() == (False, False)
