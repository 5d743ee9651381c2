"""Submissions, runs, validations, remaining quota and the answers to single items, as the API returns them."""

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from pydantic import BaseModel, Field

from portal.actions.uploads.validate_only import ValidationReport
from portal.api.paging import Page
from portal.api.schemas.base import Answer, Problems
from portal.models import Submission, Validation
from portal.queries.items import ItemTable
from portal.queries.quota import TrackLimits
from portal.queries.runs import RunLine, SubmissionView


class LimitAnswer(Answer):
    """The run limit of a track, and the number of runs left."""

    track: str
    used: int
    limit: int | None = Field(description="Null if there is no limit")
    left: int | None
    period: str = Field(description="day (UTC), or phase. In a phase with rounds, `phase` means the current round")
    whose: str = Field(description="team or person, whichever has used more of the limit")

    @classmethod
    def of(cls, line: TrackLimits) -> "LimitAnswer":
        return cls.read(line, track=line.track.slug)


class RunAnswer(Answer):
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
    state: str = Field(
        description="received, checking, valid, scored, rejected or failed. While you can’t see the scores, a valid "
        "run stays valid"
    )
    is_finished: bool = Field(
        description="True if the state is final or, while you can’t see the scores, if it is valid"
    )
    waits_for_gold: bool = Field(description="True if the run will be scored once organizers add the gold standard")
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
    finished_at: datetime | None = Field(
        description="When the run was scored, rejected or failed. While you can’t see the scores: when it was checked"
    )
    problems: Problems
    scores: dict[str, float | None] = Field(description="Scores by metric. Empty while they are hidden from you")
    scores_are_hidden: bool
    ladder_step: float | None = Field(description="Until the phase closes, scores are shown in steps of this size")
    flags: list[str]

    @classmethod
    def of(cls, line: RunLine, official: Collection[UUID]) -> "RunAnswer":
        """Create the answer for a run. `official` has the ids of official runs, from `official_among`."""
        run = line.run
        return cls.read(
            run,
            track=run.track.slug,
            phase=run.phase.slug,
            team=run.team.name if run.team else None,
            submission=run.submission_id,
            state=line.state,
            is_finished=line.is_finished,
            waits_for_gold=line.waits_for_gold,
            finished_at=line.finished_at,
            is_official=run.pk in official,
            is_chosen=run.chosen_at is not None,
            is_withdrawn=run.withdrawn_at is not None,
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
        return cls.read(submission, phase=submission.phase.slug, replaced_by=submission.replaced_by_id)


class SubmissionAnswer(SubmissionSummary):
    """An upload, its runs and all problems."""

    slot: str
    is_finished: bool = Field(description="True if all runs have finished, or the upload was rejected or failed")
    is_delayed: bool = Field(description="True if an error on our side delays processing")
    uploads_before: int | None = Field(description="Uploads that are checked before this one, or null")
    seconds_left: int | None = Field(description="Approximate seconds until its check has ended, or null")
    errors: int
    warnings: int
    problems: Problems = Field(description="Problems with the whole upload. Each run lists its own problems")
    runs: list[RunAnswer]
    limits: list[LimitAnswer]

    @classmethod
    def seen(cls, view: SubmissionView, official: Collection[UUID]) -> "SubmissionAnswer":
        return cls.read(
            view,
            **SubmissionSummary.of(view.submission).model_dump(),
            slot=view.submission.slot,
            is_finished=view.finished,
            uploads_before=view.place.before if view.place else None,
            seconds_left=view.place.seconds if view.place else None,
            problems=view.submission.problems,
            runs=[RunAnswer.of(line, official) for line in view.runs],
            limits=[LimitAnswer.of(line) for line in view.remaining],
        )


class ReportAnswer(BaseModel):
    """The problems of the upload and its runs, in the format of `agon check --json`."""

    ok: bool
    state: str
    problems: Problems


class ValidatedRunAnswer(Answer):
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


class ValidationAnswer(Answer):
    """A file that was only validated. Poll this URL until `is_finished` is true."""

    id: UUID
    phase: str
    file_name: str
    sha256: str
    state: str = Field(description="waiting, running, done, failed, or replaced by a newer validation of yours")
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
        return cls.read(
            validation,
            phase=validation.phase.slug,
            is_valid=report.is_valid if report else None,
            would_be_accepted=report.would_be_accepted if report else None,
            rejection=RejectionAnswer(code=rejection.code, detail=rejection.message) if rejection else None,
            problems=report.problems if report else [],
            runs=[
                ValidatedRunAnswer.read(one.run, items=one.items, is_valid=one.is_valid, problems=one.problems)
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
