"""Routes of actions: a table of URLs, and the code that makes each route from its action's declaration.

The request body is the action's input, with names and keys instead of database rows. The role is checked before the
body is read.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Annotated, Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from ninja import Body, Status
from pydantic import Field, create_model

from portal.actions import (
    agreement,
    announcements,
    approval,
    data_password,
    gold,
    organizers,
    papers,
    phases,
    release,
    retry,
    runs,
    scores,
    team_members,
    teams,
)
from portal.actions.base.action import Action
from portal.actions.base.input import Input
from portal.actions.desk import decisions, extra_runs, messages, notes, pause
from portal.actions.task_folder import drafts, pushes
from portal.api.access import find_phase, find_push_of_task, find_run, find_task, find_team, own_team, person
from portal.api.json_body import require_small_body
from portal.api.problems import WRONG_MEDIA
from portal.api.requests import ApiRequest
from portal.api.routes import ACTION_PROBLEMS, operation
from portal.api.schemas.desk import DecidedTeamsAnswer, TeamMessageAnswer, TeamNoteAnswer
from portal.api.schemas.organizers import GoldUploadAnswer, GoldVersionAnswer, PushAnswer
from portal.api.schemas.runs import RunAnswer
from portal.api.schemas.tasks import AnnouncementAnswer
from portal.api.schemas.teams import TeamAnswer
from portal.models import Announcement, GoldStandard, GoldUpload, Membership, Run, TaskPush, Team, TeamMessage, TeamNote
from portal.queries.boards.waiting_scores import waiting_scores
from portal.queries.desk.messages import readable_messages
from portal.queries.gold_preview import find_preview
from portal.queries.runs import official_among, run_view
from portal.web.access import client_address

Find = Callable[..., Any]
"""A function that returns the action's target, given the request and the URL's parameters."""


@dataclass(frozen=True, slots=True)
class NamedInput:
    """An input that the body refers to by name: the type of the name, and a function that finds the object."""

    kind: Any
    find: Callable[[ApiRequest, Any, Any], Any]  # called with request, target, name


@dataclass(frozen=True, slots=True)
class Route:
    """A URL that calls an action. `named` inputs are names in the body; `from_request` inputs come from the request."""

    path: str
    action: Action[Any, Any, Any]
    target: Find
    tag: str = "Organizers"
    method: str = "POST"
    named: Mapping[str, NamedInput] = field(default_factory=dict)
    from_request: Mapping[str, Callable[[ApiRequest, dict[str, Any]], Any]] = field(default_factory=dict)
    answer: Callable[[ApiRequest, Any], Any] | None = None
    status: HTTPStatus = HTTPStatus.OK
    example: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of the operation: the action's name, plus the target's name if the action has several URLs."""
        return f"{self.action.name}_of_own_team" if self.path.endswith("/team/password") else self.action.name


def _members_of_own(request: ApiRequest, team: Team, key: int) -> Membership:
    return get_object_or_404(Membership, team=team, pk=key)


def _team_of_task(request: ApiRequest, phase: Any, name: str | None) -> Team | None:
    return None if name is None else get_object_or_404(Team, shared_task=phase.shared_task, name=name)


def _waiting(request: ApiRequest, shared_task: Any, keys: list[str]) -> list[Any]:
    known = {one.key: one for one in waiting_scores(shared_task, request.user, request.at)}  # type: ignore[arg-type]
    if not set(keys) <= known.keys():
        raise scores.CHANGED()
    return [known[key] for key in keys]


def _run(request: ApiRequest, run: Run) -> RunAnswer:
    line = run_view(run, request.user, request.at).line
    return RunAnswer.of(line, official_among([line], request.user, request.at))


def _team(_request: ApiRequest, team: Team) -> TeamAnswer:
    return TeamAnswer.of(team, may_invite=True)


def _joined(request: ApiRequest, membership: Membership) -> TeamAnswer:
    return _team(request, membership.team)


def _announcement(_request: ApiRequest, one: Announcement) -> AnnouncementAnswer:
    return AnnouncementAnswer.of(one)


def _push(_request: ApiRequest, push: TaskPush) -> PushAnswer:
    return PushAnswer.of(push)


def _find_announcement(request: ApiRequest, task: str, announcement: int) -> Announcement:
    return get_object_or_404(Announcement, shared_task=find_task(request, task), pk=announcement)


def _find_gold(request: ApiRequest, task: str, gold: int) -> GoldStandard:
    return get_object_or_404(GoldStandard, track__shared_task=find_task(request, task), pk=gold)


def _find_gold_upload(request: ApiRequest, task: str, upload: UUID) -> GoldUpload:
    found = GoldUpload.objects.select_related("track__shared_task").defer("preview")
    return get_object_or_404(found, track__shared_task=find_task(request, task), pk=upload)


