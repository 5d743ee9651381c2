"""The signed-in account with its teams and tokens, as the API returns them."""

from datetime import datetime

from pydantic import BaseModel, Field

from portal.api.schemas.base import Answer


class TokenAnswer(Answer):
    """The token of this request."""

    name: str
    scope: str
    task: str | None = Field(description="The task that the token is limited to, or null for all tasks")
    expires_at: datetime


class OwnTeamAnswer(BaseModel):
    """One of your teams."""

    task: str
    team: str
    state: str
    is_captain: bool


class MeAnswer(BaseModel):
    """The token's owner and permissions."""

    name: str
    email: str
    may_create_tasks: bool
    token: TokenAnswer
    teams: list[OwnTeamAnswer]
    organizes: list[str] = Field(description="Tasks that you can organize with this token")
