"""The link in mails that stops one kind of them."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from portal.actions.account_settings import stop_mails
from portal.mail import unsubscribe
from portal.models.clock import database_now


# RFC 8058: the mail program posts by itself, without a cookie; the signature in the address is the permission.
@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
def stop(request: HttpRequest, token: str) -> HttpResponse:
    """Looking changes nothing, since mail servers follow links to look for viruses; the button, or one click, does."""
    wish = unsubscribe.read(token)
    if wish is None:
        raise Http404
    if request.method == "POST":
        stop_mails(request.user, wish, database_now())
    return render(request, "mails/stop.html", {"field": wish.field, "is_done": request.method == "POST"})
