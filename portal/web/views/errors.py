"""Error pages for 400, 403, 404 and 413. Unlike Django's, they do not read the request body."""

from http import HTTPStatus

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from portal.web.access import SecondFactorMissing


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return the response for a request that cannot be read, or that has a form that is too large."""
    if isinstance(exception, RequestDataTooBig):
        context = {"limit": settings.DATA_UPLOAD_MAX_MEMORY_SIZE}
        return render(request, "413_form.html", context, status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    return render(request, "400.html", status=HTTPStatus.BAD_REQUEST)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return the response for `Http404`."""
    return render(request, "404.html", status=HTTPStatus.NOT_FOUND)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return the response for `PermissionDenied`. Organizers without a second factor see how to set one up."""
    if isinstance(exception, SecondFactorMissing):
        return render(request, "organize/second_factor.html", status=HTTPStatus.FORBIDDEN)
    return render(request, "403.html", {"exception": str(exception)}, status=HTTPStatus.FORBIDDEN)