def _gold_version(_request: ApiRequest, gold: GoldStandard) -> GoldVersionAnswer:
    return GoldVersionAnswer.read(gold)


def _gold_upload(request: ApiRequest, upload: GoldUpload) -> GoldUploadAnswer:
    request.location = reverse("api:gold_upload", args=[upload.shared_task.slug, upload.pk])
    return GoldUploadAnswer.of(find_preview(upload.shared_task, upload.pk, person(request), request.at))


def _decided(_request: ApiRequest, names: list[str]) -> DecidedTeamsAnswer:
    return DecidedTeamsAnswer(teams=names)


def _note(_request: ApiRequest, note: TeamNote) -> TeamNoteAnswer:
    return TeamNoteAnswer.of(note)


def _team_in_task(_request: ApiRequest, shared_task: Any, name: str | None) -> Team | None:
    return None if name is None else get_object_or_404(Team, shared_task=shared_task, name=name)


def _message(_request: ApiRequest, message: TeamMessage) -> TeamMessageAnswer:
    return TeamMessageAnswer.of(message)


def _find_message(request: ApiRequest, task: str, message: int) -> TeamMessage:
    return get_object_or_404(readable_messages(find_task(request, task), request.user), pk=message)


def _find_note(request: ApiRequest, task: str, note: int) -> TeamNote:
    found = TeamNote.objects.select_related("team__shared_task")
    return get_object_or_404(found, team__shared_task=find_task(request, task), pk=note)


_SELECTION: dict[str, Any] = {"wanted": {"state": "pending", "answer": "kind=university"}, "seen": 12}
_JSON = "application/json"
TASK = "/tasks/{slug:task}"
OWN = f"{TASK}/team"
RUN = f"{TASK}/runs/{{uuid:run}}"
PHASE = f"{TASK}/phases/{{slug:phase}}"
MESSAGE = f"{TASK}/organize/messages/{{number:message}}"
TEAMS = f"{TASK}/organize/teams/{{number:team}}"

