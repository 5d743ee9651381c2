"""Changing a phase, extra time and releases: who may do what, and which runs are then accepted."""

from datetime import timedelta

import pytest

from portal.actions.base.errors import ActionError, Invalid, NotAllowed
from portal.actions.phases import NOTICE, grant_extra_time, move_phase, revoke_extra_time
from portal.actions.release import release_scores, restore_release, take_back_release
from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.models import AuditEntry, ExtraTime, Phase, items_are_public
from portal.queries.duties import to_do
from portal.queries.organize import release_looks
from tests.portal.remembered import remembered
from tests.portal.world import EVALUATION, GOOD, RELEASE, board, new_team, organizer_of, person, send_run, work_off

pytestmark = pytest.mark.postgres

MINUTE = timedelta(minutes=1)


@remembered
def organizer(tiny):
    return organizer_of(tiny, "Oana")


@pytest.fixture
def phase(tiny):
    tiny.phases.filter(slug="evaluation").update(released=None)
    return tiny.phases.get(slug="evaluation")


def refusal(action, *arguments, **given):
    with pytest.raises(ActionError) as raised:
        action(*arguments, **given)
    return raised.value.code


def takes(team, number, at):
    try:
        return bool(send_run(team, GOOD, number, at))
    except NotAllowed:
        return False


def test_a_moved_deadline_holds_at_once_and_is_on_record(phase, organizer, meltemi):
    late = phase.closes + timedelta(days=1)
    assert not takes(meltemi, 1, phase.closes)
    change = move_phase(organizer, phase, EVALUATION, opens=phase.opens, closes=late, note="The server was down.")
    assert takes(meltemi, 1, late - timedelta(milliseconds=1))
    assert not takes(meltemi, 2, late)
    assert (change.closes_before, change.closes_after) == (phase.closes, late)
    entry = AuditEntry.objects.get(verb="move_phase")
    assert (entry.actor, entry.detail["note"]) == (organizer, "The server was down.")


def test_a_window_that_cannot_be_is_rejected(phase, organizer):
    at, opens, closes = EVALUATION, phase.opens, phase.closes

    def code(opens, closes, note="why", at=at):
        return refusal(move_phase, organizer, phase, at, opens=opens, closes=closes, note=note)

    assert code(opens, closes) == "nothing_moved"
    assert code(opens, closes + MINUTE, note=" ") == "required"
    assert code(opens, None) == "no_closing"
    assert code(opens - MINUTE, closes) == "opened"
    assert code(opens, at + NOTICE - MINUTE) == "too_near"
    assert code(opens, closes + MINUTE, at=closes + 2 * MINUTE) == "past"
    before = opens - timedelta(days=2)
    assert code(closes, opens, at=before) == "closes_first"
    assert code(before - MINUTE, closes, at=before) == "opened"
    assert not AuditEntry.objects.filter(verb="move_phase").exists()
    move_phase(organizer, phase, before, opens=opens + MINUTE, closes=closes, note="later")
    move_phase(organizer, phase, EVALUATION, opens=opens + MINUTE, closes=opens + timedelta(days=3), note="earlier")


def test_after_the_release_nothing_is_moved_or_granted(phase, organizer):
    Phase.objects.filter(pk=phase.pk).update(released=RELEASE)
    later = RELEASE + timedelta(days=1)
    assert refusal(move_phase, organizer, phase, RELEASE, opens=phase.opens, closes=later, note="why") == "released"
    assert refusal(grant_extra_time, organizer, phase, RELEASE, until=later, reason="why") == "released"


@pytest.mark.parametrize("name", ["move", "extra time", "revoke", "release", "take back", "put back"])
def test_only_the_tasks_organizers_may(phase, name):
    stranger, later = person("Stranger"), phase.closes + MINUTE
    actions = {
        "move": (move_phase, EVALUATION, {"opens": phase.opens, "closes": later, "note": "why"}),
        "extra time": (grant_extra_time, EVALUATION, {"until": later, "reason": "why"}),
        "revoke": (revoke_extra_time, EVALUATION, {"extra_time_id": 1}),
        "release": (release_scores, later, {}),
        "take back": (take_back_release, later, {}),
        "put back": (restore_release, later, {}),
    }
    action, at, given = actions[name]
    assert refusal(action, stranger, phase, at, **given) == "no_organizer"


def test_extra_time_for_a_team_opens_the_phase_for_that_team_alone(phase, organizer, meltemi):
    rival = new_team(phase.shared_task, "Notus")
    late, until = phase.closes + MINUTE, phase.closes + timedelta(hours=2)
    grant_extra_time(organizer, phase, late, team=meltemi, until=until, reason="No power in Athens.")
    assert takes(meltemi, 1, late)
    assert not takes(rival, 1, late)
    assert not takes(meltemi, 2, until)
    phase.refresh_from_db()
    assert (phase.closes_for(meltemi.pk), phase.closes_for(rival.pk)) == (until, phase.closes)
    assert phase.last_closing == until
    assert AuditEntry.objects.get(verb="grant_extra_time").detail["team"] == "Meltemi"


