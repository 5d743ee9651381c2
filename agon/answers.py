"""The types of a portal's responses.

Unknown fields, which a newer portal may send, are ignored, as docs/api.md requires.
"""

from datetime import date, datetime
from typing import TYPE_CHECKING, Any

import msgspec

from agon.answer import Answer
from agon.board_row import BoardRow

if TYPE_CHECKING:
    import pandas as pd

Problems = list[dict[str, Any]]  # see `scoring.reports.problems.Problem.as_dict`


class Token(Answer, frozen=True, kw_only=True):
    """The token in use. If it is limited to one task, `task` is that task."""

    name: str
    scope: str
    task: str | None
    expires_at: datetime


class OwnTeam(Answer, frozen=True, kw_only=True):
    """One of your teams."""

    task: str
    team: str
    state: str
    is_captain: bool


class Me(Answer, frozen=True, kw_only=True):
    """The token's owner."""

    name: str
    email: str
    token: Token
    teams: list[OwnTeam]
    organizes: list[str]


class TaskSummary(Answer, frozen=True, kw_only=True):
    """A shared task in the list. `next_date` is when `phase` opens or closes next."""

    slug: str
    title: str
    subtitle: str
    venue: str
    year: int
    languages: list[str]
    accepts_runs: bool
    phase: str | None
    next_date: datetime | None


class Metric(Answer, frozen=True, kw_only=True):
    """A metric of a track."""

    key: str
    title: str
    higher_is_better: bool


class Track(Answer, frozen=True, kw_only=True):
    """A track of a shared task."""

    slug: str
    title: str
    rank_by: str
    metrics: list[Metric]


class Question(Answer, frozen=True, kw_only=True):
    """A question from the organizers to new teams."""

    key: str
    label: str
    required: bool
    choices: list[str]


class RunFieldLabel(Answer, frozen=True, kw_only=True):
    """A run field as a column of a leaderboard."""

    key: str
    label: str


class RunField(RunFieldLabel, frozen=True, kw_only=True):
    """A short text that describes a run, such as its model."""

    required: bool


class Task(TaskSummary, frozen=True, kw_only=True):
    """A shared task. `current_phase` is the open phase that closes first."""

    tracks: list[Track]
    questions: list[Question]
    run_fields: list[RunField] = []
    current_phase: str | None
    has_agreement: bool
    your_team: str | None


class Agreement(Answer, frozen=True, kw_only=True):
    """A task's data agreement."""

    version: str
    text: str
    sha256: str
    is_signed: bool


class Member(Answer, frozen=True, kw_only=True):
    """A member of a team."""

    name: str
    is_captain: bool


class Team(Answer, frozen=True, kw_only=True):
    """A team as seen by its members. `reason` says why it was declined."""

    name: str
    state: str
    affiliation: str
    reason: str
    answers: dict[str, Any]
    members: list[Member]
    invitation_code: str | None
    created_at: datetime


class Limit(Answer, frozen=True, kw_only=True):
    """The run limit of a track and the number of runs left. `limit` is None if there is no limit."""

    track: str
    used: int
    limit: int | None
    left: int | None
    period: str
    whose: str


class Upload(Answer, frozen=True, kw_only=True):
    """An earlier upload of your team."""

    id: str
    file_name: str
    received_at: datetime


class Phase(Answer, frozen=True, kw_only=True):
    """A phase. `limits` is empty if you are not in a participating team.

    `replaces` is your team's upload that a new one replaces, if `submissions` is 1.
    """

    slug: str
    title: str
    tracks: list[str] | None = None  # None if the portal is too old to have phases for some tracks
    opens: datetime
    closes_for_you: datetime | None
    is_open: bool
    scores_are_public: bool = False
    released: datetime | None = None  # also None if the portal is too old to show a scheduled release
    round_days: int | None = None  # also None if the portal is too old to have rounds
    limits: list[Limit]
    submissions: int | None = None
    replaces: Upload | None = None


class Obstacle(Answer, frozen=True, kw_only=True):
    """Something that keeps you from downloading a file, and how to resolve it."""

    code: str
    detail: str


class Dataset(Answer, frozen=True, kw_only=True):
    """A data file of a task. `size` is in bytes. `sha256` is empty before the release."""

    slug: str
    title: str
    file_name: str
    size: int | None
    sha256: str
    licence: str
    access: str
    released: datetime | None
    is_encrypted: bool
    obstacles: list[Obstacle]


class Run(Answer, frozen=True, kw_only=True):
    """A run with its state and, if you may see them, its scores by metric."""

    id: str
    name: str
    number: int | None
    track: str
    phase: str
    team: str | None
    submission: str | None
    sha256: str
    items: int | None
    state: str
    is_finished: bool
    waits_for_gold: bool = False
    slot: str | None
    is_official: bool
    is_chosen: bool
    is_withdrawn: bool
    is_replaced: bool = False
    withdrawal_reason: str
    method: str
    description: str
    link: str
    system_type: str
    fields: dict[str, str] = {}
    received_at: datetime
    finished_at: datetime | None
    problems: Problems
    scores: dict[str, float | None]
    scores_are_hidden: bool
    ladder_step: float | None
    flags: list[str] = []


class Submission(Answer, frozen=True, kw_only=True):
    """An upload and its runs. `problems` are about the upload as a whole.

    `not_described` does not come from the portal. `Portal.submit` sets it to the reason why the message was not saved
    as a description.
    """

    id: str
    phase: str
    file_name: str
    size: int
    sha256: str
    state: str
    is_finished: bool
    uploads_before: int | None = None
    seconds_left: int | None = None
    received_at: datetime
    problems: Problems
    runs: list[Run]
    not_described: str = ""

    @property
    def all_problems(self) -> Problems:
        """The problems of the upload and its runs, as in the portal's report."""
        return [*self.problems, *(problem for run in self.runs for problem in run.problems)]


