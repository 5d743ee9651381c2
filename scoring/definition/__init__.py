"""Definitions (task.yaml): reading them into frozen objects, checking them, and describing their keys.

Each key is declared once. The JSON Schema and the reference page are generated from the declarations. A task's folder
is checked before an import.
"""

from scoring.definition.data import Baseline, Dataset, GoldFile, GoldView, VotesFile
from scoring.definition.phases import Phase
from scoring.definition.spec import Definition, DefinitionError, Naming, Overall
from scoring.definition.teams import Agreement, Question, TeamRules
from scoring.definition.tracks import FormatSpec, MetricSpec, Track

__all__ = [
    "Agreement",
    "Baseline",
    "Dataset",
    "Definition",
    "DefinitionError",
    "FormatSpec",
    "GoldFile",
    "GoldView",
    "MetricSpec",
    "Naming",
    "Overall",
    "Phase",
    "Question",
    "TeamRules",
    "Track",
    "VotesFile",
]
