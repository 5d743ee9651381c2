"""Load the demo's shared tasks with their synthetic data."""

import signal
import sys
import time
from argparse import ArgumentParser
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from allauth.account.models import EmailAddress
from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.db import transaction

from portal.actions.agreement import sign_agreement
from portal.actions.announcements import publish_announcement
from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.actions.teams import join_team, register_team
from portal.evaluation.rounds import start_rounds
from portal.management.command import PortalCommand
from portal.management.demo_field import TEAMS, send_runs, set_papers
from portal.models import Membership, OutgoingMail, SharedTask, User
from portal.models.clock import database_now
from portal.models.signature import text_sha256
from tasks import DEMO
from tasks.kept import kept_folder

SMALL = DEMO[:2]  # the smallest tasks, the only ones that --small loads
PASSWORD = "agon-demo"
NEWS = "This is a demo"
INVENTED = "All teams, runs and data here are *invented*."
OF_CAMPAIGN = "The rules are those of the real campaign {title}."
FOR_PRACTICE = "The task is not from a campaign, and its results don't count. Use it to practice."
TEAM = "Meltemi"
ADMIN, ORGANIZER, CAPTAIN, MEMBER = (f"{part}@agon.example" for part in ("admin", "organizer", "captain", "member"))
ACCOUNTS = {  # email address → name and role in the demo
    ADMIN: ("Ada Admin", "administrator"),
    ORGANIZER: ("Oana Organizer", "organizer of all shared tasks, allowed to create tasks"),
    CAPTAIN: ("Cleo Captain", f"captain of the team {TEAM}"),
    MEMBER: ("Milo Member", f"member of the team {TEAM}"),
}


class Command(PortalCommand):
    help = "Load the demo's shared tasks that are missing. Existing data is kept."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--small", action="store_true", help="load only the two smallest tasks")

    def handle(self, *, small: bool, **_: Any) -> None:
        signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))  # so that drafts of runs are deleted
        people = create_accounts()
        slugs = SMALL if small else DEMO
        for number, slug in enumerate(slugs, start=1):
            if slug not in _loaded():
                started = time.monotonic()
                shared_task = _load(slug, people)
                seconds = time.monotonic() - started
                self.stdout.write(f"{shared_task.title} is loaded ({number} of {len(slugs)}, {seconds:.1f} s)")


def is_loaded(slugs: Collection[str]) -> bool:
    """Return whether all of these shared tasks are loaded."""
    return _loaded() >= set(slugs)


def create_accounts() -> dict[str, User]:
    """Create the accounts that do not exist yet, and return all of them by email address."""
    return {email: _account(email, name) for email, (name, _) in ACCOUNTS.items()}


def _loaded() -> set[str]:
    """Return the slugs of the shared tasks that are complete. The last row to be added is a membership."""
    return set(Membership.objects.filter(user__email=MEMBER).values_list("shared_task__slug", flat=True))


def _load(slug: str, people: Mapping[str, User]) -> SharedTask:
    """Load a shared task. If an earlier attempt was interrupted, continue it.

    Visitors see the task as soon as it has its teams, so that no visitor takes a place that one of them needs.
    """
    folder = kept_folder(slug, settings.DEMO_TASKS)
    with transaction.atomic():
        shared_task = import_shared_task(None, folder, database_now()).shared_task
        shared_task.organizers.add(people[ORGANIZER])
        for team in TEAMS:
            _form_team(shared_task, team, people[CAPTAIN] if team == TEAM else _captain_of(team))
        # No one reads the emails to the other captains, and hashing their data passwords takes seconds.
        OutgoingMail.objects.filter(shared_task=shared_task).exclude(user__in=people.values()).delete()
        start_rounds(database_now())
    send_runs(shared_task, folder, database_now())
    set_papers(shared_task, database_now())
    with transaction.atomic():
        text = news_text(shared_task.title, is_of_campaign=bool(shared_task.definition.sources))
        publish_announcement(people[ORGANIZER], shared_task, database_now(), title=NEWS, text=text)
        _join(shared_task, people[MEMBER])
    return shared_task


def news_text(title: str, *, is_of_campaign: bool) -> str:
    """Return the text of a task's announcement."""
    return f"{INVENTED} {OF_CAMPAIGN.format(title=title) if is_of_campaign else FOR_PRACTICE}"


@cache
def _password_hash() -> str:
    """Return the hash of the password, which all accounts share because computing it takes time."""
    return make_password(PASSWORD)


def _account(email: str, name: str) -> User:
    user = User.objects.filter(email=email).first()
    if user is None:
        is_admin, may_create_tasks = email == ADMIN, email == ORGANIZER
        user = User(email=email, name=name, is_staff=is_admin, is_superuser=is_admin, may_create_tasks=may_create_tasks)
        user.password = _password_hash()
        user.save()
    EmailAddress.objects.get_or_create(user=user, email=email, defaults={"verified": True, "primary": True})
    return user


def _sign(user: User, shared_task: SharedTask, at: datetime) -> None:
    agreement = shared_task.definition.agreement
    if agreement is not None:
        sha256 = text_sha256(agreement.file.read_text(encoding="utf-8"))
        sign_agreement(user, shared_task, at, typed_name=user.name, sha256=sha256)


def _captain_of(team: str) -> User:
    user = _account(f"{team.lower()}@agon.example", f"{team}’s captain")
    # no one reads these emails
    User.objects.filter(pk=user.pk).update(mails_about_runs=False, mails_about_results=False)
    return user


def _registration_time(shared_task: SharedTask) -> datetime:
    """Return the current time or, in a task whose registration has closed, an hour before that."""
    closing = shared_task.closing_of_teams()
    return database_now() if closing is None else min(database_now(), closing - timedelta(hours=1))


def _form_team(shared_task: SharedTask, name: str, captain: User) -> None:
    if not Membership.objects.filter(shared_task=shared_task, user=captain).exists():
        at = _registration_time(shared_task)
        _sign(captain, shared_task, at)
        affiliation = "University of the Aegean" if name == TEAM else ""
        required = (question for question in shared_task.definition.team.questions if question.required)
        answers = {question.key: question.choices[0] if question.choices else "Research" for question in required}
        register_team(captain, shared_task, at, name=name, affiliation=affiliation, answers=answers)


def _join(shared_task: SharedTask, member: User) -> None:
    at = _registration_time(shared_task)
    _sign(member, shared_task, at)
    join_team(member, shared_task, at, code=shared_task.teams.get(name=TEAM).invitation_code)
