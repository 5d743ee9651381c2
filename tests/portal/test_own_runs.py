"""Choosing an official run, withdrawing runs, and describing them. All times are passed as arguments."""

from datetime import timedelta

import pytest

from portal.actions.base.errors import Conflict, Invalid, NotAllowed
from portal.actions.runs import choose_official_run, describe_run, withdraw_run
from portal.actions.teams import join_team
from portal.models import AuditEntry, Phase, Quota, Run
from portal.queries.runs import official_runs_of, run_view, team_runs
from tests.portal.remembered import remembered
from tests.portal.world import (
    EVALUATION,
    GOOD,
    MILLISECOND,
    PERFECT,
    POOR,
    POST,
    RELEASE,
    board,
    captain,
    new_team,
    organizer_of,
    person,
    send_run,
    work_off,
)


@remembered
def runs(meltemi):
    """Three scored runs for track one, in a phase where teams choose. Their accuracies are 0.75, 1.0 and 0.25."""
    for number, values in enumerate([GOOD, PERFECT, POOR], start=1):
        send_run(meltemi, values, number, EVALUATION + number * MILLISECOND)
    work_off(EVALUATION)
    return list(Run.objects.filter(team=meltemi).order_by("number"))


def official(runs, at, viewer=None):
    """Return the official run in the phase and track of these runs, as on the team's page."""
    viewer = viewer or captain(runs[0].team)
    (found,) = official_runs_of(team_runs(runs[0].team, viewer, at), viewer, at)
    return found


def ranked(shared_task, at=RELEASE):
    return [row.name for row in board(shared_task, at, baselines=False).rows]


@pytest.mark.slow
def test_the_last_run_counts_until_one_is_chosen_and_then_the_chosen_one(tiny, meltemi, runs):
    assert (official(runs, EVALUATION).run, official(runs, EVALUATION).chosen) == (runs[2], False)
    assert ranked(tiny) == ["one_Meltemi_3.json"]
    chosen = choose_official_run(captain(meltemi), runs[1], EVALUATION)
    assert (chosen.chosen_at, chosen.chosen_by) == (EVALUATION, captain(meltemi))
    assert (official(runs, EVALUATION).run, official(runs, EVALUATION).chosen) == (runs[1], True)
    assert ranked(tiny) == ["one_Meltemi_2.json"]


def test_a_choice_is_audited_and_can_be_changed_by_any_member(meltemi, runs):
    choose_official_run(captain(meltemi), runs[0], EVALUATION)
    teammate = person("Teammate")
    join_team(teammate, meltemi.shared_task, EVALUATION, code=meltemi.invitation_code)
    choose_official_run(teammate, runs[1], EVALUATION)
    assert list(Run.objects.filter(chosen_at__isnull=False)) == [runs[1]]
    entries = AuditEntry.objects.filter(verb="choose_official_run").order_by("pk")
    assert [(entry.actor, entry.detail["before"]) for entry in entries] == [
        (captain(meltemi), None),
        (teammate, str(runs[0].pk)),
    ]


def test_choosing_again_changes_nothing(meltemi, runs):
    for at in (EVALUATION, EVALUATION + MILLISECOND):
        choose_official_run(captain(meltemi), runs[0], at)
    assert Run.objects.get(pk=runs[0].pk).chosen_at == EVALUATION
    assert AuditEntry.objects.filter(verb="choose_official_run").count() == 1


def test_the_choice_is_final_when_the_phase_closes(meltemi, runs):
    closes = runs[0].phase.closes
    choose_official_run(captain(meltemi), runs[0], closes - MILLISECOND)
    with pytest.raises(NotAllowed, match="choice of the official run is final") as raised:
        choose_official_run(captain(meltemi), runs[1], closes)
    assert (raised.value.code, raised.value.http_status) == ("phase_closed", 403)
    assert official(runs, closes).run == runs[0]
    assert not official(runs, closes).may_choose


