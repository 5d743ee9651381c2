"""What organizers, captains and members can do with a team, and what each of its states allows."""

from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress

from portal.actions.approval import approve_team, decline_team
from portal.actions.base.errors import ActionError, Conflict, Invalid, LimitReached, NotAllowed
from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.actions.team_members import INVITATIONS_A_DAY, hand_over, invite_by_mail, leave_team
from portal.actions.teams import ask_again, join_team, register_team, withdraw_team
from portal.models import AuditEntry, Membership, OutgoingMail, Team, User
from portal.queries.desk.team_filter import TeamFilter
from portal.queries.desk.teams import all_team_rows
from portal.queries.teams import team_view
from tests.portal.remembered import remembered
from tests.portal.world import EVALUATION, GOOD, POST, captain, deliver, new_team, organizer_of, person, send_run, sign

ANSWERS = {"use": "research"}


@remembered
def organizer(gated):
    return organizer_of(gated, "Organizer")


@remembered
def pending(gated):
    return register_team(person("Cleo"), gated, EVALUATION, name="Bora", answers=ANSWERS)


@remembered
def friend(meltemi):
    user = person("Friend")
    join_team(user, meltemi.shared_task, EVALUATION, code=meltemi.invitation_code)
    return user


def verbs(team):
    return list(AuditEntry.objects.filter(subject=f"team {team.name}").order_by("pk").values_list("verb", flat=True))


def mails(team):
    """Return the kind and address of each email about the team, except notices to organizers that it is waiting."""
    return list(team.mails.exclude(kind="team_waiting").order_by("queued_at", "pk").values_list("kind", "address"))


def test_manual_approval_waits_for_the_organizers(pending, organizer):
    assert (pending.state, pending.decided_at, mails(pending)) == ("pending", None, [])
    approve_team(organizer, pending, POST)
    pending.refresh_from_db()
    assert (pending.state, pending.decided_at) == ("approved", POST)
    assert verbs(pending) == ["register_team", "approve_team"]
    assert mails(pending) == [("team_approved", "cleo@example.org")]


def test_organizers_get_a_mail_when_a_team_awaits_approval(gated, organizer):
    deaf = organizer_of(gated, "Deaf")
    User.objects.filter(pk=deaf.pk).update(mails_about_teams=False)
    team = register_team(person("Cleo"), gated, EVALUATION, name="Bora", answers=ANSWERS)
    asked = team.mails.filter(kind="team_waiting")
    assert list(asked.values_list("address", flat=True)) == [organizer.email]
    decline_team(organizer, team, EVALUATION, reason="Which university?")
    ask_again(captain(team), team, POST, affiliation="Aegean", answers=ANSWERS)
    assert asked.count() == 2


def test_a_mail_about_a_team_that_was_approved_meanwhile_is_not_sent(pending, organizer, smtp):
    approve_team(organizer, pending, EVALUATION)
    deliver(EVALUATION)
    assert [mail["To"] for mail in smtp.mails] == ["cleo@example.org"]


@pytest.mark.parametrize(
    ("address", "is_verified", "state"),
    [
        ("a@uni.example", True, "approved"),
        ("a@cs.UNI.example", True, "approved"),
        ("a@uni.example", False, "pending"),
        ("a@notuni.example", True, "pending"),
        ("uni.example@elsewhere.example", True, "pending"),
    ],
)
def test_approval_by_mail_domain_asks_for_a_verified_address(db, gated_folder, address, is_verified, state):
    path = gated_folder / "task.yaml"
    path.write_text(path.read_text().replace("approval: manual", "approval: {domains: [uni.example]}"))
    task = import_shared_task(None, gated_folder, EVALUATION).shared_task
    user = person("Cleo")
    EmailAddress.objects.create(user=user, email=address, verified=is_verified)
    assert register_team(user, task, EVALUATION, name="Bora", answers=ANSWERS).state == state


@pytest.mark.parametrize("answers", [{}, {"use": " "}, {"use": "x", "kind": "pirates"}])
def test_the_organizers_questions_are_answered(gated, answers):
    with pytest.raises(Invalid, match="Answer this question"):
        register_team(person("Cleo"), gated, EVALUATION, name="Bora", answers=answers)
    assert not Team.objects.exists()


