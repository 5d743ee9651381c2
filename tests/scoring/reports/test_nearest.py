"""Suggestions of the valid name that was probably meant."""

import pytest

from scoring.metrics.registry import METRICS
from scoring.reports.nearest import nearest, with_code_points

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
        ("Nope", ["NO", "YES"], None),
        ("none", ["NO", "YES"], None),
        ("N", ["NO", "YES"], "NO"),
        ("YSE", ["NO", "YES"], "YES"),
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


@pytest.mark.parametrize(
    ("found", "meant", "shown"),
    [
        ("\u03a5ES", "YES", "\\u03a5ES"),
        ("YES", "YES", "YES"),
        ("Yes", "YES", "Yes"),
        ("s\u00ed", "si", "s\u00ed"),
        ("cafe\u0301", "caf\u00e9", "cafe\\u0301"),
        ("\u0430_1", "a_2", "\\u0430_1"),
        ("\u0434\u0430", "yes", "\u0434\u0430"),
    ],
)
def test_look_alikes_get_code_points(found: str, meant: str, shown: str) -> None:
    assert with_code_points(found, meant) == shown
