"""`python -m scoring`: exit codes, the JSON that other programs rely on, and the printed report."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from scoring import Definition, DefinitionError, load_definition
from scoring.__main__ import main
from tests.conftest import ROOT
from tests.scoring.conftest import ITEMS

KEYS = {"severity", "code", "message", "file", "line", "item", "found", "expected", "suggestion"}


@pytest.fixture
def folder(tiny: Definition) -> Path:
    return tiny.folder


def write(folder: Path, name: str, value: str = "A") -> Path:
    path = folder / name
    run = [{"id": item, "value": value, "test_case": "TINY"} for item in ITEMS]
    path.write_text(json.dumps(run), encoding="utf-8")
    return path


def run_json(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, dict[str, Any]]:
    code = main([*map(str, arguments), "--json"])
    printed: dict[str, Any] = json.loads(capsys.readouterr().out)
    return code, printed


def test_check_by_name(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    right, wrong = write(folder, "task1_hard_Lak_NLP_1.json"), write(folder, "Task1_hard_Lak_NLP_1.json")
    runs = [{"file": right.name, "track": "task1-hard"}]
    assert run_json(capsys, "check", "--task", folder, right) == (0, {"ok": True, "problems": [], "runs": runs})
    code, printed = run_json(capsys, "check", "--task", folder, "--team", "Rival", right, wrong)
    assert (code, printed["ok"]) == (1, False)
    assert [problem["code"] for problem in printed["problems"]] == ["name-team", "name-case", "name-team"]
    assert all(problem.keys() >= KEYS for problem in printed["problems"])


def test_check_suggests_no_name_for_two_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ("task1_hard_Lak_NLP_1.json", "Task1_hard_Lak_NLP_1.json", "task1-hard_Lak_NLP_1.json")
    files = [write(folder, name) for name in names]
    _code, printed = run_json(capsys, "check", "--task", folder, "--team", "Lak_NLP", *files)
    suggested = [problem["suggestion"] for problem in printed["problems"]]
    assert len({names[0], *suggested}) == len(names)


def test_check_suggests_each_team_its_own_number(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ("task1_hard_Alfa_1.json", "task1_hard_Beta_1.JSON", "task1_hard_Gamma_1.json.txt")
    _code, printed = run_json(capsys, "check", "--task", folder, *(write(folder, name) for name in names))
    suggested = {problem["suggestion"] for problem in printed["problems"] if problem["suggestion"]}
    assert suggested == {"task1_hard_Beta_1.json", "task1_hard_Gamma_1.json"}


def test_check_for_a_track_judges_the_content_alone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(folder, "any name")
    assert run_json(capsys, "check", "--task", folder, "--track", "task1-hard", path)[0] == 0
    code, printed = run_json(capsys, "check", "--task", folder, "--track", "task1-soft", path)
    assert (code, printed["problems"][0]["file"]) == (1, "any name")


def test_check_names_the_tracks_of_the_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ("task1_hard_Lak_NLP_1.json", "task1-hard_Lak_NLP_2.json", "anything.json")
    runs = [write(folder, name) for name in names]
    command = ["check", "--task", str(folder)]
    with ZipFile(folder / "tiny_Lak_NLP.zip", "w") as archive:
        for number in (3, 4):
            archive.writestr(f"tiny_Lak_NLP/task1_hard_Lak_NLP_{number}.json", runs[0].read_bytes())
    main([*command, str(runs[0])])
    assert capsys.readouterr().out == "task1_hard_Lak_NLP_1.json: valid. Track: task1-hard.\n"
    main([*command, "--lang", "es", str(runs[1])])
    assert capsys.readouterr().out.startswith("task1-hard_Lak_NLP_2.json: no válido, 1 error. Pista: task1-hard.\n")
    main([*command, str(runs[2])])
    assert "Track" not in capsys.readouterr().out.splitlines()[0]
    main([*command, "--track", "task1-hard", str(runs[2])])
    assert capsys.readouterr().out == "anything.json: valid. Track: task1-hard.\n"
    _code, printed = run_json(capsys, "check", "--task", folder, folder / "tiny_Lak_NLP.zip")
    assert printed["runs"] == [{"file": f"task1_hard_Lak_NLP_{n}.json", "track": "task1-hard"} for n in (3, 4)]


def test_the_items_can_be_given(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, items = write(folder, "task1_hard_Lak_NLP_1"), folder / "other.txt"
    items.write_text("\ufeff" + "\r\n".join([*ITEMS, "i10"]) + "\r\n\r\n", encoding="utf-8")
    code, printed = run_json(capsys, "check", "--task", folder, "--items", items, path)
    assert (code, printed["problems"][0]["places"]) == (1, ["i10"])


def test_score(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gold, run, odd = write(folder, "gold.json"), write(folder, "run.json"), write(folder, "odd.json", "YES")
    arguments = ("score", "--task", folder, "--track", "task1-hard", "--gold", gold)
    code, printed = run_json(capsys, *arguments, run)
    assert (code, printed["problems"], printed["scores"].keys()) == (0, [], {"icm"})
    code, printed = run_json(capsys, *arguments, odd)
    assert (code, printed["scores"], printed["problems"][0]["code"]) == (1, {}, "inner-class")
    code, printed = run_json(capsys, *arguments, odd, "--lenient")
    assert (code, printed["problems"][0]["severity"]) == (0, "warning")
    assert printed["scores"].keys() == {"icm"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["check", "--task", "nowhere", "RUN"], "There is no task folder nowhere."),
        (["check", "--task", "nowhere/task.yaml", "RUN"], "The definition in nowhere/task.yaml has errors"),
        (["check", "--task", "EMPTY", "RUN"], "cannot be read: No such file or directory"),
        (["check", "--task", "TASK", "--track", "task9", "RUN"], "its tracks are task1-hard"),
        (["check", "--task", "TASK", "--items", "nowhere.txt", "RUN"], "File not found: nowhere.txt"),
        (["check", "--task", "TASK", "nowhere.json"], "File not found: nowhere.json"),
        (["check", "--task", "TASK", "TASK"], "is a folder. Specify the files in it instead"),
        (["check", "--task", "TASK", "--split", "trial", "RUN"], "no items for the split trial"),
        (["score", "--task", "TASK", "--track", "task1-hard", "--gold", "BAD", "RUN"], "Cannot use the gold standard"),
    ],
)
def test_wrong_usage_is_code_2_and_says_why(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    (folder / "bad.json").write_text("[", encoding="utf-8")
    (folder / "empty").mkdir()
    places = {
        "TASK": folder,
        "RUN": write(folder, "task1_hard_Lak_NLP_1"),
        "BAD": folder / "bad.json",
        "EMPTY": folder / "empty",
    }
    assert main([str(places.get(argument, argument)) for argument in arguments]) == 2
    assert words in " ".join(capsys.readouterr().err.split())  # long paths are wrapped


def test_score_finds_the_track_by_name_and_the_gold_in_the_folder(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, unnamed = write(folder, "task1_hard_Lak_NLP_1"), write(folder, "run.json")
    task = ["score", "--task", str(folder)]
    assert main([*task, str(unnamed)]) == 2
    assert "The file name run.json does not contain a track. Add --track" in " ".join(capsys.readouterr().err.split())
    assert main([*task, str(run)]) == 2
    missing = "does not contain the gold standard of the track task1-hard, split test. Add --gold FILE."
    assert missing in " ".join(capsys.readouterr().err.split())
    with (folder / "task.yaml").open("a", encoding="utf-8") as definition:
        definition.write("gold: [{track: task1-hard, file: gold.json}]\n")
    write(folder, "gold.json")
    for words in ([str(run)], [str(unnamed), "--track", "task1-hard"]):
        assert main([*task, *words]) == 0
        assert capsys.readouterr().out.endswith("\nicm  0.0000\n")


def test_score_finds_the_runs_and_tracks_in_a_zip(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (folder / "task.yaml").open("a", encoding="utf-8") as definition:
        definition.write("gold: [{track: task1-hard, file: gold.json}, {track: task2-hard, file: gold2.json}]\n")
    one = write(folder, "gold.json").read_bytes()
    two = json.dumps([{"id": item, "value": ["A"]} for item in ITEMS]).encode()
    (folder / "gold2.json").write_bytes(two)
    archive = folder / "tiny_Lak_NLP.zip"
    score = ["score", "--task", str(folder), str(archive)]

    def pack(**runs: bytes) -> None:
        with ZipFile(archive, "w") as packed:
            for name, content in runs.items():
                packed.writestr(f"{name}.json", content)

    pack(task1_hard_Lak_NLP_1=one)
    assert main([*score, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["scores"] == {"icm": 0.0}
    pack(task1_hard_Lak_NLP_1=one, task2_hard_Lak_NLP_1=two)
    assert main(score) == 0
    shown = capsys.readouterr().out
    assert "icm  0.0000" in shown
    assert "f1_macro  1.0000" in shown
    assert main([*score, "--json"]) == 0
    assert [run["track"] for run in json.loads(capsys.readouterr().out)["runs"]] == ["task1-hard", "task2-hard"]
    assert main([*score, "--gold", str(folder / "gold.json")]) == 2
    assert "runs for several tracks" in " ".join(capsys.readouterr().err.split())
    pack(answers=one)
    assert main(score) == 1
    assert "does not follow the naming rule" in " ".join(capsys.readouterr().out.split())


def test_the_task_option_has_a_short_form(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, gold = str(write(folder, "task1_hard_Lak_NLP_1")), str(write(folder, "gold.json"))
    for words in (["check"], ["score", "--track", "task1-hard", "--gold", gold], ["explain"]):
        printed = []
        for option in ("--task", "-t"):
            assert main([*words, option, str(folder), run]) == 0
            printed.append(capsys.readouterr().out)
        assert printed[0] == printed[1] != ""


def test_explain_suggests_no_name_twice(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ["task1_hard_UNED_1", "task1-hard-UNED-1", "Task1_hard_UNED_1", "Task1_hard_Lak_1"]
    _, printed = run_json(capsys, "explain", "--task", folder, "--team", "UNED", *names[:3])
    nearest = [entry["nearest"] for entry in printed["names"][1:]]
    assert [near[0] for near in nearest] == ["task1_hard_UNED_2", "task1_hard_UNED_3"]
    assert not {"task1_hard_UNED_1", "task1_hard_UNED_2"} & {*nearest[1]}
    _, printed = run_json(capsys, "explain", "--task", folder, *names)
    assert printed["names"][3]["problems"][0]["suggestion"] == "task1_hard_Lak_1"  # a name for a different team


def test_explain_says_what_names_say(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--task", str(folder), "task1_hard_Lak_NLP_3.json", "tiny_UNED.zip"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "task1_hard_Lak_NLP_3.json: task1-hard: track task1-hard, team Lak_NLP, run 3",
        "tiny_UNED.zip: an archive of runs, team UNED",
    ]
    code, printed = run_json(capsys, "explain", "--task", folder, "task1_hrd_UNED_4", "--lang", "pt")
    assert (code, printed["ok"], printed["names"][0]["team"]) == (1, False, "UNED")
    assert printed["names"][0]["nearest"] == ["task1_hard_UNED_1", "task1_hard_UNED_2", "task1_hard_UNED_3"]
    assert printed["names"][0]["problems"][0]["message"].startswith("O número de submissão 4 não é permitido")


def test_a_report_in_another_language(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(folder, "task1_hard_Lak_NLP_1.txt")
    main(["check", "--task", str(folder), "--lang", "es", str(path)])
    assert capsys.readouterr().out.splitlines() == [
        "task1_hard_Lak_NLP_1.txt: no válido, 1 error. Pista: task1-hard.",
        "",
        "error · name-extension · task1_hard_Lak_NLP_1.txt",
        "  La extensión del fichero no está permitida: se encontró .txt, se esperaba .json.",
        "  sugerencia: task1_hard_Lak_NLP_1.json",
    ]


def test_the_schema_needs_no_task(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out)["type"] == "object"


def test_missing_arguments_are_code_2() -> None:
    with pytest.raises(SystemExit) as raised:
        main(["score", "--task", "x"])
    assert raised.value.code == 2


def test_the_printed_report_reads_well(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", "--task", str(folder), str(write(folder, "task1_hard_Lak_NLP_1.txt", "B "))])
    assert capsys.readouterr().out.splitlines()[:8] == [
        "task1_hard_Lak_NLP_1.txt: invalid, 2 errors. Track: task1-hard.",
        "",
        "error · name-extension · task1_hard_Lak_NLP_1.txt",
        "  The file extension is not allowed: found .txt, expected .json.",
        "  suggestion: task1_hard_Lak_NLP_1.json",
        "",
        "error · label-outside-domain · task1_hard_Lak_NLP_1.txt, item i0 (#1.value)",
        '  Labels that the track does not define: i0: "B ", i1: "B ", i2: "B ", i3: "B ", i4: "B ", i5: "B ",',
    ]


@pytest.mark.parametrize("track", [[], ["--track", "task1-hard"]])
def test_all_places_are_listed_when_asked_for(
    folder: Path, track: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    path, items, ids = folder / "task1_hard_Lak_NLP_1.json", folder / "many.txt", [str(at) for at in range(30)]
    items.write_text("\n".join(ids), encoding="utf-8")
    path.write_text(json.dumps([{"id": item, "value": "C", "test_case": "TINY"} for item in ids]), encoding="utf-8")
    given = ("check", "--task", folder, *track, "--items", items, path)
    listed = [len(run_json(capsys, *given, *more)[1]["problems"][0]["places"]) for more in ((), ("--all",))]
    assert listed == [20, 30]
    gold = write(folder, "gold.json")
    scored = ("score", "--task", folder, "--track", "task1-hard", "--items", items, "--gold", gold, path)
    assert len(run_json(capsys, *scored, "--all")[1]["problems"][0]["places"]) == 30


@pytest.mark.slow
def test_as_a_program_with_an_odd_name_and_a_plain_locale(folder: Path) -> None:
    path = write(folder, "tâsk\udcff.json")
    command = [sys.executable, "-m", "scoring", "check", "--task", str(folder), str(path)]
    done = subprocess.run(command, capture_output=True, env={"LC_ALL": "C", "PYTHONUTF8": "0"}, check=False)
    assert (done.returncode, done.stderr) == (1, b"")
    assert b"name-" in done.stdout


@pytest.mark.slow
def test_the_engine_starts_without_anything_heavy() -> None:
    heavy = {"django", "pandas", "celery", "asyncio", "http", "email", "unittest", "importlib.metadata"}
    command = [sys.executable, "-c", "import sys, scoring.__main__; print(*sys.modules)"]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert not heavy & set(loaded)


def test_the_nearest_track_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = write(folder, "run.json")
    assert main(["check", "--task", str(folder), "--track", "task_1-hard", str(run)]) == 2
    assert capsys.readouterr().err.endswith("task5-spans. Did you mean task1-hard?\n")


def test_errors_of_a_definition_come_in_the_order_of_its_lines(folder: Path) -> None:
    text = (folder / "task.yaml").read_text(encoding="utf-8")
    text = text.replace("rank_by: icm\n", "rank_by: icn\n").replace("scores: at-once", "scores: at-twice")
    (folder / "task.yaml").write_text(text.replace("title:", "titel:", 1), encoding="utf-8")
    with pytest.raises(DefinitionError) as raised:
        load_definition(folder)
    lines = [problem.line or 0 for problem in raised.value.report]
    assert lines == sorted(lines)
    assert len(lines) == 4


@pytest.mark.slow
@pytest.mark.parametrize("words", [["schema"], ["check", "--task", "FOLDER", "--json", "FILE"]])
def test_a_reader_that_has_left_ends_it_quietly(folder: Path, words: list[str]) -> None:
    """For example, `head` closes the pipe early in `agon schema | head`."""
    file = write(folder, "task1_hard_Lak_NLP_1.json", "Q")
    arguments = [{"FOLDER": str(folder), "FILE": str(file)}.get(word, word) for word in words]
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as pipe:
        command = [sys.executable, "-m", "scoring", *arguments]
        done = subprocess.run(command, stdout=pipe, stderr=subprocess.PIPE, cwd=ROOT, check=False)
    assert (done.returncode, done.stderr) == (141, b"")


def test_a_report_commands_no_terminal(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hostile = "\x1b]0;mine\x07\x9b2J\u202e"
    for name in ("task1_hard_Lak_NLP_1.json", f"task1_{hostile}.json"):
        path = write(folder, name, hostile)
        for options in ([], ["--json"]):
            assert main(["check", "--task", str(folder), str(path), *options]) == 1
            assert not set(hostile) - set("]0;mine2J") & set(capsys.readouterr().out), (name, options)
    main(["check", "--task", str(folder), str(path)])
    assert capsys.readouterr().out.startswith("task1_\\u001b]0;mine\\u0007\\u009b2J\\u202e.json: invalid")


@pytest.mark.parametrize(("name", "former"), [("analyze", "analyse"), ("votes", "gold")])
def test_former_names_of_commands_still_work(name: str, former: str, capsys: pytest.CaptureFixture[str]) -> None:
    helps = []
    for command in (name, former):
        with pytest.raises(SystemExit, match=r"^0$"):
            main([command, "--help"])
        helps.append(capsys.readouterr().out)
    assert helps[0] == helps[1]
    assert "--task" in helps[0]