def test_answers_are_kept_and_unasked_ones_are_not(gated):
    answers = {"use": "research", "kind": "company", "state": "approved"}
    team = register_team(person("Cleo"), gated, EVALUATION, name="Bora", answers=answers)
    assert team.answers == {"use": "research", "kind": "company"}
    assert team_view(team, captain(team), EVALUATION, has_signed=True).answers[1] == ("What are you?", "company")


def test_declined_with_a_reason_and_asked_again(pending, organizer):
    cleo = captain(pending)
    with pytest.raises(Invalid):
        decline_team(organizer, pending, EVALUATION, reason="  ")
    decline_team(organizer, pending, EVALUATION, reason="Which university?")
    pending.refresh_from_db()
    assert (pending.state, pending.reason) == ("declined", "Which university?")
    assert mails(pending) == [("team_declined", "cleo@example.org")]
    ask_again(cleo, pending, POST, affiliation="Aegean", answers={"use": "a thesis"})
    pending.refresh_from_db()
    assert (pending.state, pending.affiliation, pending.answers["use"]) == ("pending", "Aegean", "a thesis")
    with pytest.raises(Conflict):
        ask_again(cleo, pending, POST, answers=ANSWERS)


def test_only_organizers_of_the_task_decide(pending, meltemi):
    other = person("Other")
    for user in (captain(pending), other):
        with pytest.raises(NotAllowed):
            approve_team(user, pending, EVALUATION)
        with pytest.raises(NotAllowed):
            decline_team(user, pending, EVALUATION, reason="no")
    pending.refresh_from_db()
    assert pending.state == "pending"


def test_nothing_is_decided_twice(pending, organizer):
    approve_team(organizer, pending, EVALUATION)
    with pytest.raises(Conflict):
        approve_team(organizer, pending, EVALUATION)
    withdraw_team(captain(pending), pending, EVALUATION)
    with pytest.raises(Conflict):
        approve_team(organizer, pending, EVALUATION)
    with pytest.raises(Conflict):
        decline_team(organizer, pending, EVALUATION, reason="no")
    assert verbs(pending) == ["register_team", "approve_team", "withdraw_team"]


def test_a_member_leaves_and_may_join_another(meltemi, friend):
    leave_team(friend, meltemi, EVALUATION)
    assert verbs(meltemi)[-1] == "leave_team"
    rival = new_team(meltemi.shared_task, "Sirocco")
    assert join_team(friend, rival.shared_task, EVALUATION, code=rival.invitation_code).team == rival
    with pytest.raises(NotAllowed):
        leave_team(friend, meltemi, EVALUATION)


def test_a_captain_hands_over_before_leaving(meltemi, friend):
    old = captain(meltemi)
    with pytest.raises(Conflict, match="Choose a new captain first"):
        leave_team(old, meltemi, EVALUATION)
    hand_over(old, meltemi, EVALUATION, member=Membership.objects.get(user=friend))
    assert captain(meltemi) == friend
    with pytest.raises(NotAllowed):
        hand_over(old, meltemi, EVALUATION, member=Membership.objects.get(user=friend))
    leave_team(old, meltemi, EVALUATION)
    leave_team(friend, meltemi, EVALUATION)
    meltemi.refresh_from_db()
    assert meltemi.state == "withdrawn"
    assert verbs(meltemi)[-2:] == ["leave_team", "withdraw_team"]


def test_a_team_is_handed_over_to_members_alone(meltemi):
    stranger = Membership.objects.get(team=new_team(meltemi.shared_task, "Sirocco"))
    own = Membership.objects.get(team=meltemi)
    for member in (stranger, own):
        with pytest.raises(NotAllowed):
            hand_over(captain(meltemi), meltemi, EVALUATION, member=member)
    assert Membership.objects.filter(is_captain=True).count() == 2


def test_a_withdrawn_team_sends_nothing_more_and_keeps_its_runs(meltemi, friend):
    send_run(meltemi, GOOD, 1, EVALUATION)
    with pytest.raises(NotAllowed):
        withdraw_team(friend, meltemi, EVALUATION)
    withdraw_team(captain(meltemi), meltemi, EVALUATION)
    with pytest.raises(ActionError):
        send_run(meltemi, GOOD, 2, EVALUATION)
    assert meltemi.runs.count() == 1
    with pytest.raises(Conflict):
        withdraw_team(captain(meltemi), meltemi, EVALUATION)


