"""Account settings, email preferences and signing out other sessions."""

from typing import Annotated

from allauth.usersessions.models import UserSession

from portal.actions.base.action import ActionCall, action
from portal.actions.base.input import column, passes
from portal.actions.base.roles import ANYONE, OWN_ACCOUNT
from portal.mail.unsubscribe import Unsubscription
from portal.models import EarlierName, User
from portal.models.account import is_country, is_language, is_time_zone


@action(who=OWN_ACCOUNT, repeatable=True)
def change_settings(
    call: ActionCall,
    account: User,
    *,
    name: Annotated[str, column(User, "name", required=True)],
    affiliation: Annotated[str, column(User, "affiliation")],
    country: Annotated[str, column(User, "country"), passes(is_country)],
    time_zone: Annotated[str, column(User, "time_zone", required=True), passes(is_time_zone)],
    language: Annotated[str, column(User, "language", required=True), passes(is_language)],
    mails_about_runs: bool,
    mails_about_deadlines: bool,
    mails_about_results: bool,
    mails_about_teams: bool,
    named_on_team_pages: bool,
) -> None:
    """Change your name, affiliation, time zone, language and email settings, and whether team pages name you."""
    EarlierName.objects.note(account, name, account.email)
    User.objects.filter(pk=account.pk).update(
        name=name,
        affiliation=affiliation,
        country=country,
        time_zone=time_zone,
        language=language,
        mails_about_runs=mails_about_runs,
        mails_about_deadlines=mails_about_deadlines,
        mails_about_results=mails_about_results,
        mails_about_teams=mails_about_teams,
        named_on_team_pages=named_on_team_pages,
    )


@action(who=ANYONE, repeatable=True)
def stop_mails(call: ActionCall, wish: Unsubscription) -> None:
    """Unsubscribe a person from one kind of email.

    No sign-in is needed: an `Unsubscription` can only come from the signed link in such an email.
    """
    User.objects.filter(pk=wish.user_id).update(**{wish.field: False})


@action(who=OWN_ACCOUNT)
def end_session(call: ActionCall, session: UserSession) -> None:
    """Sign out the browser session `session`."""
    session.end()
