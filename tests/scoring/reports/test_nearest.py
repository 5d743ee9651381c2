"""Suggestions of the valid name that was probably meant."""

import pytest

from scoring.metrics.registry import METRICS
from scoring.reports.nearest import nearest

TYPES = ["IDEOLOGICAL-INEQUALITY", "STEREOTYPING-DOMINANCE", "OBJECTIFICATION", "SEXUAL-VIOLENCE", "MISOGYNY-NSV", "NO"]


@pytest.mark.parametrize(
    ("found", "names", "right"),
    [
        ("macro_f1", METRICS, "f1_macro"),
        ("ICM-Norm", METRICS, "icm_norm"),
        ("ICMSoftNorm", METRICS, "icm_soft_norm"),
        ("acuracy", METRICS, "accuracy"),
        ("perplexity", METRICS, None),
        ("misogyny", TYPES, "MISOGYNY-NSV"),
        ("Stereotyping", TYPES, "STEREOTYPING-DOMINANCE"),
        ("sexual_violence ", TYPES, "SEXUAL-VIOLENCE"),
        ("no", TYPES, "NO"),
        ("YES", TYPES, None),
        ("task", ["task1", "task2"], "task1"),
        ("hard", ["task1-hard", "task2-hard"], None),
        ("x", ["x-a", "x-b"], "x-a"),
        ("?", ["!", "?!"], "?!"),
        ("a", [], None),
        ("", ["a"], None),
    ],
)
def test_nearest(found: str, names: list[str], right: str | None) -> None:
    assert nearest(found, names) == right
