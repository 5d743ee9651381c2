"""Import a task's folder: rules, tracks, phases, gold and baselines.

Importing the same folder again changes nothing.
"""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from portal.actions.agreement import SIGNED_WITH_OTHER_TEXT
from portal.actions.base.action import ActionCall, action
from portal.actions.base.errors import Invalid
from portal.actions.base.roles import SERVER
from portal.actions.task_folder.apply_definition import (
    PART_HAS_RUNS,
    PART_MISSING,
    SCORER_CALL,
    TRACK_HAS_RUNS,
    AppliedDefinition,
    apply_definition,
    prepare,
)
from portal.actions.task_folder.folder import PublicFiles
from portal.actions.task_folder.import_gold import GOLD_CHANGED_TWICE, import_gold
from portal.actions.task_folder.import_phases import WINDOW
from portal.evaluation.own_scorers.versions import PreparedScorer, prepared
from portal.models import GoldStandard, SharedTask
from scoring import Definition, DefinitionError, load_definition
from scoring.definition.scorer import FOLDER as SCORER_FOLDER
from scoring.gold.track_votes import agreement_of
from scoring.own_scorers.program import read_program
from scoring.reports.printing import problem_line
from scoring.task_folder.folder import errors_of_folder

DEFINITION = Invalid.declare("definition", _("The definition has errors:\n%(problems)s"))
FOLDER = Invalid.declare("folder", _("The files listed in the definition have errors:\n%(problems)s"))


@action(
    who=SERVER,
    says=_("imported the shared task"),
    errors=[
        DEFINITION,
        FOLDER,
        WINDOW,
        PART_MISSING,
        PART_HAS_RUNS,
        TRACK_HAS_RUNS,
        SCORER_CALL,
        GOLD_CHANGED_TWICE,
        SIGNED_WITH_OTHER_TEXT,
    ],
    repeatable=True,
    atomic=False,
)
def import_shared_task(call: ActionCall, folder: Path) -> AppliedDefinition:
    """Update the portal's shared task from the folder. If the folder has an error, nothing is changed.

    Errors are found in stages: first those in the definition, then those in its files, then those about phases and
    about gold that changed both in the folder and on the website. All errors of a stage are listed.
    """
    definition = _valid_definition(folder)
    files = PublicFiles.of(definition)
    files.store(call.at)
    given = prepare(definition, files, _agreement(definition), _scorer(definition))
    with transaction.atomic():
        applied = apply_definition(given, lambda task: import_gold(task, definition, call.at), call.at)
        if applied.changes:
            call.target = applied.shared_task
            call.record(definition=given.sha256, changes=applied.changes)
    return applied


def _agreement(definition: Definition) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Return the annotator agreement by track and split, for splits that have votes."""
    return {
        (votes.track, votes.split): [asdict(row) for row in agreement_of(definition.track(votes.track), votes)]
        for votes in definition.votes
        if votes.file.exists()
    }


def _scorer(definition: Definition) -> PreparedScorer | None:
    """Return the own scorer in the folder. The folder has been checked."""
    if definition.scorer is None or not (definition.folder / SCORER_FOLDER).is_dir():
        return None
    return prepared(read_program(definition.folder, definition.scorer))


def _valid_definition(folder: Path) -> Definition:
    try:
        definition = load_definition(folder, is_imported=False)
    except DefinitionError as error:
        raise DEFINITION(problems="\n".join(problem_line(problem) for problem in error.report)) from None
    gold = GoldStandard.objects.filter(track__shared_task__slug=definition.slug)
    has_folder = (definition.folder / SCORER_FOLDER).is_dir()
    holds_scorer = SharedTask.objects.filter(slug=definition.slug).exclude(own_scorer_sha256="").exists()
    held = set(gold.values_list("track__slug", "split"))
    problems = errors_of_folder(definition, held, holds_scorer=holds_scorer and not has_folder)
    if problems:
        raise FOLDER(problems="\n".join(problems))
    return definition
