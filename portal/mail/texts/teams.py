"""Emails about teams, their data and agreements. Of all emails, only these may contain a secret: the data password."""

import secrets
from collections.abc import Sequence
from datetime import datetime

from django.contrib.auth.hashers import make_password
from django.utils.translation import gettext as _

from portal.mail.content import Block, MailContent, button, link, names_of, page, quote, secret, text
from portal.models import MailFacts, OutgoingMail, Team

PASSWORD_BYTES = 16  # 128 random bits cannot be guessed


def approved(mail: OutgoingMail, _facts: MailFacts, at: datetime) -> MailContent:
    """Report that the team is approved, with the password if the task has data that needs it."""
    names = names_of(mail)
    has_password = mail.shared_task.has_password_data
    return MailContent(
        subject=_("%(task)s: your team %(team)s was approved") % names,
        blocks=[
            text(
                _("Your team %(team)s was approved for %(task)s: you can now download the data and upload runs.")
                % names
            ),
            button(_("See what to do next"), page("team", mail.shared_task.slug)),
            *(_password(mail, at) if has_password else ()),
        ],
        why=_as_captain(mail),
    )


def declined(mail: OutgoingMail, _facts: MailFacts, at: datetime) -> MailContent:
    """Report that the team is declined, with the reason."""
    names = names_of(mail)
    return MailContent(
        subject=_("%(task)s: your team %(team)s was declined") % names,
        blocks=[
            text(_("The organizers of %(task)s have declined your team %(team)s. Their reason:") % names),
            quote(mail.details["reason"]),
            text(
                _(
                    "Your team’s runs, if any, leave the leaderboards that are not released yet, and come back once "
                    "the team is approved. Released leaderboards stay as they are."
                )
            ),
            text(_("You can change your answers and ask for approval again.")),
            button(_("Ask again on your team’s page"), page("team", mail.shared_task.slug)),
        ],
        why=_as_captain(mail),
    )


def waiting(mail: OutgoingMail, _facts: MailFacts, at: datetime) -> MailContent:
    """Notify organizers that a team awaits approval."""
    names = names_of(mail)
    return MailContent(
        subject=_("%(task)s: the team %(team)s is waiting for your approval") % names,
        blocks=[
            text(
                _("The team %(team)s wants to take part in %(task)s. Approve or decline it on the page “Teams”.")
                % names
            ),
            button(_("Review teams"), page("organize_teams", mail.shared_task.slug)),
        ],
        why=_("You get this mail because you organize %(task)s on Agon.") % names,
    )


def invitation(mail: OutgoingMail, _facts: MailFacts, at: datetime) -> MailContent:
    """Invite someone to a team. The reader may have no account yet."""
    assert mail.team is not None
    names = names_of(mail) | {"name": mail.details["inviter"]}
    join = page("join_team", mail.shared_task.slug, mail.team.invitation_code)
    return MailContent(
        subject=_("%(task)s: join the team %(team)s") % names,
        blocks=[
            text(_("%(name)s invites you to the team %(team)s of the shared task %(task)s.") % names),
            text(
                _(
                    "Open this link and sign in, or create an account first. Then join the team with the button on the "
                    "page."
                )
            ),
            button(_("Join the team %(team)s") % names, join),
        ],
        why=_(
            "You get this mail because %(name)s gave us your address. If you didn’t expect it, you can ignore it: "
            "nothing happens unless you join the team."
        )
        % names,
    )


def data_password(mail: OutgoingMail, _facts: MailFacts, at: datetime) -> MailContent:
    """Send the new password that was requested."""
    names = names_of(mail)
    return MailContent(
        subject=_("%(task)s: new data password of %(team)s") % names,
        blocks=[
            text(_("There is a new password for the data of your team %(team)s. The old one no longer works.") % names),
            *_password(mail, at),
        ],
        why=_as_captain(mail),
    )


def agreement_changed(mail: OutgoingMail, _facts: MailFacts, at: datetime) -> MailContent:
    """Ask people who signed an older version to sign the new agreement."""
    names = names_of(mail) | {"version": mail.details["version"]}
    return MailContent(
        subject=_("%(task)s: the data agreement has changed, please sign it again") % names,
        blocks=[
            text(_("The data agreement of %(task)s has a new text: version %(version)s.") % names),
            text(
                _(
                    "You signed an older version, and that signature is kept. Read and sign the new text before your "
                    "next download or upload. Your earlier uploads are not affected."
                )
            ),
            button(_("Read and sign the agreement"), page("agreement", mail.shared_task.slug)),
        ],
        why=_("You get this mail because you signed the data agreement of %(task)s on Agon.") % names,
    )


def _as_captain(mail: OutgoingMail) -> str:
    return _("You get this mail because you are the captain of a team of %(task)s on Agon.") % names_of(mail)


def _password(mail: OutgoingMail, at: datetime) -> Sequence[Block]:
    """Create a password and store its hash. A team that no longer takes part gets none."""
    password = secrets.token_urlsafe(PASSWORD_BYTES)
    assert mail.team is not None
    teams = Team.objects.filter(pk=mail.team.pk, state=Team.State.APPROVED)
    if not teams.update(data_password=make_password(password), data_password_at=at):
        return ()
    return (
        text(_("Your team’s password for the data:")),
        secret(password),
        text(
            _(
                "Share it only with members of your team. It works only together with an account in the team and a "
                "signed agreement. You enter it once per session."
            )
        ),
        link(_("Go to the data"), page("task_data", mail.shared_task.slug)),
        text(
            _(
                "No one can look it up, not even we. If it is lost or becomes known to others, request a new one on "
                "your team’s page. The old one then stops working at once."
            )
        ),
    )
