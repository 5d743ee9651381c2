"""Names of runs and archives: what they mean, which rules they break, and the nearest valid name."""

from dataclasses import replace
from time import process_time
from typing import Any

import pytest

from scoring import Definition, load_definition
from scoring.definition import Naming
from scoring.definition.files import Files
from scoring.uploads import naming
from scoring.uploads.name_rules import NameReading, errors_of_naming
from tests.conftest import ROOT


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
        ("task9_hard_Lak_NLP_2.json", {"track"}, None),
        ("task1_hard_Rival_4.txt", {"extension", "number", "team"}, "task1_hard_Lak_NLP_1.json"),
        ("my run.json", {"pattern"}, None),
        ("task1_hard_Lak_NLP_1\u202enosj.exe", {"characters", "pattern"}, None),
        ("task1_hard_Lak_NLP_1.json\x00", {"characters"}, "task1_hard_Lak_NLP_1.json"),
        ("sub/task1_hard_Lak_NLP_1.json", {"characters", "track"}, "task1_hard_Lak_NLP_1.json"),
        ("x" * 300, {"characters", "pattern"}, None),
        ("", {"pattern"}, None),
        ("task1_hrad_Lak_NLP_2.json", {"track"}, "task1_hard_Lak_NLP_2.json"),
        ("TASK1-hard-Lak_NLP-2.json", {"pattern"}, "task1_hard_Lak_NLP_2.json"),
        ("task1_hard.json", {"pattern"}, "task1_hard_Lak_NLP_1.json"),
        ("t\u0430sk1_hard_Lak_NLP_1.json", {"pattern"}, "task1_hard_Lak_NLP_1.json"),
        ("task1_hard_Lak_NLP_1.py", {"extension"}, None),
        ("data.md", {"pattern"}, None),
    ],
)
def test_what_is_wrong_is_named_and_the_nearest_name_is_right(
    tiny: Definition, name: str, parts: set[str], suggestion: str | None
) -> None:
    named = naming.explain(tiny, name, "Lak_NLP")
    assert broken(named) == parts
    for problem in named.report:
        assert problem.suggestion == suggestion
        assert suggestion is None or naming.explain(tiny, suggestion, "Lak_NLP").report.ok
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
        (Naming(run="{track}[.json|.jsonl]"), "not a valid pattern"),
        (Naming(run="{track}_{colour}"), "{colour}"),
        (Naming(run="{track}_{number}"), "run numbers"),
        (Naming(run="{track}", numbers=(1,)), "run numbers"),
        (Naming(run="{track}", archive="x_{track}"), "archive"),
        (Naming(run="{task}", track="{task}-{context}"), "have the same file names"),
        (Naming(run="run"), "have the same file names"),
        (Naming(run="run[_{track}]"), "have the same file names"),
        (Naming(run="{track}", aliases={"one-hard": "H", "one-soft": "h"}, case="ignore"), "have the same file names"),
        (Naming(run="{track}", aliases={"two": "T"}), "there is no track two"),
        (Naming(run="{track}", aliases={"track": {"two": "T"}}), "two is not a value of {track}"),
        (Naming(run="{track}", aliases={"team": {"Lak": "T"}}), "there are no aliases for {team}"),
        (Naming(run="[a[b]]"), "not a valid pattern"),
        (Naming(run="/{track}"), "folder"),
        (Naming(run="../{track}"), "folder"),
        (Naming(run="{track}[/x]"), "folder"),
        (Naming(run="[{team}_]{track}_{team}"), "use it only once"),
        (Naming(run="{track}" + "{team}" * 8), "more than 8 fields"),
        (Naming(run="{track}[{team}][{a}][{b}][{c}]", track="{a}{b}{c}"), "optional parts"),
        (Naming(run="{task}{context}", track="{task}+{context}"), "does not match the track"),
    ],
)
def test_errors_of_the_rules_themselves(rules: Naming, word: str) -> None:
    assert any(word in " ".join(error) for error in errors_of_naming(rules, ["one-hard", "one-soft"]))


