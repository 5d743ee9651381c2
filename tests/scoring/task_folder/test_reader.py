"""Reading task.yaml: all errors are found together, each with its line and path, and YAML's types are ignored."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import process_time

import pytest

from scoring import DefinitionError, limits, load_definition
from scoring.definition import Agreement
from scoring.definition.dates import read_moment
from scoring.definition.yaml_values import parse_document
from scoring.reports.messages import LANGUAGES, phrase
from scoring.reports.problems import Report
from tests.scoring.conftest import DEFINITION


def errors(folder: Path) -> list[tuple[str, str | None]]:
    with pytest.raises(DefinitionError) as raised:
        load_definition(folder)
    return [(problem.code, problem.item) for problem in raised.value.report]


def test_a_definition_is_read_as_text_and_typed(write_task: Callable[[str], Path]) -> None:
    folder = write_task(DEFINITION)
    definition = load_definition(folder)
    assert definition == load_definition(folder / "task.yaml")
    track = definition.track("task1-hard")
    assert track.format.options["classes"] == ("NO", "A", "B")
    assert track.hierarchy == {"YES": ("A", "B"), "NO": ()}
    assert track.items == {"test": folder / "items.txt"}
    assert (track.decimals, track.missing) == (4, "reject")
    assert definition.phases[0].opens == datetime(2026, 1, 1, tzinfo=UTC)
    assert definition.naming.numbers == (1, 2, 3)
    assert len(definition.sha256) == 64


def test_terms_have_a_version_and_run_numbers_are_used_once_unless_freed(write_task: Callable[[str], Path]) -> None:
    text = DEFINITION.replace("year: 2026", 'year: 2026\nagreement: {version: "1.10", file: terms.md}')
    text += '  - {slug: late, opens: "2027-01-01 00:00 UTC", scores: at-once, official: best, run_numbers: free}\n'
    folder = write_task(text)
    definition = load_definition(folder)
    assert definition.agreement == Agreement(version="1.10", file=folder / "terms.md")
    assert [phase.run_numbers for phase in definition.phases] == ["once", "free"]


LADDER = '  - {{slug: late, opens: "2027-01-01 00:00 UTC", scores: {}, official: {}, ladder_step: {}}}\n'


def test_a_ladder_has_a_step_and_shows_best_runs_at_once(write_task: Callable[[str], Path]) -> None:
    phases = load_definition(write_task(DEFINITION + LADDER.format("at-once", "best", 0.01))).phases
    assert [phase.ladder_step for phase in phases] == [None, 0.01]
    at_once = (("at-once", "best", 0), ("at-once", "best", -0.01), ("at-once", "last", 0.01))
    for wrong in (*at_once, ("on-release", "best", 1)):
        found = errors(write_task(DEFINITION + LADDER.format(*wrong)))
        assert found == [("definition-rule", "phases[1].ladder_step")]


def test_tracks_of_an_overall_ranking_have_a_weight_each(write_task: Callable[[str], Path]) -> None:
    overall = "overall:\n  - {{slug: all, tracks: [{}], by: mean-score, weights: {}}}\n"
    definition = load_definition(write_task(DEFINITION + overall.format("task1-hard", "[2]")))
    assert definition.overall[0].weights == (2.0,)
    for weights in ("[2, 1]", "[0]"):
        found = errors(write_task(DEFINITION + overall.format("task1-hard", weights)))
        assert [code for code, _ in found] == ["definition-rule"]


OVERALL = """overall:
  - {{slug: all, tracks: [{tracks}], by: {by}, missing: {missing}}}
