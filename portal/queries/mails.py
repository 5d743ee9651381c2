"""Facts for emails that are not in the emails' rows. They are read on sending. All scores in them are public."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from allauth.account.models import EmailAddress
from django.contrib.auth.models import AnonymousUser
from django.utils.translation import gettext as _

from portal.models import (
    Finding,
    MailedResult,
    MailFacts,
    OutgoingMail,
    Phase,
    Run,
    SharedTask,
    Signature,
    Submission,
    Team,
    TeamMessage,
    User,
)
from portal.queries.boards.columns import Score
from portal.queries.desk.messages import mailed_message
from portal.queries.receipts import receipt
from portal.queries.runs import RunLine, official_runs_of, submission_view, team_runs
from portal.times_and_numbers import count, score
from scoring.reports.messages import phrase
from scoring.reports.messages.expected import EXPECTED
from scoring.reports.problems import Problem, translate

FINDINGS = 10  # maximum number of errors listed in an email; the page lists all

# Kind of email → the team states in which it is still correct.
_STATES: Mapping[str, tuple[Team.State, ...]] = {
    OutgoingMail.Kind.TEAM_APPROVED: (Team.State.APPROVED,),
    OutgoingMail.Kind.DATA_PASSWORD: (Team.State.APPROVED,),
    OutgoingMail.Kind.TEAM_DECLINED: (Team.State.DECLINED,),
    OutgoingMail.Kind.TEAM_WAITING: (Team.State.PENDING,),
    OutgoingMail.Kind.INVITATION: Team.ACTIVE,
}
_EVERYBODY = AnonymousUser()  # emails may be forwarded, so they show only what everyone may see


def facts(mail: OutgoingMail, at: datetime) -> MailFacts | None:
    """Return the facts for the email, or None if it is no longer due."""
    is_true = mail.team is None or mail.kind not in _STATES or mail.team.state in _STATES[mail.kind]
    if not (is_true and _has_reader(mail)):
        return None
    gather = _FACTS.get(mail.kind)
    return MailFacts() if gather is None else gather(mail, at)


def _has_reader(mail: OutgoingMail) -> bool:
    """Return whether the person still wants this email and is still in the team or still organizes the task.

    Emails about a hidden task are sent only to its organizers.
    """
    is_public = mail.shared_task_id is None or mail.shared_task.state == SharedTask.State.OPEN
    if mail.user is None:  # an invitation, or an email to someone without an account
        return is_public
    if not mail.user.is_active or not mail.is_wished_for:
        return False
    if mail.shared_task_id is None:
        return True
    if mail.team is None or mail.kind == OutgoingMail.Kind.TEAM_WAITING:
        return mail.shared_task.is_assigned_to(mail.user)
    return is_public and mail.team.memberships.filter(user=mail.user).exists()


def _accepted(mail: OutgoingMail, at: datetime) -> MailFacts:
    submission = _submission(mail)
    runs = submission.runs.select_related("track").order_by("track__position", "number")
    return MailFacts(receipt=receipt(submission), results=[MailedResult(run, ()) for run in runs])


def _rejected(mail: OutgoingMail, at: datetime) -> MailFacts:
    submission = _submission(mail)
    runs = submission.runs.order_by("track__position", "number")
    problems = [*submission.problems, *(problem for run in runs for problem in run.problems)]
    errors = [problem for problem in problems if problem["severity"] == "error"]
    shown = [_finding(problem, mail.language) for problem in errors[:FINDINGS]]
    return MailFacts(findings=shown, findings_left_out=max(0, len(errors) - FINDINGS))


def _scored(mail: OutgoingMail, at: datetime) -> MailFacts:
    lines = submission_view(_submission(mail), _EVERYBODY, at, with_place=False).runs
    results = [_result(line, line.scores, mail.language) for line in lines if line.state == Run.State.SCORED]
    return replace(_failed(mail, at), results=results)


def _failed(mail: OutgoingMail, at: datetime) -> MailFacts:
    return MailFacts(receipt=receipt(_submission(mail)) if mail.details.get("with_receipt") else None)


def _deadline(mail: OutgoingMail, at: datetime) -> MailFacts | None:
    """Return the facts, or None if the deadline was moved or has passed, or if the team needs no reminder."""
    phase, team = mail.phase, mail.team
    assert phase is not None
    assert team is not None
    closes = phase.closes_for(team.pk)
    is_still_so = closes is not None and closes.isoformat() == mail.details["closes"] and at < closes
    is_idle = team.takes_part and not Run.objects.eligible().filter(team=team, phase=phase).exists()
    return MailFacts() if is_still_so and is_idle else None


def _released(mail: OutgoingMail, at: datetime) -> MailFacts | None:
    """Return the facts, or None if the scores are no longer public."""
    if mail.phase is None or not mail.phase.scores_are_public(at):
        return None
    return MailFacts(results=_official_results(mail.team, mail.phase, at, mail.language) if mail.team else ())


def _new_agreement(mail: OutgoingMail, at: datetime) -> MailFacts | None:
    """Return the facts, or None if the person has signed, or if a newer version of the agreement has its own email."""
    agreement = mail.shared_task.definition.agreement
    is_asked = agreement is not None and agreement.version == mail.details["version"]
    has_signed = mail.user is not None and Signature.objects.current(mail.user, mail.shared_task) is not None
    return MailFacts() if is_asked and not has_signed else None


def _message(mail: OutgoingMail, at: datetime) -> MailFacts | None:
    """Return the facts, or None if the message was discarded. A test shows it as one of its recipients reads it."""
    message = TeamMessage.objects.filter(pk=mail.details.get("message")).first()
    team, user = mail.team, mail.user
    if team is None:
        team = Team.objects.select_related("shared_task").filter(pk=mail.details.get("team")).first()
        user = User.objects.filter(pk=mail.details.get("user")).first()
    if message is None or team is None or user is None:
        return None
    return MailFacts(message=mailed_message(message, team, user, at))


def _account(mail: OutgoingMail, at: datetime) -> MailFacts | None:
    """Return the facts, or None if the account no longer has this address or has already confirmed it."""
    if mail.user is None:
        return MailFacts()
    address = EmailAddress.objects.filter(user=mail.user, email__iexact=mail.address).first()
    return MailFacts() if address is not None and not (mail.asks_to_confirm and address.verified) else None


_FACTS: Mapping[str, Callable[[OutgoingMail, datetime], MailFacts | None]] = {
    OutgoingMail.Kind.AGREEMENT_CHANGED: _new_agreement,
    OutgoingMail.Kind.RUNS_ACCEPTED: _accepted,
    OutgoingMail.Kind.RUNS_REJECTED: _rejected,
    OutgoingMail.Kind.RUNS_SCORED: _scored,
    OutgoingMail.Kind.RUNS_FAILED: _failed,
    OutgoingMail.Kind.DEADLINE_72: _deadline,
    OutgoingMail.Kind.DEADLINE_24: _deadline,
    OutgoingMail.Kind.RELEASED: _released,
    OutgoingMail.Kind.MESSAGE: _message,
    OutgoingMail.Kind.ACCOUNT: _account,
}


def _submission(mail: OutgoingMail) -> Submission:
    assert mail.submission is not None
    return mail.submission


def _finding(found: dict[str, Any], language: str) -> Finding:
    """Describe a problem: its place and message, and what was expected or is similar, unless the message says so."""
    # An email may be read by others, so it does not quote the run.
    problem = translate(
        Problem(**{**found, "places": tuple(found["places"]), "excerpt": None, "more_excerpts": ()}), language
    )
    hints = []
    is_said = problem.expected == EXPECTED.get(problem.code)  # in other words, as the fix
    if problem.expected and not is_said and (expected := phrase(problem.expected, language)) not in problem.message:
        hints.append(_("Expected: %(expected)s.") % {"expected": expected})
    if problem.suggestion and problem.suggestion not in problem.message:
        hints.append(_("Closest match: %(name)s.") % {"name": problem.suggestion})
    return Finding(_place(problem), " ".join([problem.message, *hints]), problem.code)


def _place(problem: Problem) -> str:
    parts = [problem.file] if problem.file else []
    if problem.line is not None:
        parts.append(_("line %(line)s") % {"line": count(problem.line)})
    elif problem.item is not None:
        parts.append(_("item %(item)s") % {"item": problem.item})
    return ", ".join(parts) or _("the whole upload")


def _official_results(team: Team, phase: Phase, at: datetime, language: str) -> list[MailedResult]:
    """Return the team's official runs with their ranking scores."""
    lines = [line for line in team_runs(team, _EVERYBODY, at) if line.run.phase_id == phase.pk]
    found = official_runs_of(lines, _EVERYBODY, at)
    official = {official_run.run.pk for official_run in found if official_run.run is not None}
    if phase.official == Phase.Official.ALL:
        official = {line.run.pk for line in lines if line.run.is_eligible}
    chosen = sorted((line for line in lines if line.run.pk in official), key=lambda line: line.run.track.position)
    return [_result(line, [line.ranking_score] if line.ranking_score else [], language) for line in chosen]


def _result(line: RunLine, scores: Iterable[Score], language: str) -> MailedResult:
    values = [(value.column.short, score(value.value, value.column.decimals)) for value in scores]
    return MailedResult(line.run, values, [phrase(flag, language) for flag in line.flags] if values else ())
