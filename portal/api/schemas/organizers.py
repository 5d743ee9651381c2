"""What only organizers read: teams, gold, pushes, the audit log and more."""

from datetime import date, datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, Field

from portal.actions.task_folder.pushes import is_stale
from portal.api.schemas.base import Answer, Problems
from portal.models import TaskPush, Team
from portal.queries.desk.team_filter import Seen, TeamFilter
from portal.queries.desk.teams import TeamRow
from portal.queries.gold_preview import GoldPreview, PlaceOnBoard, PreviewedBoard
from portal.queries.line import gold_before, pushes_before


class OrganizedTeamAnswer(Answer):
    """A team, as organizers see it."""

    id: int
    name: str
    state: str
    affiliation: str
    answers: dict[str, Any]
    members: list[str]
    has_signed: bool = Field(description="True if a member signed the current agreement, or if there is none")
    downloads: int
    uploads: int
    rejected_uploads: int
    runs: int
    valid_runs: int
    last_seen: date | None = Field(
        description="Day (UTC) of the last sign-in, use of a token, download or upload by a member"
    )
    flags: list[str]
    created_at: datetime

    @classmethod
    def of(cls, row: TeamRow) -> "OrganizedTeamAnswer":
        return cls.read(
            row.team,
            members=[str(member.user) for member in row.members],
            has_signed=row.has_signed,
            downloads=row.downloads,
            uploads=row.uploads,
            rejected_uploads=row.rejected,
            runs=row.runs,
            valid_runs=row.valid_runs,
            last_seen=row.seen_on,
            flags=row.flags,
        )


class TeamsQuery(BaseModel):
    """Filters of a task’s teams."""

    search: Annotated[str, Field(description="Part of the team’s name or affiliation, or of a member’s name")] = ""
    state: Annotated[str, Field(description=", ".join(Team.State.values))] = ""
    answer: Annotated[str, Field(description="The answer to a question, as KEY=ANSWER")] = ""
    signed: Annotated[str, Field(description="yes or no: whether a member signed the current agreement")] = ""
    downloaded: Annotated[str, Field(description="yes or no: whether a member downloaded a file")] = ""
    uploaded: Annotated[str, Field(description="yes or no: whether there is an upload, even a rejected one")] = ""
    valid: Annotated[str, Field(description="yes or no: whether there is a valid run that was not withdrawn")] = ""
    phase: Annotated[str, Field(description="Slug of the phase of these uploads and runs")] = ""
    seen: Annotated[str, Field(description=", ".join(Seen.values))] = ""

    @property
    def filter(self) -> TeamFilter:
        return TeamFilter(**self.model_dump())


class GoldVersionAnswer(Answer):
    """A version of a gold standard, without its content."""

    id: int
    version: int
    created_at: datetime
    note: str = Field(description="Public explanation of the change on leaderboards")


class GoldChangeAnswer(BaseModel):
    """Items with the same kind of change, without their answers."""

    count: int
    items: list[str] = Field(description="Item ids (at most 200)")


class PlaceAnswer(BaseModel):
    """A run on a leaderboard. Official runs have `rank` and `tie_group`."""

    scores: dict[str, float | None] | None = Field(description="Null if the run can’t be scored")
    rank: int | None
    tie_group: str

    @classmethod
    def of(cls, place: PlaceOnBoard) -> "PlaceAnswer":
        return cls(scores=None if place.scores is None else dict(place.scores), rank=place.rank, tie_group=place.group)


class PreviewedRunAnswer(BaseModel):
    """A run before and after a correction of the gold."""

    id: UUID
    run: str
    team: str | None
    before: PlaceAnswer
    after: PlaceAnswer


class PreviewedBoardAnswer(Answer):
    """A leaderboard before and after a correction: all runs, and how many of them change."""

    phase: str
    is_public: bool
    rescored: int
    reranked: int
    regrouped: int
    lost: int = Field(description="Number of runs that can’t be scored with the new gold")
    runs: list[PreviewedRunAnswer]

    @classmethod
    def of(cls, board: PreviewedBoard) -> "PreviewedBoardAnswer":
        runs = [
            PreviewedRunAnswer(
                id=one.run.pk,
                run=one.run.name,
                team=one.run.team.name if one.run.team else None,
                before=PlaceAnswer.of(one.before),
                after=PlaceAnswer.of(one.after),
            )
            for one in board.runs
        ]
        return cls.read(board, phase=board.phase.slug, runs=runs)


