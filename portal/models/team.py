"""Teams and their members."""

import secrets
from typing import Self

from django.conf import settings
from django.contrib.auth.hashers import check_password
from django.core.validators import URLValidator
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.db.models.expressions import Combinable
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_lazy as _

from portal.models.phase import ExtraTime, Phase
from portal.models.task import SharedTask
from portal.models.team_name import NAME_KEY_LENGTH

web_address = URLValidator(["https", "http"])


def new_invitation_code() -> str:
    return secrets.token_urlsafe(18)


class TeamQuerySet(models.QuerySet["Team"]):
    def shut_out(self, phase: Phase) -> Self:
        """Select teams whose runs appear on none of the phase's boards (see `is_shut_out`)."""
        return self.filter(self.is_shut_out(phase))

    @staticmethod
    def is_shut_out(phase: Phase) -> Q | Combinable:
        """Return the condition for teams whose runs appear on none of the phase's boards.

        These teams were declined, or withdrew while they could still upload to the phase. A declined team stays on
        boards that were released earlier. If it asks again or withdraws, it remains excluded; only an approval ends the
        exclusion. A team that withdraws after the phase has closed keeps its runs on the board.
        """
        declined = ~Q(reason="")
        if phase.released is not None:
            declined &= Q(decided_at__lt=phase.released)
        in_time: Q | Combinable = Q()
        if phase.closes is not None:
            everyones_or_own = Q(team__isnull=True) | Q(team=OuterRef("pk"))
            extra_times = ExtraTime.objects.filter(everyones_or_own, phase=phase.pk, until__gt=OuterRef("withdrawn_at"))
            in_time = Q(withdrawn_at__lt=phase.closes) | Exists(extra_times)
        return declined | (Q(withdrawn_at__gte=phase.opens) & in_time)

    def locked(self) -> Self:
        """Lock the teams until the transaction ends, without blocking uploads. Tasks are read, but not locked."""
        return self.select_for_update(of=("self",), no_key=True).select_related("shared_task")


class Team(models.Model):
    class State(models.TextChoices):
        PENDING = "pending", _("waiting for approval")
        APPROVED = "approved", _("approved")
        DECLINED = "declined", _("declined")
        WITHDRAWN = "withdrawn", _("withdrawn")

    ACTIVE = (State.PENDING, State.APPROVED)
    # The data's access level → the states in which a team has access. `portal.permissions` also checks the signature
    # and the password.
    DATA = {
        "registered": ACTIVE,
        "approved": (State.APPROVED,),
        "password": (State.APPROVED,),
    }

    shared_task = models.ForeignKey(SharedTask, on_delete=models.CASCADE, related_name="teams")
    name = models.CharField(max_length=64)
    name_key = models.CharField(max_length=NAME_KEY_LENGTH)  # see `name_key`; unique among the teams of a task
    affiliation = models.CharField(max_length=200, blank=True)
    state = models.CharField(max_length=10, choices=State, default=State.PENDING)
    invitation_code = models.CharField(max_length=32, unique=True, default=new_invitation_code)
    members = models.ManyToManyField(settings.AUTH_USER_MODEL, through="Membership", related_name="teams")
    answers = models.JSONField(default=dict)  # the team's answers by question key
    reason = models.TextField(blank=True)  # why the team was declined; empty after an approval
    decided_at = models.DateTimeField(null=True)  # when the team was last approved or declined
    withdrawn_at = models.DateTimeField(null=True)
    # Since when a member who may have seen hidden scores as an organizer is on the team. Its runs have no rank.
    unranked_at = models.DateTimeField(null=True)
    data_password = models.CharField(max_length=128, blank=True)  # only a hash; the email has the password itself
    data_password_at = models.DateTimeField(null=True)
    bibtex = models.TextField(blank=True)  # the team's paper, formatted by `portal.bibtex`
    paper = models.CharField(_("Link to the paper"), max_length=300, blank=True, validators=[web_address])
    created_at = models.DateTimeField()

    objects = TeamQuerySet.as_manager()

    class Meta:
        ordering = ("name",)
        constraints = [models.UniqueConstraint(fields=("shared_task", "name_key"), name="team_name_once_a_task")]

    def __str__(self) -> str:
        return self.name

    @property
    def audit_subject(self) -> str:
        return f"team {self.name}"

    @property
    def takes_part(self) -> bool:
        return self.state == self.State.APPROVED

    @property
    def is_full(self) -> bool:
        """Whether the team has as many members as the task allows."""
        most = self.shared_task.definition.team.max_members
        return most is not None and self.memberships.count() >= most

    @property
    def password_stamp(self) -> str:
        """A value that identifies the current password without revealing it. Empty if the team has no password."""
        if not self.data_password:
            return ""
        return salted_hmac("portal.models.Team.password_stamp", self.data_password).hexdigest()

    def has_data_password(self, guess: str) -> bool:
        return bool(self.data_password) and check_password(guess, self.data_password)


class Membership(models.Model):
    """A person's membership in a team. The row repeats the task to allow each person only one team per task."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    shared_task = models.ForeignKey(SharedTask, on_delete=models.CASCADE, related_name="+")
    is_captain = models.BooleanField(default=False)
    joined_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=("user", "shared_task"), name="one_team_a_person_and_task")]

    def __str__(self) -> str:
        return f"{self.user} in {self.team}"
