"""What `agon` answers if no command is given or a word is mistyped, and what `dir(agon)` lists."""

import pytest

import agon
from agon.__main__ import main


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
        (("sumbit", "run.json"), "there is no command sumbit. Did you mean submit?"),
        (("leaderbord",), "there is no command leaderbord. Did you mean leaderboard?"),
        (("runs", "lsit"), "there is no action lsit. Did you mean list?"),
        (("task", "chekc"), "there is no action chekc. Did you mean check?"),
        (("login", "--scope", "organise"), "--scope: organise is not allowed. Did you mean organize?"),
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
