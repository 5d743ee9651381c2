"""What organizers read while a task runs: all uploads and teams."""

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, Field

from portal.api.schemas.base import Answer, Problems
from portal.api.schemas.organizers import OrganizedTeamAnswer
from portal.models import MessageRecipient, Run, Submission, TeamMessage, TeamNote
from portal.queries.desk.teams import TeamRow
from portal.queries.desk.uploads import UploadFilter, UploadRow, UploadState


class UploadsQuery(BaseModel):
    """Filters of a task’s uploads."""

    search: Annotated[str, Field(description="Part of the file name, the team’s name, or the sender’s name")] = ""
    state: Annotated[str, Field(description=", ".join(UploadState.values))] = ""
    code: Annotated[str, Field(description="Code of one of its problems")] = ""
    track: Annotated[str, Field(description="Slug of a track for which it has a run")] = ""
    phase: Annotated[str, Field(description="Slug of the phase")] = ""
    team: Annotated[str, Field(description="Name of the team")] = ""

    @property
    def filter(self) -> UploadFilter:
        return UploadFilter(**self.model_dump())


class UploadedRunAnswer(BaseModel):
    """A run of an upload."""

    id: UUID
    name: str
    track: str
    number: int | None
    state: str
    is_withdrawn: bool

    @classmethod
    def of(cls, run: Run, state: str) -> "UploadedRunAnswer":
        return cls(
            id=run.pk,
            name=run.name,
            track=run.track.slug,
            number=run.number,
            state=state,
            is_withdrawn=run.withdrawn_at is not None,
        )


class OrganizedUploadAnswer(Answer):
    """An upload, as organizers see it."""

    id: UUID
    is_stored: bool = Field(
        description="False if it was rejected on receipt, because of its file names or structure: then it has no runs, "
        "and no file to download"
    )
    file_name: str
    size: int
    team: str
    sent_by: str = Field(description="Name of the person")
    phase: str
    state: str = Field(description="received, checking, accepted, rejected or failed")
    problem_codes: list[str] = Field(description="Codes of the problems in the upload and all its runs")
    replaced_by: UUID | None = Field(description="The team's newer upload that counts instead")
    received_at: datetime
    runs: list[UploadedRunAnswer]

    @classmethod
    def of(cls, row: UploadRow) -> "OrganizedUploadAnswer":
        upload = row.upload
        return cls.read(
            upload,
            id=upload.pk,
            is_stored=row.is_stored,
            team=upload.team.name,
            sent_by=str(upload.sent_by),
            phase=upload.phase.slug,
            state=row.state,
            problem_codes=row.codes,
            replaced_by=upload.replaced_by_id if isinstance(upload, Submission) else None,
            runs=[UploadedRunAnswer.of(run, state) for run, state in row.run_states],
        )


class UploadProblemsAnswer(BaseModel):
    """All problems in an upload and its runs."""

    id: UUID
    state: str
    problems: Problems


class DecidedTeamsAnswer(BaseModel):
    """The names of the teams that were approved or declined."""

    teams: list[str]


class TeamNoteAnswer(Answer):
    """An organizers' note about a team."""

    id: int
    text: str
    by: str
    at: datetime

    @classmethod
    def of(cls, note: TeamNote) -> "TeamNoteAnswer":
        return cls.read(note, by=str(note.by))


class DeskTeamAnswer(OrganizedTeamAnswer):
    """A team with the organizers' notes, as organizers see it."""

    notes: list[TeamNoteAnswer]

    @classmethod
    def with_notes(cls, row: TeamRow, notes: Iterable[TeamNote]) -> "DeskTeamAnswer":
        shown = OrganizedTeamAnswer.of(row)
        return cls(**shown.model_dump(), notes=[TeamNoteAnswer.of(note) for note in notes])


class MessageRecipientAnswer(BaseModel):
    """A person to whom a message is or will be sent."""

    id: int
    team: str
    name: str
    address: str
    delivery: str | None = Field(description="queued, sent, failed or canceled. Null until the message is sent")

    @classmethod
    def of(cls, recipient: MessageRecipient) -> "MessageRecipientAnswer":
        return cls(
            id=recipient.pk,
            team=recipient.team.name,
            name=str(recipient.user),
            address=recipient.user.email,
            delivery=recipient.mail.state if recipient.mail else None,
        )


class TeamMessageAnswer(Answer):
    """A message to teams, with everyone to whom it is or will be sent."""

    id: int
    subject: str
    text: str
    audience: str = Field(description="members or captains")
    by: str
    prepared_at: datetime
    sent_at: datetime | None = Field(description="Null until it is sent")
    recipients: list[MessageRecipientAnswer]

    @classmethod
    def of(cls, message: TeamMessage) -> "TeamMessageAnswer":
        rows = message.recipients.select_related("team", "user", "mail")
        return cls.read(message, by=str(message.by), recipients=[MessageRecipientAnswer.of(row) for row in rows])


class TeamMessageSummary(Answer):
    """A message in the list of sent ones."""

    id: int
    subject: str
    by: str
    sent_at: datetime

    @classmethod
    def of(cls, message: TeamMessage) -> "TeamMessageSummary":
        return cls.read(message, by=str(message.by))
