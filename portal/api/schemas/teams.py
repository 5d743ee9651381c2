"""Teams and their members, as the API returns them."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from portal.api.schemas.base import Answer
from portal.models import Membership, Team


class MemberAnswer(BaseModel):
    """A member of a team."""

    id: int = Field(description="Membership id. Use it to make this member the captain")
    name: str
    is_captain: bool

    @classmethod
    def of(cls, member: Membership) -> "MemberAnswer":
        return cls(id=member.pk, name=str(member.user), is_captain=member.is_captain)


class TeamAnswer(Answer):
    """A team as its members see it."""

    id: int
    name: str
    state: str = Field(description="pending, approved, declined or withdrawn")
    affiliation: str
    reason: str = Field(description="Why the team was declined")
    answers: dict[str, Any]
    members: list[MemberAnswer]
    invitation_code: str | None = Field(description="Code that people use to join the team. Null for read-only tokens")
    bibtex: str
    paper: str
    unranked_at: datetime | None = Field(
        description="Since when the team has no rank because a member is or was an organizer of the task"
    )
    created_at: datetime

    @classmethod
    def of(cls, team: Team, *, may_invite: bool) -> "TeamAnswer":
        members = team.memberships.select_related("user").order_by("-is_captain", "joined_at")
        code = team.invitation_code if may_invite else None
        return cls.read(team, members=[MemberAnswer.of(member) for member in members], invitation_code=code)
