"""Emails about accounts, which allauth sends. `TEXTS` has a function for each of allauth's templates."""

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from allauth.account.forms import default_token_generator
from allauth.account.models import EmailAddress, EmailConfirmationHMAC
from allauth.account.utils import user_pk_to_url_str
from django.conf import settings
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from portal.mail.content import Block, MailContent, button, facts, moment, page, secret, text
from portal.models import MailFacts, OutgoingMail, User

Context = Mapping[str, Any]  # allauth's template context


def confirmation(context: Context) -> MailContent:
    """Ask the recipient to confirm a new email address."""
    return _content(
        _("Agon: confirm your email address"),
        text(_("Someone used this email address to create an account on Agon.")),
        text(_("If it was you, confirm your address with this link:")),
        button(_("Confirm address"), _own(context["activate_url"])),
        text(_("If it wasn’t you, ignore this email. No one can use the account without this link.")),
    )


def reset(context: Context) -> MailContent:
    """Send a link to someone who forgot their password."""
    return _content(
        _("Agon: reset your password"),
        text(_("Someone requested a password reset for your Agon account. If it was you, choose a new password here:")),
        button(_("Choose new password"), _own(context["password_reset_url"])),
        text(_("If it wasn’t you, ignore this email. Your password has not changed.")),
    )


def already_there(context: Context) -> MailContent:
    """Tell someone who signs up again that they already have an account. The page does not reveal this."""
    return _content(
        _("Agon: you already have an account"),
        text(_("Someone tried to create an account on Agon with this address, but you already have an account.")),
        text(_("If it was you, sign in to your account. If you forgot your password, choose a new one:")),
        button(_("Choose new password"), page("account_reset_password")),
        text(_("If it wasn’t you, ignore this email. Nothing has changed.")),
    )


def no_account(context: Context) -> MailContent:
    """Tell someone who wants to reset a password that they have no account. The page does not reveal this."""
    return _content(
        _("Agon: there is no account with this address"),
        text(_("Someone requested a password reset, but no Agon account uses this address.")),
        text(
            _(
                "If it was you, you may have signed up with another address. If you don’t have an account yet, create "
                "one:"
            )
        ),
        button(_("Create account"), page("account_signup")),
        text(_("If it wasn’t you, ignore this email. Nothing has changed.")),
    )


def mail_code(context: Context) -> MailContent:
    """Send the code that people need to set up their first second factor.

    Organizers without a second factor also need it to change their email address.
    """
    return _content(
        _("Agon: your confirmation code"),
        text(_("You’re changing how you sign in to Agon. To continue, enter this code:")),
        secret(context["code"]),
        text(_("The code is valid for 15 minutes, in the browser where you requested it. Don’t share it with anyone.")),
        text(
            _(
                "If you didn’t request this code, someone else has signed in to your account and probably knows your "
                "password. Choose a new password now:"
            )
        ),
        button(_("Choose new password"), page("account_reset_password")),
    )


def _notice(words: Promise, context: Context) -> MailContent:
    """Tell the owner that a sign-in method was changed, and when and from where."""
    at: datetime = context["timestamp"]
    old = context.get("from_email") or context.get("deleted_email")
    names = {"old": old, "new": context.get("to_email"), "provider": context.get("provider")}
    return _content(
        _("Agon: your account was changed"),
        text(str(words) % names),
        facts(
            (_("When"), moment(context.get("user"), at, at)),
            (_("IP address"), str(context["ip"])),
            (_("Browser"), context["user_agent"]),
        ),
        text(
            _(
                "If you made this change, you don’t need to do anything. If not, choose a new password now. This "
                "signs out all sessions:"
            )
        ),
        button(_("Choose new password"), page("account_reset_password")),
    )


_NOTICES = {
    "email_confirm": gettext_lazy("The email address of your account was confirmed."),
    "email_changed": gettext_lazy("Your account’s email address was changed from %(old)s to %(new)s."),
    "email_deleted": gettext_lazy("The email address %(old)s was removed from your account."),
    "password_changed": gettext_lazy("Your password was changed."),
    "password_reset": gettext_lazy("Your password was reset with a link from an email."),
    "password_set": gettext_lazy("A password was set for your account."),
    "totp_activated": gettext_lazy("An authenticator app was set up."),
    "totp_deactivated": gettext_lazy("The authenticator app was removed."),
    "webauthn_added": gettext_lazy("A passkey or security key was added."),
    "webauthn_removed": gettext_lazy("A passkey or security key was removed."),
    "recovery_codes_generated": gettext_lazy("New recovery codes were created. The old codes no longer work."),
    "account_connected": gettext_lazy("A %(provider)s account was connected to your account."),
    "account_disconnected": gettext_lazy("A %(provider)s account was disconnected from your account."),
}
TEXTS: Mapping[str, Callable[[Context], MailContent]] = {
    **dict.fromkeys(OutgoingMail.CONFIRMATIONS, confirmation),
    "password_reset_key": reset,
    "account_already_exists": already_there,
    "unknown_account": no_account,
    "mail_code": mail_code,
    **{kind: partial(_notice, words) for kind, words in _NOTICES.items()},
}
_KEPT = ("ip", "user_agent", "from_email", "deleted_email", "to_email", "provider")


def details_of(name: str, context: Context) -> dict[str, str]:
    """Return the details of an email that will be sent later, for its row in the outbox.

    They never include a key or code, nor a link with one.
    """
    kept = {key: str(context[key]) for key in _KEPT if context.get(key)}
    if after := urlsplit(context.get("activate_url", "")).query:
        kept["after"] = after  # where the link leads after the confirmation
    return kept | {"letter": name} | ({"timestamp": context["timestamp"].isoformat()} if "timestamp" in context else {})


def late(mail: OutgoingMail, _facts: MailFacts, at: datetime) -> MailContent:
    """Return an email that could not be sent immediately. If its link contains a key, the key is created now."""
    name, moment_of_change = mail.details["letter"], mail.details.get("timestamp")
    context = mail.details | {"user": mail.user}
    if moment_of_change:
        context["timestamp"] = datetime.fromisoformat(moment_of_change)
    if mail.asks_to_confirm:
        address = EmailAddress.objects.get(user=mail.user, email__iexact=mail.address)
        link = page("account_confirm_email", EmailConfirmationHMAC(address).key)
        context["activate_url"] = f"{link}?{mail.details['after']}" if "after" in mail.details else link
    if name == "password_reset_key" and mail.user:
        context["password_reset_url"] = _reset_link(mail.user)
    return TEXTS[name](context)


def _reset_link(user: User) -> str:
    return page("account_reset_password_from_key", user_pk_to_url_str(user), default_token_generator.make_token(user))


def _own(address: str) -> str:
    """Return the link with the host from `settings.PUBLIC_URL`.

    allauth uses the host from the request, which can be forged.
    """
    parts = urlsplit(address)
    return f"{settings.PUBLIC_URL}{parts.path}" + (f"?{parts.query}" if parts.query else "")


def _content(subject: str, *blocks: Block) -> MailContent:
    why = _("You received this email because someone entered your address on Agon, a portal for shared tasks.")
    return MailContent(subject, blocks, why)
