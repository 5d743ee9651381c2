"""Definitions (task.yaml): read them into frozen objects, check them, and describe their keys.

Each key is declared once. The JSON Schema and the reference page are generated from the declarations. A task's folder
is checked before it is imported.
"""

from scoring.definition.data import Dataset, GoldFile, GoldView, VotesFile
from scoring.definition.phases import Phase
from scoring.definition.spec import Definition, DefinitionError, Naming, Overall, RunField
from scoring.definition.teams import Agreement
from scoring.definition.tracks import Examples, FormatSpec, MetricSpec, Track

__all__ = [
    "Agreement",
    "Dataset",
    "Definition",
    "DefinitionError",
    "Examples",
    "FormatSpec",
    "GoldFile",
    "GoldView",
    "MetricSpec",
    "Naming",
    "Overall",
    "Phase",
    "RunField",
    "Track",
    "VotesFile",
]
