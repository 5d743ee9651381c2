"""Pages about the API: its specification, and the meaning of each error code."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from portal.actions.base.errors import ErrorCode
from portal.actions.base.registry import every_error
from portal.api.problems import OWN_ERRORS
from portal.queries.problems import meaning


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    """Show the specification, where requests can be tried out."""
    return render(request, "api/docs.html")


@require_safe
def error(request: HttpRequest, code: str) -> HttpResponse:
    """Explain an error code and list the actions that raise it. The `type` of a problem links here."""
    of_actions = every_error().get(code, [])
    meanings = [*(one for one in OWN_ERRORS if one.code == code), *(one for _action, one in of_actions)]
    context = {
        "code": code,
        "meaning": meaning(code),
        "answers": [{"status": status, "sentence": text} for text, status in _sentences(meanings).items()],
        "actions": sorted({action for action, _one in of_actions if action}),
    }
    if not meanings and context["meaning"] is None:
        raise Http404
    return render(request, "errors/error.html", context)


def _sentences(codes: list[ErrorCode]) -> dict[str, int]:
    """Map each sentence to its status."""
    return {one.pattern: one.error.http_status for one in codes}
