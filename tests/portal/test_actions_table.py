"""Who may call which action. Repeating a repeatable action must change nothing."""

import inspect
import io
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.auth.models import AnonymousUser

from portal.actions.approval import approve_team
from portal.actions.base import roles
from portal.actions.base.registry import every_action
from portal.actions.task_folder.folder_edits import edit_file
from portal.actions.teams import join_team, register_team
from portal.evaluation.record import quarantine
from portal.mail.unsubscribe import Unsubscription
from portal.models import (
    AccessToken,
    Announcement,
    DeviceLogin,
    GoldStandard,
    GoldUpload,
    OutgoingMail,
    OwnScorer,
    Phase,
    Run,
    SharedTask,
    Submission,
    TaskPush,
    Team,
    TeamMessage,
    TeamNote,
    Track,
    User,
)
from portal.models.rows import dump, tables
from portal.models.signature import text_sha256
from tests.portal.world import EVALUATION, GOOD, organizer_of, person, run_file, send_run, set_up_second_factor, sign

pytestmark = pytest.mark.postgres

ANSWERS = {"use": "research"}
NO_SECOND_FACTOR = ("organizer without second factor", "administrator without second factor")


@dataclass
class World:
    """A team with a run in a gated task, people in each role, and a target of each type."""

    task: SharedTask
    folder: Path  # of a different task, which has not been imported
    people: dict[str, Any] = field(default_factory=dict)
    targets: dict[type, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = ("stranger", "member", "captain", *NO_SECOND_FACTOR)
        self.people = {"anonymous": AnonymousUser(), **{name: person(name.replace(" ", "-")) for name in names}}
        self.people["organizer"] = organizer = organizer_of(self.task)
        self.people["creator"] = creator = person("Carla")
        creator.may_create_tasks = True
        set_up_second_factor(creator)
        self.task.organizers.add(self.people["organizer without second factor"])
        self.people["administrator without second factor"].is_staff = True
        self.people["administrator without second factor"].save()
        captain = self.people["captain"]
        team = register_team(captain, self.task, EVALUATION, name="Bora", answers=ANSWERS)
        join_team(self.people["member"], self.task, EVALUATION, code=team.invitation_code)
        approve_team(organizer, team, EVALUATION)
        for name in ("captain", "member"):
            sign(self.people[name], self.task)
        self.task.phases.filter(slug="evaluation").update(official=Phase.Official.CHOSEN)
        team.refresh_from_db()
        run = send_run(team, GOOD, 1, EVALUATION)
        about_captain = {"user": captain, "session_key": "s", "ip": "192.0.2.1", "user_agent": "", "data": {}}
        self.targets = {
            AccessToken: AccessToken.objects.issue(
                captain, "0" * 30, EVALUATION, name="CI", scope="read", task=None, days=1
            )[0],
            Announcement: Announcement(shared_task=self.task, title="News", text="Well."),
            DeviceLogin: DeviceLogin(address="192.0.2.1"),
            GoldStandard: GoldStandard(track=run.track),
            GoldUpload: GoldUpload.objects.create(track=run.track, split="test", received_at=EVALUATION),
            OwnScorer: OwnScorer(shared_task=self.task),
            Path: self.folder,
            Phase: run.phase,
            Run: run,
            SharedTask: self.task,
            TaskPush: TaskPush(shared_task=self.task),
            Team: team,
            TeamMessage: _message_to(team, organizer),
            TeamNote: TeamNote(team=team, text="Called."),
            Track: run.track,
            User: captain,
            UserSession: UserSession(**about_captain),
            Unsubscription: Unsubscription(captain.pk, "mails_about_runs"),
        }

    @property
    def callers(self) -> dict[str, Any]:
        """The people, plus a command on the server, which has no user."""
        return self.people | {"server": None}


def _message_to(team: Team, organizer: User) -> TeamMessage:
    """Return a message to the team that has been prepared but not sent."""
    about = {"audience": TeamMessage.Audience.MEMBERS, "by": organizer, "prepared_at": EVALUATION}
    message = TeamMessage.objects.create(shared_task=team.shared_task, subject="News", text="Well.", **about)
    message.recipients.create(team=team, user=team.members.all()[0])
    return message


@pytest.fixture
def world(gated: SharedTask, tiny_folder: Path) -> World:
    return World(gated, tiny_folder)


ORGANIZERS = {"organizer"}
ORGANIZERS_OR_SERVER = {"organizer", "server"}
SERVER = {"server"}
CAPTAIN = {"captain"}
TEAM = {"member", "captain"}
OWN_ACCOUNT = {"captain"}  # actions whose target is the captain's account
CREATORS = {"creator"}
SIGNED_IN = {"stranger", "member", "captain", "organizer", "creator", *NO_SECOND_FACTOR}
EVERYONE = {"anonymous", "server", *SIGNED_IN}

WHO_HAS = {
    "ADMINISTRATORS": set[str](),  # none of them here has a second factor
    "ANYONE": EVERYONE,
    "CAPTAIN": CAPTAIN,
    "CAPTAIN_OR_ORGANIZERS": CAPTAIN | ORGANIZERS,
    "CREATORS": CREATORS,
    "MEMBERS": TEAM,
    "ORGANIZERS": ORGANIZERS,
    "ORGANIZERS_OR_SERVER": ORGANIZERS_OR_SERVER,
    "OWN_ACCOUNT": OWN_ACCOUNT,
    "READERS": SIGNED_IN,
    "SERVER": SERVER,
    "SIGNED_IN": SIGNED_IN,
    "TAKING_PART": TEAM,
}
"""Who has each role. docs/actions.md lists the role of each action, and a test compares it with the declarations."""


def who_may() -> dict[str, set[str]]:
    """Return who may call each action."""
    by_role = [(getattr(roles, name), people) for name, people in WHO_HAS.items()]
    return {
        name: next(people for role, people in by_role if role is action.who) for name, action in every_action().items()
    }


@pytest.mark.slow
def test_who_may_do_what(world: World) -> None:
    found = {}
    for name, action in every_action().items():
        target = world.targets[_target_type(action)]
        found[name] = {role for role, who in world.callers.items() if action.allows(who, target)}
    assert found == who_may()


@pytest.mark.slow
def test_an_inactive_account_may_do_nothing(world: World) -> None:
    """Actions that need no account are the exception."""
    for who in world.people.values():
        who.is_active = False
    found = {
        name
        for name, action in every_action().items()
        if any(action.allows(who, world.targets[_target_type(action)]) for who in world.people.values())
    }
    assert found == {name for name, allowed in who_may().items() if allowed == EVERYONE}


@pytest.mark.parametrize("role", NO_SECOND_FACTOR)
def test_organizers_read_that_they_lack_a_second_factor(world: World, role: str) -> None:
    found = set()
    for name, action in every_action().items():
        error = action.who.missing(world.people[role], world.targets[_target_type(action)])
        if error is not None and error.code == "no_second_factor":
            found.add(name)
    for_organizers = {name for name, allowed in who_may().items() if allowed in (ORGANIZERS, ORGANIZERS_OR_SERVER)}
    creates = (
        {"create_draft", "push_new_task", "start_task", "approve_scorer"} if role.startswith("administrator") else set()
    )
    assert found == for_organizers | creates | {"renew_password"}


def _target_type(action: Any) -> Any:
    function = inspect.unwrap(action)
    return get_type_hints(function)[list(inspect.signature(function).parameters)[1]]


def _agreement(world: World) -> dict[str, Any]:
    agreement = world.task.definition.agreement
    assert agreement is not None
    return {"typed_name": "Stella Ranger", "sha256": text_sha256(agreement.file.read_text())}


SETTINGS = {
    "name": "Cleo C.", "affiliation": "Aegean", "country": "GR", "time_zone": "Europe/Athens", "language": "es",
    "mails_about_runs": True, "mails_about_deadlines": False, "mails_about_results": True, "mails_about_teams": False,
    "named_on_team_pages": True,
}  # fmt: skip

EDIT: dict[str, Any] = {"path": "pages/more.md", "content": b"More.", "base": ""}

CALLS: dict[str, tuple[str, Callable[[World], dict[str, Any]]]] = {
    "change_settings": ("captain", lambda world: SETTINGS),
    "choose_official_run": ("member", lambda world: {}),
    "close_papers": ("organizer", lambda world: {}),
    "describe_run": ("member", lambda world: {"method": "XLM-T", "link": "https://example.org/"}),
    "discard_edit": ("organizer", lambda world: {"path": EDIT["path"]}),
    "edit_file": ("organizer", lambda world: EDIT),
    "note_run": ("member", lambda world: {"note": "Seed 3"}),
    "import_shared_task": ("server", lambda world: {}),
    "join_team": ("stranger", lambda world: {"code": world.targets[Team].invitation_code}),
    "open_papers": ("organizer", lambda world: {}),
    "resend_mails": ("organizer", lambda world: {}),
    "retry_failed": ("organizer", lambda world: {}),
    "revoke_token": ("captain", lambda world: {}),
    "send_message": ("organizer", lambda world: {}),
    "sign_agreement": ("stranger", _agreement),
    "stop_mails": ("anonymous", lambda world: {}),
    "submit": ("member", lambda world: {"content": [run_file(GOOD)], "file_name": "one_Bora_2.json", "key": "k"}),
    "withdraw_run": ("member", lambda world: {"reason": "Wrong file."}),
}
"""For each repeatable action, who calls it and with which input."""


def test_every_repeatable_action_is_called() -> None:
    assert {name for name, action in every_action().items() if action.repeatable} == set(CALLS)


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_a_second_call_changes_nothing(name: str, world: World) -> None:
    action, (role, given) = every_action()[name], CALLS[name]
    match name:
        case "discard_edit":
            edit_file(world.people["organizer"], world.task, EVALUATION, **EDIT)
        case "open_papers":
            SharedTask.objects.update(papers_closed_at=EVALUATION)
        case "resend_mails":
            OutgoingMail.objects.update(state=OutgoingMail.State.FAILED)
        case "retry_failed":
            assert quarantine(Submission.objects.all(), EVALUATION)

    def call(at: Any) -> dict[str, str]:
        action(world.callers[role], world.targets[_target_type(action)], at, **given(world))
        return _rows()

    before = _rows()
    once = call(EVALUATION + timedelta(minutes=1))
    assert once != before
    assert call(EVALUATION + timedelta(minutes=2)) == once


def _rows() -> dict[str, str]:
    """Return each table's rows in the format of a backup."""
    found = {}
    for table in tables():
        file = io.StringIO()
        dump(table, file)
        found[table._meta.label] = file.getvalue()
    return found
