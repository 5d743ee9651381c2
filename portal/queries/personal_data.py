"""All data that the portal has about a person, and what prevents deleting an account."""

from typing import Any

from django.db.models import Exists, ForeignObjectRel, ManyToManyRel, Model, OuterRef

from portal.models import Membership, OutgoingMail, Run, Team, User

# Passwords, keys and codes are left out: they say nothing about the person and would be dangerous in a file.
_SECRETS = {
    "user": {"password"},
    "accesstoken": {"sha256"},
    "authenticator": {"data"},
    "devicelogin": {"sha256", "code"},
    "usersession": {"session_key", "data"},
}


def personal_data(user: User) -> dict[str, Any]:
    """Return the account and every row that refers to it, by kind. New models are included automatically."""
    found: dict[str, Any] = {"account": _fields(user)}
    for relation in User._meta.get_fields(include_hidden=True):
        if isinstance(relation, ForeignObjectRel) and not relation.related_model._meta.auto_created:
            rows = relation.related_model._default_manager.filter(**{relation.field.name: user.pk})
            name = f"{relation.related_model._meta.verbose_name_plural}, {relation.field.verbose_name}"
            found[name] = [str(row) if isinstance(relation, ManyToManyRel) else _fields(row) for row in rows]
    found["runs that you uploaded"] = [_fields(run) for run in Run.objects.filter(submission__sent_by=user)]
    found["emails to your address"] = [
        _fields(mail) for mail in OutgoingMail.objects.filter(address__iexact=user.email)
    ]
    return found


def teams_to_hand_over(user: User) -> list[Team]:
    """Return the teams that have this person as captain and also have other members."""
    others = Membership.objects.filter(team=OuterRef("pk")).exclude(user=user)
    own = Team.objects.filter(Exists(others), memberships__user=user, memberships__is_captain=True)
    return list(own.select_related("shared_task"))


def _fields(row: Model) -> dict[str, Any]:
    secrets = _SECRETS.get(row._meta.model_name or "", ())
    return {
        str(field.verbose_name): _words(getattr(row, field.name)) if field.is_relation else field.value_from_object(row)
        for field in row._meta.concrete_fields
        if field.name not in secrets
    }


def _words(row: Model | None) -> str | None:
    return None if row is None else str(row)