class GoldUploadAnswer(Answer):
    """An uploaded gold file.

    Once it is `ready`, `changes` and `boards` show what applying it would do. Only organizers can see this.
    """

    id: UUID
    track: str
    split: str
    state: str
    is_finished: bool = Field(description="True if processing has finished")
    uploads_before: int = Field(description="Gold files that are checked before this one")
    is_stale: bool = Field(
        description="True if the current gold, the rules or the runs have changed since the preview was computed. "
        "If so, request a new preview"
    )
    version: int | None = Field(
        description="Version of the gold standard that was created from this file or is identical to it"
    )
    problems: Problems
    listed_items: int | None
    split_items: int | None
    changes: dict[str, GoldChangeAnswer] = Field(description="`changed`, `added` and `removed` items")
    boards: list[PreviewedBoardAnswer]

    @classmethod
    def of(cls, preview: GoldPreview) -> "GoldUploadAnswer":
        upload = preview.upload
        return cls.read(
            upload,
            track=upload.track.slug,
            uploads_before=gold_before(upload),
            is_stale=preview.is_stale,
            version=upload.gold.version if upload.gold else None,
            changes={kind: GoldChangeAnswer.model_validate(part) for kind, part in preview.changes.items()},
            boards=[PreviewedBoardAnswer.of(board) for board in preview.boards],
        )


class GoldAnswer(Answer):
    """A track's gold standards for a split."""

    track: str
    split: str
    newest: GoldVersionAnswer | None
    former: list[GoldVersionAnswer]
    upload: UUID | None = Field(description="Id of the latest upload")
    upload_state: str | None = Field(description="State of the latest upload")
    upload_problems: Problems


class PushAnswer(Answer):
    """A pushed folder, its problems, and what applying it would change."""

    id: UUID
    task: str | None = Field(description="Slug of the task, or null until the first push has created the task")
    is_first: bool = Field(description="True if the push creates a new task as a draft")
    state: str = Field(description="received, checking, rejected, ready, applied, expired or failed")
    is_finished: bool = Field(description="True if processing has finished")
    uploads_before: int = Field(description="Pushed folders that are checked before this one")
    is_stale: bool = Field(
        description="True if the task has changed since the push was checked. If so, push the folder again"
    )
    size: int = Field(
        description="Size of the encrypted zip file in bytes. After validation, this includes the extracted files"
    )
    by: str
    received_at: datetime
    checked_at: datetime | None
    applied_at: datetime | None
    problems: Problems
    changes: list[str] = Field(description="Changes that applying the push would make. Empty if there are none")
    effects: list[str] = Field(description="Effects of these changes on runs, deadlines and people")
    needs_confirmation: bool = Field(description="True if applying the push requires `is_sure`")
    difference: str = Field(description="Changes in task.yaml, as a unified diff")

    @classmethod
    def of(cls, push: TaskPush) -> "PushAnswer":
        return cls.read(
            push,
            task=push.shared_task.slug if push.shared_task else None,
            uploads_before=pushes_before(push),
            is_stale=is_stale(push),
            by=str(push.sent_by),
            needs_confirmation=push.touches_runs,
        )


class OrganizerAnswer(BaseModel):
    """An organizer of the task."""

    name: str
    address: str


class EffectAnswer(Answer):
    """The effect of applying new scores."""

    runs: int
    ranks: int
    missing: int


class WaitingScoresAnswer(Answer):
    """A released leaderboard with new scores. To apply them, send `key`."""

    key: str
    track: str
    phase: str
    scored: int
    count: int
    effect: EffectAnswer | None = Field(description="Null while runs are waiting to be scored")


class AuditAnswer(Answer):
    """An entry of the audit log."""

    at: datetime
    actor: str | None
    verb: str
    subject: str
    detail: dict[str, Any]