def test_invitations_by_mail(meltemi, friend):
    invite_by_mail(friend, meltemi, EVALUATION, address="ada@example.org")
    assert mails(meltemi) == [("invitation", "ada@example.org")]
    with pytest.raises(NotAllowed):
        invite_by_mail(person("Stranger"), meltemi, EVALUATION, address="ada@example.org")
    for address in ("", "ada", "ada@example.org\nBcc: all@example.org"):
        with pytest.raises(Invalid):
            invite_by_mail(friend, meltemi, EVALUATION, address=address)
    for number in range(INVITATIONS_A_DAY - 1):
        invite_by_mail(friend, meltemi, EVALUATION, address=f"n{number}@example.org")
    with pytest.raises(LimitReached):
        invite_by_mail(friend, meltemi, EVALUATION, address="ada@example.org")
    invite_by_mail(friend, meltemi, EVALUATION + timedelta(days=1), address="ada@example.org")


def test_teams_close_when_the_phase_opens(gated, pending):
    opens = gated.phases.get(slug="post").opens
    late = person("Late")
    for at in (opens, POST):
        with pytest.raises(NotAllowed, match="closed"):
            join_team(late, pending.shared_task, at, code=pending.invitation_code)
        with pytest.raises(NotAllowed, match="closed"):
            invite_by_mail(captain(pending), pending, at, address="late@example.org")
    assert team_view(pending, captain(pending), opens, has_signed=True).is_closed
    just_before = opens - timedelta(milliseconds=1)
    membership = join_team(late, pending.shared_task, just_before, code=pending.invitation_code)
    assert join_team(late, pending.shared_task, POST, code=pending.invitation_code) == membership  # already a member


def test_each_state_says_what_it_allows(pending, organizer):
    def rights():
        pending.refresh_from_db()
        return [right.may for right in team_view(pending, captain(pending), EVALUATION, has_signed=True).rights]

    assert rights() == [True, True, False, False, False]
    approve_team(organizer, pending, EVALUATION)
    assert rights() == [True] * 5
    unsigned = team_view(pending, captain(pending), EVALUATION, has_signed=False).rights
    assert [right.may for right in unsigned] == [True, False, False, False, False]
    assert unsigned[-1].what.endswith("(after you sign the data agreement)")
    decline_team(organizer, pending, EVALUATION, reason="no")
    assert rights() == [True, False, False, False, False]


def test_between_phases_a_team_cannot_upload_but_is_on_leaderboards(gated, pending, organizer):
    approve_team(organizer, pending, EVALUATION)
    pending.refresh_from_db()
    gated.phases.update(opens=POST, closes=None)
    *_, uploads, boards = team_view(pending, captain(pending), EVALUATION, has_signed=True).rights
    assert (uploads.may, uploads.what) == (False, "Upload runs (no phase is accepting runs)")
    assert (boards.may, boards.what) == (True, "Appear on leaderboards")


def test_organizers_see_those_that_wait_first(gated, pending, django_assert_max_num_queries):
    approve_team_of = register_team(person("Ada"), gated, EVALUATION, name="Auster", answers=ANSWERS)
    Team.objects.filter(pk=approve_team_of.pk).update(state="approved")
    with django_assert_max_num_queries(17):
        assert [line.team.name for line in all_team_rows(gated, TeamFilter(), EVALUATION)] == ["Bora", "Auster"]


def test_a_captain_of_another_team_is_not_a_captain_here(meltemi, friend, tiny_folder):
    path = tiny_folder / "task.yaml"
    path.write_text(path.read_text().replace("slug: tiny", "slug: other"))
    other = import_shared_task(None, tiny_folder, EVALUATION).shared_task
    away = register_team(friend, other, EVALUATION, name="Meltemi")
    join_team(captain(meltemi), away.shared_task, EVALUATION, code=away.invitation_code)
    with pytest.raises(NotAllowed):
        withdraw_team(friend, meltemi, EVALUATION)
    assert OutgoingMail.objects.count() == 0


def test_the_team_page_asks_for_the_agreement_before_it_offers_uploads(gated, client):
    user = person("Nora")
    team = register_team(user, gated, EVALUATION, name="Bora", answers=ANSWERS)
    Team.objects.filter(pk=team.pk).update(state="approved")
    gated.phases.update(closes=None)
    client.force_login(user)

    def links():
        page = client.get("/tasks/gated/team/").content.decode()
        return "/tasks/gated/agreement/?next=" in page, ">Upload runs</a>" in page

    assert links() == (True, False)
    sign(user, gated)
    assert links() == (False, True)
