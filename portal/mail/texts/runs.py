"""Emails about an upload, to its sender."""

import json
from datetime import datetime

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.mail.content import MailContent, button, facts, link, moment, page, points, text
from portal.models import MailedResult, MailFacts, OutgoingMail, Phase, Submission
from portal.times_and_numbers import file_size


def accepted(mail: OutgoingMail, found: MailFacts, at: datetime) -> MailContent:
    """Send the receipt: what was received and when, and that it will be scored."""
    submission, names = _submission(mail)
    assert found.receipt is not None
    content = json.dumps(found.receipt, indent=1, ensure_ascii=False)
    runs = len(found.results)
    return MailContent(
        subject=_("%(task)s: %(file)s was accepted") % names,
        blocks=[
            text(_("Your upload to %(phase)s was checked and accepted. It is being scored now.") % names),
            facts(
                (_("Receipt"), str(submission.pk)),
                (_("Team"), names["team"]),
                (_("File"), f"{submission.file_name} ({file_size(submission.size)})"),
                ("SHA-256", submission.sha256),
                (_("Received"), moment(mail.user, submission.received_at, at, seconds=True)),
            ),
            text(ngettext("It contains one run:", "It contains %(n)d runs:", runs) % {"n": runs}),
            points([(result.run.name, f"{result.run.track.title} · {result.run.pk}") for result in found.results]),
            text(_when_scores(submission.phase)),
            button(_("Open your upload"), _upload_page(mail)),
            text(_("The receipt is attached and signed by the portal, so any change to it can be detected.")),
            link(_("Verify a receipt"), page("verify_receipt")),
        ],
        why=_as_sender(names),
        attachment=(f"receipt_{submission.pk}.json", content),
    )


def rejected(mail: OutgoingMail, found: MailFacts, at: datetime) -> MailContent:
    """List the problems, and say that no quota was used."""
    _own, names = _submission(mail)
    rest = found.findings_left_out
    more = ngettext("And one more problem.", "And %(n)d more problems.", rest) % {"n": rest}
    return MailContent(
        subject=_("%(task)s: %(file)s was rejected") % names,
        blocks=[
            text(
                _(
                    "Your upload to %(phase)s was rejected: none of its runs was accepted, and no quota was used. Fix "
                    "the problems listed here and upload the file again."
                )
                % names
            ),
            points([(finding.place, f"{finding.message} [{finding.code}]") for finding in found.findings]),
            *([text(more)] if rest else []),
            button(_("See all problems and upload the fixed file"), _upload_page(mail)),
        ],
        why=_as_sender(names),
    )


def scored(mail: OutgoingMail, found: MailFacts, at: datetime) -> MailContent:
    """Report that all runs are scored. Scores are included only if they are public."""
    submission, names = _submission(mail)
    are_public, step = submission.phase.scores_are_public(at), submission.phase.step_at(at)
    return MailContent(
        subject=_("%(task)s: %(file)s was scored") % names,
        blocks=[
            text(_("Your upload to %(phase)s was scored.") % names),
            points([(result.run.name, _scores(result)) for result in found.results]),
            *([] if are_public else [text(_when_scores(submission.phase))]),
            *([] if step is None else [text(_in_steps(step))]),
            button(_("See your runs"), page("team_runs", mail.shared_task.slug)),
        ],
        why=_as_sender(names),
    )


def failed(mail: OutgoingMail, _facts: MailFacts, at: datetime) -> MailContent:
    """Report that evaluation failed on our side."""
    _own, names = _submission(mail)
    return MailContent(
        subject=_("%(task)s: %(file)s failed on our side") % names,
        blocks=[
            text(
                _(
                    "We have your upload to %(phase)s, but could not finish evaluating it after several attempts. The "
                    "error is on our side, not in your run. The organizers see it and can retry it."
                )
                % names
            ),
            text(
                _(
                    "You don’t need to do anything. Failed runs don’t count toward your limits, so you can also "
                    "upload the file again."
                )
            ),
            button(_("See the current state"), _upload_page(mail)),
        ],
        why=_as_sender(names),
    )


def _submission(mail: OutgoingMail) -> tuple[Submission, dict[str, str]]:
    """Return the upload and the names in the email's sentences."""
    submission = mail.submission
    assert submission is not None
    return submission, {
        "task": mail.shared_task.title,
        "phase": submission.phase.title,
        "team": submission.team.name,
        "file": submission.file_name,
    }


def _upload_page(mail: OutgoingMail) -> str:
    return page("submission", mail.shared_task.slug, mail.submission_id)


def _as_sender(names: dict[str, str]) -> str:
    return _("You get this mail because you uploaded this file for the team %(team)s of %(task)s on Agon.") % names


def _scores(result: MailedResult) -> str:
    values = " · ".join(f"{name} {value}" for name, value in result.scores)
    track = result.run.track.title
    return f"{track}: {values}" if values else track


def _in_steps(step: float) -> str:
    return _(
        "Scores in this phase change in steps of %(step)s: a run without a score here does not beat your team’s best "
        "shown score by more than a step."
    ) % {"step": step}


def _when_scores(phase: Phase) -> str:
    if phase.scores == Phase.Scores.AT_ONCE:
        return _("You get the scores in another mail, and they appear on the leaderboard at once.")
    if phase.scores == Phase.Scores.NEVER:
        return _("The organizers do not publish the scores of this phase.")
    return _("The scores stay hidden until the organizers release them. You get another mail then.")