def test_extra_time_for_all_opens_it_for_all_and_the_later_one_holds(phase, organizer, meltemi):
    late, until = phase.closes + MINUTE, phase.closes + timedelta(hours=2)
    grant_extra_time(organizer, phase, late, team=None, until=until, reason="The portal was down.")
    assert takes(meltemi, 1, late)
    assert set(Phase.objects.open(late)) == {phase}
    assert (
        refusal(grant_extra_time, organizer, phase, late, until=late + MINUTE, reason="Less than that.") == "too_near"
    )
    grant_extra_time(organizer, phase, late, team=None, until=late + NOTICE, reason="Less than that.")
    assert takes(meltemi, 2, late + NOTICE - MINUTE)
    assert not takes(meltemi, 3, late + NOTICE)
    assert ExtraTime.objects.count() == 1
    assert AuditEntry.objects.filter(verb="grant_extra_time").count() == 2


def test_extra_time_that_is_not_needed_yet_is_revoked_at_once(phase, organizer, meltemi):
    extra_time = grant_extra_time(
        organizer, phase, EVALUATION, team=meltemi, until=phase.closes + timedelta(days=1), reason="A strike."
    )
    assert revoke_extra_time(organizer, phase, phase.closes - NOTICE, extra_time_id=extra_time.pk) is None
    assert not takes(meltemi, 1, phase.closes)
    entry = AuditEntry.objects.get(verb="revoke_extra_time")
    assert (entry.actor, entry.detail["team"], entry.detail["after"]) == (organizer, "Meltemi", None)
    assert refusal(revoke_extra_time, organizer, phase, EVALUATION, extra_time_id=extra_time.pk) == "no_extra_time"


@pytest.mark.parametrize("early", [timedelta(0), NOTICE - MINUTE])
def test_extra_time_that_keeps_a_phase_open_ends_in_an_hour(phase, organizer, meltemi, early):
    at = phase.closes - early
    extra_time = grant_extra_time(
        organizer, phase, EVALUATION, team=meltemi, until=phase.closes + timedelta(days=1), reason="A strike."
    )
    assert revoke_extra_time(organizer, phase, at, extra_time_id=extra_time.pk) == at + NOTICE
    assert takes(meltemi, 1, at + NOTICE - MINUTE)
    assert not takes(meltemi, 2, at + NOTICE)
    assert refusal(revoke_extra_time, organizer, phase, at + MINUTE, extra_time_id=extra_time.pk) == "too_near"


def test_extra_time_of_a_team_is_revoked_at_once_where_all_have_some(phase, organizer, meltemi):
    for team in (None, meltemi):
        grant_extra_time(
            organizer, phase, EVALUATION, team=team, until=phase.closes + timedelta(days=1), reason="A strike."
        )
    late = phase.closes + MINUTE
    assert revoke_extra_time(organizer, phase, late, extra_time_id=ExtraTime.objects.get(team=meltemi).pk) is None
    assert takes(meltemi, 1, late)
    assert revoke_extra_time(organizer, phase, late, extra_time_id=ExtraTime.objects.get(team=None).pk) == late + NOTICE


def test_extra_time_that_adds_nothing_is_rejected(phase, organizer, tiny):
    later = phase.closes + MINUTE
    assert refusal(grant_extra_time, organizer, phase, EVALUATION, until=later, reason="") == "required"
    assert refusal(grant_extra_time, organizer, phase, EVALUATION, until=phase.closes, reason="why") == "no_time"
    assert refusal(grant_extra_time, organizer, phase, later, until=later, reason="why") == "no_time"
    post = tiny.phases.get(slug="post")
    assert refusal(grant_extra_time, organizer, post, EVALUATION, until=later, reason="why") == "no_closing"


def test_an_import_keeps_what_was_moved_here_and_applies_what_the_folder_changed(phase, organizer, tiny_folder):
    late = phase.closes + timedelta(days=1)
    move_phase(organizer, phase, EVALUATION, opens=phase.opens, closes=late, note="why")
    release_scores(organizer, phase, EVALUATION, when=late)
    take_back_release(organizer, phase, EVALUATION)
    assert import_shared_task(None, tiny_folder, EVALUATION).changes == []
    phase.refresh_from_db()
    assert (phase.closes, phase.released) == (late, None)
    path = tiny_folder / "task.yaml"
    path.write_text(path.read_text().replace('closes: "2024-05-16 00:00 UTC"', 'closes: "2024-05-20 00:00 UTC"'))
    import_shared_task(None, tiny_folder, EVALUATION)
    phase.refresh_from_db()
    assert phase.closes.day == 20