def test_a_moved_deadline_holds_for_choices_too(meltemi, runs):
    late = runs[0].phase.closes + timedelta(hours=1)
    Phase.objects.filter(pk=runs[0].phase_id).update(closes=late + MILLISECOND)
    assert choose_official_run(captain(meltemi), runs[0], late).chosen_at == late


def test_strangers_and_organizers_neither_choose_nor_withdraw(tiny, meltemi, runs):
    organizer = organizer_of(tiny, "Organizer")
    for user in (captain(new_team(tiny, "Notus")), organizer, person("Zeno")):
        with pytest.raises(NotAllowed, match="Only team members"):
            choose_official_run(user, runs[0], EVALUATION)
        with pytest.raises(NotAllowed, match="Only team members"):
            withdraw_run(user, runs[0], EVALUATION, reason="spite")
    assert not Run.objects.exclude(chosen_at=None, withdrawn_at=None).exists()


def test_where_the_rule_decides_there_is_nothing_to_choose(meltemi):
    run = send_run(meltemi, GOOD, 1, POST, "post")
    with pytest.raises(NotAllowed, match="phase’s rules determine"):
        choose_official_run(captain(meltemi), run, POST)


@pytest.mark.slow
def test_a_rejected_run_cannot_be_official(meltemi):
    run = send_run(meltemi, GOOD[:2], 1, EVALUATION)
    work_off(EVALUATION)
    with pytest.raises(Conflict, match="can’t be official"):
        choose_official_run(captain(meltemi), run, EVALUATION)
    with pytest.raises(Conflict, match="can’t be official"):
        withdraw_run(captain(meltemi), run, EVALUATION, reason="broken")


@pytest.mark.slow
def test_a_withdrawn_run_leaves_the_board_and_its_choice_is_void(tiny, meltemi, runs):
    choose_official_run(captain(meltemi), runs[1], EVALUATION)
    withdrawn = withdraw_run(captain(meltemi), runs[1], EVALUATION, reason=" trained on the test set ")
    assert (withdrawn.withdrawn_at, withdrawn.withdrawn_by) == (EVALUATION, captain(meltemi))
    assert withdrawn.withdrawal_reason == "trained on the test set"
    assert AuditEntry.objects.get(verb="withdraw_run").detail["reason"] == "trained on the test set"
    assert (official(runs, EVALUATION).run, official(runs, EVALUATION).chosen) == (runs[2], False)
    assert ranked(tiny) == ["one_Meltemi_3.json"]
    with pytest.raises(Conflict):
        choose_official_run(captain(meltemi), runs[1], EVALUATION)


def test_a_withdrawn_run_keeps_counting_and_its_number(meltemi, runs):
    withdraw_run(captain(meltemi), runs[0], EVALUATION, reason="wrong file")
    assert Quota.objects.get(team=meltemi, track__slug="one").used == 3
    Phase.objects.filter(slug="evaluation").update(runs_per_track=9)
    with pytest.raises(Conflict, match=r"Run number 1 .* already used"):
        send_run(meltemi, GOOD, 1, EVALUATION)


def test_withdrawing_again_changes_nothing(meltemi, runs):
    withdraw_run(captain(meltemi), runs[0], EVALUATION, reason="wrong file")
    again = withdraw_run(captain(meltemi), runs[0], EVALUATION + MILLISECOND, reason="other words")
    assert (again.withdrawn_at, again.withdrawal_reason) == (EVALUATION, "wrong file")
    assert AuditEntry.objects.filter(verb="withdraw_run").count() == 1


def test_a_reason_is_needed(meltemi, runs):
    with pytest.raises(Invalid):
        withdraw_run(captain(meltemi), runs[0], EVALUATION, reason="  ")


def test_runs_can_be_withdrawn_until_the_release(meltemi, runs):
    withdraw_run(captain(meltemi), runs[0], RELEASE - MILLISECOND, reason="late doubts")
    with pytest.raises(NotAllowed, match="The results of Evaluation are final"):
        withdraw_run(captain(meltemi), runs[1], RELEASE, reason="did not win")
    assert run_view(runs[1], captain(meltemi), RELEASE - MILLISECOND).may_be_withdrawn
    assert not run_view(runs[1], captain(meltemi), RELEASE).may_be_withdrawn


