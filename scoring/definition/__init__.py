"""task.yaml: its keys, each declared once, as frozen objects; reading it, rules between its parts, its JSON Schema and
reference page; and checks of its folder before an import.
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
