"""Own scorers for the people who decide about them: their files, what these do, and what changed since an approval."""

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from portal.models import OwnScorer, OwnScorerMessage, Run, SharedTask
from portal.models.own_scorer import without_approval
from scoring.own_scorers.program import Program
from scoring.own_scorers.report import FINDINGS

LISTED = 50  # how many scorers, and messages, a page lists
_DIFF_LINES = 3_000  # of one file; comparing takes time quadratic in the lines


@dataclass(frozen=True, slots=True)
class ScorerFile:
    """A file of a scorer. `text` is None if it is not text."""

    name: str
    size: int  # in bytes
    text: str | None


@dataclass(frozen=True, slots=True)
class ScorerView:
    """A scorer as the page about it shows it. `difference` compares it with the one that was approved last."""

    scorer: OwnScorer
    files: list[ScorerFile]
    is_current: bool
    waiting_runs: int
    difference: str
    compared_with: OwnScorer | None

    @property
    def has_more_findings(self) -> bool:
        return len(self.scorer.findings) >= FINDINGS


def scorers() -> Sequence[OwnScorer]:
    """Return the newest scorers of all tasks, first those for whose approval runs wait."""
    rows = OwnScorer.objects.defer("files", "findings").select_related("shared_task", "approved_by")
    waiting = list(rows.waiting()[:LISTED])
    others = rows.exclude(pk__in=[row.pk for row in waiting])[:LISTED]
    return [*waiting, *others]


def scorer_view(scorer: OwnScorer) -> ScorerView:
    """Return everything about a scorer that an administrator must see before approving it."""
    earlier = OwnScorer.objects.approved().filter(shared_task=scorer.shared_task).exclude(pk=scorer.pk)
    approved = earlier.order_by("-approved_at").first()
    program = scorer.program
    return ScorerView(
        scorer=scorer,
        files=[ScorerFile(name, len(content), _text(content)) for name, content in sorted(program.files.items())],
        is_current=scorer.shared_task.own_scorer_sha256 == scorer.sha256,
        waiting_runs=_waiting_runs(scorer.shared_task),
        difference="" if approved is None else "\n".join(_difference(approved.program, program)),
        compared_with=approved,
    )


@dataclass(frozen=True, slots=True)
class TaskScorer:
    """A task's own scorer for its organizers: the version in its folder, and what it printed for the latest runs."""

    current: OwnScorer | None
    versions: Sequence[OwnScorer]
    waiting_runs: int
    messages: Sequence[OwnScorerMessage]


def task_scorer(shared_task: SharedTask) -> TaskScorer:
    rows = shared_task.own_scorers.defer("files", "findings").select_related("approved_by")
    versions = list(rows[:LISTED])
    current = next((row for row in versions if row.sha256 == shared_task.own_scorer_sha256), None)
    if current is None and shared_task.own_scorer_sha256:  # an older version, which the folder has again
        current = rows.filter(sha256=shared_task.own_scorer_sha256).first()
    messages = OwnScorerMessage.objects.filter(run__track__shared_task=shared_task).select_related("run")
    return TaskScorer(current, versions, _waiting_runs(shared_task), list(messages[:LISTED]))


def _waiting_runs(shared_task: SharedTask) -> int:
    runs = Run.objects.filter(track__shared_task=shared_task, state=Run.State.VALID)
    return runs.filter(without_approval()).count()


def _text(content: bytes) -> str | None:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _difference(before: Program, after: Program) -> Iterator[str]:
    """Yield a unified diff of the call and of all files, and a line for each file that is not compared."""
    if before.entry != after.entry:
        yield from (f"-call: {before.entry.shown}", f"+call: {after.entry.shown}")
    for name in sorted({*before.files, *after.files}):
        pair = [program.files.get(name) for program in (before, after)]
        if pair[0] != pair[1]:
            yield from _difference_of_file(name, pair)


def _difference_of_file(name: str, pair: Sequence[bytes | None]) -> Iterator[str]:
    before, after = (name if content is not None else "(no file)" for content in pair)
    texts = [_text(content or b"") for content in pair]
    lines = [[] if text is None else text.splitlines() for text in texts]
    if None in texts or max(map(len, lines)) > _DIFF_LINES:
        yield f"… {name} has changed and is not compared: it is not text, or has more than {_DIFF_LINES} lines"
        return
    yield from difflib.unified_diff(lines[0], lines[1], before, after, n=3, lineterm="")
