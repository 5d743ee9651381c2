"""Error pages for 403 and 404. Unlike Django's, they do not read the request body."""

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from portal.web.access import SecondFactorMissing


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return the response for `Http404`."""
    return render(request, "404.html", status=HTTPStatus.NOT_FOUND)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return the response for `PermissionDenied`. Organizers without a second factor see how to set one up."""
    if isinstance(exception, SecondFactorMissing):
        return render(request, "organize/second_factor.html", status=HTTPStatus.FORBIDDEN)
    return render(request, "403.html", {"exception": str(exception)}, status=HTTPStatus.FORBIDDEN)
