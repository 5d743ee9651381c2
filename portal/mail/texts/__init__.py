"""The texts of emails. `TEXTS` maps each kind of email to a function that returns its text."""

from collections.abc import Callable, Mapping
from datetime import datetime

from portal.mail.content import MailContent
from portal.mail.texts import accounts, alerts, dates, messages, runs, teams
from portal.models import MailFacts, OutgoingMail

Kind = OutgoingMail.Kind

TEXTS: Mapping[str, Callable[[OutgoingMail, MailFacts, datetime], MailContent]] = {
    Kind.TEAM_APPROVED: teams.approved,
    Kind.TEAM_DECLINED: teams.declined,
    Kind.TEAM_WAITING: teams.waiting,
    Kind.INVITATION: teams.invitation,
    Kind.DATA_PASSWORD: teams.data_password,
    Kind.AGREEMENT_CHANGED: teams.agreement_changed,
    Kind.RUNS_ACCEPTED: runs.accepted,
    Kind.RUNS_REJECTED: runs.rejected,
    Kind.RUNS_SCORED: runs.scored,
    Kind.RUNS_FAILED: runs.failed,
    Kind.DEADLINE_72: dates.deadline,
    Kind.DEADLINE_24: dates.deadline,
    Kind.RELEASED: dates.released,
    Kind.MESSAGE: messages.message,
    Kind.ALERT: alerts.alert,
    Kind.ACCOUNT: accounts.late,
}
