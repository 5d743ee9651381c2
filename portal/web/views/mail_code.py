"""The page that asks for an emailed code before someone changes how they sign in."""

from datetime import datetime
from http import HTTPStatus

from allauth.account.decorators import reauthentication_required
from allauth.account.utils import get_next_redirect_url
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from portal.models.clock import database_now
from portal.permissions import enrolls_by_mail
from portal.web.access import SignedInRequest
from portal.web.mail_codes import confirmed_address, enter_code, is_confirmed, is_pending, may_guess, send_code


@sensitive_post_parameters("code")
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@reauthentication_required(app="allauth.mfa", enabled=lambda request: "code" not in request.POST)
def mail_code(request: SignedInRequest) -> HttpResponse:
    """Email a code unless one is pending. Once it is entered, redirect to `next`."""
    at = database_now()
    onward = get_next_redirect_url(request) or reverse("mfa_index")
    if is_confirmed(request, at) or not enrolls_by_mail(request.user):
        return HttpResponseRedirect(onward)
    address = confirmed_address(request.user)
    status, problem = HTTPStatus.OK, ""
    if "code" in request.POST:
        status, problem = _entered(request, request.POST["code"], at)
        if not problem:
            return HttpResponseRedirect(onward)
    elif address and ("send" in request.POST or (request.method == "GET" and not is_pending(request, at))):
        status, problem = _send(request, address, at)
        if not problem and "send" in request.POST:
            messages.success(request, _("We’re sending you a new code. The previous code no longer works."))
            return redirect(reverse("mail_code", query={"next": onward}))
    context = {"problem": problem, "onward": onward, "is_pending": is_pending(request, at)}
    if address:
        context["address"] = f"{address[0]}…@{address.rpartition('@')[2]}"
    return render(request, "account/mail_code.html", context, status=status)


def _send(request: SignedInRequest, address: str, at: datetime) -> tuple[HTTPStatus, str]:
    """Send a code. Return the status and the error, if any."""
    try:
        if send_code(request, address, at):
            return HTTPStatus.OK, ""
    except OSError:
        problem = _(
            "We couldn’t send a code because the mail server is not responding. Request a new code in a few minutes."
        )
        return HTTPStatus.SERVICE_UNAVAILABLE, problem
    problem = _("We’ve sent you five codes in the last hour. Wait an hour before you request a new one.")
    return HTTPStatus.TOO_MANY_REQUESTS, problem


def _entered(request: SignedInRequest, code: str, at: datetime) -> tuple[HTTPStatus, str]:
    """Check the entered code. Return the status and the error, if any."""
    if not is_pending(request, at):
        problem = _("This code has expired, or it was sent for another browser. Request a new code.")
        return HTTPStatus.UNPROCESSABLE_ENTITY, problem
    if not may_guess(request, at):
        return HTTPStatus.TOO_MANY_REQUESTS, _("You entered too many incorrect codes. Request a new code.")
    if not enter_code(request, code, at):
        problem = _("This code doesn’t match the code in our latest email. Check the code, or request a new one.")
        return HTTPStatus.UNPROCESSABLE_ENTITY, problem
    return HTTPStatus.OK, ""