"""


def test_a_mean_score_says_how_a_missing_track_counts(write_task: Callable[[str], Path]) -> None:
    def read(missing: str, by: str = "mean-score", tracks: str = "task1-hard", text: str = DEFINITION) -> Path:
        return write_task(text + OVERALL.format(by=by, missing=missing, tracks=tracks))

    costs = DEFINITION.replace("metrics: [icm_soft]\n    rank_by: icm_soft", "metrics: [mae]\n    rank_by: mae")
    unknown = DEFINITION.replace("rank_by: icm_soft", "rank_by: icm")

    for missing in ("unranked", "zero", "skip"):
        assert load_definition(read(missing)).overall[0].missing == missing
    assert load_definition(read("unranked", by="borda")).overall[0].missing == "unranked"
    place = "overall[0].missing"
    assert errors(read("reject"))[0][1] == place
    assert errors(read("zero", by="mean-rank")) == errors(read("skip", by="borda")) == [("definition-rule", place)]
    # Lower values of `mae` are better, so a missing track would get the best score.
    assert errors(read("zero", tracks="task1-hard, task1-soft", text=costs)) == [("definition-rule", place)]
    assert load_definition(read("skip", tracks="task1-soft", text=costs)).overall[0].missing == "skip"
    assert load_definition(read("zero", text=costs)).overall[0].missing == "zero"
    assert errors(read("zero", tracks="task1-soft", text=unknown)) == [("definition-rule", "tracks[2].rank_by")]


ROUNDS = {
    "opens": '"2027-01-01 00:00 UTC"',
    "closes": '"2027-01-08 00:00 UTC"',
    "scores": "at-once",
    "official": "last",
    "run_numbers": "free",
    "round_days": "7",
}


def test_a_phase_can_repeat_in_rounds(write_task: Callable[[str], Path]) -> None:
    def practice(**given: str) -> str:
        keys = ", ".join(f"{name}: {value}" for name, value in (ROUNDS | given).items() if value)
        return DEFINITION + f"  - {{slug: practice, {keys}}}\n"

    assert [phase.round_days for phase in load_definition(write_task(practice())).phases] == [None, 7]
    for key, value in (
        ("closes", '"2027-01-08 00:01 UTC"'),
        ("scores", "never"),
        ("official", "chosen"),
        ("run_numbers", "once"),
        ("ladder_step", "0.1"),
        ("round_days", "0"),
        ("round_days", "367"),
    ):
        found = errors(write_task(practice(**{key: value})))
        assert ("definition-rule", f"phases[1].{key}") in found
    assert errors(write_task(practice(closes=""))) == [("definition-rule", "phases[1].round_days")]


def test_a_phase_can_have_one_submission_per_team(write_task: Callable[[str], Path]) -> None:
    def phase(**given: str) -> str:
        keys = {"opens": '"2027-01-01 00:00 UTC"', "scores": "on-release", "official": "last", "run_numbers": "free"}
        written = ", ".join(f"{name}: {value}" for name, value in (keys | {"submissions": "1"} | given).items())
        return DEFINITION + f"  - {{slug: single, {written}}}\n"

    assert [one.max_submissions for one in load_definition(write_task(phase())).phases] == [None, 1]
    for key, value in (
        ("scores", "at-once"),
        ("run_numbers", "once"),
        ("runs_per_day", "3"),
        ("slots", "{primary: 1, contrastive: 2}"),
    ):
        found = errors(write_task(phase(**{key: value})))
        assert ("definition-rule", f"phases[1].{key}") in found
    assert errors(write_task(phase(submissions="2"))) == [("definition-value", "phases[1].submissions")]


def test_all_errors_come_at_once(write_task: Callable[[str], Path]) -> None:
    text = DEFINITION.replace("year: 2026", "year: 2O26").replace("title: Tiny", "titel: Tiny")
    text = text.replace("multi: true", "multy: true").replace("scores: at-once", "scores: atonce")
    text = text.replace("items: pairs.txt", "items: ../pairs.txt").replace('"2026-01-01 00:00 UTC"', '"2026-01-01"')
    assert set(errors(write_task(text))) == {
        ("definition-value", "year"),
        ("definition-key-missing", "/"),
        ("definition-key-unknown", "titel"),
        ("definition-key-unknown", "tracks[1].format.multy"),
        ("definition-value", "phases[0].scores"),
        ("definition-value", "phases[0].opens"),
        ("definition-path", "tracks[3].items"),
    }


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("title: Tiny", "title: Tiny\ntitle: Twice", "definition-key-twice"),
        ("agon: 1", "agon: 2", "definition-value"),
        ("languages: [en]", "languages: en", "definition-value"),
        ("languages: [en]", "languages: [en, en]", "definition-value"),
        ("languages: [en]", "languages: {en: 1}", "definition-value"),
        ("slug: tiny", "slug: Tiny Task", "definition-value"),
        ("kind: spans", "kind: span", "definition-value"),
        ("kind: spans", "kind: spans, texts: x", "definition-key-unknown"),
        ("hierarchy: kinds", "hierarchy: kind", "definition-value"),
        ("items: optional.txt", "items: /etc/passwd", "definition-path"),
        ("items: pairs.txt", "items: /etc/passwd", "definition-path"),
        ("items: pairs.txt", "items: sub\\pairs.txt", "definition-path"),
        ("rank_by: accuracy", "rank_by: acuracy", "definition-rule"),
        ("metrics: [accuracy]", "metrics: [span_f1]", "definition-rule"),
        (
            "metrics: [accuracy]",
            'slices: {human: {items: {dev: human.csv}}}\n    metrics: [accuracy, "accuracy@human=yes"]',
            "definition-rule",
        ),
        ("metrics: [accuracy]", "metrics: [accuracy, accuracy]", "definition-value"),
        ('["NO", A, B], constants', '["NO", A, C], constants', "definition-rule"),
        ("slug: task2-hard", "slug: task1-hard", "definition-rule"),
        ("scores: at-once,", "split: trial, scores: at-once,", "definition-rule"),
        ("scores: at-once,", 'closes: "2025-01-01 00:00 AoE", scores: at-once,', "definition-rule"),
        ('archive: "tiny_{team}"', 'archive: "tiny_{track}"', "definition-rule"),
        ("phases:", "gold: [{track: none, file: gold.json}]\nphases:", "definition-rule"),
        ("phases:", "gold: [{track: task1-hard, split: x, file: g}]\nphases:", "definition-rule"),
        ("phases:", 'team: {name: "[a-"}\nphases:', "definition-value"),
        ("phases:", "baselines: [{name: x, files: ../x}]\nphases:", "definition-path"),
        ("phases:", 'baselines: [{name: x, files: "{team}/x"}]\nphases:', "definition-value"),
        ("phases:", 'baselines: [{name: x, files: "{split"}]\nphases:', "definition-value"),
        ("phases:", 'baselines: [{name: x, files: "x}"}]\nphases:', "definition-value"),
        ("phases:", 'baselines: [{name: x, files: "{{split}}"}]\nphases:', "definition-value"),
        ("phases:", "baselines: [{name: x, tracks: [task9]}]\nphases:", "definition-rule"),
        ("phases:", "baselines: [{name: x, recipe: {method: random}}]\nphases:", "definition-rule"),
        ("phases:", "baselines: [{name: x, files: x, recipe: {method: magic}}]\nphases:", "definition-value"),
        ("year: 2026", "year: 2026\ndecimals: 18", "definition-rule"),
        ("kind: spans}", "kind: spans}\n    decimals: 999999999", "definition-rule"),
        ("title: Tiny", "title: &t Tiny\nvenue: *t", "definition-yaml"),
        ("title: Tiny", "title: [", "definition-yaml"),
        ("title: Tiny", "title: ''", "definition-value"),
    ],
)
def test_single_errors(write_task: Callable[[str], Path], old: str, new: str, code: str) -> None:
    if old == "items: optional.txt":
        old, new = "optional_items: optional.txt", "optional_items: /etc/passwd"
    assert old in DEFINITION
    with pytest.raises(DefinitionError) as raised:
        load_definition(write_task(DEFINITION.replace(old, new, 1)))
    assert code in {problem.code for problem in raised.value.report}
    for problem in raised.value.report:
        if problem.code == "definition-rule":
            said = {phrase(str(problem.found), language) for language in LANGUAGES}
            assert len(said) == len(LANGUAGES), said


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ("phases:", "baselines: [{name: x, files: b/{split}/x.json}]\nphases:", "{split}"),
        ("phases:", "pages:\n  overview: {track}_pages/x.md\nphases:", "{track}"),
        ("title: Tiny", "title: [a, {split: b}", None),
        ("title: Tiny", 'title: "{split}" "x"', None),
    ],
)
def test_a_placeholder_without_quotes_is_named(
    write_task: Callable[[str], Path], old: str, new: str, field: str | None
) -> None:
    with pytest.raises(DefinitionError) as raised:
        load_definition(write_task(DEFINITION.replace(old, new, 1)))
    [problem] = raised.value.report
    assert problem.code == "definition-yaml"
    assert str(problem.found).endswith(f"; put the value with {field} in quotes") is (field is not None)


@pytest.mark.parametrize("part", ["{", "[", "{a: ", ": ", ":  {", " ", ": {a"])
def test_a_very_long_line_is_rejected_quickly(tmp_path: Path, part: str) -> None:
    line = "a: " + part * (limits.DEFINITION_BYTES // len(part) - 2)
    (tmp_path / "task.yaml").write_text(f"{line}\t]")
    began = process_time()
    with pytest.raises(DefinitionError) as raised:
        load_definition(tmp_path)
    assert process_time() - began < 1
    assert [problem.code for problem in raised.value.report] == ["definition-yaml"]


@pytest.mark.parametrize(
    ("encoding", "code", "found"),
    [
        ("latin-1", "not-utf8", "byte 0xf3"),
        ("cp1252", "not-utf8", "byte 0xf3"),
        ("utf-16", "not-utf8-but", "UTF-16"),
    ],
)
def test_another_encoding_is_named(tmp_path: Path, encoding: str, code: str, found: str) -> None:
    text = DEFINITION.replace("title: Tiny", "title: Detección")
    (tmp_path / "task.yaml").write_bytes(text.encode(encoding))
    with pytest.raises(DefinitionError) as raised:
        load_definition(tmp_path)
    [problem] = raised.value.report
    assert (problem.code, problem.found) == (code, found)
    assert str(problem.file).endswith("task.yaml")


@pytest.mark.parametrize(("space", "name"), [("\t", "tabs"), ("\u00a0", "no-break spaces"), ("\u3000", "wide spaces")])
def test_indentation_without_spaces_is_named(write_task: Callable[[str], Path], space: str, name: str) -> None:
    text = DEFINITION.replace("\n  - slug: task1-hard", f"\n{space}- slug: task1-hard")
    with pytest.raises(DefinitionError) as raised:
        load_definition(write_task(text))
    [problem] = raised.value.report
    assert str(problem.found).endswith(f"; the line is indented with {name}: indent with spaces")
    line = text.splitlines().index(f"{space}- slug: task1-hard") + 1
    assert problem.line in (line, line + 1)


def test_an_error_has_its_line_and_the_nearest_right_word(write_task: Callable[[str], Path]) -> None:
    with pytest.raises(DefinitionError) as raised:
        load_definition(write_task(DEFINITION.replace("rank_by: accuracy", "rank_bye: accuracy")))
    unknown = next(problem for problem in raised.value.report if problem.code == "definition-key-unknown")
    assert unknown.line == DEFINITION.splitlines().index("    rank_by: accuracy") + 1
    assert unknown.suggestion == "rank_by"


@pytest.mark.parametrize(
    ("old", "new", "path", "suggestion"),
    [
        ("rank_by: accuracy", "rank_by: acuracy", "tracks[4].rank_by", "accuracy"),
        ("rank_by: accuracy", "rank_by: kappa", "tracks[4].rank_by", None),
        (
            "rank_by: accuracy",
            "board_columns: [acuracy]\n    rank_by: accuracy",
            "tracks[4].board_columns[0]",
            "accuracy",
        ),
        ("metrics: [accuracy]", "metrics: [accuracy, macro-F1]", "tracks[4].metrics[1]", "f1_macro"),
        ("metrics: [f1_macro]", 'metrics: [f1_macro, "f1:a"]', "tracks[1].metrics[1]", "f1:A"),
        ("metrics: [accuracy]", "metrics: [accuracy, bleu]", "tracks[4].metrics[1]", None),
        ('["NO", A, B], constants', '["NO", A, b], constants', "tracks[0].format.classes[2]", "B"),
        ("slug: task2-hard", "slug: task1-hard", "tracks[1].slug", None),
        (
            "metrics: [accuracy]",
            'metrics: [accuracy, "accuracy@human=yes"]\n    slices: {human: {items: {dev: human.csv}}}',
            "tracks[4].metrics[1]",
            None,
        ),
        ("scores: at-once,", "split: tests, scores: at-once,", "phases[0].split", "test"),
        ('archive: "tiny_{team}"', 'archive: "tiny_{track}"', "naming.archive", None),
        ("phases:", "gold: [{track: task1_hard, file: gold.json}]\nphases:", "gold[0].track", "task1-hard"),
    ],
)
def test_a_contradiction_has_its_line_path_and_fix(
    write_task: Callable[[str], Path], old: str, new: str, path: str, suggestion: str | None
) -> None:
    text = DEFINITION.replace(old, new, 1)
    with pytest.raises(DefinitionError) as raised:
        load_definition(write_task(text))
    problem = next(problem for problem in raised.value.report if problem.code == "definition-rule")
    assert (problem.item, problem.suggestion) == (path, suggestion)
    line = new.splitlines()[0]
    assert line in text.splitlines()[(problem.line or 0) - 1]


def test_a_metric_of_labels_is_rejected_where_a_table_holds_numbers(write_task: Callable[[str], Path]) -> None:
    text = DEFINITION.replace("columns: [HS]}", "columns: [HS], values: number}")
    with pytest.raises(DefinitionError, match="accuracy supports labels, but this track's table contains numbers"):
        load_definition(write_task(text))
    assert load_definition(write_task(text.replace("accuracy", "pearson")))


def test_contradictions_are_listed_next_to_errors_of_other_parts_only(
    write_task: Callable[[str], Path],
) -> None:
    text = DEFINITION.replace("rank_by: accuracy", "rank_by: acuracy\n    rankby: x", 1)
    text = text.replace("scores: at-once,", "split: trial, scores: atonce,").replace("kind: spans", "kind: span")
    found = errors(write_task(text))
    assert ("definition-key-unknown", "tracks[4].rankby") in found
    assert ("definition-rule", "tracks[4].rank_by") in found
    assert ("definition-rule", "phases[0].split") in found
    assert [path for _, path in found if str(path).startswith("tracks[5]")] == ["tracks[5].format.kind"]
    broken = text.replace("metrics: [accuracy]", "metrics: accuracy", 1)
    found = errors(write_task(broken))
    assert ("definition-value", "tracks[4].metrics") in found
    assert ("definition-rule", "tracks[4].rank_by") not in found


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"[" * 10_000, b"- a\n", b"a: !!python/object:os.system x\n"])
def test_files_that_are_not_definitions(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "task.yaml").write_bytes(content)
    assert errors(tmp_path)


@pytest.mark.parametrize("split", ["../../x", "..", "a..b", "/etc", ".hidden", "a b", "a\\\\b", "{track}"])
@pytest.mark.parametrize(
    ("old", "new", "item"),
    [
        ("scores: at-once,", 'split: "SPLIT", scores: at-once,', "phases[0].split"),
        ("phases:", 'gold: [{track: task1-hard, split: "SPLIT", file: g}]\nphases:', "gold[0].split"),
        ("phases:", 'votes: [{track: task1-hard, split: "SPLIT", file: g}]\nphases:', "votes[0].split"),
    ],
)
def test_a_split_can_be_part_of_a_path(
    write_task: Callable[[str], Path], old: str, new: str, item: str, split: str
) -> None:
    text = DEFINITION.replace("items: items.txt", f'items: {{"{split}": items.txt, test: items.txt}}')
    folder = write_task(text.replace(old, new.replace("SPLIT", split), 1))
    with pytest.raises(DefinitionError) as raised:
        load_definition(folder)
    (problem,) = raised.value.report
    assert (problem.code, problem.item) == ("definition-rule", item)
    assert len({phrase(str(problem.found), language) for language in LANGUAGES}) == len(LANGUAGES)
    assert load_definition(folder, is_imported=True).tracks  # definitions from before this rule can still be read


@pytest.mark.parametrize("written", [r"\0", r"\a", r"\e", r"\x7f", r"\uFFFE"])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("title: Tiny", 'title: "a{}"'),
        ("rank_by: icm\n", 'rank_by: "icm{}"\n'),
        ("title: Tiny", 'title: Tiny\n"b{}": 1'),
        ("items: pairs.txt", 'items: {{"c{}": pairs.txt}}'),
    ],
)
def test_control_characters_are_named_and_not_repeated(
    write_task: Callable[[str], Path], old: str, new: str, written: str
) -> None:
    text = DEFINITION.replace(old, new.format(written), 1)
    with pytest.raises(DefinitionError) as raised:
        load_definition(write_task(text))
    (problem,) = raised.value.report
    assert problem.line == next(number for number, line in enumerate(text.splitlines(), 1) if written in line)
    assert "control character U+" in problem.message
    assert len({phrase(str(problem.found), language) for language in LANGUAGES}) == len(LANGUAGES)
    assert "".join(map(str, problem.as_dict().values())).isprintable()


def test_line_breaks_tabs_and_letters_of_all_scripts_are_allowed(write_task: Callable[[str], Path]) -> None:
    folder = write_task(DEFINITION.replace("title: Tiny", r'title: "ñ\té\n日本 🙂"'))
    assert load_definition(folder).title == "ñ\té\n日本 🙂"


def test_a_folder_without_a_definition(tmp_path: Path) -> None:
    assert errors(tmp_path)[0][0] == "definition-unreadable"


def test_a_link_out_of_the_folder(write_task: Callable[[str], Path]) -> None:
    folder = write_task(DEFINITION)
    (folder / "pairs.txt").unlink()
    (folder / "pairs.txt").symlink_to("/etc/passwd")
    assert ("definition-path", "tracks[3].items") in errors(folder)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2024-05-01 00:00 AoE", datetime(2024, 5, 1, 12, tzinfo=UTC)),
        ("2024-05-01 10:30:15 UTC", datetime(2024, 5, 1, 10, 30, 15, tzinfo=UTC)),
        ("2024-07-01 00:00 Europe/Madrid", datetime(2024, 6, 30, 22, tzinfo=UTC)),
        ("2024-02-29 00:00 UTC", datetime(2024, 2, 29, tzinfo=UTC)),
        ("2023-02-29 00:00 UTC", None),
        ("2024-03-31 02:30 Europe/Madrid", None),  # this time is skipped when daylight saving time begins
        ("2024-05-01", None),
        ("2024-05-01 00:00", None),
        ("2024-05-01 00:00 Nowhere/City", None),
        ("2024-05-01 00:00 ../../etc/passwd", None),
        ("2024-05-01 24:00 UTC", None),
        ("2024-05-01T10:30:15Z", datetime(2024, 5, 1, 10, 30, 15, tzinfo=UTC)),
        ("2024-05-01t10:30z", datetime(2024, 5, 1, 10, 30, tzinfo=UTC)),
        ("2024-05-01T10:30:15.250Z", datetime(2024, 5, 1, 10, 30, 15, 250_000, tzinfo=UTC)),
        ("20240501T1030Z", datetime(2024, 5, 1, 10, 30, tzinfo=UTC)),
        ("2024-05-01T10:30+02:00", datetime(2024, 5, 1, 8, 30, tzinfo=UTC)),
        ("2024-05-01T10:30+0200", datetime(2024, 5, 1, 8, 30, tzinfo=UTC)),
        ("2024-05-01T10:30-03", datetime(2024, 5, 1, 13, 30, tzinfo=UTC)),
        ("2024-05-01T10:30\N{MINUS SIGN}03:00", datetime(2024, 5, 1, 13, 30, tzinfo=UTC)),
        ("2024-05-01 10:30 +02:00", datetime(2024, 5, 1, 8, 30, tzinfo=UTC)),
        ("2024-05-01 10:30 UTC+2", datetime(2024, 5, 1, 8, 30, tzinfo=UTC)),
        ("2024-05-01T10:30 Europe/Madrid", datetime(2024, 5, 1, 8, 30, tzinfo=UTC)),
        ("2024-05-01 10:30 +25:00", None),
        ("2024-05-01 10:30 +02:75", None),
        ("2024-05-01T10:30", None),
        ("2024-05-01 10:30 localtime", None),
        ("2024-05-01 10:30 right/UTC", None),
        ("20240501T103Z", None),
        ("0001-01-01 00:00 Asia/Tokyo", None),
        ("1999-12-31 23:59 UTC", None),
        ("2199-12-31 23:59 UTC", datetime(2199, 12, 31, 23, 59, tzinfo=UTC)),
        ("2200-01-01 00:00 UTC", None),
        ("9999-12-31 23:59 UTC", None),
    ],
)
def test_moments(text: str, moment: datetime | None) -> None:
    report = Report()
    value = parse_document(f'"{text}"', report)
    assert value is not None
    read = read_moment(value)
    assert (read if report.ok else None) == moment


@pytest.mark.parametrize(
    ("text", "suggestion"),
    [
        ("2027-05-15 24:00 AoE", "2027-05-16 00:00 AoE"),
        ("2027-12-31T24:00Z", "2028-01-01 00:00 Z"),
        ("2027-02-30 10:00 UTC", "2027-02-28 10:00 UTC"),
        ("2027-15-05 10:00 UTC", "2027-05-15 10:00 UTC"),
        ("2027-05-15", "2027-05-15 23:59 AoE"),
        ("2027-5-1 9:00 Europe/Madrid", "2027-05-01 09:00 Europe/Madrid"),
        ("2027-05-15 10:00", "2027-05-15 10:00 AoE"),
        ("2027-05-15 10:00 aoe", "2027-05-15 10:00 AoE"),
        ("2027-05-15 10:00 PDT", "2027-05-15 10:00 America/Los_Angeles"),
        ("2027-05-15 10:00 CEST", "2027-05-15 10:00 Europe/Madrid"),
        ("2027-03-28 02:30 Europe/Madrid", "2027-03-28 03:30 Europe/Madrid"),
        ("2027-05-15 25:00 AoE", None),
        ("2027-05-15 10:60 AoE", None),
        ("soon", None),
    ],
)
def test_a_wrong_moment_has_the_one_that_was_meant(text: str, suggestion: str | None) -> None:
    report = Report()
    value = parse_document(f'"{text}"', report)
    assert value is not None
    read_moment(value)
    assert [one.suggestion for one in report.errors] == [suggestion]


@pytest.mark.parametrize(
    ("text", "suggestion"),
    [
        ("2027-05-15 23:59 EST", "2027-05-15 23:59 America/New_York"),
        ("2027-01-15 23:59 EST", None),
        ("2027-05-15 23:59 MST", "2027-05-15 23:59 America/Denver"),
        ("2027-05-15 23:59 CET", "2027-05-15 23:59 Europe/Madrid"),
        ("2027-01-15 23:59 CET", None),
        ("2027-07-15 23:59 GMT", "2027-07-15 23:59 Europe/London"),
        ("2027-07-15 23:59 HST", None),  # Hawaii has no summer time
        ("2027-05-15 23:59 UTC", None),
        ("2027-10-31 02:30 Europe/Madrid", "2027-10-31 02:30+02:00"),
        ("2027-10-31 02:30+01:00", None),
        ("2027-05-15 23:59 Etc/GMT+2", "2027-05-15 23:59-02:00"),
    ],
)
def test_a_moment_that_people_may_read_differently_has_a_warning(text: str, suggestion: str | None) -> None:
    report = Report()
    value = parse_document(f'"{text}"', report)
    assert value is not None
    moment = read_moment(value)
    assert report.ok
    assert [one.suggestion for one in report.warnings] == ([suggestion] if suggestion else [])
    for one in report.warnings:  # the suggestion is valid itself, and clear
        again = Report()
        root = parse_document(f'"{one.suggestion}"', again)
        assert root is not None
        assert abs(read_moment(root) - moment) <= timedelta(hours=1)
        assert not again.problems
        assert len({phrase(str(one.found), language) for language in LANGUAGES}) == len(LANGUAGES)


def test_rules_for_teams(write_task: Callable[[str], Path]) -> None:
    team = (
        'team: {name: "[a-z]+", approval: {domains: [uni.example]}, closes_with: only, questions: '
        "[{key: size, label: How many?, required: true}, {key: kind, label: Which?, choices: [a, b]}]}\n"
    )
    slug = load_definition(write_task(DEFINITION)).phases[0].slug
    rules = load_definition(write_task(DEFINITION.replace("phases:", team.replace("only", slug) + "phases:"))).team
    assert (rules.approval, rules.domains, rules.closes_with) == ("domains", ("uni.example",), slug)
    assert [(question.key, question.required, question.choices) for question in rules.questions] == [
        ("size", True, ()),
        ("kind", False, ("a", "b")),
    ]


@pytest.mark.parametrize(
    ("team", "path"),
    [
        ("approval: never", "team.approval"),
        ("approval: {domain: [a.example]}", "team.approval"),
        ("approval: {domains: [example]}", "team.approval.domains[0]"),
        ("closes_with: nowhere", "team.closes_with"),
        ("questions: [{key: a, label: A}, {key: a, label: B}]", "team.questions[1].key"),
        ("questions: [{key: a}]", "team.questions[0]"),
    ],
)
def test_errors_in_the_rules_for_teams(write_task: Callable[[str], Path], team: str, path: str) -> None:
    text = DEFINITION.replace("phases:", f'team: {{name: "[a-z]+", {team}}}\nphases:')
    assert path in {item for _, item in errors(write_task(text))}


def test_a_phase_that_never_shows_scores_must_close(write_task: Callable[[str], Path]) -> None:
    hidden = DEFINITION.replace("scores: at-once", "scores: never")
    assert errors(write_task(hidden)) == [("definition-rule", "phases[0]")]
    assert load_definition(write_task(hidden), is_imported=True).phases[0].scores == "never"
    assert load_definition(write_task(hidden.replace("scores: never", 'closes: "2026-02-01 00:00 UTC", scores: never')))


def test_items_are_published_only_where_scores_are(write_task: Callable[[str], Path]) -> None:
    text = (
        DEFINITION.replace('UTC", scores: at-once', 'UTC", closes: "2026-02-01 00:00 UTC", scores: at-once')
        + "gold: [{track: task1-hard, file: gold.json, published: true}, {track: task4-plain, file: g.tsv}]\n"
    )
    definition = load_definition(write_task(text))
    assert definition.publishes_items("task1-hard", "test")
    assert not definition.publishes_items("task4-plain", "test")
    hidden = text.replace("scores: at-once", "scores: never")
    assert errors(write_task(hidden)) == [("definition-rule", "gold[0].published")]


def test_items_are_not_published_while_a_phase_never_closes(write_task: Callable[[str], Path]) -> None:
    text = DEFINITION + "gold: [{track: task1-hard, file: gold.json, published: true}]\n"
    with pytest.raises(DefinitionError) as failed:
        load_definition(write_task(text))
    (problem,) = failed.value.report
    assert (problem.item, problem.line) == ("gold[0].published", text[: text.index("published")].count("\n") + 1)
    assert "the phase open never closes" in problem.message
    assert "add a closes: date to open, or set published: false" in problem.message
    assert load_definition(write_task(text), is_imported=True).publishes_items("task1-hard", "test")
    with pytest.raises(DefinitionError):
        load_definition(write_task(text.replace("year: 2026", "year: soon")), is_imported=True)


def test_a_gold_with_several_labels_needs_metrics_that_accept_them(write_task: Callable[[str], Path]) -> None:
    gold = "gold: [{track: task1-hard, file: g, format: {kind: json-labels, classes: [A, B], multi: true}}]\nphases:"
    text = DEFINITION.replace("phases:", gold).replace("metrics: [icm]", "metrics: [icm, METRIC]")
    assert errors(write_task(text.replace("METRIC", "accuracy"))) == [("definition-rule", "gold[0].format")]
    assert load_definition(write_task(text.replace("METRIC", "accuracy_admissible"))).gold
