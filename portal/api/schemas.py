"""The types of the API's responses. They describe the OpenAPI schema and convert the results of queries."""

from collections.abc import Collection
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from portal.actions.pushes import is_stale
from portal.actions.validate_only import ValidationReport
from portal.api.paging import Page
from portal.models import GoldStandard, Membership, Phase, SharedTask, Submission, TaskPush, Team, Track, Validation
from portal.queries.columns import columns
from portal.queries.gold_preview import GoldPreview, PlaceOnBoard, PreviewedBoard
from portal.queries.home import ENDED, OPEN, deciding_date, deciding_phase
from portal.queries.items import ItemTable
from portal.queries.quota import TrackLimits
from portal.queries.runs import RunLine, SubmissionView
from portal.queries.tasks import TaskPage

Problems = list[dict[str, Any]]  # lists of `scoring.reports.problems.Problem.as_dict` values


class Answer(BaseModel):
    """A response that is read from the attributes with the same names in a query's result."""

    model_config = ConfigDict(from_attributes=True)


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
        return cls(
            slug=task.slug,
            title=task.title,
            subtitle=task.subtitle,
            venue=task.venue,
            year=task.year,
            languages=task.languages,
            state=task.state,
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


class LimitAnswer(BaseModel):
    """The run limit of a track, and the number of runs left."""

    track: str
    used: int
    limit: int | None = Field(description="Null if there is no limit")
    left: int | None
    period: str = Field(description="day (UTC), or phase. In a phase with rounds, `phase` means the current round")
    whose: str = Field(description="team or person, whichever has used more of the limit")

    @classmethod
    def of(cls, line: TrackLimits) -> "LimitAnswer":
        return cls(
            track=line.track.slug,
            used=line.used,
            limit=line.limit,
            left=line.left,
            period=line.period,
            whose=line.whose,
        )


class PhaseAnswer(BaseModel):
    """A phase: its window, its limits, and when its scores become public."""

    slug: str
    title: str
    split: str
    opens: datetime
    closes: datetime | None
    closes_for_you: datetime | None = Field(description="Closing time including your team's extra time")
    is_open: bool = Field(description="True if the phase currently accepts runs from your team")
    scores: str = Field(description="at-once, on-release or never")
    scores_are_public: bool
    released: datetime | None
    official: str = Field(description="Which run is official: best, last, chosen or all")
    submissions: int | None = Field(description="If 1, a team's later upload replaces the earlier one")
    replaces: "SubmissionSummary | None" = Field(
        description="Your team's upload that a new one replaces. Null if there is none, or if all uploads count"
    )
    runs_per_track: int | None
    runs_per_day: int | None
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
        is_public = phase.scores_are_public(at)
        return cls(
            slug=phase.slug,
            title=phase.title,
            split=phase.split,
            opens=phase.opens,
            closes=phase.closes,
            closes_for_you=phase.closes_for(team),
            is_open=phase.is_open(at, team),
            scores=phase.scores,
            scores_are_public=is_public,
            released=phase.released if is_public else None,
            official=phase.official,
            submissions=phase.max_submissions,
            replaces=SubmissionSummary.of(replaces) if replaces else None,
            runs_per_track=phase.runs_per_track,
            runs_per_day=phase.runs_per_day,
            round_days=phase.round_days,
            limits=[LimitAnswer.of(line) for line in limits],
            leaderboards=boards,
        )


class AgreementAnswer(BaseModel):
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


class DatasetAnswer(BaseModel):
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


class AnnouncementAnswer(BaseModel):
    """An organizer's announcement. `text` is Markdown."""

    id: int
    title: str
    text: str
    by: str
    at: datetime


class MemberAnswer(BaseModel):
    """A member of a team."""

    id: int = Field(description="Membership id. Use it to make this member the captain")
    name: str
    is_captain: bool

    @classmethod
    def of(cls, member: Membership) -> "MemberAnswer":
        return cls(id=member.pk, name=str(member.user), is_captain=member.is_captain)


class TeamAnswer(BaseModel):
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
    created_at: datetime

    @classmethod
    def of(cls, team: Team, members: list[Membership], *, may_invite: bool) -> "TeamAnswer":
        return cls(
            id=team.pk,
            name=team.name,
            state=team.state,
            affiliation=team.affiliation,
            reason=team.reason,
            answers=team.answers,
            members=[MemberAnswer.of(member) for member in members],
            invitation_code=team.invitation_code if may_invite else None,
            bibtex=team.bibtex,
            paper=team.paper,
            created_at=team.created_at,
        )


class RunAnswer(BaseModel):
    """A run with its state, and its scores if you can see them."""

    id: UUID
    kind: str = Field(description="team, baseline or gold")
    name: str
    number: int | None
    track: str
    phase: str
    team: str | None
    submission: UUID | None
    sha256: str
    items: int | None
    state: str = Field(description="received, scoring, scored, rejected or failed")
    is_finished: bool
    slot: str | None
    is_official: bool = Field(
        description="True if this is an official run. Always false if the answer would reveal hidden information"
    )
    is_chosen: bool = Field(description="True if the team chose this run")
    is_withdrawn: bool = Field(description="True if the team withdrew the run, or if it was replaced")
    is_replaced: bool = Field(description="True if a newer submission of the team counts instead")
    withdrawal_reason: str
    method: str
    description: str
    link: str
    system_type: str
    fields: dict[str, str] = Field(description="Texts of the task’s run fields, by key")
    received_at: datetime
    finished_at: datetime | None
    problems: Problems
    scores: dict[str, float | None] = Field(description="Scores by metric. Empty while they are hidden from you")
    scores_are_hidden: bool
    ladder_step: float | None = Field(description="Until the phase closes, scores are shown in steps of this size")
    flags: list[str]

    @classmethod
    def of(cls, line: RunLine, official: Collection[UUID]) -> "RunAnswer":
        """Create the answer for a run.

        `official` contains the ids of official runs, as returned by `official_among`.
        """
        run = line.run
        return cls(
            id=run.pk,
            kind=run.kind,
            name=run.name,
            number=run.number,
            track=run.track.slug,
            phase=run.phase.slug,
            team=run.team.name if run.team else None,
            submission=run.submission_id,
            sha256=run.sha256,
            items=run.items,
            state=line.state,
            is_finished=line.is_finished,
            slot=run.slot,
            is_official=run.pk in official,
            is_chosen=run.chosen_at is not None,
            is_withdrawn=run.withdrawn_at is not None,
            is_replaced=run.is_replaced,
            withdrawal_reason=run.withdrawal_reason,
            method=run.method,
            description=run.description,
            link=run.link,
            system_type=run.system_type,
            fields=run.fields,
            received_at=run.received_at,
            finished_at=run.finished_at,
            problems=run.problems,
            scores={score.column.key: score.value for score in line.scores},
            scores_are_hidden=line.scores_are_hidden,
            ladder_step=line.step,
            flags=line.flags,
        )


class SubmissionSummary(Answer):
    """An upload in a list."""

    id: UUID
    phase: str
    file_name: str
    size: int
    sha256: str
    state: str = Field(description="received, checking, accepted, rejected or failed")
    received_at: datetime
    replaced_by: UUID | None = Field(description="The team's newer submission that counts instead")

    @classmethod
    def of(cls, submission: Submission) -> "SubmissionSummary":
        return cls(
            id=submission.pk,
            phase=submission.phase.slug,
            file_name=submission.file_name,
            size=submission.size,
            sha256=submission.sha256,
            state=submission.state,
            received_at=submission.received_at,
            replaced_by=submission.replaced_by_id,
        )


class SubmissionAnswer(SubmissionSummary):
    """An upload, its runs and all problems."""

    slot: str
    is_finished: bool = Field(description="True if processing has finished")
    is_delayed: bool = Field(description="True if an error on our side delays processing")
    errors: int
    warnings: int
    problems: Problems = Field(description="Problems with the whole upload. Each run lists its own problems")
    runs: list[RunAnswer]
    limits: list[LimitAnswer]

    @classmethod
    def seen(cls, view: SubmissionView, official: Collection[UUID]) -> "SubmissionAnswer":
        return cls(
            **SubmissionSummary.of(view.submission).model_dump(),
            slot=view.submission.slot,
            is_finished=view.finished,
            is_delayed=view.is_delayed,
            errors=view.errors,
            warnings=view.warnings,
            problems=view.submission.problems,
            runs=[RunAnswer.of(line, official) for line in view.runs],
            limits=[LimitAnswer.of(line) for line in view.remaining],
        )


class ReportAnswer(BaseModel):
    """The problems of the upload and its runs, in the format of `agon check --json`."""

    ok: bool
    state: str
    problems: Problems


class ValidatedRunAnswer(BaseModel):
    """A run in a file that was only validated."""

    name: str
    track: str
    number: int | None
    items: int | None
    is_valid: bool
    problems: Problems


class RejectionAnswer(BaseModel):
    """Why submitting this valid file would fail now.

    For example, a limit is reached, a run number is taken, or the phase is not open.
    """

    code: str
    detail: str


class ValidationAnswer(BaseModel):
    """A file that was only validated. Poll this URL until `state` is done or failed."""

    id: UUID
    phase: str
    file_name: str
    sha256: str
    state: str = Field(description="waiting, running, done or failed")
    is_finished: bool
    received_at: datetime
    is_valid: bool | None = Field(description="Null until there is a report")
    would_be_accepted: bool | None
    rejection: RejectionAnswer | None
    problems: Problems
    runs: list[ValidatedRunAnswer]
    limits: list[LimitAnswer] = Field(description="Quota that would be left after submitting the file")

    @classmethod
    def of(cls, validation: Validation, report: ValidationReport | None) -> "ValidationAnswer":
        rejection = report.rejection if report else None
        return cls(
            id=validation.pk,
            phase=validation.phase.slug,
            file_name=validation.file_name,
            sha256=validation.sha256,
            state=validation.state,
            is_finished=validation.state in (Validation.State.DONE, Validation.State.FAILED),
            received_at=validation.received_at,
            is_valid=report.is_valid if report else None,
            would_be_accepted=report.would_be_accepted if report else None,
            rejection=RejectionAnswer(code=rejection.code, detail=rejection.message) if rejection else None,
            problems=report.problems if report else [],
            runs=[
                ValidatedRunAnswer(
                    name=one.run.name,
                    track=one.run.track,
                    number=one.run.number,
                    items=one.items,
                    is_valid=one.is_valid,
                    problems=one.problems,
                )
                for one in (report.runs if report else [])
            ],
            limits=[LimitAnswer.of(line) for line in (report.left if report else [])],
        )


class ItemAnswer(BaseModel):
    """A run's answer and the gold answer for one item."""

    id: str
    gold: list[str]
    answer: list[str]
    value: float | None = Field(description="From 0 (incorrect) to 1 (correct), or null if the item is not scored")


class ItemsAnswer(Page[ItemAnswer]):
    """The items of a run, if the task publishes them."""

    measure: str
    right: int = Field(description="Number of completely correct items")
    judged: int

    @classmethod
    def of(cls, table: ItemTable, next_page: str | None) -> "ItemsAnswer":
        items = [
            ItemAnswer(id=item.id, gold=item.gold, answer=answer.parts, value=answer.value)
            for item in table.items
            for answer in item.answers
        ]
        return cls(items=items, next=next_page, measure=table.measure, right=table.right[0], judged=table.judged)


class BoardRow(BaseModel):
    """A team's run with its rank, or a reference without one."""

    rank: int | None
    kind: str = Field(description="team, baseline or gold")
    team: str = Field(description="Team name or alias. Empty for baselines and the gold standard")
    run: str
    number: int | None
    method: str
    system_type: str
    slot: str | None
    fields: dict[str, str] = Field(description="Texts of the task’s run fields, by key")
    scores: dict[str, float | None]
    interval: list[float] | None
    tie_group: str
    flags: list[str]
    received_at: datetime
    run_id: UUID


class ChangeAnswer(BaseModel):
    """New scores that the organizers applied after the release."""

    at: datetime
    note: str
    gold_version: list[int]
    scorer: list[str]
    runs: int
    ranks: int


class IntervalsAnswer(BaseModel):
    """The methods used to compute the intervals."""

    level: float
    rounds: int
    seed: int


class ReleasedBoardAnswer(BaseModel):
    """A leaderboard as it was when released."""

    shared_task: str
    track: str
    phase: str
    rank_by: str
    gold_version: int | None
    scorer: str
    released: datetime | None
    changelog: list[ChangeAnswer]
    ladder_step: float | None
    slice: str | None = Field(default=None, description="Slice to which the scores apply, for example language=es")
    slice_items: int | None = None
    intervals: IntervalsAnswer | None
    run_fields: list[RunFieldLabel]
    metrics: list[MetricAnswer]
    rows: list[BoardRow]


class BoardAnswer(ReleasedBoardAnswer):
    """A page of a leaderboard, with the gold and scorer versions that its scores are based on."""

    count: int = Field(description="Number of rows on all pages")
    next: str | None
    hidden_reason: str = Field(
        description="Why the leaderboard is hidden from some people. Empty if the scores are public"
    )


class CellAnswer(BaseModel):
    """A team's official run in a track."""

    rank: int | None
    value: float | None


class OverallRowAnswer(BaseModel):
    """A team in all tracks."""

    team: str
    tracks: dict[str, CellAnswer]


class OverallTrackAnswer(BaseModel):
    """A track in the overall board."""

    track: str
    rank_by: str
    gold_version: int | None
    scorer: str
    changelog: list[ChangeAnswer]


class CombinedRowAnswer(BaseModel):
    """A team's result in a ranking over several tracks."""

    rank: int | None
    team: str
    value: float | None
    interval: list[float] | None  # only mean scores have intervals and tie groups
    tie_group: str


class CombinedAnswer(BaseModel):
    """A ranking over several tracks."""

    slug: str
    title: str
    tracks: list[str]
    by: str
    weights: list[float]  # in the order of the tracks; empty if all are equal
    missing: str  # how a track counts in which a team has no ranked run
    intervals: IntervalsAnswer | None
    rows: list[CombinedRowAnswer]


class OverallAnswer(BaseModel):
    """The tracks of a phase side by side."""

    shared_task: str
    phase: str
    ladder_step: float | None
    tracks: list[OverallTrackAnswer]
    rows: list[OverallRowAnswer]
    overall: list[CombinedAnswer]


class ReleaseAnswer(BaseModel):
    """A released leaderboard in a list of releases."""

    track: str
    phase: str
    number: int
    at: datetime
    gold_version: int
    scorer: str
    address: str


class TokenAnswer(BaseModel):
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


class OrganizedTeamAnswer(BaseModel):
    """A team, as organizers see it."""

    id: int
    name: str
    state: str
    affiliation: str
    answers: dict[str, Any]
    members: list[str]
    runs: int
    flags: list[str]
    created_at: datetime


class GoldVersionAnswer(BaseModel):
    """A version of a gold standard, without its content."""

    id: int
    version: int
    created_at: datetime
    note: str = Field(description="Public explanation of the change on leaderboards")

    @classmethod
    def of(cls, gold: GoldStandard) -> "GoldVersionAnswer":
        return cls(id=gold.pk, version=gold.version, created_at=gold.created_at, note=gold.note)


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


class PreviewedBoardAnswer(BaseModel):
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
        return cls(
            phase=board.phase.slug,
            is_public=board.is_public,
            rescored=board.rescored,
            reranked=board.reranked,
            regrouped=board.regrouped,
            lost=board.lost,
            runs=[
                PreviewedRunAnswer(
                    id=one.run.pk,
                    run=one.run.name,
                    team=one.run.team.name if one.run.team else None,
                    before=PlaceAnswer.of(one.before),
                    after=PlaceAnswer.of(one.after),
                )
                for one in board.runs
            ],
        )


class GoldUploadAnswer(BaseModel):
    """An uploaded gold file.

    Once it is `ready`, `changes` and `boards` show what applying it would do. Only organizers can see this.
    """

    id: UUID
    track: str
    split: str
    state: str
    is_finished: bool = Field(description="True if processing has finished")
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
        return cls(
            id=upload.pk,
            track=upload.track.slug,
            split=upload.split,
            state=upload.state,
            is_finished=upload.is_finished,
            is_stale=preview.is_stale,
            version=upload.gold.version if upload.gold else None,
            problems=upload.problems,
            listed_items=upload.listed_items,
            split_items=upload.split_items,
            changes={kind: GoldChangeAnswer.model_validate(part) for kind, part in preview.changes.items()},
            boards=[PreviewedBoardAnswer.of(board) for board in preview.boards],
        )


class GoldAnswer(BaseModel):
    """A track's gold standards for a split."""

    track: str
    split: str
    newest: GoldVersionAnswer | None
    former: list[GoldVersionAnswer]
    upload: UUID | None = Field(description="Id of the latest upload")
    upload_state: str | None = Field(description="State of the latest upload")
    upload_problems: Problems


class PushAnswer(BaseModel):
    """A pushed folder, its problems, and what applying it would change."""

    id: UUID
    task: str | None = Field(description="Slug of the task, or null until the first push has created the task")
    is_first: bool = Field(description="True if the push creates a new task as a draft")
    state: str = Field(description="received, checking, rejected, ready, applied, expired or failed")
    is_finished: bool = Field(description="True if processing has finished")
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
        return cls(
            id=push.pk,
            task=push.shared_task.slug if push.shared_task else None,
            is_first=push.is_first,
            state=push.state,
            is_finished=push.is_finished,
            is_stale=is_stale(push),
            size=push.size,
            by=str(push.sent_by),
            received_at=push.received_at,
            checked_at=push.checked_at,
            applied_at=push.applied_at,
            problems=push.problems,
            changes=push.changes,
            effects=push.effects,
            needs_confirmation=push.touches_runs,
            difference=push.difference,
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


class WaitingScoresAnswer(BaseModel):
    """A released leaderboard with new scores. To apply them, send `key`."""

    key: str
    track: str
    phase: str
    scored: int
    count: int
    effect: EffectAnswer | None = Field(description="Null while runs are waiting to be scored")


class AuditAnswer(BaseModel):
    """An entry of the audit log."""

    at: datetime
    actor: str | None
    verb: str
    subject: str
    detail: dict[str, Any]
