"""Permissions: who may do what, and what a person still needs before taking part.

Deadlines and run limits are not checked here: see `models.phase` and `models.quota`. Each action declares who may call
it (`actions.base.roles`); for an example, see `withdraw_team` in `actions.teams`.
"""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet, TextChoices
from django.utils.translation import gettext_lazy as _

from portal.models import Run, SharedTask, Signature, Team, User, Viewer
from portal.models.prepared import PreparedQuery


def lacks_second_factor(user: Viewer) -> bool:
    """Return whether the user must set up a second factor before organizing or administering."""
    return not User.objects.with_second_factor(user).exists()


def enrolls_by_mail(user: User) -> bool:
    """Return whether setting up a second factor requires an emailed code. Only the first one does."""
    return not user.has_second_factor


def may_create_tasks(user: User) -> bool:
    """Return whether an administrator allowed the account to create tasks. The second factor is checked separately."""
    return user.is_active and (user.may_create_tasks or user.is_staff)


def changes_address_by_mail(user: User) -> bool:
    """Return whether changing the email address requires an emailed code.

    Without the code, someone with a stolen password could first change the address that codes are sent to.
    """
    organizes_any = may_create_tasks(user) or SharedTask.objects.assigned_to(user).exists()
    return organizes_any and not user.has_second_factor


def has_signed(user: Viewer, shared_task: SharedTask) -> bool:
    """Return whether nothing is left to sign: the current agreement is signed, or there is none."""
    return not Signature.objects.is_missing(user, shared_task)


def is_member(user: Viewer, team: Team) -> bool:
    return user.is_active and team.memberships.filter(user=user.pk).exists()


def is_captain(user: Viewer, team: Team) -> bool:
    return user.is_active and team.memberships.filter(user=user.pk, is_captain=True).exists()


def may_see_run(user: Viewer, run: Run) -> bool:
    return Run.objects.visible_to(user).filter(pk=run.pk).exists()


def may_download_run(user: Viewer, run: Run) -> bool:
    """Return whether the user may download a run file.

    The run's team and the organizers may. Baselines are only for organizers, because they may reveal the gold. The run
    that represents the gold standard has no file.
    """
    if run.kind == Run.Kind.GOLD or not may_see_run(user, run):
        return False
    return run.kind == Run.Kind.TEAM or run.shared_task.is_organized_by(user)


def may_change_run(user: Viewer, run: Run) -> bool:
    """Return whether the user may choose, withdraw and describe a run. Only the members of its team may."""
    return run.team is not None and is_member(user, run.team)


def team_of(user: Viewer, shared_task: SharedTask) -> Team | None:
    """Return the user's team in the task, whatever its state."""
    team = _teams.first(user=user.pk, shared_task=shared_task.pk) if user.is_active else None
    if team is not None:
        team.shared_task = shared_task
    return team


@PreparedQuery
def _teams(user: int, shared_task: int) -> QuerySet[Team]:
    return Team.objects.filter(memberships__user=user, memberships__shared_task=shared_task)


class Obstacle(TextChoices):
    """A reason why a person cannot download a dataset.

    Obstacles are listed in the order in which a person can remove them. Their labels explain how.
    """

    NOT_RELEASED = "not-released", _("Wait until the file is released.")
    SIGNED_OUT = "signed-out", _("Sign in. Only members of a team can download this file.")
    NO_TEAM = "no-team", _("Create or join a team.")
    PENDING = "pending", _("Wait until the organizers approve your team. The captain gets an email when they do.")
    DECLINED = (
        "declined",
        _("The organizers declined your team. See the reason on the team page and request approval again."),
    )
    WITHDRAWN = "withdrawn", _("Your team was withdrawn and can’t download data. Leave the team and join another.")
    UNSIGNED = "unsigned", _("Sign the data agreement.")
    PASSWORD = "password", _("Enter your team’s password. Your captain received it by email.")


@dataclass(frozen=True, slots=True)
class DataAccess:
    """Everything about a person that determines access to a shared task's data.

    `knows_password` comes from the session.
    """

    user: Viewer
    team: Team | None
    is_organizer: bool
    has_signed: bool
    knows_password: bool

    def obstacles(self, access: str, released: datetime | None, at: datetime) -> list[Obstacle]:
        """Return what keeps the person from downloading a dataset with this access level. Empty if nothing does."""
        if self.is_organizer:
            return []
        found = [Obstacle.NOT_RELEASED] if released is not None and at < released else []
        if access == "public":
            return found
        if not (self.user.is_authenticated and self.user.is_active):
            return [*found, Obstacle.SIGNED_OUT]
        if self.team is None:
            found.append(Obstacle.NO_TEAM)
        elif self.team.state not in Team.DATA[access]:
            found.append(Obstacle(self.team.state))
        if not self.has_signed:
            found.append(Obstacle.UNSIGNED)
        if access == "password" and not self.knows_password:
            found.append(Obstacle.PASSWORD)
        return found


def data_access(user: Viewer, shared_task: SharedTask, known_password: str = "") -> DataAccess:
    """Return the user's access to data.

    `known_password` is the team's `password_stamp` if the password was entered in this session.
    """
    team = team_of(user, shared_task)
    return DataAccess(
        user=user,
        team=team,
        is_organizer=shared_task.is_organized_by(user),
        has_signed=has_signed(user, shared_task),
        knows_password=team is not None and team.password_stamp == known_password != "",
    )
