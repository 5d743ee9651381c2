"""Names of runs and archives: what they contain, the rules they break, and the nearest valid name."""

from dataclasses import replace
from time import process_time
from typing import Any

import pytest

from scoring import Definition
from scoring.definition import Naming
from scoring.uploads import naming
from scoring.uploads.name_rules import NameReading, errors_of_naming


def broken(named: NameReading) -> set[str]:
    return {problem.code.removeprefix("name-") for problem in named.report.errors}


@pytest.mark.parametrize(
    ("name", "team", "said"),
    [
        ("task1_hard_Lak_NLP_2", "Lak_NLP", ("task1-hard", "Lak_NLP", 2)),
        ("task1_hard_Lak_NLP_2.json", "Lak_NLP", ("task1-hard", "Lak_NLP", 2)),
        ("task1_hard_Lak_NLP_2", None, ("task1-hard", "Lak_NLP", 2)),
        ("task2_hard_task1_hard_1_3", "task1_hard_1", ("task2-hard", "task1_hard_1", 3)),
        ("task5_spans__1_1", None, ("task5-spans", "_1", 1)),
    ],
)
def test_names_are_read_from_both_ends(
    tiny: Definition, name: str, team: str | None, said: tuple[str, str, int]
) -> None:
    named = naming.explain(tiny, name, team)
    assert named.report.problems == []
    assert (named.track, named.team, named.number) == said


@pytest.mark.parametrize(
    ("name", "parts", "suggestion"),
    [
        ("Task1_Hard_Lak_NLP_1.json", {"case"}, "task1_hard_Lak_NLP_1.json"),
        ("task1_hard_lak_nlp_1.json", {"case"}, "task1_hard_Lak_NLP_1.json"),
        ("task1_hard_Lak_NLP_1.txt", {"extension"}, "task1_hard_Lak_NLP_1.json"),
        ("task1_hard_Lak_NLP_1.json.json", {"extension"}, "task1_hard_Lak_NLP_1.json"),
        ("task1_hard_Lak_NLP_1..json", {"extension"}, "task1_hard_Lak_NLP_1.json"),
        ("task1_hard_Lak_NLP_1.JSON", {"case"}, "task1_hard_Lak_NLP_1.json"),
        ("task1_hard_Rival_2.json", {"team"}, "task1_hard_Lak_NLP_2.json"),
        ("task1_hard_Lak_NLP_4.json", {"number"}, "task1_hard_Lak_NLP_1.json"),
        ("task1_hard_Lak_NLP_01.json", {"number"}, "task1_hard_Lak_NLP_1.json"),
        ("task9_hard_Lak_NLP_2.json", {"track"}, "task1_hard_Lak_NLP_2.json"),
        ("task1_hard_Rival_4.txt", {"extension", "number", "team"}, "task1_hard_Lak_NLP_1.json"),
        ("my run.json", {"pattern"}, "task1_hard_Lak_NLP_1.json"),
        ("task1_hard_Lak_NLP_1\u202enosj.exe", {"characters", "pattern"}, "task1_hard_Lak_NLP_1.json"),
        ("task1_hard_Lak_NLP_1.json\x00", {"characters"}, "task1_hard_Lak_NLP_1.json"),
        ("sub/task1_hard_Lak_NLP_1.json", {"characters", "track"}, "task1_hard_Lak_NLP_1.json"),
        ("x" * 300, {"characters", "pattern"}, None),
        ("", {"pattern"}, "task1_hard_Lak_NLP_1.json"),
    ],
)
def test_what_is_wrong_is_named_and_the_nearest_name_is_right(
    tiny: Definition, name: str, parts: set[str], suggestion: str | None
) -> None:
    named = naming.explain(tiny, name, "Lak_NLP")
    assert broken(named) == parts
    for problem in named.report:
        assert problem.suggestion is not None
        assert suggestion in (None, problem.suggestion)
        assert naming.explain(tiny, problem.suggestion, "Lak_NLP").report.ok
        assert problem.message.isprintable()


