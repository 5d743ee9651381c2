"""Emails to the person who uploaded runs."""

import json
from datetime import datetime

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.mail.content import Block, MailContent, button, facts, link, moment, page, points, text
from portal.models import MailedResult, MailFacts, OutgoingMail, Phase, Submission
from portal.times_and_numbers import file_size


def accepted(mail: OutgoingMail, found: MailFacts, at: datetime) -> MailContent:
    """Send the receipt: what was received, and when. If the scores will be public, say that scoring is in progress."""
    submission, names = _submission(mail)
    opening = _("Your upload to %(phase)s was checked and accepted.")
    if submission.phase.scores_are_public(at):
        opening = _("Your upload to %(phase)s was checked and accepted. Scoring is in progress.")
    runs = len(found.results)
    return MailContent(
        subject=_("%(task)s: %(file)s was accepted") % names,
        blocks=[
            text(opening % names),
            *_receipt(mail, found, at),
            text(ngettext("The upload contains one run:", "The upload contains %(n)d runs:", runs) % {"n": runs}),
            points([(result.run.name, f"{result.run.track.title} · {result.run.pk}") for result in found.results]),
            *_replacing(submission, names),
            text(_when_scores(submission.phase)),
            button(_("View upload"), _upload_page(mail)),
            *_about_receipt(found),
        ],
        why=_as_sender(names),
        attachment=_attached(submission, found),
    )


def rejected(mail: OutgoingMail, found: MailFacts, at: datetime) -> MailContent:
    """List the problems, and say that no quota was used."""
    submission, names = _submission(mail)
    subject = _("%(task)s: %(file)s was rejected")
    if submission.state == Submission.State.REJECTED:
        opening = _(
            "Your upload to %(phase)s was rejected. No run was submitted, and no quota was used. Fix the problems "
            "listed below and upload the file again."
        )
    else:
        subject = _("%(task)s: some runs in %(file)s were rejected")
        opening = _(
            "Some runs in your upload to %(phase)s were rejected, and their quota was returned. The other runs count."
        )
    rest = found.findings_left_out
    more = ngettext("There is one more problem.", "There are %(n)d more problems.", rest) % {"n": rest}
    return MailContent(
        subject=subject % names,
        blocks=[
            text(opening % names),
            points([(finding.place, f"{finding.message} [{finding.code}]") for finding in found.findings]),
            *([text(more)] if rest else []),
            button(_("View all problems"), _upload_page(mail)),
        ],
        why=_as_sender(names),
    )


def scored(mail: OutgoingMail, found: MailFacts, at: datetime) -> MailContent:
    """Report that the upload was scored. Scores are included only if they are public."""
    submission, names = _submission(mail)
    are_public, step = submission.phase.scores_are_public(at), submission.phase.step_at(at)
    opening = _("Your upload to %(phase)s was scored.")
    if found.receipt is not None:
        opening = _("Your upload to %(phase)s was accepted and scored.")
    return MailContent(
        subject=_("%(task)s: %(file)s was scored") % names,
        blocks=[
            text(opening % names),
            *_receipt(mail, found, at),
            points([(result.run.name, _scores(result)) for result in found.results]),
            *_replacing(submission, names),
            *([] if are_public else [text(_when_scores(submission.phase))]),
            *([] if step is None else [text(_in_steps(step))]),
            button(_("View runs"), page("team_runs", mail.shared_task.slug)),
            *_about_receipt(found),
        ],
        why=_as_sender(names),
        attachment=_attached(submission, found),
    )


def failed(mail: OutgoingMail, found: MailFacts, at: datetime) -> MailContent:
    """Report that evaluation failed because of the portal."""
    submission, names = _submission(mail)
    return MailContent(
        subject=_("%(task)s: evaluation of %(file)s failed on our side") % names,
        blocks=[
            text(
                _(
                    "We received your upload to %(phase)s but couldn’t finish evaluating it after several attempts. "
                    "The error is on our side, not in your run. The organizers can see the error and retry the "
                    "evaluation."
                )
                % names
            ),
            text(
                _(
                    "You don’t need to do anything. Failed runs don’t count toward your run limits, so you can also "
                    "upload the file again."
                )
            ),
            *_receipt(mail, found, at),
            button(_("View current state"), _upload_page(mail)),
            *_about_receipt(found),
        ],
        why=_as_sender(names),
        attachment=_attached(submission, found),
    )


def _replacing(submission: Submission, names: dict[str, str]) -> list[Block]:
    """Say which of the team's submissions counts, in phases with one submission per team."""
    if submission.phase.max_submissions is None:
        return []
    if submission.replaced_by is not None:
        newer = names | {"file": submission.replaced_by.file_name}
        return [text(_("Your team’s newer submission %(file)s to %(phase)s counts instead of this one.") % newer)]
    own = _("Each team has one submission to %(phase)s, and this one counts. A later upload would replace it.") % names
    if not submission.replaces.exists():
        return [text(own)]
    return [text(own), text(_("It replaced your team’s earlier submission and all its runs."))]


def _submission(mail: OutgoingMail) -> tuple[Submission, dict[str, str]]:
    """Return the upload, and the names to fill into the email's sentences."""
    submission = mail.submission
    assert submission is not None
    return submission, {
        "task": mail.shared_task.title,
        "phase": submission.phase.title,
        "team": submission.team.name,
        "file": submission.file_name,
    }


def _receipt(mail: OutgoingMail, found: MailFacts, at: datetime) -> list[Block]:
    """Return what the receipt says, if the email has one."""
    if found.receipt is None:
        return []
    submission, names = _submission(mail)
    return [
        facts(
            (_("Receipt"), str(submission.pk)),
            (_("Team"), names["team"]),
            (_("File"), f"{submission.file_name} ({file_size(submission.size)})"),
            ("SHA-256", submission.sha256),
            (_("Received"), moment(mail.user, submission.received_at, at, seconds=True)),
        )
    ]


def _about_receipt(found: MailFacts) -> list[Block]:
    if found.receipt is None:
        return []
    return [
        text(_("The attached receipt is signed by the portal, so any change to it can be detected.")),
        link(_("Verify receipt"), page("verify_receipt")),
    ]


def _attached(submission: Submission, found: MailFacts) -> tuple[str, str] | None:
    if found.receipt is None:
        return None
    return f"receipt_{submission.pk}.json", json.dumps(found.receipt, indent=1, ensure_ascii=False)


def _upload_page(mail: OutgoingMail) -> str:
    return page("submission", mail.shared_task.slug, mail.submission_id)


def _as_sender(names: dict[str, str]) -> str:
    return (
        _("You received this email because you uploaded this file for the team %(team)s in %(task)s on Agon.") % names
    )


def _scores(result: MailedResult) -> str:
    values = " · ".join(f"{name} {value}" for name, value in result.scores)
    track = result.run.track.title
    said = f"{track}: {values}" if values else track
    return f"{said} ({'; '.join(result.flags)})" if result.flags else said


def _in_steps(step: float) -> str:
    return _(
        "Scores in this phase are shown in steps of %(step)s. If no score is listed for a run, it did not beat the "
        "best score already shown to your team or to you by more than one step."
    ) % {"step": step}


def _when_scores(phase: Phase) -> str:
    if phase.scores == Phase.Scores.AT_ONCE:
        return _(
            "You’ll get the scores in another email. They also appear on the leaderboard as soon as they are ready."
        )
    if phase.scores == Phase.Scores.NEVER:
        return _("The organizers do not publish the scores of this phase.")
    return _("The scores are hidden until the organizers release them. You’ll get another email then.")