def named_by(tiny: Definition, **rules: Any) -> Definition:
    """Return the task with these naming rules."""
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
        (
            {
                "run": "{task}/{context}_{number}.tsv",
                "aliases": {"task": {"task1": "A"}, "context": {"soft": "S"}},
            },
            "A/S_2.tsv",
            ("task1-soft", 2),
        ),
        (
            {"run": "{track}.tsv", "aliases": {"track": SPELLED, "task3-table": "T3"}, "numbers": ()},
            "T3.tsv",
            ("task3-table", None),
        ),
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
        ("{track}_pred.txt", "E-C_fr_pred.txt", {"track"}, None),
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
        assert problem.suggestion == suggestion
        assert suggestion is None or naming.explain(definition, suggestion, "Lak_NLP").report.ok
    assert "Upload a zip" in named.report.problems[0].message or parts != {"folders"}


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


def test_one_of_several_extensions_is_suggested(tiny: Definition) -> None:
    definition = named_by(tiny, run="{track}[.jsonl][.tsv]", track="{track}", numbers=())
    assert all(naming.explain(definition, f"task1-hard{one}", None).report.ok for one in (".jsonl", ".tsv", ""))
    for found, right in {"task1-hard.json": "task1-hard.jsonl", "Task1-hard.tsv": "task1-hard.tsv"}.items():
        assert [problem.suggestion for problem in naming.explain(definition, found, None).report] == [right]
    [problem] = naming.explain(definition, "task1-hard.csv", None).report
    assert (problem.code, problem.expected) == ("name-extension", ".jsonl, .tsv")


def test_an_optional_part_of_a_name_is_suggested(tiny: Definition) -> None:
    definition = named_by(tiny, run="{task}_{context}[_run{number}].tsv")
    assert naming.example(definition, "task1-hard", "x", 2) == "task1_hard_run2.tsv"
    assert naming.nearest(definition, "task1_hard_run7.tsv", "x") == [
        "task1_hard_run1.tsv",
        "task1_hard_run2.tsv",
        "task1_hard_run3.tsv",
    ]


def with_files(tiny: Definition, **files: Files | None) -> Definition:
    """Return the task with two tracks that have aliases and whose runs have these files, and without run numbers."""
    tracks = tuple(
        replace(track, files=files[slug.replace("-", "_")])
        for track in tiny.tracks
        for slug in [track.slug]
        if slug.replace("-", "_") in files
    )
    rules = Naming(run="{language}/{track}_{language}_pred.txt", aliases={"task1-hard": "E-C", "task2-hard": "V-Reg"})
    return replace(tiny, tracks=tracks, naming=rules)


LANGUAGES = {
    "task1_hard": Files(name="language", of=("en", "pt-BR"), missing="accept"),
    "task2_hard": Files(name="language", of=("en", "tn")),
}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("en/E-C_en_pred.txt", ("task1-hard", "en")),
        ("pt-BR/E-C_pt-BR_pred.txt", ("task1-hard", "pt-BR")),
        ("en/V-Reg_en_pred.txt", ("task2-hard", "en")),
        ("tn/V-Reg_tn_pred.txt", ("task2-hard", "tn")),
    ],
)
def test_tracks_can_have_different_files(tiny: Definition, name: str, said: tuple[str, str]) -> None:
    named = naming.explain(with_files(tiny, **LANGUAGES), name, "Lak_NLP")
    assert (named.report.problems, named.track, named.value) == ([], *said)
    assert named.common == name.replace(said[1], "{language}")


@pytest.mark.parametrize(
    ("name", "parts", "found", "suggestion"),
    [
        ("tn/E-C_tn_pred.txt", {"file"}, "tn", None),
        ("en/E-X_en_pred.txt", {"track"}, "en/E-X_en_pred.txt", None),
        ("en/VReg_en_pred.txt", {"track"}, "en/VReg_en_pred.txt", "en/V-Reg_en_pred.txt"),
        ("en\\V-Reg_en_pred.txt", {"characters"}, "en\\V-Reg_en_pred.txt", "en/V-Reg_en_pred.txt"),
        ("en/e-c_en_pred.txt", {"case"}, "en/e-c_en_pred.txt", "en/E-C_en_pred.txt"),
        ("E-C_en_pred.txt", {"folders"}, "E-C_en_pred.txt", "en/E-C_en_pred.txt"),
    ],
)
def test_errors_in_names_of_files(
    tiny: Definition, name: str, parts: set[str], found: str, suggestion: str | None
) -> None:
    named = naming.explain(with_files(tiny, **LANGUAGES), name, "Lak_NLP")
    assert broken(named) == parts
    assert [(problem.found, problem.suggestion) for problem in named.report] == [(found, suggestion)]