def test_a_decomposed_accent_is_the_same_name(tiny: Definition) -> None:
    definition = replace(tiny, team=replace(tiny.team, name=r"\w+"))
    assert naming.explain(definition, "task1_hard_Cafe\u0301_1", "Caf\u00e9").report.ok


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("tiny_Lak_NLP.zip", set()),
        ("tiny_Lak_NLP.rar", {"extension"}),
        ("Tiny_Lak_NLP.zip", {"case"}),
        ("tiny_Rival.zip", {"team"}),
        ("runs.zip", {"pattern"}),
    ],
)
def test_archives(tiny: Definition, name: str, parts: set[str]) -> None:
    named = naming.explain_archive(tiny, name, "Lak_NLP")
    assert broken(named) == parts
    assert {problem.suggestion for problem in named.report} == ({"tiny_Lak_NLP.zip"} if parts else set())


def test_without_a_rule_any_archive_name_will_do(tiny: Definition) -> None:
    definition = replace(tiny, naming=replace(tiny.naming, archive=None))
    assert naming.explain_archive(definition, "Whatever (2).ZIP", "x").report.ok
    assert broken(naming.explain_archive(definition, "runs.rar", "x")) == {"extension"}
    assert broken(naming.explain_archive(definition, "runs\u202e.zip", "x")) == {"characters"}
    assert {problem.suggestion for problem in naming.explain_archive(definition, "\x00", "x").report} == {"runs.zip"}
    assert naming.example_archive(definition, "x") is None


def test_examples_validate(tiny: Definition) -> None:
    for track in tiny.tracks:
        name = naming.example(tiny, track.slug, "Lak_NLP", 2)
        assert name is not None
        named = naming.explain(tiny, name, "Lak_NLP")
        assert (named.track, named.number, named.report.ok) == (track.slug, 2, True)
    assert naming.example_archive(tiny, "Lak_NLP") == "tiny_Lak_NLP.zip"


@pytest.mark.parametrize("name", ["_" * 150, "task1_" * 25, "a-" * 75, "1" * 150, "task1_hard_" + "x_" * 60])
def test_no_name_takes_long(tiny: Definition, name: str) -> None:
    start = process_time()  # CPU time, because the machine may be busy
    naming.explain(tiny, name, None)
    assert process_time() - start < 0.5  # an archive may have 200 such names


@pytest.mark.parametrize(
    ("rules", "word"),
    [
        (Naming(run="{team}_{task"), "not a valid pattern"),
        (Naming(run="sub\\{track}"), "not a valid pattern"),
        (Naming(run="{track}_{colour}"), "{colour}"),
        (Naming(run="{track}_{number}"), "run numbers"),
        (Naming(run="{track}", numbers=(1,)), "run numbers"),
        (Naming(run="{track}", archive="x_{track}"), "archive"),
        (Naming(run="{task}", track="{task}-{context}"), "do not distinguish"),
        (Naming(run="run"), "do not distinguish"),
        (Naming(run="run[_{track}]"), "do not distinguish"),
        (Naming(run="{track}", aliases={"one-hard": "H", "one-soft": "h"}, case="ignore"), "do not distinguish"),
        (Naming(run="{track}", aliases={"two": "T"}), "there is no track two"),
        (Naming(run="[a[b]]"), "not a valid pattern"),
        (Naming(run="/{track}"), "folder"),
        (Naming(run="../{track}"), "folder"),
        (Naming(run="{track}[/x]"), "folder"),
        (Naming(run="[{team}_]{track}_{team}"), "use it once"),
        (Naming(run="{track}" + "{team}" * 8), "more than 8 fields"),
        (Naming(run="{track}[{team}][{a}][{b}][{c}]", track="{a}{b}{c}"), "optional parts"),
        (Naming(run="{task}{context}", track="{task}+{context}"), "does not match the track"),
    ],
)
def test_errors_of_the_rules_themselves(rules: Naming, word: str) -> None:
    assert any(word in " ".join(error) for error in errors_of_naming(rules, ["one-hard", "one-soft"]))


def named_by(tiny: Definition, **rules: Any) -> Definition:
    """Return the task with other rules for names."""
    return replace(tiny, naming=Naming(**{"track": "{task}-{context}", "numbers": (1, 2, 3)} | rules))


SPELLED = {"task1-hard": "E-C_en", "task2-hard": "E-C_es", "task1-soft": "V-Reg_en"}


