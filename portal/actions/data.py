"""Handing out data: the password of a team, and the record of each download."""

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from portal.actions.errors import LimitReached, NotAllowed
from portal.models import AuditEntry, Download, FailedAttempt, SharedTask, Team, User
from portal.models.task import StoredDataset
from portal.permissions import REMEDIES, Obstacle, Standing, standing


def give_password(user: User, shared_task: SharedTask, guess: str, at: datetime) -> str:
    """The stamp of the team's password, for the session to remember, if the guess is right.

    A guess is counted before it is compared, so that guesses at once see each other, and forgotten if it is right.

    Raises:
        NotAllowed: the team takes no part, the agreement is not signed, or the guess is wrong.
        LimitReached: too many wrong guesses of the person, or of the team, within an hour.
    """
    own = standing(user, shared_task)
    for obstacle in own.obstacles("password", None, at):
        if obstacle != Obstacle.PASSWORD:
            raise NotAllowed(obstacle, str(REMEDIES[obstacle]))
    if own.team is None:
        raise NotAllowed(Obstacle.PASSWORD, str(REMEDIES[Obstacle.PASSWORD]))
    counted = _count_guess(user, own.team, at)
    if not own.team.has_data_password(guess.strip()):
        message = _("That is not your team's password. It is in the captain's last mail.")
        is_last = FailedAttempt.objects.guesses_are_used_up(user, own.team, at)
        raise (LimitReached if is_last else NotAllowed)("wrong_password", message)
    counted.delete()
    AuditEntry.objects.create(
        actor=user, shared_task=shared_task, verb="give_password", subject=f"team {own.team.name}", at=at
    )
    return own.team.password_stamp


def _count_guess(user: User, team: Team, at: datetime) -> FailedAttempt:
    guesses = FailedAttempt.objects
    if not guesses.guesses_are_used_up(user, team, at):
        counted = guesses.add(user, team, FailedAttempt.Kind.DATA_PASSWORD, at)
        if not guesses.exclude(pk=counted.pk).guesses_are_used_up(user, team, at):
            return counted
        counted.delete()
    message = _("Too many wrong passwords within an hour. Wait, or ask your captain to have a new password sent.")
    raise LimitReached("too_many_guesses", message)


def record_download(
    own: Standing,
    shared_task: SharedTask,
    dataset: str,
    stored: StoredDataset,
    first_byte: int,
    address: str | None,
    at: datetime,
) -> Download:
    """Committed when this returns: whoever cannot be recorded gets no byte."""
    with transaction.atomic(durable=True):
        return Download.objects.create(
            shared_task=shared_task,
            dataset=dataset,
            sha256=stored.sha256,
            first_byte=first_byte,
            user=own.user if own.user.is_authenticated else None,
            team=own.team,
            address=address,
            at=at,
        )