@pytest.mark.slow
def test_release_now_at_a_time_and_taken_back(phase, organizer, meltemi):
    send_run(meltemi, GOOD, 1, EVALUATION)
    work_off(EVALUATION)
    tiny = phase.shared_task
    later = phase.closes + timedelta(days=1)
    release_scores(organizer, phase, phase.closes, when=later)
    assert not board(tiny, later - MINUTE).visible
    assert board(tiny, later).visible
    take_back_release(organizer, phase, later)
    assert not board(tiny, later).visible
    release_scores(organizer, phase, later + MINUTE, when=None)
    assert board(tiny, later + MINUTE).visible
    verbs = AuditEntry.objects.filter(actor=organizer).order_by("pk").values_list("verb", flat=True)
    assert list(verbs) == ["release_scores", "take_back_release", "release_scores"]


def test_only_the_release_that_was_seen_is_taken_back(phase, organizer):
    released = phase.closes + timedelta(microseconds=1_900)
    release_scores(organizer, phase, phase.closes, when=released)
    for seen in (phase.closes, released + timedelta(milliseconds=1)):
        assert refusal(take_back_release, organizer, phase, phase.closes, seen=seen) == "release_changed"
    in_api = released.replace(microsecond=1_000)
    assert take_back_release(organizer, phase, phase.closes, seen=in_api).released is None


def test_a_release_that_was_taken_back_is_put_back_with_its_date(phase, organizer):
    later = phase.closes + timedelta(days=1)
    release_scores(organizer, phase, phase.closes, when=phase.closes)
    take_back_release(organizer, phase, later)
    assert restore_release(organizer, phase, later + MINUTE).released == phase.closes
    assert refusal(restore_release, organizer, phase, later) == "not_taken_back"
    take_back_release(organizer, phase, later)
    grant_extra_time(organizer, phase, later, team=None, until=later + MINUTE, reason="why")
    assert refusal(restore_release, organizer, phase, later) == "still_open"
    verbs = AuditEntry.objects.filter(actor=organizer).order_by("pk").values_list("verb", flat=True)
    assert list(verbs)[:3] == ["release_scores", "take_back_release", "put_release_back"]


def test_a_release_that_was_called_off_before_its_time_has_no_date_to_come_back_to(phase, organizer):
    release_scores(organizer, phase, phase.closes, when=phase.closes + MINUTE)
    take_back_release(organizer, phase, phase.closes)
    assert refusal(restore_release, organizer, phase, phase.closes + 2 * MINUTE) == "not_taken_back"


def test_no_release_while_runs_may_come_in(phase, organizer, meltemi, tiny):
    until = phase.closes + timedelta(hours=2)
    assert refusal(release_scores, organizer, phase, EVALUATION) == "still_open"
    grant_extra_time(organizer, phase, phase.closes, team=meltemi, until=until, reason="why")
    assert refusal(release_scores, organizer, phase, until - MINUTE) == "still_open"
    assert refusal(release_scores, organizer, phase, until + MINUTE, when=until) == "past"
    assert refusal(release_scores, organizer, tiny.phases.get(slug="post"), until) == "not_by_hand"
    assert refusal(take_back_release, organizer, phase, until) == "no_release"


@pytest.mark.slow
def test_the_look_before_a_release_counts_what_would_be_missing(phase, organizer, meltemi):
    send_run(meltemi, GOOD, 1, EVALUATION)
    work_off(EVALUATION)
    send_run(new_team(phase.shared_task, "Notus"), GOOD, 1, EVALUATION)
    (look,) = release_looks(phase.shared_task, organizer, phase.closes)
    assert (look.is_public, look.is_closed, look.unscored) == (False, True, 1)
    assert [(track.teams, track.unscored, track.failed) for track in look.tracks] == [(1, 1, 0), (0, 0, 0)]


def test_what_waits_is_listed_first(phase, organizer, tiny):
    assert [step.page for step in to_do(tiny, EVALUATION)] == []
    assert [step.page for step in to_do(tiny, phase.closes - MINUTE)] == ["organize_phases"]
    assert "organize_releases" in [step.page for step in to_do(tiny, phase.closes)]
    assert "organize_gold" in [step.page for step in to_do(tiny, tiny.phases.get(slug="without-gold").opens)]


def edit(folder, before, after):
    path = folder / "task.yaml"
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))


CLOSES = 'closes: "2024-05-16 00:00 UTC"'