@pytest.mark.parametrize(
    ("rules", "name", "said"),
    [
        ({"run": "{track}_pred.txt", "aliases": SPELLED, "numbers": ()}, "E-C_es_pred.txt", ("task2-hard", None)),
        ({"run": "{track}_pred.txt", "aliases": SPELLED, "numbers": ()}, "task3-table_pred.txt", ("task3-table", None)),
        ({"run": "{track}_RUN{number}.TSV", "aliases": SPELLED}, "E-C_en_RUN2.TSV", ("task1-hard", 2)),
        ({"run": "{track}_{number}.tsv", "aliases": SPELLED, "case": "ignore"}, "e-c_EN_3.TSV", ("task1-hard", 3)),
        ({"run": "{task}_{context}[_{number}].tsv"}, "task1_soft.tsv", ("task1-soft", None)),
        ({"run": "{task}_{context}[_{number}].tsv"}, "task1_soft_2.tsv", ("task1-soft", 2)),
        ({"run": "{team}/{task}/{context}/run_{number}.tsv"}, "Lak_NLP/task1/soft/run_3.tsv", ("task1-soft", 3)),
        ({"run": "[{team}/]{track}"}, "Lak_NLP", None),
    ],
)
def test_further_spellings(tiny: Definition, rules: dict[str, Any], name: str, said: tuple[str, int] | None) -> None:
    definition = named_by(tiny, **rules)
    errors = list(errors_of_naming(definition.naming, [track.slug for track in tiny.tracks]))
    if said is None:
        assert errors
        return
    assert errors == []
    named = naming.explain(definition, name, "Lak_NLP")
    assert (named.report.problems, named.track, named.number, named.team) == ([], *said, "Lak_NLP")


@pytest.mark.parametrize(
    ("run", "name", "parts", "suggestion"),
    [
        ("{track}_pred.txt", "E-C_fr_pred.txt", {"track"}, "E-C_en_pred.txt"),
        ("{track}_pred.txt", "e-c_es_pred.txt", {"case"}, "E-C_es_pred.txt"),
        ("{track}_pred.txt", "V-Reg_en_pred.csv", {"extension"}, "V-Reg_en_pred.txt"),
        ("{team}/{track}/run.tsv", "run.tsv", {"folders"}, None),
        ("{team}/{track}/run.tsv", "E-C_es/run.tsv", {"folders"}, "Lak_NLP/E-C_es/run.tsv"),
        ("{team}/{track}/run.tsv", "Rival/E-C_es/run.tsv", {"team"}, "Lak_NLP/E-C_es/run.tsv"),
        ("{team}/{track}/run.tsv", "Lak_NLP/E-C_es/run.txt", {"extension"}, "Lak_NLP/E-C_es/run.tsv"),
        ("{team}/{track}.tsv", "x/E-C_es.tsv", {"team"}, "Lak_NLP/E-C_es.tsv"),
    ],
)
def test_errors_of_further_spellings(
    tiny: Definition, run: str, name: str, parts: set[str], suggestion: str | None
) -> None:
    definition = named_by(tiny, run=run, aliases=SPELLED, numbers=())
    named = naming.explain(definition, name, "Lak_NLP")
    assert broken(named) == parts
    for problem in named.report:
        assert problem.suggestion is not None
        assert suggestion in (None, problem.suggestion)
        assert naming.explain(definition, problem.suggestion, "Lak_NLP").report.ok
    assert "Pack the file in a zip" in named.report.problems[0].message or parts != {"folders"}


@pytest.mark.parametrize(
    "run",
    [
        "{track}[_{team}][_{number}][.tsv]",
        "{team}{task}{context}{number}[x][y][z]",
        "[{team}][{number}]{task}_{context}/run.tsv",
        "{team}/{task}/{context}/{number}/run[.tsv]",
    ],
)
@pytest.mark.parametrize("name", ["_" * 150, "a/" * 75, "task1_" * 25, "a-" * 75, "1" * 150, "E-C_" * 37])
def test_no_name_takes_long_by_further_rules(tiny: Definition, run: str, name: str) -> None:
    definition = named_by(tiny, run=run, aliases=SPELLED, case="ignore")
    start = process_time()
    naming.explain(definition, name, None)
    assert process_time() - start < 0.5


def test_an_optional_part_of_a_name_is_suggested(tiny: Definition) -> None:
    definition = named_by(tiny, run="{task}_{context}[_run{number}].tsv")
    assert naming.example(definition, "task1-hard", "x", 2) == "task1_hard_run2.tsv"
    assert naming.nearest(definition, "task1_hard_run7.tsv", "x") == [
        "task1_hard_run1.tsv",
        "task1_hard_run2.tsv",
        "task1_hard_run3.tsv",
    ]