ROUTES = (
    Route(
        OWN,
        teams.register_team,
        find_task,
        "Team",
        answer=_team,
        status=HTTPStatus.CREATED,
        example={"name": "Meltemi", "affiliation": "University of the Aegean", "answers": {"use": "research"}},
    ),
    Route(f"{OWN}/join", teams.join_team, find_task, "Team", answer=_joined, example={"code": "f3Zk9q2L0a"}),
    Route(f"{OWN}/leave", team_members.leave_team, own_team, "Team"),
    Route(f"{OWN}/withdraw", teams.withdraw_team, own_team, "Team"),
    Route(f"{OWN}/ask-again", teams.ask_again, own_team, "Team", example={"answers": {"use": "research"}}),
    Route(f"{OWN}/invite", team_members.invite_by_mail, own_team, "Team", example={"address": "ana@uni.example"}),
    Route(
        f"{OWN}/hand-over",
        team_members.hand_over,
        own_team,
        "Team",
        named={"member": NamedInput(int, _members_of_own)},
        example={"member": 17},
    ),
    Route(f"{OWN}/paper", papers.set_paper, own_team, "Team", example={"link": "https://example.org/paper"}),
    Route(f"{OWN}/password", data_password.renew_password, own_team, "Team"),
    Route(
        f"{TASK}/agreement",
        agreement.sign_agreement,
        find_task,
        "Data",
        from_request={"address": lambda request, _named: client_address(request)},
        example={"typed_name": "Ana Example", "sha256": "0" * 64},
    ),
    Route(f"{RUN}/choose", runs.choose_official_run, find_run, "Runs", answer=_run),
    Route(f"{RUN}/withdraw", runs.withdraw_run, find_run, "Runs", answer=_run, example={"reason": "Wrong file"}),
    Route(
        f"{RUN}/describe",
        runs.describe_run,
        find_run,
        "Runs",
        answer=_run,
        example={"method": "XLM-R large", "system_type": "tuned"},
    ),
    Route(f"{RUN}/note", runs.note_run, find_run, "Runs", answer=_run, example={"note": "Seed 3, threshold 0.4"}),
    Route(
        f"{TASK}/announcements",
        announcements.publish_announcement,
        find_task,
        answer=_announcement,
        status=HTTPStatus.CREATED,
        example={"title": "Test data", "text": "The *test* data is now available."},
    ),
    Route(
        f"{TASK}/announcements/{{number:announcement}}",
        announcements.delete_announcement,
        _find_announcement,
        method="DELETE",
    ),
    Route(f"{TEAMS}/approve", approval.approve_team, find_team),
    Route(f"{TEAMS}/decline", approval.decline_team, find_team, example={"reason": "No affiliation."}),
    Route(f"{TASK}/organize/teams/approve", decisions.approve_teams, find_task, answer=_decided, example=_SELECTION),
    Route(
        f"{TASK}/organize/teams/decline",
        decisions.decline_teams,
        find_task,
        answer=_decided,
        example={**_SELECTION, "reason": "Registration has closed."},
    ),
    Route(f"{TEAMS}/notes", notes.add_note, find_team, answer=_note, example={"text": "Called on 3 May."}),
    Route(f"{TASK}/organize/teams/notes/{{number:note}}", notes.delete_note, _find_note, method="DELETE"),
    Route(
        f"{TASK}/organize/messages",
        messages.prepare_message,
        find_task,
        named={"team": NamedInput(str | None, _team_in_task)},
        answer=_message,
        status=HTTPStatus.CREATED,
        example={
            "subject": "Need help?",
            "text": "Dear {captain}, {team} has no valid run yet.",
            "wanted": {"downloaded": "yes", "valid": "no"},
        },
    ),
    Route(f"{MESSAGE}/test", messages.send_test_message, _find_message, example={"recipient": 31}),
    Route(f"{MESSAGE}/send", messages.send_message, _find_message, answer=_message),
    Route(MESSAGE, messages.discard_message, _find_message, method="DELETE"),
    Route(f"{TEAMS}/password", data_password.renew_password, find_team),
    Route(
        f"{PHASE}/window",
        phases.move_phase,
        find_phase,
        example={"opens": "2026-05-01T00:00:00Z", "closes": "2026-05-11T12:00:00Z", "note": "More time."},
    ),
    Route(
        f"{PHASE}/extra-time",
        phases.grant_extra_time,
        find_phase,
        named={"team": NamedInput(str | None, _team_of_task)},
        example={"team": "Meltemi", "until": "2026-05-12T12:00:00Z", "reason": "An outage on our side."},
    ),
    Route(
        f"{PHASE}/extra-time/{{number:extra_time}}",
        phases.revoke_extra_time,
        lambda request, task, phase, **_others: find_phase(request, task, phase),
        method="DELETE",
        from_request={"extra_time_id": lambda _request, named: named["extra_time"]},
    ),
    Route(
        f"{PHASE}/extra-runs",
        extra_runs.grant_extra_runs,
        find_phase,
        named={"team": NamedInput(str, _team_of_task)},
        example={"team": "Meltemi", "runs": 1, "reason": "An error on our side."},
    ),
    Route(f"{PHASE}/release", release.release_scores, find_phase, example={"when": "2026-05-20T12:00:00Z"}),
    Route(
        f"{PHASE}/release/take-back",
        release.take_back_release,
        find_phase,
        example={"seen": "2026-05-20T12:00:00Z"},
    ),
    Route(f"{PHASE}/release/put-back", release.restore_release, find_phase),
    Route(
        f"{TASK}/organize/scores",
        scores.apply_scores,
        find_task,
        named={"wanted": NamedInput(Annotated[list[str], Field(max_length=scores.BOARDS_AT_ONCE)], _waiting)},
        example={"wanted": ["3 9 0.2.0"], "note": "Two gold labels were incorrect."},
    ),
    Route(f"{TASK}/organize/rescore", scores.rescore, find_task, example={"reason": "A metric was corrected."}),
    Route(f"{TASK}/organize/retry", retry.retry_failed, find_task),
    Route(
        f"{TASK}/organize/uploads/pause",
        pause.pause_uploads,
        find_task,
        example={"message": "The storage is being repaired. We will extend the deadline by the time this takes."},
    ),
    Route(f"{TASK}/organize/uploads/resume", pause.resume_uploads, find_task),
    Route(f"{TASK}/organize/mails/resend", retry.resend_mails, find_task),
    Route(f"{TASK}/organize/papers/close", papers.close_papers, find_task),
    Route(f"{TASK}/organize/papers/open", papers.open_papers, find_task),
    Route("/pushes/{uuid:push}/apply", pushes.apply_push, find_push_of_task, answer=_push, example={"is_sure": True}),
    Route(f"{TASK}/organize/open", drafts.open_task, find_task),
    Route(f"{TASK}/organize/hide", drafts.hide_task, find_task),
    Route(f"{TASK}/organize/show", drafts.show_task, find_task),
    Route(TASK, drafts.delete_draft, find_task, method="DELETE"),
    Route(f"{TASK}/organize/organizers", organizers.add_organizer, find_task, example={"address": "ana@uni.example"}),
    Route(
        f"{TASK}/organize/organizers/remove",
        organizers.remove_organizer,
        find_task,
        example={"address": "ana@uni.example"},
    ),
    Route(
        f"{TASK}/organize/gold/{{number:gold}}/preview",
        gold.preview_former_gold,
        _find_gold,
        answer=_gold_upload,
        status=HTTPStatus.ACCEPTED,
    ),
    Route(
        f"{TASK}/organize/gold-uploads/{{uuid:upload}}/apply",
        gold.apply_gold,
        _find_gold_upload,
        answer=_gold_version,
        example={"note": "Two gold labels were incorrect."},
    ),
)

