"""Fill an empty database with the five shared tasks, their synthetic data and the demo accounts."""

import tempfile
import time
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from allauth.account.models import EmailAddress
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from portal.actions.agreement import sign_agreement
from portal.actions.announcements import publish_announcement
from portal.actions.import_shared_task import import_shared_task
from portal.actions.teams import join_team, register_team
from portal.management.demo_field import TEAMS, give_papers, send_runs
from portal.models import Membership, SharedTask, User
from portal.models.clock import database_now
from portal.models.signature import text_sha256
from tasks import GENERATORS, build

PASSWORD = "agon-demo"
NEWS = {
    "title": "This is a demo",
    "text": "All teams, runs and data here are *invented*. The rules are those of the real campaign.",
}
TEAM = "Meltemi"
ADMIN, ORGANIZER, CAPTAIN, MEMBER = (f"{part}@agon.example" for part in ("admin", "organizer", "captain", "member"))
ACCOUNTS = {  # email address → name and role in the demo
    ADMIN: ("Ada Admin", "administrator"),
    ORGANIZER: ("Oana Organizer", "organizer of all five shared tasks, allowed to create tasks"),
    CAPTAIN: ("Cleo Captain", f"captain of the team {TEAM}"),
    MEMBER: ("Milo Member", f"member of the team {TEAM}"),
}


class Command(BaseCommand):
    help = "Migrate the database and load the five shared tasks with demo data. Existing data is kept."

    def handle(self, **_: Any) -> None:
        self.stdout.write("preparing the database ...")
        call_command("migrate", verbosity=0)
        people = {email: _account(email, name) for email, (name, _) in ACCOUNTS.items()}
        for slug in GENERATORS:
            if not SharedTask.objects.filter(slug=slug, teams__memberships__user=people[MEMBER]).exists():
                self._load(slug, people)

    def _load(self, slug: str, people: Mapping[str, User]) -> None:
        self.stdout.write(f"{slug}: creating synthetic data ...")
        started = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="agon-demo-") as name:
            folder = build(slug, Path(name) / slug)
            shared_task = import_shared_task(None, folder, database_now()).shared_task
            shared_task.organizers.add(people[ORGANIZER])
            for team in TEAMS:
                _form_team(shared_task, team, people[CAPTAIN] if team == TEAM else _captain_of(team))
            send_runs(shared_task, folder, database_now())
            give_papers(shared_task, database_now())
            publish_announcement(people[ORGANIZER], shared_task, database_now(), **NEWS)
        _join(shared_task, people[MEMBER])
        self.stdout.write(f"{slug}: loaded in {time.monotonic() - started:.1f} s")


def is_loaded() -> bool:
    """Return whether everything is migrated and loaded. The last row to be loaded is a membership."""
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        return False
    joined = Membership.objects.filter(user__email=MEMBER).values_list("shared_task__slug", flat=True)
    return set(joined) >= set(GENERATORS)


def _account(email: str, name: str) -> User:
    user = User.objects.filter(email=email).first()
    if user is None:
        create = User.objects.create_superuser if email == ADMIN else User.objects.create_user
        user = create(email, PASSWORD, name=name, may_create_tasks=email == ORGANIZER)
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


def _form_team(shared_task: SharedTask, name: str, captain: User) -> None:
    if not Membership.objects.filter(shared_task=shared_task, user=captain).exists():
        at = database_now()
        _sign(captain, shared_task, at)
        affiliation = "University of the Aegean" if name == TEAM else ""
        register_team(captain, shared_task, at, name=name, affiliation=affiliation)


def _join(shared_task: SharedTask, member: User) -> None:
    at = database_now()
    _sign(member, shared_task, at)
    join_team(member, shared_task, at, code=shared_task.teams.get(name=TEAM).invitation_code)
