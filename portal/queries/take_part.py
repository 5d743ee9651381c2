"""The steps from a visitor to a team with a valid run, with what is done and what is next."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from portal.models import Download, Run, Signature, Team
from portal.queries.tasks import TaskPage


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the checklist. `page` is the URL name of the page where it is done, or empty.

    `state` is `done`, `next`, `waiting` (for others, or for a date) or `later`.
    """

    name: str
    state: str
    title: str
    text: str
    link: str = ""
    page: str = ""


@dataclass(frozen=True, slots=True)
class Checklist:
    """The steps in order."""

    steps: Sequence[Step]

    @property
    def done(self) -> int:
        return sum(step.state == "done" for step in self.steps)

    @property
    def is_complete(self) -> bool:
        return self.done == len(self.steps)

    @property
    def next(self) -> Step | None:
        return next((step for step in self.steps if step.state == "next"), None)


def checklist(page: TaskPage, at: datetime) -> Checklist:
    """Return the person's steps in the task. The number of queries is constant."""
    steps = [_account(page), _team(page)]
    if page.shared_task.definition.agreement is not None:
        steps.append(_agreement(page))
    if page.shared_task.definition.datasets:
        steps.append(_data(page))
    steps.append(_run(page, at))
    return Checklist(_in_order(steps))


def _in_order(steps: Sequence[Step]) -> list[Step]:
    """Make all open steps after the first one wait for it. Only the first one is next."""
    found, is_blocked = list[Step](), False
    for step in steps:
        is_open = step.state in ("next", "waiting")
        if is_open and is_blocked:
            step = Step(step.name, "later", step.title, step.text)
        found.append(step)
        is_blocked = is_blocked or is_open
    return found


def _account(page: TaskPage) -> Step:
    state = "done" if page.user.is_authenticated else "next"
    text = _("An account works for all tasks. You confirm your email address once.")
    return Step("account", state, _("Create an account"), text, _("Create an account"), "account_signup")


def _team(page: TaskPage) -> Step:
    title, team = _("Create or join a team"), page.team
    if team is None:
        text = _("A team needs a name and at least one member. To join a team, open the link from its captain.")
        return Step("team", "next", title, text, _("Create or join a team"), "team")
    if team.takes_part:
        return Step("team", "done", title, _("You are on team %(team)s.") % {"team": team.name})
    if team.state == Team.State.PENDING:
        text = _("The organizers have to approve team %(team)s. The captain gets an email when they decide.")
        return Step("team", "waiting", title, text % {"team": team.name}, _("See your team"), "team")
    text = _("Your team %(team)s can’t take part. Its page says why and what you can do.") % {"team": team.name}
    return Step("team", "next", title, text, _("See your team"), "team")


def _agreement(page: TaskPage) -> Step:
    is_signed = not Signature.objects.is_missing(page.user, page.shared_task)
    text = _("Each member of a team reads and signs it once.")
    title, link = _("Sign the data agreement"), _("Read and sign the agreement")
    return Step("agreement", "done" if is_signed else "next", title, text, link, "agreement")


def _data(page: TaskPage) -> Step:
    downloads = Download.objects.filter(shared_task=page.shared_task)
    team = page.team
    is_done = team is not None and downloads.filter(team=team).exists()
    text = _("The data page has the files, and says who can download each of them.")
    return Step("data", "done" if is_done else "next", _("Download the data"), text, _("See the data"), "task_data")


def _run(page: TaskPage, at: datetime) -> Step:
    title, team = _("Submit a valid run"), page.team
    if team is not None and Run.objects.filter(team=team, state__in=Run.CHECKED).exists():
        return Step("run", "done", title, _("Your team has a valid run."))
    if page.open_phases:
        text = _("You can validate a file as often as you like before you upload it.")
        return Step("run", "next", title, text, _("Upload runs"), "submit")
    if page.next_phase is not None:
        text = _("Uploads open with the phase “%(phase)s”.") % {"phase": page.next_phase.title}
        return Step("run", "waiting", title, text, _("See all dates"), "task_evaluation")
    return Step("run", "waiting", title, _("The task no longer accepts runs."), _("See all dates"), "task_evaluation")
