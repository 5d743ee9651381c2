"""The demo's runs. Invented teams upload them through the same actions that people use."""

import tempfile
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
from django.db.models import Q

from portal.actions.papers import set_paper
from portal.actions.uploads.submit import submit
from portal.models import Phase, SharedTask, Submission, Team
from tasks.invented import invented_archive

TEAMS = {  # name → share of correct answers
    "Bora": 0.74,
    "Levante": 0.72,
    "Meltemi": 0.66,
    "Mistral": 0.65,
    "Ostro": 0.58,
    "Sirocco": 0.47,
    "Zefiro": 0.31,
}
PAPERS = 2  # how many of the best teams have a paper
KEEN = 3  # how many of the best teams upload more runs: two per track, and some in phases without a deadline

_METHODS = ("Fine-tuned encoder", "Ensemble of five seeds", "Prompted language model", "TF-IDF with a linear SVM")
_FIELDS = {"dataset": "Training sentences (synthetic)"}  # texts of run fields; all others have the method
_LATE_DAYS = timedelta(days=60)


def send_runs(shared_task: SharedTask, folder: Path, at: datetime) -> None:
    """Upload runs from every team for each track's test items, and runs from a few teams in phases without a deadline.

    `folder` is the complete task folder, with gold.
    """
    is_shown = Q(split="test") | Q(ladder_step__isnull=False, closes__isnull=True)
    phases = shared_task.phases.filter(is_shown).select_related("shared_task")
    for phase in phases:
        is_open = phase.closes is None
        names = list(TEAMS)[:KEEN] if is_open and len(phases) > 1 else list(TEAMS)
        for name in names:
            team = shared_task.teams.get(name=name)
            is_once = (is_open and phase.ladder_step is None) or phase.runs_per_track == 1
            runs = 1 if is_once or name not in list(TEAMS)[:KEEN] else 2
            for number in range(1, runs + 1):
                if team.submissions.filter(phase=phase).count() < number:  # runs from an earlier start already exist
                    _send(folder, team, phase, number, at)


def set_papers(shared_task: SharedTask, at: datetime) -> None:
    """Set the papers of the best teams."""
    for name in list(TEAMS)[:PAPERS]:
        team = shared_task.teams.get(name=name)
        title = f"{name} at {shared_task.title}: an invented system"
        entry = f"@misc{{{name}, author = {{Invented, Ida}}, title = {{{title}}}, year = {shared_task.year}}}"
        set_paper(team.memberships.get(is_captain=True).user, team, at, bibtex=entry)


def _send(folder: Path, team: Team, phase: Phase, number: int, now: datetime) -> None:
    seed = list(f"{team.shared_task.slug} {phase.slug} {team.name} {number}".encode())
    rng = np.random.default_rng(seed)
    at = _moment(phase, now, rng)
    captain = team.memberships.get(is_captain=True).user
    archive = _kept_archive(folder, phase, team, number, rng)
    method = _METHODS[int(np.random.default_rng([*seed, 1]).integers(len(_METHODS)))]
    fields = {field.key: _FIELDS.get(field.key, method) for field in phase.shared_task.definition.run_fields}
    submission = submit(captain, phase, at, content=[archive.read_bytes()], file_name=archive.name, fields=fields)
    Submission.objects.filter(pk=submission.pk).update(in_bulk=True)  # uploads of visitors go first
    if not fields:
        submission.runs.update(method=method)


def _kept_archive(folder: Path, phase: Phase, team: Team, number: int, rng: np.random.Generator) -> Path:
    """Return the zip with the team's runs. It is created once and kept next to the task folder that it depends on."""
    skill = TEAMS[team.name]
    kept = folder.parent / "runs" / f"{phase.slug} {team.name} {number} {skill}"
    if not kept.exists():
        kept.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as drafts:  # a zip that was not completed is not kept
            draft = Path(drafts) / "draft"
            draft.mkdir()
            invented_archive(folder, phase.split, team.name, number, skill, rng, draft)
            draft.rename(kept)
    return next(kept.iterdir())


def _moment(phase: Phase, now: datetime, rng: np.random.Generator) -> datetime:
    """Return a random time when the phase was open, more often near its end."""
    end = min(now, phase.closes or phase.opens + _LATE_DAYS)
    return phase.opens + (end - phase.opens) * float(rng.random() ** 0.4)
