"""task.yaml: its keys as frozen objects (`spec`), reading it, the rules between its parts, its JSON Schema; and the
folder that it lies in, checked before an import."""

from scoring.definition.spec import (
    Agreement,
    Baseline,
    Dataset,
    Definition,
    DefinitionError,
    FormatSpec,
    GoldFile,
    MetricSpec,
    Naming,
    Overall,
    Phase,
    Question,
    TeamRules,
    Track,
    VotesFile,
)

__all__ = [
    "Agreement",
    "Baseline",
    "Dataset",
    "Definition",
    "DefinitionError",
    "FormatSpec",
    "GoldFile",
    "MetricSpec",
    "Naming",
    "Overall",
    "Phase",
    "Question",
    "TeamRules",
    "Track",
    "VotesFile",
]