class Rejection(Answer, frozen=True, kw_only=True):
    """Why submitting this valid file would fail now.

    For example, a limit is reached, a run number is taken, or the phase is not open.
    """

    code: str
    detail: str


class ValidatedRun(Answer, frozen=True, kw_only=True):
    """A run in a file that was only validated."""

    name: str
    track: str
    is_valid: bool
    problems: Problems


class Validation(Answer, frozen=True, kw_only=True):
    """A file that was only validated. Nothing was submitted."""

    id: str
    phase: str
    file_name: str
    sha256: str
    state: str
    is_finished: bool
    is_valid: bool | None
    would_be_accepted: bool | None
    rejection: Rejection | None
    problems: Problems
    runs: list[ValidatedRun]

    @property
    def all_problems(self) -> Problems:
        """The problems of the file and its runs."""
        return [*self.problems, *(problem for run in self.runs for problem in run.problems)]


class Intervals(Answer, frozen=True, kw_only=True):
    """How the intervals of a leaderboard were computed."""

    level: float
    rounds: int
    seed: int


class Leaderboard(Answer, frozen=True, kw_only=True):
    """A track's whole leaderboard in a phase. Before the release, it has no rows, and `hidden_reason` explains why."""

    shared_task: str
    track: str
    phase: str
    rank_by: str
    gold_version: int | None
    scorer: str
    run_fields: list[RunFieldLabel] = []
    metrics: list[Metric]
    rows: list[BoardRow]
    intervals: Intervals | None = None
    hidden_reason: str = ""

    def to_pandas(self) -> "pd.DataFrame":
        """Return a row per run with a column per metric (`agon.frames.board`)."""
        from agon import frames  # noqa: PLC0415 - requires pandas, an extra

        return frames.board(msgspec.json.encode(self))


class OrganizedTeam(Answer, frozen=True, kw_only=True):
    """A team as seen by the task's organizers."""

    id: int
    name: str
    state: str
    affiliation: str
    answers: dict[str, Any]
    members: list[str]
    runs: int
    valid_runs: int = 0
    has_signed: bool = False
    downloads: int = 0
    uploads: int = 0
    rejected_uploads: int = 0
    last_seen: date | None = None
    flags: list[str]
    created_at: datetime


class UploadedRun(Answer, frozen=True, kw_only=True):
    """A run of an upload."""

    id: str
    name: str
    track: str
    number: int | None
    state: str
    is_withdrawn: bool


class OrganizedUpload(Answer, frozen=True, kw_only=True):
    """An upload as seen by the task's organizers. If it was rejected on receipt, it is not stored and has no runs."""

    id: str
    is_stored: bool
    file_name: str
    size: int
    team: str
    sent_by: str
    phase: str
    state: str
    problem_codes: list[str]
    replaced_by: str | None
    received_at: datetime
    runs: list[UploadedRun]


class UploadProblems(Answer, frozen=True, kw_only=True):
    """All problems in an upload and its runs."""

    id: str
    state: str
    problems: Problems


class Organizer(Answer, frozen=True, kw_only=True):
    """An organizer of a task."""

    name: str
    address: str


class Push(Answer, frozen=True, kw_only=True):
    """A pushed folder: its `changes` relative to the portal, and the `effects` of applying it."""

    id: str
    task: str | None
    is_first: bool
    state: str
    is_finished: bool
    uploads_before: int | None = None
    problems: Problems
    changes: list[str]
    effects: list[str]
    needs_confirmation: bool
    is_stale: bool


class GoldVersion(Answer, frozen=True, kw_only=True):
    """A version of a gold standard. `note` is the explanation on public leaderboards."""

    id: int
    version: int
    created_at: datetime
    note: str


class Gold(Answer, frozen=True, kw_only=True):
    """The gold standard of a track and split, and the state of its latest upload."""

    track: str
    split: str
    newest: GoldVersion | None
    former: list[GoldVersion]
    upload: str | None
    upload_state: str | None


class GoldChange(Answer, frozen=True, kw_only=True):
    """The number of items that a correction changes, adds or removes, and the ids of the first few."""

    count: int
    items: list[str]


class GoldPlace(Answer, frozen=True, kw_only=True):
    """A run on a leaderboard before or after a correction. `scores` is None if the run cannot be scored."""

    scores: dict[str, float | None] | None
    rank: int | None
    tie_group: str


class GoldRun(Answer, frozen=True, kw_only=True):
    """A run before and after a correction."""

    id: str
    run: str
    team: str | None
    before: GoldPlace
    after: GoldPlace


class GoldBoard(Answer, frozen=True, kw_only=True):
    """A leaderboard before and after a correction."""

    phase: str
    is_public: bool
    rescored: int
    reranked: int
    regrouped: int
    lost: int
    runs: list[GoldRun]


class GoldUpload(Answer, frozen=True, kw_only=True):
    """An uploaded gold file. Once it is `ready`, `changes` and `boards` show what applying it would do."""

    id: str
    track: str
    split: str
    state: str
    is_finished: bool
    uploads_before: int | None = None
    is_stale: bool
    version: int | None
    problems: Problems
    listed_items: int | None
    split_items: int | None
    changes: dict[str, GoldChange]
    boards: list[GoldBoard]
