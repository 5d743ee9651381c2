"""People in every role of a shared task, with an object of each kind that URLs refer to."""

from functools import cached_property
from http.cookies import SimpleCookie
from typing import Any

from allauth.account.models import EmailAddress
from allauth.usersessions.models import UserSession
from django.contrib.auth.models import AnonymousUser
from django.test import Client
from django.test.client import ClientHandler
from django.urls import get_resolver

from portal.actions.announcements import publish_announcement
from portal.actions.approval import approve_team
from portal.actions.gold import upload_gold
from portal.actions.teams import join_team, register_team
from portal.actions.uploads.validate_only import validate_only
from portal.mail.unsubscribe import token
from portal.models import (
    AccessToken,
    GoldStandard,
    OwnScorer,
    RejectedUpload,
    Run,
    SharedTask,
    TaskPush,
    Team,
    TeamMessage,
    TeamNote,
    User,
)
from portal.models.own_scorer import row_of
from portal.web.client import wheel
from tests.portal.conftest import gated, gated_folder, smtp, tiny, tiny_folder
from tests.portal.remembered import remembered
from tests.portal.script import Script
from tests.portal.world import EVALUATION, GOOD, person, run_file, sealed_file, send_run, set_up_second_factor, sign

__all__ = ["gated", "gated_folder", "smtp", "tiny", "tiny_folder"]

ROLES = (
    "anonymous", "unverified", "teamless", "pending", "member", "captain", "rival", "other_organizer",
    "password_organizer", "organizer", "administrator",
)  # fmt: skip
SECRET = "a long winter"