def test_a_name_without_its_file_lists_the_files(tiny: Definition) -> None:
    definition = with_files(tiny, **LANGUAGES)
    definition = replace(definition, naming=replace(definition.naming, run="{track}[_{language}].txt"))
    named = naming.explain(definition, "V-Reg.txt", "Lak_NLP")
    assert (broken(named), named.track, named.value) == ({"without-file"}, "task2-hard", None)
    assert [problem.suggestion for problem in named.report] == [None]
    assert "en, tn" in named.report.problems[0].message


@pytest.mark.parametrize(
    "name", ["task3-table_en.txt", "task3_en.txt", "V-Reg_xx.txt", "task3-table_xx.txt", "x_y.txt"]
)
def test_tracks_without_files_among_those_with_files(tiny: Definition, name: str) -> None:
    definition = with_files(tiny, **LANGUAGES, task3_table=None)
    definition = replace(definition, naming=replace(definition.naming, run="{track}[_{language}].txt"))
    assert naming.explain(definition, "task3-table.txt", None).report.ok
    named = naming.explain(definition, name, "Lak_NLP")
    assert broken(named)
    assert broken(named) <= {"track", "file", "pattern"}
    assert {problem.suggestion for problem in named.report} <= {None, "task3-table.txt"}


def test_tracks_are_named_as_file_names_spell_them(tiny: Definition) -> None:
    definition = named_by(tiny, run="{track}_{team}.txt", track="{track}", aliases=SPELLED, numbers=())
    [problem] = naming.explain(definition, "Task1-hard_Lak_NLP.txt", "Lak_NLP").report
    assert (problem.code, problem.suggestion) == ("name-track", "E-C_en_Lak_NLP.txt")
    assert str(problem.expected).startswith("E-C_en, E-C_es, V-Reg_en, task3-table")


@pytest.mark.parametrize(
    ("run", "name", "spelled"),
    [
        (
            "{task}_{context}_{team}.txt",
            "SubTask_9_hard_Lak.txt",
            "SubTask_1_hard, SubTask_2_hard, SubTask_1_soft, task3_table",
        ),
        (
            "{context}-{task}-{team}.txt",
            "hard-SubTask_9-Lak.txt",
            "hard-SubTask_1, hard-SubTask_2, soft-SubTask_1, table-task3",
        ),
        (
            "{task}_{team}_{context}.txt",
            "SubTask_9_Lak_hard.txt",
            "SubTask_1-hard, SubTask_2-hard, SubTask_1-soft, task3-table",
        ),
    ],
)
def test_tracks_of_several_fields_are_named_as_file_names_spell_them(
    tiny: Definition, run: str, name: str, spelled: str
) -> None:
    aliases = {"task": {"task1": "SubTask_1", "task2": "SubTask_2"}}
    definition = named_by(tiny, run=run, track="{task}-{context}", aliases=aliases, numbers=())
    [problem] = naming.explain(definition, name, None).report
    assert problem.code == "name-track"
    assert str(problem.expected).startswith(spelled)


def test_a_team_name_in_the_wrong_case_is_an_error_of_the_team(tiny: Definition) -> None:
    definition = replace(named_by(tiny, run="{track}_{team}.txt", numbers=()), team=replace(tiny.team, name="[A-Z]+"))
    [problem] = naming.explain(definition, "task1-hard_lak.txt", None).report
    assert (problem.code, problem.found) == ("name-team", "lak")


