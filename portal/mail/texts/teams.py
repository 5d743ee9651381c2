"""Emails about teams, their data and agreements. Of all emails in the outbox, only these contain data passwords."""

import secrets
from collections.abc import Sequence
from datetime import datetime

from django.contrib.auth.hashers import make_password
from django.utils.translation import gettext as _

from portal.mail.content import Block, MailContent, button, link, names_of, page, quote, secret, text
from portal.models import MailFacts, OutgoingMail, Team

PASSWORD_BYTES = 16  # 128 random bits, which cannot be guessed


def approved(mail: OutgoingMail, _facts: MailFacts, at: datetime) -> MailContent:
    """Report that the team was approved. If the task has data with a password, include a new password."""
    names = names_of(mail)
    has_password = mail.shared_task.has_password_data
    return MailContent(
        subject=_("%(task)s: your team %(team)s was approved") % names,
        blocks=[
            text(
                _("Your team %(team)s was approved for %(task)s. You can now download the data and upload runs.")
                % names
            ),
            button(_("View next steps"), page("team", mail.shared_task.slug)),
            *(_password(mail, at) if has_password else ()),
        ],
        why=_as_captain(mail),
    )


def declined(mail: OutgoingMail, _facts: MailFacts, at: datetime) -> MailContent:
    """Report that the team was declined, and why."""
    names = names_of(mail)
    return MailContent(
        subject=_("%(task)s: your team %(team)s was declined") % names,
        blocks=[
            text(_("The organizers of %(task)s declined your team %(team)s for this reason:") % names),
            quote(mail.details["reason"]),
            text(
                _(
                    "If your team has runs, they are removed from leaderboards that haven’t been released yet. "
                    "The runs reappear if the team is approved. Released leaderboards don’t change."
                )
            ),
            text(_("You can change your answers and request approval again.")),
            button(_("Open team page"), page("team", mail.shared_task.slug)),
        ],
        why=_as_captain(mail),
    )


def waiting(mail: OutgoingMail, _facts: MailFacts, at: datetime) -> MailContent:
    """Notify organizers that a team is waiting for approval."""
    names = names_of(mail)
    return MailContent(
        subject=_("%(task)s: the team %(team)s is waiting for your approval") % names,
        blocks=[
            text(
                _("The team %(team)s wants to take part in %(task)s. Approve or decline the team on the “Teams” page.")
                % names
            ),
            button(_("Review teams"), page("organize_teams", mail.shared_task.slug)),
        ],
        why=_("You received this email because you are an organizer of %(task)s on Agon.") % names,
    )


def invitation(mail: OutgoingMail, _facts: MailFacts, at: datetime) -> MailContent:
    """Invite someone to a team. The recipient may not have an account yet."""
    assert mail.team is not None
    names = names_of(mail) | {"name": mail.details["inviter"]}
    join = page("join_team", mail.shared_task.slug, mail.team.invitation_code)
    return MailContent(
        subject=_("%(task)s: join the team %(team)s") % names,
        blocks=[
            text(_("%(name)s invited you to join the team %(team)s in the shared task %(task)s.") % names),
            text(_("Open this link, sign in or create an account, and then join the team on that page.")),
            button(_("Join team %(team)s") % names, join),
        ],
        why=_(
            "You received this email because %(name)s entered your address. If you didn’t expect the invitation, "
            "ignore this email. Nothing happens unless you join the team."
        )
        % names,
    )


def data_password(mail: OutgoingMail, _facts: MailFacts, at: datetime) -> MailContent:
    """Send the new password that was requested."""
    names = names_of(mail)
    return MailContent(
        subject=_("%(task)s: new data password for %(team)s") % names,
        blocks=[
            text(_("Your team %(team)s has a new data password. The old password no longer works.") % names),
            *_password(mail, at),
        ],
        why=_as_captain(mail),
    )


def agreement_changed(mail: OutgoingMail, _facts: MailFacts, at: datetime) -> MailContent:
    """Ask people who signed an older version of the agreement to sign the new one."""
    names = names_of(mail) | {"version": mail.details["version"]}
    return MailContent(
        subject=_("%(task)s: please sign the new data agreement") % names,
        blocks=[
            text(_("The data agreement for %(task)s has a new version: %(version)s.") % names),
            text(
                _(
                    "You signed an earlier version, and we keep that signature. Read and sign the new version before "
                    "your next download or upload. Your earlier uploads are not affected."
                )
            ),
            button(_("Read and sign the agreement"), page("agreement", mail.shared_task.slug)),
        ],
        why=_("You received this email because you signed the data agreement for %(task)s on Agon.") % names,
    )


def _as_captain(mail: OutgoingMail) -> str:
    return _("You received this email because you are the captain of a team in %(task)s on Agon.") % names_of(mail)


def _password(mail: OutgoingMail, at: datetime) -> Sequence[Block]:
    """Create a data password, store its hash, and return the email text that contains it.

    Return nothing if the team no longer takes part.
    """
    password = secrets.token_urlsafe(PASSWORD_BYTES)
    assert mail.team is not None
    teams = Team.objects.filter(pk=mail.team.pk, state=Team.State.APPROVED)
    if not teams.update(data_password=make_password(password), data_password_at=at):
        return ()
    return (
        text(_("Your team’s data password:")),
        secret(password),
        text(
            _(
                "Share the password only with members of your team. It works only for team members who are signed in "
                "and have signed the agreement. Members enter it once per session."
            )
        ),
        link(_("Go to data"), page("task_data", mail.shared_task.slug)),
        text(
            _(
                "No one can look up the password, not even the administrators. If the password is lost or "
                "someone else learns it, request a new one on your team page. The old password then stops "
                "working immediately."
            )
        ),
    )