class World:
    """The shared task `gated` with a run of team Bora, and people by role."""

    def __init__(self, gated: SharedTask, tiny: SharedTask) -> None:
        self.task, self.tiny = gated, tiny
        self.people = {role: person(role) for role in ROLES[1:]}
        self.people["administrator"].is_staff = self.people["administrator"].is_superuser = True
        self.people["administrator"].save()
        gated.organizers.add(self.people["password_organizer"], self.people["organizer"])
        for role in ("other_organizer", "organizer", "administrator"):
            set_up_second_factor(self.people[role])
        tiny.organizers.add(self.people["other_organizer"])
        self.bora = self._team(gated, "captain", "Bora")
        self._team(gated, "rival", "Notus")
        self.auster = register_team(
            self.people["pending"], gated, EVALUATION, name="Auster", answers={"use": "research"}
        )
        join_team(self.people["member"], self.bora.shared_task, EVALUATION, code=self.bora.invitation_code)
        for role in ("member", "captain", "rival", "pending"):
            self.signature = sign(self.people[role], gated)
        self.signature = self.people["captain"].signatures.get()
        self.gold = GoldStandard.objects.filter(track__shared_task=gated)[0]
        self.announcement = publish_announcement(
            self.people["organizer"], gated, EVALUATION, title="News", text="*Well*."
        )
        self.run: Run = send_run(self.bora, GOOD, 1, EVALUATION)
        corrected = sealed_file(run_file(GOOD))
        self.gold_upload = upload_gold(
            self.people["organizer"], self.run.track, EVALUATION, split="test", sealed=corrected
        )
        content, name = [run_file(GOOD)], "one_Bora_2.json"
        self.validation = validate_only(
            self.people["captain"], self.run.phase, EVALUATION, content=content, file_name=name
        )
        self.message = TeamMessage.objects.create(
            shared_task=gated, subject="News", text="*Well*.", by=self.people["organizer"],
            audience="members", prepared_at=EVALUATION, sent_at=EVALUATION,
        )  # fmt: skip
        self.message.recipients.create(team=self.bora, user=self.people["captain"])
        self.note = TeamNote.objects.create(team=self.bora, text="Called.", by=self.people["organizer"], at=EVALUATION)
        self.rejected = RejectedUpload.objects.create(
            shared_task=gated,
            phase=self.run.phase,
            team=self.bora,
            sent_by=self.people["captain"],
            file_name="two.json",
            size=1,
            problem_codes=" unknown-track ",
            received_at=EVALUATION,
        )
        self.push = TaskPush.objects.create(
            shared_task=gated,
            is_first=False,
            sent_by=self.people["organizer"],
            size=1,
            state=TaskPush.State.REJECTED,
            received_at=EVALUATION,
        )
        self.scorer = OwnScorer.objects.create(
            shared_task=gated,
            sha256="0" * 64,
            entry={"script": "score.py", "arguments": [], "function": "score"},
            files=row_of({"score.py": b"import os\n"}),
            added_at=EVALUATION,
        )
        about = {"session_key": "other", "ip": "192.0.2.1", "user_agent": "", "data": {}}
        self.session = UserSession.objects.create(user=self.people["captain"], **about)
        issued = {"name": "CI", "scope": AccessToken.Scope.READ, "task": None, "days": 1}
        self.token, _text = AccessToken.objects.issue(self.people["captain"], "0" * 30, EVALUATION, **issued)

        self.scripts: dict[str, Script] = {}  # by role and scope of the token
        self._cookies: dict[str, dict[str, str]] = {}  # by role, after its first sign-in
        self._handler = ClientHandler(enforce_csrf_checks=False)  # loads the middleware at its first request

    def _team(self, task: SharedTask, role: str, name: str) -> Team:
        team = register_team(self.people[role], task, EVALUATION, name=name, answers={"use": "research"})
        approve_team(self.people["organizer"], team, EVALUATION)
        sign(self.people[role], task)
        team.refresh_from_db()
        return team

    def who(self, role: str) -> Any:
        """Return the user who makes the requests of `client(role)`."""
        return AnonymousUser() if role in ("anonymous", "unverified") else self.people[role]

    def arguments(self, name: str) -> dict[str, Any]:
        """Return the arguments for the URL with this name: Bora's objects in the task `gated`."""
        if name in self._special_arguments:
            return self._special_arguments[name]
        [(route, keys), *_others], *_rest = get_resolver().reverse_dict.getlist(name)[0]
        return {key: self._argument(key, word=route.partition(f"/%({key})s")[0].rpartition("/")[2]) for key in keys}

    def _argument(self, key: str, word: str) -> Any:
        """Return the value of a key in a URL. For `pk`, the word before it says which object it is: `runs/<pk>/`."""
        if key != "pk":
            return {
                "slug": "gated",
                "track": "one",
                "phase": "evaluation",
                "dataset": "development",
                "number": 1,
                "ending": "svg",
            }[key]
        return {
            "announcements": self.announcement.pk,
            "extra-time": 1,
            "gold": self.gold.pk,
            "messages": self.message.pk,
            "notes": self.note.pk,
            "previews": self.gold_upload.pk,
            "pushes": self.push.pk,
            "rejected": self.rejected.pk,
            "runs": self.run.pk,
            "scorers": self.scorer.pk,
            "sessions": self.session.pk,
            "signed": self.signature.pk,
            "submissions": self.run.submission_id,
            "teams": self.bora.pk,
            "tokens": self.token.pk,
            "uploads": self.run.submission_id,
            "validations": self.validation.pk,
        }[word]

    @cached_property
    def _special_arguments(self) -> dict[str, dict[str, Any]]:
        task = {"slug": "gated"}
        return {
            "client_wheel": {"name": wheel().name},
            "join_team": task | {"code": self.bora.invitation_code},
            "organize_decide_all": task | {"verb": "approve"},
            "organize_state": task | {"verb": "open"},
            "organize_team": task | {"pk": self.auster.pk, "verb": "approve"},
            "stop_mails": {"token": token(self.people["captain"], "mails_about_runs")},
            "old_extra_time": task | {"phase": "evaluation"},
            "export": task | {"name": "teams.csv"},
            "error": {"code": "not_found"},
            "overall_figure": task | {"name": "by-track", "ending": "svg"},
            "insights_figure": task | {"track": "one", "name": "over-time", "ending": "svg"},
            "run_figure": {"pk": self.run.pk, "name": "confusion", "ending": "svg"},
            "mfa_edit_webauthn": {"pk": 1},
            "mfa_remove_webauthn": {"pk": 1},
            "account_confirm_email": {"key": "made-up"},
            "account_reset_password_from_key": {"uidb36": "1", "key": "made-up"},
        }

    def client(self, role: str) -> Client:
        """Return a client signed in with this role. Sign-in fails if the email address is unconfirmed."""
        client = Client()
        client.handler = self._handler
        client.handler.enforce_csrf_checks = False
        if role not in self._cookies:
            if role == "unverified":
                client.post("/accounts/login/", {"login": self.people[role].email, "password": SECRET})
            elif role != "anonymous":
                client.force_login(self.people[role])
            self._cookies[role] = {name: cookie.value for name, cookie in client.cookies.items()}
        client.cookies = SimpleCookie(self._cookies[role])
        return client


@remembered
def world(gated: SharedTask, tiny: SharedTask) -> World:
    world = World(gated, tiny)
    user: User = world.people["unverified"]
    user.set_password(SECRET)
    user.save()
    EmailAddress.objects.create(user=user, email=user.email, verified=False, primary=True)
    return world
