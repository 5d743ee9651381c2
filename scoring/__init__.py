"""The scoring engine: reads task definitions, and checks and scores runs.

It uses no web framework, network or clock.
"""

from scoring.check import check
from scoring.check_upload import check_upload
from scoring.definition import Definition, DefinitionError
from scoring.reports.problems import Problem, Report
from scoring.score import score
from scoring.task_folder.reader import load_definition
from scoring.uploads.inspection import inspect_upload

__version__ = "0.2.0"  # increase when any run's score could change

__all__ = [
    "Definition",
    "DefinitionError",
    "Problem",
    "Report",
    "__version__",
    "check",
    "check_upload",
    "inspect_upload",
    "load_definition",
    "score",
]