def test_the_name_suggested_for_one_with_another_team_has_the_team(tiny: Definition) -> None:
    definition = named_by(tiny, run="{track}[_{team}].csv", numbers=())
    [problem] = naming.explain(definition, "task1-hard_Xy.csv", "LongTeamName").report
    assert (problem.code, problem.suggestion) == ("name-team", "task1-hard_LongTeamName.csv")


def test_without_a_team_the_longest_spelling_of_a_track_is_read(tiny: Definition) -> None:
    aliases = {"task1-hard": "B", "task2-hard": "B-rating"}
    definition = named_by(tiny, run="{track}-{team}.txt", track="{track}", aliases=aliases, numbers=())
    definition = replace(definition, team=replace(tiny.team, name="[A-Za-z-]+"))
    for team, said in ((None, "task2-hard"), ("Lak", "task2-hard"), ("rating-Lak", "task1-hard")):
        named = naming.explain(definition, "B-rating-Lak.txt", team)
        assert (named.report.problems, named.track) == ([], said)


def test_a_letter_of_another_script_is_shown_as_such(tiny: Definition) -> None:
    named = naming.explain(tiny, "t\u0430sk1_hard_Lak_NLP_1.json", "Lak_NLP")
    assert [problem.found for problem in named.report] == ["t\\u0430sk1_hard_Lak_NLP_1.json"]


def test_blanks_at_the_ends_of_a_name_are_shown(tiny: Definition) -> None:
    (problem,) = naming.explain(tiny, "task1_hard_Lak_NLP_1.json ", "Lak_NLP").report
    assert (problem.found, problem.suggestion) == ('"task1_hard_Lak_NLP_1.json "', "task1_hard_Lak_NLP_1.json")


def test_no_name_is_suggested_for_itself(tiny: Definition) -> None:
    alias = {"task1-hard": "Cafe\u0301_A"}
    definition = named_by(tiny, run="{track}_{team}_{number}.json", track="{track}", aliases=alias)
    for form in ("Cafe\u0301", "Caf\u00e9"):
        assert naming.explain(definition, f"{form}_A_Lak_NLP_1.json", "Lak_NLP").report.ok


@pytest.mark.parametrize("name", ["data.md", "notes.txt", "submission.csv", "run.py", "results.csv", "LICENSE"])
def test_other_files_get_no_name_where_there_is_one_track(tiny: Definition, name: str) -> None:
    definition = replace(tiny, tracks=tiny.tracks[:1], naming=Naming(run="a_{team}_{number}.csv", numbers=(1, 2)))
    assert {problem.suggestion for problem in naming.explain(definition, name, "Lak_NLP").report} == {None}
    near = naming.explain(definition, "a-Lak_NLP-2.csv", "Lak_NLP").report
    assert {problem.suggestion for problem in near} == {"a_Lak_NLP_2.csv"}


@pytest.mark.parametrize("added", [" (1)", "(2)", " - Copy", " copy 2", "_copy", " - copia (3)", " - Kopie"])
def test_a_copy_is_suggested_the_name_that_it_was_copied_from(tiny: Definition, added: str) -> None:
    name = f"task1_hard_Lak_NLP_2{added}.json"
    (problem,) = naming.explain(tiny, name, "Lak_NLP").report
    assert problem.suggestion == "task1_hard_Lak_NLP_2.json"
    (taken,) = naming.explain(tiny, name, "Lak_NLP", {("task1-hard", 2)}).report
    assert taken.suggestion == "task1_hard_Lak_NLP_1.json"


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("track_b/pred_eng.csv", None),
        ("track-2/pred_eng.csv", None),
        ("tracka/pred_eng.csv", "track_a/pred_eng.csv"),
        ("pred_eng.csv", "track_a/pred_eng.csv"),
        ("results/pred_eng.csv", "track_a/pred_eng.csv"),
        ("track_a/pred_english.csv", "track_a/pred_eng.csv"),
    ],
)
def test_a_name_for_another_track_is_not_near_the_only_track(name: str, suggestion: str | None) -> None:
    multilingual = load_definition(ROOT / "tasks" / "multilingual")
    assert {problem.suggestion for problem in naming.explain(multilingual, name, "Lak_NLP").report} == {suggestion}
