"""Emails about dates: a deadline is near, or scores were released."""

from collections.abc import Sequence
from datetime import datetime

from django.utils.translation import gettext as _

from portal.mail.content import Block, MailContent, button, moment, names_of, page, points, text
from portal.models import MailFacts, OutgoingMail
from portal.times_and_numbers import end_of_day, span


def deadline(mail: OutgoingMail, _facts: MailFacts, at: datetime) -> MailContent:
    """Remind members of a team that has downloaded the data but has no valid run yet.

    The time left is computed when the email is sent.
    """
    closes = datetime.fromisoformat(mail.details["closes"])
    names = names_of(mail) | {"left": span(closes - at), "closes": moment(mail.user, end_of_day(closes), at)}
    return MailContent(
        subject=_("%(task)s: %(phase)s closes in %(left)s") % names,
        blocks=[
            text(_("%(phase)s closes in %(left)s: %(closes)s.") % names),
            text(_("Your team %(team)s has downloaded the data but has no valid run in this phase yet.") % names),
            text(
                _(
                    "Don’t wait until the last hour. An upload is on time only if the whole file arrives before the "
                    "deadline. To check a file first, select “Validate only” on the “Submit” page. Validation uses "
                    "no quota."
                )
            ),
            button(_("Upload runs"), page("submit", mail.shared_task.slug)),
        ],
        why=_("You received this email because you are a member of the team %(team)s in %(task)s on Agon.") % names,
    )


def released(mail: OutgoingMail, found: MailFacts, at: datetime) -> MailContent:
    """Announce that scores were released. Teams' emails list their official runs, organizers' emails list no runs."""
    names = names_of(mail)
    if mail.team is None:
        why = _("You received this email because you are an organizer of %(task)s on Agon.") % names
    else:
        why = _("You received this email because you are a member of the team %(team)s in %(task)s on Agon.") % names
    return MailContent(
        subject=_("%(task)s: the leaderboards for %(phase)s are public") % names,
        blocks=[
            text(_("The organizers of %(task)s have released the scores for %(phase)s.") % names),
            *_official_runs(found),
            button(_("View leaderboards"), page("leaderboards", mail.shared_task.slug)),
        ],
        why=why,
    )


def _official_runs(found: MailFacts) -> Sequence[Block]:
    rows = []
    for result in found.results:
        values = [f"{name} {value}" for name, value in result.scores]
        rows.append((result.run.track.title, " · ".join([result.run.name, *values, *result.flags])))
    return [text(_("Your team’s official runs:")), points(rows)] if rows else []
