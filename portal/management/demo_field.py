"""The demo's runs, uploaded by invented teams through the same actions that people use."""

import tempfile
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
from django.db.models import Q

from portal.actions.papers import give_paper
from portal.actions.submit import submit
from portal.models import Phase, SharedTask, Team
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
PAPERS = 2  # number of the best teams that get a paper
KEEN = 3  # the best teams, which upload more runs: two per track, and one after the deadline

_METHODS = ("Fine-tuned encoder", "Ensemble of five seeds", "Prompted language model", "TF-IDF with a linear SVM")
_LATE_DAYS = timedelta(days=60)


def send_runs(shared_task: SharedTask, folder: Path, at: datetime) -> None:
    """Upload runs of every team for every track on the test items, and of a few teams on open ladders.

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
                if team.submissions.filter(phase=phase).count() < number:  # those exist after an earlier start
                    _send(folder, team, phase, number, at)


def give_papers(shared_task: SharedTask, at: datetime) -> None:
    """Set the papers of the best teams."""
    for name in list(TEAMS)[:PAPERS]:
        team = shared_task.teams.get(name=name)
        title = f"{name} at {shared_task.title}: an invented system"
        entry = f"@misc{{{name}, author = {{Invented, Ida}}, title = {{{title}}}, year = {shared_task.year}}}"
        give_paper(team.memberships.get(is_captain=True).user, team, at, bibtex=entry)


def _send(folder: Path, team: Team, phase: Phase, number: int, now: datetime) -> None:
    rng = np.random.default_rng(list(f"{folder.name} {phase.slug} {team.name} {number}".encode()))
    at = _moment(phase, now, rng)
    captain = team.memberships.get(is_captain=True).user
    with tempfile.TemporaryDirectory(prefix="agon-demo-") as drafts:
        archive = invented_archive(folder, phase.split, team.name, number, TEAMS[team.name], rng, Path(drafts))
        submission = submit(captain, phase, at, content=[archive.read_bytes()], file_name=archive.name)
    submission.runs.update(method=_METHODS[int(rng.integers(len(_METHODS)))])


def _moment(phase: Phase, now: datetime, rng: np.random.Generator) -> datetime:
    """Return a time while the phase was open, later for later uploads."""
    end = phase.closes or min(now, phase.opens + _LATE_DAYS)
    return phase.opens + (end - phase.opens) * float(rng.random() ** 0.4)
