"""Handing out data: the password of a team, and the record of each download."""

from typing import Annotated

from django.db import transaction
from django.utils.translation import gettext_lazy as _
from pydantic import Field, SkipValidation

from portal.actions.action import Act, action
from portal.actions.errors import LimitReached, NotAllowed
from portal.actions.roles import ANYONE, SIGNED_IN
from portal.models import Download, FailedAttempt, SharedTask, Team
from portal.models.task import DatasetDefinition, StoredDataset
from portal.permissions import REMEDIES, DataAccess, Obstacle, data_access

OBSTACLES = {obstacle: NotAllowed.declare(obstacle, REMEDIES[obstacle]) for obstacle in Obstacle}
WRONG_PASSWORD = NotAllowed.declare(
    "wrong_password", _("That is not your team’s password. It is in the captain’s last mail.")
)
LAST_GUESS_WRONG = LimitReached.declare(WRONG_PASSWORD.code, WRONG_PASSWORD.sentence)
TOO_MANY_GUESSES = LimitReached.declare(
    "too_many_guesses",
    _("Too many wrong passwords within an hour. Wait, or ask your captain to have a new password sent."),
)


@action(
    who=SIGNED_IN,
    says=_("gave the data password"),
    errors=[*OBSTACLES.values(), WRONG_PASSWORD, LAST_GUESS_WRONG, TOO_MANY_GUESSES],
    atomic=False,
)
def give_password(
    act: Act, shared_task: SharedTask, *, guess: Annotated[str, Field(max_length=200, title="Password")]
) -> str:
    """Verify the team's password; the answer is its stamp, for the session to remember.

    A guess is counted before it is compared, so that guesses at once see each other, and forgotten if it is right.
    """
    own = data_access(act.user, shared_task)
    for obstacle in own.obstacles("password", None, act.at):
        if obstacle != Obstacle.PASSWORD:
            raise OBSTACLES[obstacle]()
    if own.team is None:
        raise OBSTACLES[Obstacle.PASSWORD]()
    counted = _count_guess(act, own.team)
    if not own.team.has_data_password(guess):
        is_last = FailedAttempt.objects.guesses_are_used_up(act.user, own.team, act.at)
        raise (LAST_GUESS_WRONG if is_last else WRONG_PASSWORD)()
    with transaction.atomic():
        counted.delete()
        act.record(subject=own.team.audit_subject)
    return own.team.password_stamp


def _count_guess(act: Act, team: Team) -> FailedAttempt:
    guesses = FailedAttempt.objects
    if not guesses.guesses_are_used_up(act.user, team, act.at):
        counted = guesses.add(act.user, team, FailedAttempt.Kind.DATA_PASSWORD, act.at)
        if not guesses.exclude(pk=counted.pk).guesses_are_used_up(act.user, team, act.at):
            return counted
        counted.delete()
    raise TOO_MANY_GUESSES()


@action(who=ANYONE, errors=OBSTACLES.values(), atomic=False)
def record_download(
    act: Act,
    shared_task: SharedTask,
    *,
    own: SkipValidation[DataAccess],
    dataset: SkipValidation[DatasetDefinition],
    stored: SkipValidation[StoredDataset],
    address: str | None,
    first_byte: Annotated[int, Field(ge=0)] = 0,
) -> Download:
    """Record a download before its first byte, for those who may have the file. Committed when this returns.

    `own` is the caller's `permissions.data_access`, with the password's stamp where one was given.
    """
    if own.user != act.viewer:
        raise ValueError("the access of someone else")
    for obstacle in own.obstacles(dataset.access, dataset.released, act.at):
        raise OBSTACLES[obstacle]()
    with transaction.atomic(durable=True):
        return Download.objects.create(
            shared_task=shared_task,
            dataset=dataset.slug,
            sha256=stored.sha256,
            first_byte=first_byte,
            user=act.actor,
            team=own.team,
            address=address,
            at=act.at,
        )
