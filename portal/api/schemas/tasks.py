"""Tasks, with their tracks, phases, datasets and announcements, as the API returns them."""

from datetime import datetime

from pydantic import BaseModel, Field

from portal.api.schemas.base import Answer
from portal.api.schemas.runs import LimitAnswer, SubmissionSummary
from portal.models import Announcement, Phase, SharedTask, Submission, Track
from portal.queries.boards.columns import columns
from portal.queries.home import ENDED, OPEN, deciding_date, deciding_phase
from portal.queries.quota import TrackLimits
from portal.queries.tasks import TaskPage


class TaskSummary(Answer):
    """A shared task in the list."""

    slug: str
    title: str
    subtitle: str
    venue: str
    year: int
    languages: list[str]
    state: str = Field(description="open. Organizers of the task can also see draft and hidden")
    accepts_runs: bool = Field(description="True if a phase is open")
    phase: str | None = Field(
        description="The open phase that closes first. If none is open, the next phase to open, or the last phase"
    )
    next_date: datetime | None = Field(
        description="Time when this phase opens or closes next, or null if the phase is over"
    )

    @classmethod
    def of(cls, task: SharedTask, at: datetime) -> "TaskSummary":
        state, phase = deciding_phase(list(task.phases.all()), at)
        return cls.read(
            task,
            accepts_runs=state == OPEN,
            phase=phase.slug if phase else None,
            next_date=None if state == ENDED else deciding_date(state, phase),
        )


class MetricAnswer(Answer):
    """A metric of a track."""

    key: str
    title: str
    higher_is_better: bool


class TrackAnswer(BaseModel):
    """A track with its run format and its ranking metric."""

    slug: str
    title: str
    description: str
    format: str = Field(description="Run file format")
    files: list[str] = Field(description="Names of the files in a run with several files, otherwise empty")
    splits: list[str] = Field(description="Splits that have items")
    rank_by: str
    metrics: list[MetricAnswer]

    @classmethod
    def of(cls, track: Track) -> "TrackAnswer":
        rules = track.definition
        return cls(
            slug=track.slug,
            title=track.title,
            description=rules.description,
            format=rules.format.kind,
            files=list(rules.files.of) if rules.files else [],
            splits=list(rules.items),
            rank_by=rules.rank_by,
            metrics=[MetricAnswer.model_validate(column) for column in columns(track)],
        )


class ExtraTimeAnswer(Answer):
    """Extra time for a team or, if `team` is null, for all teams."""

    id: int
    team: str | None
    until: datetime
    reason: str


class PhaseAnswer(Answer):
    """A phase: its window, its limits, and when its scores become public."""

    slug: str
    title: str
    split: str
    tracks: list[str] = Field(description="Slugs of the tracks for which the phase accepts runs")
    opens: datetime
    closes: datetime | None
    closes_for_you: datetime | None = Field(description="Closing time including your team's extra time")
    is_open: bool = Field(description="True if the phase currently accepts runs from your team")
    scores: str = Field(description="at-once, on-release or never")
    scores_are_public: bool
    released: datetime | None = Field(
        description="Only for `on-release`. When the scores became or will become public, or null if no date is set"
    )
    official: str = Field(description="Which run is official: best, last, chosen or all")
    submissions: int | None = Field(description="If 1, a team's later upload replaces the earlier one")
    replaces: SubmissionSummary | None = Field(
        description="Your team's upload that a new one replaces. Null if there is none, or if all uploads count"
    )
    runs_per_track: int | None
    runs_per_day: int | None
    extra_times: list[ExtraTimeAnswer]
    round_days: int | None = Field(description="Days in each round. At `closes`, the next round begins")
    limits: list[LimitAnswer] = Field(description="Your remaining quota. Empty if you are not on an approved team")
    leaderboards: list[str] = Field(description="URLs, one per track")

    @classmethod
    def of(
        cls,
        phase: Phase,
        page: TaskPage,
        at: datetime,
        limits: list[TrackLimits],
        boards: list[str],
        replaces: Submission | None,
    ) -> "PhaseAnswer":
        team = page.team.pk if page.team else None
        return cls.read(
            phase,
            closes_for_you=phase.closes_for(team),
            is_open=phase.is_open(at, team),
            tracks=[track.slug for track in phase.tracks()],
            scores_are_public=phase.scores_are_public(at),
            submissions=phase.max_submissions,
            replaces=SubmissionSummary.of(replaces) if replaces else None,
            extra_times=[ExtraTimeAnswer.read(one, team=one.team and one.team.name) for one in phase.extra_times.all()],
            limits=[LimitAnswer.of(line) for line in limits],
            leaderboards=boards,
        )


class AgreementAnswer(Answer):
    """The data agreement. To sign exactly this text, send its `sha256` back."""

    version: str
    text: str
    sha256: str
    is_signed: bool


class QuestionAnswer(Answer):
    """A question that organizers ask new teams."""

    key: str
    label: str
    required: bool
    choices: list[str]


class RunFieldLabel(Answer):
    """A run field as a column."""

    key: str
    label: str


class RunFieldAnswer(RunFieldLabel):
    """A short text that teams enter for each upload."""

    required: bool


class TaskAnswer(TaskSummary):
    """A shared task."""

    tracks: list[TrackAnswer]
    current_phase: str | None = Field(description="The open phase that closes first")
    team_name_rule: str = Field(description="Regular expression that the whole team name must match")
    questions: list[QuestionAnswer]
    run_fields: list[RunFieldAnswer]
    has_agreement: bool
    has_password_data: bool
    papers_closed: bool
    your_team: str | None
    you_organize: bool

    @classmethod
    def seen(cls, page: TaskPage, at: datetime) -> "TaskAnswer":
        task = page.shared_task
        rules = task.definition
        return cls(
            **TaskSummary.of(task, at).model_dump(),
            tracks=[TrackAnswer.of(track) for track in page.tracks],
            current_phase=page.current_phase.slug if page.current_phase else None,
            team_name_rule=rules.team.name,
            questions=[QuestionAnswer.model_validate(one) for one in rules.team.questions],
            run_fields=[RunFieldAnswer.model_validate(one) for one in rules.run_fields],
            has_agreement=rules.agreement is not None,
            has_password_data=task.has_password_data,
            papers_closed=task.papers_closed_at is not None,
            your_team=page.team.name if page.team else None,
            you_organize=page.is_organizer,
        )


class ObstacleAnswer(BaseModel):
    """A step that you must complete before you can download a file."""

    code: str
    detail: str


class DatasetAnswer(Answer):
    """A file of the task's data."""

    slug: str
    title: str
    file_name: str = Field(description="Suggested name for saving the file")
    size: int | None = Field(description="Size in bytes, or null if the file is missing")
    sha256: str = Field(description="Empty until the file is released")
    licence: str
    access: str = Field(description="public, registered, approved or password")
    released: datetime | None = Field(description="Release time, or null if the file is already released")
    is_encrypted: bool = Field(
        description="True if the file is sent as a zip archive encrypted with your team's password"
    )
    obstacles: list[ObstacleAnswer] = Field(
        description="Steps that you must complete first. Empty if you can download the file"
    )
    file: str = Field(description="URL of the file")


class AnnouncementAnswer(Answer):
    """An organizer's announcement. `text` is Markdown."""

    id: int
    title: str
    text: str
    by: str
    at: datetime

    @classmethod
    def of(cls, announcement: Announcement) -> "AnnouncementAnswer":
        return cls.read(announcement, by=str(announcement.by))
