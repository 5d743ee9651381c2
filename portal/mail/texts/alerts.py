"""The email to administrators about problems that only they can fix."""

from datetime import datetime

from django.utils.translation import gettext as _

from portal.mail.content import MailContent, button, page, points, text
from portal.models import MailFacts, OutgoingMail


def alert(mail: OutgoingMail, _facts: MailFacts, at: datetime) -> MailContent:
    """Report problems by their technical names. The email contains no scores and quotes nothing from runs."""
    has_task = mail.shared_task_id is not None
    where = page("task", mail.shared_task.slug) if has_task else page("home")
    names = {"task": mail.shared_task.title if has_task else "Agon", "count": mail.details.get("count", 0)}
    return MailContent(
        subject=_("%(task)s: a problem needs your attention") % names,
        blocks=[
            text(
                _(
                    "Agon found problems that it couldn’t fix automatically. Number of problems: %(count)s. For "
                    "details, see the log."
                )
                % names
            ),
            points([("", line) for line in mail.details.get("lines", [])]),
            button(_("View current state"), where),
        ],
        why=_("You received this email because you are an administrator of Agon."),
    )
