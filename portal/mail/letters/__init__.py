"""The texts of emails, with one function per kind. `LETTERS` maps each kind to its function."""

from collections.abc import Callable, Mapping
from datetime import datetime

from portal.mail.letter import Letter
from portal.mail.letters import accounts, alerts, dates, runs, teams
from portal.models import MailFacts, OutgoingMail

Kind = OutgoingMail.Kind

LETTERS: Mapping[str, Callable[[OutgoingMail, MailFacts, datetime], Letter]] = {
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
    Kind.ALERT: alerts.alert,
    Kind.ACCOUNT: accounts.late,
}
