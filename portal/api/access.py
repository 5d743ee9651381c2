"""Find the objects that a request names, and check that the user may see them."""

from typing import Any

from django.http import Http404
from django.shortcuts import get_object_or_404

from portal.actions.base.roles import ORGANIZERS, SIGNED_OUT, require_task
from portal.api.requests import ApiRequest
from portal.models import Phase, Run, SharedTask, Submission, TaskPush, Team, Track, User, Validation
from portal.permissions import team_of
from portal.queries.tasks import TaskPage, task_page, visible_task
from portal.queries.visible import visible_pushes, visible_runs, visible_submissions, visible_validations


def person(request: ApiRequest) -> User:
    """Return the user to whom the request's token belongs.

    Raises:
        ActionError: SIGNED_OUT.
    """
    if not isinstance(request.user, User):
        raise SIGNED_OUT()
    return request.user


def find_task(request: ApiRequest, task: str) -> SharedTask:
    """Return the shared task in the URL.

    Raises:
        ActionError: TOKEN_TASK if the token is for a different task.
    """
    visible = visible_task(task, request.user)
    if visible is None:
        raise Http404
    found, _now = visible
    if isinstance(request.user, User) and request.user.token is not None:
        require_task(request.user.token, found)
    return found


def find_page(request: ApiRequest, task: str) -> TaskPage:
    """Return the task with its phases and the user's role in it."""
    return task_page(find_task(request, task), request.user, request.at)


def organized(request: ApiRequest, task: str) -> SharedTask:
    """Return the task if the user is one of its organizers. Otherwise, raise the role's error."""
    found = find_task(request, task)
    person(request)
    ORGANIZERS.check(request.user, found)
    return found


def own_team(request: ApiRequest, task: str) -> Team:
    """Return the user's team, or raise Http404 if there is none."""
    team = team_of(person(request), find_task(request, task))
    if team is None:
        raise Http404
    return team


def find_phase(request: ApiRequest, task: str, phase: str) -> Phase:
    shared_task = find_task(request, task)
    found = get_object_or_404(Phase, shared_task=shared_task, slug=phase)
    found.shared_task = shared_task  # this object already has its tracks loaded
    return found


def find_team(request: ApiRequest, task: str, team: int) -> Team:
    return get_object_or_404(Team, shared_task=find_task(request, task), pk=team)


def find_push(request: ApiRequest, push: Any) -> TaskPush:
    """Return a push that the user may see."""
    return get_object_or_404(visible_pushes(person(request)), pk=push)


def find_push_of_task(request: ApiRequest, push: Any) -> TaskPush:
    """Return a push that belongs to a task. If it does not belong to one yet, raise Http404."""
    found = find_push(request, push)
    if found.shared_task is None:
        raise Http404
    return found


def find_track(request: ApiRequest, task: str, track: str) -> Track:
    return get_object_or_404(Track, shared_task=find_task(request, task), slug=track)


def find_run(request: ApiRequest, task: str, run: Any) -> Run:
    """Return a run that the user may see."""
    return get_object_or_404(visible_runs(request.user), pk=run, track__shared_task=find_task(request, task))


def find_submission(request: ApiRequest, task: str, submission: Any) -> Submission:
    visible = visible_submissions(person(request))
    return get_object_or_404(visible, pk=submission, shared_task=find_task(request, task))


def find_validation(request: ApiRequest, task: str, validation: Any) -> Validation:
    visible = visible_validations(person(request))
    return get_object_or_404(visible, pk=validation, phase__shared_task=find_task(request, task))
