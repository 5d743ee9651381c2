"""What `agon` answers if no command is given or a word is mistyped, and what `dir(agon)` lists."""

import argparse

import pytest

import agon
from agon.__main__ import main
from agon.commands import call, submit
from scoring.commands.parser import Parser


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[object, str, str]:
    """Return the exit code, standard output and standard error, in single lines."""
    with pytest.raises(SystemExit) as ended:
        main(words)
    printed = capsys.readouterr()
    return ended.value.code, " ".join(printed.out.split()), " ".join(printed.err.split())


@pytest.mark.parametrize(
    ("words", "listed"),
    [
        ((), "leaderboard print a leaderboard"),
        (("help",), "leaderboard print a leaderboard"),
        (("runs",), "withdraw remove a run"),
        (("task",), "push"),
        (("team",), "create"),
        (("organizers",), "remove"),
        (("receipt",), "verify"),
        (("help", "submit"), "--wait"),
        (("help", "runs", "list"), "--track"),
        (("help", "score"), "--gold"),
    ],
)
def test_without_a_command_the_help_lists_them(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], listed: str
) -> None:
    code, out, err = said(capsys, *words)
    assert (code, err) == (0, "")
    assert listed in out


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("help", "sumbit"), "there is no command sumbit. Did you mean submit?"),
        (("sumbit", "run.json"), "there is no command sumbit. Did you mean submit?"),
        (("leaderbord",), "there is no command leaderbord. Did you mean leaderboard?"),
        (("runs", "lsit"), "there is no action lsit. Did you mean list?"),
        (("task", "chekc"), "there is no action chekc. Did you mean check?"),
        (("login", "--scope", "organise"), "--scope: organise is not allowed. Did you mean organize?"),
        (("check", "run.json", "--tsk", "folder"), "--tsk. Did you mean --task?"),
        (("check", "run.json", "--tsk=folder", "--all"), "--tsk. Did you mean --task?"),
        (("check", "run.json", "--zzz"), "--zzz; the following arguments are required: -t/--task"),
        (("check", "run.json", "--al"), "error: the following arguments are required: -t/--task"),
        (("submit", "run.json", "--wiat"), "--wiat. Did you mean --wait?"),
        (("runs", "list", "--trakc", "one"), "--trakc one. Did you mean --track?"),
        (("qqq",), "there is no command qqq. Use one of check, score,"),
    ],
)
def test_a_mistyped_word_gets_a_hint(capsys: pytest.CaptureFixture[str], words: tuple[str, ...], hint: str) -> None:
    code, out, err = said(capsys, *words)
    assert (code, out) == (2, "")
    assert hint in err


def test_no_hint_repeats_what_was_typed(capsys: pytest.CaptureFixture[str]) -> None:
    """Other commands have the option -t."""
    _code, _out, err = said(capsys, "task", "new", "mine", "-t", "exist2024")
    assert "unrecognized arguments: -t exist2024" in err
    assert "Did you mean" not in err


def test_dir_lists_what_the_package_offers() -> None:
    assert [name for name in dir(agon) if not name.startswith("_")] == sorted(agon.__all__)
    assert all(callable(getattr(agon, name)) for name in agon.__all__)


@pytest.mark.parametrize(
    ("words", "file", "fields", "wait"),
    [
        (("run.json",), "run.json", None, None),
        (("--wait", "run.json"), "run.json", None, submit.WAIT),
        (("--json", "run.json", "--wait"), "run.json", "", submit.WAIT),
        (("--wait", "60", "run.json"), "run.json", None, 60),
        (("--wait=1.5", "run.json", "--json=id,state"), "run.json", "id,state", 1.5),
        (("--wait=1", "60"), "60", None, 1),
        (("--json", "--wait", "5", "--", "--json"), "--json", "", 5),
    ],
)
def test_a_file_after_an_option_is_not_the_option_s_value(
    words: tuple[str, ...], file: str, fields: str | None, wait: float | None
) -> None:
    parser = Parser()
    submit.add_options(parser, "submit")
    options = parser.parse_args(words)
    assert (str(options.file), options.json, options.wait) == (file, fields, wait)


@pytest.mark.parametrize(
    "words",
    [
        ("publish", "title=A", "text=-x", "--json", "-t", "tiny"),
        ("title=A", "--json", "publish", "-t", "tiny", "text=-x"),
        ("-t", "tiny", "--json", "title=A", "text=-x", "publish"),
        ("-t", "tiny", "publish", "--json", "--input", "text=-x", "title=A"),
    ],
)
def test_the_inputs_of_a_call_stand_anywhere(words: tuple[str, ...]) -> None:
    options = _called(*words)
    name, inputs = call.operation_and_inputs(options.words)
    assert (name, {*inputs, *options.inputs}) == ("publish", {"title=A", "text=-x"})
    assert (options.json, options.slug) == ("", "tiny")


def test_an_unknown_option_of_a_call_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        _called("publish", "title=A", "--sure", "text=B")
    assert "unrecognized arguments: --sure" in capsys.readouterr().err


def _called(*words: str) -> argparse.Namespace:
    parser = Parser()
    call.add_options(parser, "call")
    return parser.parse_args(words)