WITHOUT_URL = {
    "allow_device_login": "people allow access in a browser",
    "approve_scorer": "administrators read the scorer in a browser first",
    "change_settings": "people change their own account in a browser",
    "create_draft": "a worker does this once it has checked a new task's folder",
    "create_token": "a leaked token could otherwise create more tokens",
    "delete_account": "people change their own account in a browser",
    "deny_device_login": "people deny access in a browser",
    "discard_edit": "the API changes a task by pushing its folder",
    "edit_file": "the API changes a task by pushing its folder",
    "end_session": "only browsers have sessions",
    "give_password": "the password is sent with the download request",
    "import_shared_task": "a command on the server does this",
    "issue_device_token": "the URLs of RFC 8628 are not part of /api/v1",
    "push_edits": "the API changes a task by pushing its folder",
    "push_version": "the API changes a task by pushing its folder",
    "record_download": "every file download is recorded automatically",
    "remove_file": "the API changes a task by pushing its folder",
    "request_paper_files": "only the “Paper files” page uses it",
    "revoke_token": "people change their own account in a browser",
    "start_device_login": "the URLs of RFC 8628 are not part of /api/v1",
    "start_task": "the API creates a task by pushing its folder",
    "stop_mails": "the link in an email does this",
}
"""Actions that have no URL, and why. `portal.api.files` declares the URLs of actions that receive a file."""


def _declare(route: Route) -> None:
    body = body_of(route)
    view = _view(route, body)
    answered = inspect.signature(route.answer, eval_str=True).return_annotation if route.answer else None
    status = int(route.status) if route.answer else int(HTTPStatus.NO_CONTENT)
    example = {"example": dict(route.example)} if route.example else {}
    operation(
        [route.method],
        route.path,
        route.name,
        inspect.getdoc(route.action) or "",
        route.tag,
        auth=_permission(route, takes_body=body is not None),
        response={status: answered, **ACTION_PROBLEMS},
        openapi_extra={"requestBody": {"content": {_JSON: example}}} if body else None,
    )(view)


def body_of(route: Route) -> type[Input] | None:
    """Return the action's input as a model of the JSON body, or None if it has no input."""
    fields: dict[str, Any] = {}
    for name, info in route.action.Input.model_fields.items():
        if name in route.named:
            fields[name] = (route.named[name].kind, ... if info.is_required() else info.default)
        elif name not in route.from_request:
            fields[name] = (info.annotation, info)
    return create_model(f"{route.action.name}_input", __base__=Input, **fields) if fields else None


def _permission(route: Route, *, takes_body: bool) -> Callable[[ApiRequest], bool]:
    """Return a check of the action's role and of the media type, which runs before the body is read."""

    def may(request: ApiRequest) -> bool:
        match = request.resolver_match
        assert match is not None
        request.target = route.target(request, **match.kwargs)
        route.action.who.check(request.user, request.target)
        has_body = request.META.get("CONTENT_LENGTH") not in (None, "", "0")
        if takes_body and has_body and request.content_type != _JSON:
            raise WRONG_MEDIA(expected=_JSON)
        if takes_body:
            require_small_body(request)
        return True

    return may


def _view(route: Route, body: type[Input] | None) -> Callable[..., Any]:
    """Return a view with a parameter for each part of the URL and for the body. Ninja reads its signature."""

    def view(request: ApiRequest, **given: Any) -> Any:
        values = given.pop("body", None)
        wanted = {name: getattr(values, name) for name in values.model_fields_set} if values else {}
        for name, named in route.named.items():
            if name in wanted:
                wanted[name] = named.find(request, request.target, wanted[name])
        wanted |= {name: read(request, given) for name, read in route.from_request.items()}
        result = route.action(request.user, request.target, request.at, **wanted)
        if route.answer is None:
            return HttpResponse(status=HTTPStatus.NO_CONTENT)
        return Status(int(route.status), route.answer(request, result))

    kinds: dict[str, Any] = {"number": int, "slug": str, "uuid": UUID}
    parts = [part.strip("{}").split(":") for part in route.path.split("/") if part.startswith("{")]
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter("request", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    parameters += [inspect.Parameter(name, keyword, annotation=kinds[kind]) for kind, name in parts]
    if body is not None:
        is_optional = not any(info.is_required() for info in body.model_fields.values())
        default = Body(body()) if is_optional else Body(...)
        parameters.append(inspect.Parameter("body", keyword, annotation=body, default=default))
    view.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    view.__name__ = route.name
    return view


for _route in ROUTES:
    _declare(_route)
