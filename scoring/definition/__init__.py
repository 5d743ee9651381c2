"""Definitions (task.yaml): read them into frozen objects, check them, and describe their keys.

Each key is declared once. The JSON Schema and the reference page are generated from the declarations. A task's folder
is checked before it is imported.
"""

from scoring.definition.data import Baseline, Dataset, GoldFile, GoldView, VotesFile
from scoring.definition.phases import Phase
from scoring.definition.scorer import Scorer, ScorerColumn
from scoring.definition.spec import Definition, DefinitionError, Naming, Organizer, Overall, RunField
from scoring.definition.teams import Agreement, Question, TeamRules
from scoring.definition.tracks import Examples, FormatSpec, MetricSpec, Track

__all__ = [
    "Agreement",
    "Baseline",
    "Dataset",
    "Definition",
    "DefinitionError",
    "Examples",
    "FormatSpec",
    "GoldFile",
    "GoldView",
    "MetricSpec",
    "Naming",
    "Organizer",
    "Overall",
    "Phase",
    "Question",
    "RunField",
    "Scorer",
    "ScorerColumn",
    "TeamRules",
    "Track",
    "VotesFile",
]
