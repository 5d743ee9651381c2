"""The URLs of the API."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import URLPattern, re_path
from django.utils.translation import gettext as _
from ninja import NinjaAPI
from ninja.errors import HttpError
from ninja.errors import ValidationError as InvalidRequest

from portal.actions.base.errors import ActionError
from portal.actions.base.input import InvalidInput, first_problems
from portal.api import actions, boards, desk, files, organizers, own, problems, tasks
from portal.api.json_body import StrictJson
from portal.api.openapi import specification
from portal.api.requests import answer_to, guarded
from portal.api.routes import router

PARTS = (tasks, boards, own, organizers, desk, actions, files)  # importing each module declares its URLs


class Api(NinjaAPI):
    """Ninja's API class, with the error format of actions and a corrected specification."""

    def validation_error_from_error_contexts(self, error_contexts: list[Any]) -> InvalidRequest:
        return Rejected(first_problems(_errors(error_contexts)))

    @cached_property
    def _specification(self) -> Any:
        return specification(super().get_openapi_schema())

    def get_openapi_schema(self, **_options: Any) -> Any:
        """Return the specification, which is the same for everyone and generated only once."""
        return self._specification


def _errors(error_contexts: list[Any]) -> Iterator[tuple[str, Any, None]]:
    """Yield each field's name and error."""
    for context in error_contexts:
        flat = context.model.__ninja_flatten_map_reverse__
        for one in context.pydantic_validation_error.errors(include_url=False):
            steps = one["loc"]  # a parameter comes first, followed by the names of its possible types
            known = next((flat[steps[:n]] for n in range(len(steps), 0, -1) if steps[:n] in flat), steps)
            place = [str(part) for part in known]
            yield ".".join(place[1:]) or "".join(place), one, None


class Rejected(InvalidRequest):
    """Ninja's exception for invalid input. `error` is the error in the response."""

    def __init__(self, error: InvalidInput) -> None:
        super().__init__([])
        self.error = error


def _answer(request: HttpRequest, error: Any) -> HttpResponse:
    match error:
        case Rejected():
            return answer_to(error.error, request)
        case HttpError(__cause__=ActionError() as cause):  # from `json_body`
            return answer_to(cause, request)
        case HttpError():
            return answer_to(problems.NOT_READABLE(expected=_("The body must be JSON in UTF-8.")), request)
    return answer_to(error, request)


api = Api(
    title="Agon",
    version="1",
    description="Data, runs, scores and leaderboards of shared tasks. Use the API to automate anything you can do on "
    "the website.",
    urls_namespace="api",
    openapi_url="/openapi.json",
    docs_url=None,
    parser=StrictJson(),
)
for kind in (Exception, Http404, HttpError, InvalidRequest):
    api.add_exception_handler(kind, _answer)
api.add_router("", router)


@guarded
def _nothing(_request: HttpRequest) -> HttpResponse:
    raise Http404


def _addresses() -> list[URLPattern]:
    found = [pattern for pattern in api.urls[0] if isinstance(pattern, URLPattern)]
    for pattern in found:
        pattern.callback = guarded(pattern.callback)
    return [*found, re_path("", _nothing, name="nothing")]


app_name = "api"
urlpatterns = _addresses()
