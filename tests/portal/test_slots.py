"""Primary and contrastive runs, in phases with slots: which runs are accepted, and which one is official."""

import re

import pytest
from django.http import QueryDict

from portal.actions.base.errors import ActionError, LimitReached
from portal.actions.runs import choose_official_run, withdraw_run
from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.actions.uploads.submit import submit
from portal.models import Phase, Run
from portal.web.board_address import choices_of
from scoring import DefinitionError, load_definition
from tests.portal.remembered import remembered
from tests.portal.world import (
    EVALUATION,
    GOOD,
    PERFECT,
    POST,
    archive,
    at_once,
    board,
    captain,
    check_submission,
    new_team,
    run_file,
)
from tests.portal.world import work_off as work

pytestmark = pytest.mark.postgres

SLOTS = "slots: {primary: 1, contrastive: 2}, scores"


@pytest.fixture
def slotted_folder(tiny_folder):
    path = tiny_folder / "task.yaml"
    path.write_text(path.read_text().replace("runs_per_track: 3, scores", SLOTS))
    return tiny_folder


@remembered
def team(db, slotted_folder):
    return new_team(import_shared_task(None, slotted_folder, EVALUATION).shared_task, "Meltemi")


def send(team, *numbers, slot="", values=GOOD):
    files = {f"one_{team.name}_{number}.json": run_file(values) for number in numbers}
    name, body = next(iter(files.items())) if len(files) == 1 else (f"tiny_{team.name}.zip", archive(files))
    phase = team.shared_task.phases.get(slug="evaluation")
    return submit(captain(team), phase, EVALUATION, content=[body], file_name=name, slot=slot)


def slots(team):
    return [run.slot for run in Run.objects.filter(team=team).select_related("phase").order_by("number")]


def error_code(team, *numbers, slot=""):
    with pytest.raises(ActionError) as refusal:
        send(team, *numbers, slot=slot)
    return refusal.value.code


def test_the_definition_says_how_many(team, slotted_folder):
    phase = Phase.objects.get(slug="evaluation")
    assert (phase.runs_per_track, phase.contrastive) == (3, 2)
    path = slotted_folder / "task.yaml"
    for before, after, message in (
        (SLOTS, f"runs_per_track: 3, {SLOTS}", "runs_per_track: found 3"),
        ("official: chosen", "official: best", "slots"),
    ):
        text = path.read_text()
        path.write_text(text.replace(before, after))
        with pytest.raises(DefinitionError, match=message):
            load_definition(slotted_folder)
        path.write_text(text)


def test_the_first_run_is_the_primary_one_unless_the_team_says_otherwise(team):
    send(team, 1)
    send(team, 2)
    assert slots(team) == ["primary", "contrastive"]
    rival = new_team(team.shared_task, "Notus")
    send(rival, 1, slot="contrastive")
    send(rival, 2, 3)
    assert slots(rival) == ["contrastive", "primary", "contrastive"]


def test_a_slot_that_is_used_is_rejected_and_nothing_is_kept(team):
    send(team, 1)
    assert error_code(team, 2, slot="primary") == "slot_taken"
    other = new_team(team.shared_task, "Notus")
    assert error_code(other, 1, 2, slot="primary") == "slot_taken"
    assert error_code(other, 1, 2, 3, slot="contrastive") == "slot_taken"
    send(other, 1, 2, slot="contrastive")
    assert error_code(other, 3, slot="contrastive") == "slot_taken"
    send(other, 3)
    assert slots(other) == ["contrastive", "contrastive", "primary"]
    with pytest.raises(LimitReached):
        send(other, 4)
    assert Run.objects.filter(team=other).count() == 3


ALREADY = "already has a primary run in Track one. Upload this run as contrastive."
AS_PRIMARY = "at most 2 contrastive runs in Track one. Upload one of the runs as primary."
ONE = "Only one run in Track one can be primary, and this upload contains {}. Upload the primary run by itself"
LEFT = "Slots left in Track one: {} primary, {} contrastive. This upload contains {} runs."


@pytest.mark.parametrize(
    ("used", "runs", "slot", "advice"),
    [
        ("p", 1, "primary", ALREADY),
        ("pc", 1, "primary", ALREADY),
        ("p", 2, "primary", ALREADY),
        ("pc", 2, "primary", LEFT.format(0, 1, 2)),
        ("pcc", 1, "primary", LEFT.format(0, 0, 1)),
        ("pcc", 1, "contrastive", LEFT.format(0, 0, 1)),
        ("pcc", 1, "", LEFT.format(0, 0, 1)),
        ("pc", 2, "", LEFT.format(0, 1, 2)),
        ("cc", 1, "contrastive", AS_PRIMARY),
        ("c", 2, "contrastive", AS_PRIMARY),
        ("cc", 2, "contrastive", LEFT.format(1, 0, 2)),
        ("cc", 2, "", LEFT.format(1, 0, 2)),
        ("", 2, "primary", ONE.format(2)),
        ("c", 2, "primary", ONE.format(2)),
        ("cc", 2, "primary", LEFT.format(1, 0, 2)),
        ("", 4, "contrastive", LEFT.format(1, 2, 4)),
    ],
)
def test_an_upload_without_a_slot_gets_only_advice_that_works(team, used, runs, slot, advice):
    Phase.objects.filter(slug="evaluation").update(runs_per_track=None)
    for number, letter in enumerate(used, start=1):
        send(team, number, slot={"p": "primary", "c": "contrastive"}[letter])
    with pytest.raises(ActionError, match=re.escape(advice)):
        send(team, *range(len(used) + 1, len(used) + runs + 1), slot=slot)


@pytest.mark.slow
def test_the_primary_run_is_the_official_one_and_can_be_another(team):
    send(team, 1)
    best = send(team, 2, values=PERFECT).runs.get()
    work(EVALUATION)
    assert [row.scores["accuracy"] for row in board(team.shared_task, POST).rows if row.team] == [0.75]
    choose_official_run(captain(team), best, EVALUATION)
    assert slots(team) == ["contrastive", "primary"]
    assert [row.scores["accuracy"] for row in board(team.shared_task, POST).rows if row.team] == [1.0]


def test_a_primary_run_that_is_rejected_or_withdrawn_leaves_its_slot(team):
    bad = send(team, 1, values=["MAYBE", *GOOD[1:]])
    check_submission(bad.pk, EVALUATION)
    assert bad.runs.get().chosen_at is None
    good = send(team, 2, slot="primary").runs.get()
    withdraw_run(captain(team), good, EVALUATION, reason="wrong file")
    assert send(team, 3, slot="primary").runs.get().slot == "primary"


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_one_of_many_simultaneous_first_runs_is_primary(team):
    at_once([lambda n=n: send(team, n) for n in (1, 2, 3)])
    assert sorted(slots(team)) == ["contrastive", "contrastive", "primary"]


@pytest.mark.slow
def test_boards_show_slots_and_can_be_asked_for_one(team):
    send(team, 1)
    send(team, 2, slot="contrastive", values=PERFECT)
    work(EVALUATION)

    def shown(**choices):
        rows = board(team.shared_task, POST, baselines=False, **choices).rows
        return [(row.rank, row.number, row.slot) for row in rows]

    assert shown() == [(1, 1, "primary")]
    assert shown(runs="all") == [(1, 2, "contrastive"), (2, 1, "primary")]
    assert shown(runs="all", slot="primary") == [(2, 1, "primary")]
    assert shown(runs="all", slot="contrastive") == [(1, 2, "contrastive")]
    assert choices_of(QueryDict("slot=contrastive")).runs == "all"
