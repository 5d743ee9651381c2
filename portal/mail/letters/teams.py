"""Letters about teams, their data and agreements. Some contain the only secret that mails may contain."""

import secrets
from collections.abc import Sequence
from datetime import datetime

from django.contrib.auth.hashers import make_password
from django.utils.translation import gettext as _

from portal.mail.letter import Block, Letter, button, link, names_of, page, quote, secret, text
from portal.models import MailFacts, OutgoingMail, Team

PASSWORD_BYTES = 16  # 128 random bits, which no one can guess


def approved(mail: OutgoingMail, _facts: MailFacts, at: datetime) -> Letter:
    """The team is approved; with the password if the task has data that need it."""
    names = names_of(mail)
    has_password = mail.shared_task.has_password_data
    return Letter(
        subject=_("%(task)s: your team %(team)s takes part") % names,
        blocks=[
            text(_("Your team %(team)s takes part in %(task)s: you can take the data and send runs now.") % names),
            button(_("Your team's page says what to do next"), page("team", mail.shared_task.slug)),
            *(_password(mail, at) if has_password else ()),
        ],
        why=_as_captain(mail),
    )


def declined(mail: OutgoingMail, _facts: MailFacts, at: datetime) -> Letter:
    """The team is declined, and why."""
    names = names_of(mail)
    return Letter(
        subject=_("%(task)s: your team %(team)s was declined") % names,
        blocks=[
            text(_("The organizers of %(task)s have declined your team %(team)s. They say:") % names),
            quote(mail.details["reason"]),
            text(
                _(
                    "The runs of the team, if there are any, leave the boards that are not released yet, and come back "
                    "once it is approved. What was released stays as it is."
                )
            ),
            text(_("You can mend your answers and ask again.")),
            button(_("Ask again on your team's page"), page("team", mail.shared_task.slug)),
        ],
        why=_as_captain(mail),
    )


def waiting(mail: OutgoingMail, _facts: MailFacts, at: datetime) -> Letter:
    """To organizers: a team awaits approval."""
    names = names_of(mail)
    return Letter(
        subject=_("%(task)s: the team %(team)s awaits your approval") % names,
        blocks=[
            text(
                _("The team %(team)s wants to take part in %(task)s. Approve or decline it on the page of teams.")
                % names
            ),
            button(_("Review teams"), page("organize_teams", mail.shared_task.slug)),
        ],
        why=_("You get this mail because you organize %(task)s on Agon.") % names,
    )


def invitation(mail: OutgoingMail, _facts: MailFacts, at: datetime) -> Letter:
    """To someone who may have no account yet."""
    assert mail.team is not None
    names = names_of(mail) | {"name": mail.details["inviter"]}
    join = page("join_team", mail.shared_task.slug, mail.team.invitation_code)
    return Letter(
        subject=_("%(task)s: come to the team %(team)s") % names,
        blocks=[
            text(_("%(name)s invites you to the team %(team)s of the shared task %(task)s.") % names),
            text(_("Open this link and sign in, or create an account first; joining is a button there.")),
            button(_("Join the team %(team)s") % names, join),
        ],
        why=_(
            "You get this mail because %(name)s gave us your address. If you expected nothing of the kind, do nothing: "
            "without the button nothing happens."
        )
        % names,
    )


def data_password(mail: OutgoingMail, _facts: MailFacts, at: datetime) -> Letter:
    """A new password, as requested."""
    names = names_of(mail)
    return Letter(
        subject=_("%(task)s: a new password for the data of %(team)s") % names,
        blocks=[
            text(_("There is a new password for the data of your team %(team)s; the old one has ended.") % names),
            *_password(mail, at),
        ],
        why=_as_captain(mail),
    )


def agreement_changed(mail: OutgoingMail, _facts: MailFacts, at: datetime) -> Letter:
    """A new agreement to sign, to people who signed an older version."""
    names = names_of(mail) | {"version": mail.details["version"]}
    return Letter(
        subject=_("%(task)s: the data agreement has changed, please sign again") % names,
        blocks=[
            text(_("The data agreement of %(task)s has a new text: version %(version)s.") % names),
            text(
                _(
                    "Your signature is under an older version, and stays there. Before your next download or upload, "
                    "read the new text and sign it; what you have sent so far is not affected."
                )
            ),
            button(_("Read the agreement and sign"), page("agreement", mail.shared_task.slug)),
        ],
        why=_("You get this mail because you signed the data agreement of %(task)s on Agon.") % names,
    )


def _as_captain(mail: OutgoingMail) -> str:
    return _("You get this mail as captain of a team of %(task)s on Agon.") % names_of(mail)


def _password(mail: OutgoingMail, at: datetime) -> Sequence[Block]:
    """Make a new password and store its hash; none for a team that no longer takes part."""
    password = secrets.token_urlsafe(PASSWORD_BYTES)
    assert mail.team is not None
    teams = Team.objects.filter(pk=mail.team.pk, state=Team.State.APPROVED)
    if not teams.update(data_password=make_password(password), data_password_at=at):
        return ()
    return (
        text(_("The password for your team's data is:")),
        secret(password),
        text(
            _(
                "Give it to the members of your team and to nobody else. It works together with an account in the team "
                "and a signed agreement, and is asked once a session."
            )
        ),
        link(_("To the data"), page("task_data", mail.shared_task.slug)),
        text(
            _(
                "Nobody can look it up, and neither can we. Should it get lost or known, have a new one sent from your "
                "team's page; the old one then ends at once."
            )
        ),
    )
