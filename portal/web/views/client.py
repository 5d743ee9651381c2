"""This portal's client: installation instructions, and the wheel."""

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from portal import __version__
from portal.web.client import wheel


@require_safe
def client(request: HttpRequest) -> HttpResponse:
    """Show the version, the wheel with its SHA-256, and the commands."""
    context = {"wheel": wheel(), "version": __version__, "portal_url": settings.PUBLIC_URL}
    return render(request, "public/client.html", context)


@require_safe
def client_wheel(_request: HttpRequest, name: str) -> HttpResponse:
    """Return the wheel, or 404 if the URL names a different version."""
    found = wheel()
    if name != found.name:
        raise Http404
    headers = {"ETag": f'"{found.sha256}"', "Cache-Control": "no-cache"}
    return HttpResponse(found.content, content_type="application/octet-stream", headers=headers)
