"""The upload page: what a team can upload now, and why its last upload was not accepted."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from portal.models import Phase, Signature, Submission, Validation
from portal.queries.quota import TrackLimits, remaining
from portal.queries.tasks import TaskPage
from portal.queries.uploads import ValidNames, upload_to_replace, valid_names


@dataclass(frozen=True, slots=True)
class MissedPhase:
    """A phase that an upload came too late for, and when it closed for the team."""

    phase: Phase
    closed: datetime


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why an upload was not accepted: a message, or problems with names and structure."""

    file_name: str
    message: str = ""
    is_used_up: bool = False  # whether the team or the person has no runs left
    runs: Sequence[Mapping[str, Any]] = ()  # the runs that the file names contain
    problems: Sequence[Mapping[str, Any]] = ()
    validation: Validation | None = None  # checks the content, too

    @property
    def wrong_names(self) -> set[str]:
        return {problem["file"] for problem in self.problems if problem["severity"] == "error"}


@dataclass(frozen=True)
class UploadPage:
    """The page as one person sees it. What only some pages show is read when it is shown.

    `phase` is the selected one. On the page of a rejected upload, it is the phase of the upload.
    """

    page: TaskPage
    at: datetime
    phase: Phase | None
    missed: MissedPhase | None = None
    rejection: Rejection | None = None

    @cached_property
    def must_sign(self) -> bool:
        return Signature.objects.is_missing(self.page.user, self.page.shared_task)

    @property
    def has_slots(self) -> bool:
        return any(phase.contrastive is not None for phase in self.page.open_phases)

    @cached_property
    def names(self) -> ValidNames:
        """The file names of the selected phase."""
        return self._names_in(self.phase)

    @cached_property
    def commands(self) -> list[tuple[Phase | None, str]]:
        """The commands for each open phase, with the selected one first."""
        phases: list[Phase | None] = [*sorted(self.page.open_phases, key=lambda phase: phase != self.phase)]
        found = []
        for phase in phases or [self.phase]:
            names = self.names if phase == self.phase else self._names_in(phase)
            found.append((phase, "\n".join(names.commands)))
        return found

    @cached_property
    def limits(self) -> list[tuple[Phase, list[TrackLimits]]]:
        """What is left in each open phase or, if none is open, in the selected one."""
        team = self.page.participating_team
        return [(phase, remaining(team, self.page.user, phase, self.at)) for phase in self._phases] if team else []

    @cached_property
    def replacing(self) -> list[tuple[Phase, Submission | None]]:
        """The phases with one submission per team, each with the one that an upload would replace."""
        team = self.page.participating_team
        single = [phase for phase in self._phases if phase.max_submissions is not None]
        return [(phase, upload_to_replace(team, phase)) for phase in single] if team else []

    @cached_property
    def own_validation(self) -> Validation | None:
        """The person's unfinished validation in this task, which may be one that the portal started."""
        own = Validation.objects.visible_to(self.page.user).unfinished()
        return own.filter(phase__shared_task=self.page.shared_task).first()

    @property
    def _phases(self) -> list[Phase]:
        return self.page.open_phases or ([self.phase] if self.phase else [])

    def _names_in(self, phase: Phase | None) -> ValidNames:
        return valid_names(self.page.shared_task, self.page.team, phase)


def upload_page(page: TaskPage, at: datetime) -> UploadPage:
    """Return the page before an upload.

    If several phases are open, one whose scores are shown on release is selected, because that is the one that counts.
    """
    counting = (phase for phase in page.open_phases if phase.scores == Phase.Scores.ON_RELEASE)
    return UploadPage(page, at, next(counting, page.current_phase))


def may_upload(page: TaskPage) -> bool:
    """Return whether the person's team can upload files now.

    After the last phase has closed, it can still repeat an upload and get the same response as before.
    """
    team = page.participating_team
    if team is None:
        return False
    return bool(page.open_phases) or team.submissions.filter(sent_by=page.user.pk).exists()


def missed_phase(page: TaskPage, phases: Iterable[Phase], at: datetime) -> MissedPhase | None:
    """Return the phase that closed last before `at` for the person's team, or None."""
    if page.participating_team is None:
        return None
    last = None
    for phase in phases:
        closed = phase.closes_for(page.participating_team.pk)
        if closed is not None and closed <= at and (last is None or closed > last.closed):
            last = MissedPhase(phase, closed)
    return last