def test_where_scores_are_shown_at_once_runs_can_be_withdrawn_while_the_phase_is_open(tiny, meltemi):
    run = send_run(meltemi, GOOD, 1, POST, "post")
    tiny.phases.filter(slug="post").update(closes=POST + MILLISECOND)
    with pytest.raises(NotAllowed):
        withdraw_run(captain(meltemi), run, POST + MILLISECOND, reason="regret")
    assert withdraw_run(captain(meltemi), run, POST, reason="regret").withdrawn_at == POST


@pytest.mark.slow
def test_which_run_is_best_is_not_shown_before_the_scores(tiny, meltemi, runs):
    tiny.phases.filter(slug="evaluation").update(official="best")
    before = official(runs, RELEASE - MILLISECOND)
    assert (before.run, before.is_hidden) == (None, True)
    assert (official(runs, RELEASE).run, official(runs, RELEASE).is_hidden) == (runs[1], False)
    organizer = organizer_of(tiny, "Organizer")
    assert official(runs, EVALUATION, organizer).run == runs[1]


def test_where_all_runs_count_none_is_marked(tiny, meltemi, runs):
    tiny.phases.filter(slug="evaluation").update(official="all")
    assert (official(runs, RELEASE).run, official(runs, RELEASE).rule) == (None, "all")


def test_a_baseline_has_no_official_run(tiny):
    baseline = Run.objects.filter(kind="baseline").first()
    assert run_view(baseline, person("Reader"), RELEASE).official is None


DESCRIPTION = {
    "method": "XLM-T",
    "description": "Two layers\nmore",
    "link": "https://example.org/code",
    "system_type": "tuned",
}


def test_any_member_describes_a_run_until_the_release(tiny, meltemi, runs):
    run = describe_run(captain(meltemi), runs[0], RELEASE - MILLISECOND, **DESCRIPTION)
    assert (run.method, run.link, run.get_system_type_display()) == (
        "XLM-T",
        "https://example.org/code",
        "fine-tuned language model or encoder",
    )
    with pytest.raises(NotAllowed, match="can no longer be changed"):
        describe_run(captain(meltemi), runs[0], RELEASE, method="Winner")
    with pytest.raises(NotAllowed, match="Only team members"):
        describe_run(captain(new_team(tiny, "Notus")), runs[0], EVALUATION, method="Mine")
    assert Run.objects.get(pk=runs[0].pk).method == "XLM-T"


def test_a_description_is_audited_with_what_was_before_and_once(meltemi, runs):
    for description in (DESCRIPTION, DESCRIPTION, {"method": "XLM-R", "system_type": "tuned"}):
        describe_run(captain(meltemi), runs[0], EVALUATION, **description)
    entries = AuditEntry.objects.filter(verb="describe_run").order_by("pk")
    assert [entry.detail["before"] for entry in entries] == [
        {"method": "", "description": "", "link": "", "system_type": ""},
        {"method": "XLM-T", "description": "Two layers\nmore", "link": "https://example.org/code"},
    ]


@pytest.mark.parametrize(
    "wrong",
    [
        {"link": "javascript:alert(1)"},
        {"link": "ftp://example.org"},
        {"method": "two\r\nlines"},
        {"method": "x" * 81},
        {"system_type": "magic"},
    ],
)
def test_a_description_that_is_wrong_is_rejected(meltemi, runs, wrong):
    with pytest.raises(Invalid):
        describe_run(captain(meltemi), runs[0], EVALUATION, **wrong)


def test_the_method_is_on_the_board(tiny, meltemi, runs):
    describe_run(captain(meltemi), runs[2], EVALUATION, **DESCRIPTION)
    assert [row.method for row in board(tiny, RELEASE, baselines=False).rows] == ["XLM-T"]