@pytest.mark.parametrize(
    ("before", "after", "word"),
    [
        (CLOSES, 'closes: "2024-05-02 12:59 UTC"', "one hour from now"),
        (CLOSES, 'closes: "2024-05-02 11:00 UTC"', "one hour from now"),
        ('opens: "2024-05-01 00:00 UTC"', 'opens: "2024-05-03 00:00 UTC"', "can’t be moved to the future"),
    ],
)
def test_an_import_moves_no_deadline_nearer_than_an_hour(tiny, tiny_folder, before, after, word):
    edit(tiny_folder, before, after)
    edit(tiny_folder, 'title: "Tiny"', 'title: "Huge"')
    window = tiny.phases.filter(slug="evaluation").values_list("opens", "closes")
    kept = window.get()
    with pytest.raises(Invalid, match=f"phase evaluation: .*{word}"):
        import_shared_task(None, tiny_folder, EVALUATION)
    assert window.get() == kept
    tiny.refresh_from_db()
    assert tiny.title == "Tiny"


def test_an_import_may_move_a_deadline_an_hour_ahead_and_is_recorded_as_an_import(
    phase, organizer, tiny_folder, client
):
    page = "/tasks/tiny/evaluation/"
    move_phase(
        organizer,
        phase,
        EVALUATION,
        opens=phase.opens,
        closes=phase.closes + timedelta(days=4),
        note="The server was down.",
    )
    assert "Extended on" in client.get(page).content.decode()
    edit(tiny_folder, CLOSES, 'closes: "2024-05-02 13:00 UTC"')
    edit(tiny_folder, ', released: "2024-05-24 10:00 UTC"', "")
    import_shared_task(None, tiny_folder, EVALUATION)
    newest = phase.changes.first()
    assert (newest.closes_before, newest.closes_after) == (
        phase.closes + timedelta(days=4),
        EVALUATION + timedelta(hours=1),
    )
    text = client.get(page).content.decode()
    assert text.index("Moved on") < text.index("The organizers changed the task’s definition.")


def test_an_import_corrects_the_dates_of_a_phase_that_is_over(tiny, tiny_folder):
    edit(tiny_folder, CLOSES, 'closes: "2024-05-15 00:00 UTC"')
    import_shared_task(None, tiny_folder, RELEASE)
    assert tiny.phases.get(slug="evaluation").closes.day == 15


def test_an_import_opens_no_phase_again_whose_scores_are_public(tiny, tiny_folder):
    edit(tiny_folder, CLOSES, 'closes: "2024-06-16 00:00 UTC"')
    with pytest.raises(Invalid, match="scores of this phase are public"):
        import_shared_task(None, tiny_folder, RELEASE)
    edit(tiny_folder, 'released: "2024-05-24 10:00 UTC"', 'released: "2024-06-24 10:00 UTC"')
    assert import_shared_task(None, tiny_folder, RELEASE)


@pytest.fixture
def public_items(tiny_folder, tiny, organizer):
    """A task whose phase `post` is over and shares its items with other phases. The gold of these items is public."""
    edit(tiny_folder, "file: gold/one.json}", "file: gold/one.json, published: true}")
    edit(tiny_folder, 'opens: "2024-06-01 00:00 UTC", split: test', f"{OVER}, split: test")
    task = import_shared_task(None, tiny_folder, EVALUATION).shared_task
    assert items_are_public(task.tracks.get(slug="one"), "test", RELEASE)
    return task


OVER = 'opens: "2024-05-17 00:00 UTC", closes: "2024-05-20 00:00 UTC"'


@pytest.mark.slow
def test_a_phase_stays_closed_while_the_gold_of_its_items_is_public(public_items, organizer, tiny_folder):
    post = public_items.phases.get(slug="post")
    later = RELEASE + timedelta(days=9)
    assert (
        refusal(move_phase, organizer, post, RELEASE, opens=post.opens, closes=later, note="more runs")
        == "items_public"
    )
    assert refusal(grant_extra_time, organizer, post, RELEASE, until=later, reason="an outage") == "items_public"
    edit(tiny_folder, OVER, OVER.replace("05-20", "06-20"))
    with pytest.raises(Invalid, match=r"phase post: The gold .*published: false"):
        import_shared_task(None, tiny_folder, RELEASE)
    edit(tiny_folder, ", published: true", "")
    import_shared_task(None, tiny_folder, RELEASE)
    assert grant_extra_time(
        organizer, public_items.phases.get(slug="post"), RELEASE, team=None, until=later + timedelta(30), reason="late"
    )


def test_an_import_adds_no_open_phase_on_items_whose_gold_is_public(public_items, tiny_folder):
    edit(
        tiny_folder,
        "gold:\n",
        f"  - {{slug: new, {OVER.replace('05-20', '06-20')}, split: test, scores: at-once, official: best}}\ngold:\n",
    )
    with pytest.raises(Invalid, match="phase new: The gold"):
        import_shared_task(None, tiny_folder, RELEASE)
