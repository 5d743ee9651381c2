"""The `agon` command line. `check` and `score` print the same reports as the portal's pages.

Exit codes: 0 valid (warnings allowed); 1 invalid; 2 usage error, such as an invalid argument, definition, items file or
gold file; 141 if the reader of the output closed the pipe.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module  # noqa: TID251 - by the name of the command
from pathlib import Path
from typing import Any

from scoring import __version__
from scoring.check import check
from scoring.check_upload import check_upload
from scoring.commands import (
    INVALID,
    USAGE,
    VALID,
    UsageError,
    as_uploaded,
    gold_in_folder,
    print_json,
    track_of_run,
)
from scoring.commands.parser import COMMAND, Parser
from scoring.definition import Definition, DefinitionError
from scoring.formats import is_zipped
from scoring.limits import LISTED
from scoring.reports.messages import LANGUAGES
from scoring.reports.nearest import nearest
from scoring.reports.printing import problem_line, report_text, scores_text, spelled_out
from scoring.reports.problems import Report, in_language
from scoring.score import GoldError, Result, score
from scoring.task_folder.reader import load_definition
from scoring.uploads import naming
from scoring.uploads.inspection import inspect_upload, read_run
from scoring.uploads.name_rules import UsedNumbers

OTHER_COMMANDS = {
    "analyze": "compare runs with a gold standard, and print tables of the results",
    "compare": "compare runs with each other: the difference in each metric, its interval and a paired test",
    "baselines": "create run files for baselines",
    "votes": "create a gold standard from annotators' votes",
    "agreement": "measure annotator agreement",
    "explain": "show the track, team and run number that each file name stands for",
    "significance": "compute confidence intervals of scores and ranks",
}
ALIASES = {"analyze": ["analyse"], "votes": ["gold"]}
_COMPLETING = "_ARGCOMPLETE"  # set by the shell scripts that `agon completion` prints
INTERRUPTED = 128 + 2  # the exit code that shells report for a program ended by SIGINT
BROKEN_PIPE = 128 + 13  # the exit code that shells report for a program ended by SIGPIPE
NOT_RUN = "the task's own scorer was not run; to run the program in its folder scorer, add --run-scorer"
ITEMS_ERRORS = ("items-unreadable", "items-unknown-split")

AddCommands = Callable[[Any, str], None]
"""A function that adds commands to argparse's subparsers. Its string argument is the typed command, or empty."""
ExplainMissing = Callable[[Path], str]
"""A function that says what to do if a task's folder does not exist."""


def main(
    arguments: Sequence[str] | None = None,
    add_commands: AddCommands | None = None,
    explain_missing: ExplainMissing | None = None,
) -> int:
    """Run the command line and return its exit code.

    Exit quietly if the reader of a pipe, such as `head`, has closed it.
    """
    try:
        try:
            given = sys.argv[1:] if arguments is None else arguments
            return _run(given, add_commands, explain_missing or missing_folder)
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        print("\nInterrupted.", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for output that is flushed later, at exit
        return BROKEN_PIPE


def missing_folder(folder: Path) -> str:
    """Say that a task's folder does not exist, and name the most similar task folder next to it."""
    meant = nearest(folder.name, sorted(path.parent.name for path in folder.parent.glob("*/task.yaml")))
    hint = f" Did you mean {folder.parent / meant}?" if meant else ""
    return f"There is no task folder {folder}.{hint}"


def _run(arguments: Sequence[str], add_commands: AddCommands | None, explain_missing: ExplainMissing) -> int:
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    options = _completed(_parser(_typed(arguments), add_commands)).parse_args(arguments)
    try:
        if options.task is None:
            return int(options.command(options))
        definition = _definition(options.task, explain_missing)
        slugs = [track.slug for track in definition.tracks]
        if options.track is not None and options.track not in slugs:
            meant = nearest(options.track, slugs)
            why = f"{definition.slug} has no track {options.track}; its tracks are {', '.join(slugs)}."
            raise UsageError(f"{why} Did you mean {meant}?" if meant else why)
        for path in filter(None, (options.items, *options.inputs(options))):
            if _is_of_several(definition, path):
                continue
            if path.is_dir():
                raise UsageError(f"{path} is a folder. Specify the files in it instead.")
            if not path.is_file():
                raise UsageError(f"File not found: {path}.")
        return int(options.command(options, definition))
    except GoldError as error:
        return _exit_with_errors(options, "Cannot use the gold standard.", error.report)
    except UsageError as error:
        return _exit_with_errors(options, str(error), error.report)


def _is_of_several(definition: Definition, path: Path) -> bool:
    """Return whether the path refers to several files of one run.

    This is the case for a folder, and for a path that contains the placeholder for the files, such as `{language}`.
    """
    files = [track.files for track in definition.tracks if track.files]
    if path.is_dir():
        return bool(files) or any(map(is_zipped, definition.tracks))
    return any(one.field in str(path) for one in files)


def _typed(arguments: Sequence[str]) -> str:
    """Return the command that was typed, including when a shell asks for completions, or whose help is wanted."""
    words = os.environ.get("COMP_LINE", "").split()[1:] if _COMPLETING in os.environ else arguments
    return next((word for word in words if word != "help"), "")


def _completed(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Return the parser, unless a shell is asking for completions. In that case, print them and exit."""
    if _COMPLETING in os.environ:
        import argcomplete  # noqa: PLC0415 - so that other commands start faster

        argcomplete.autocomplete(parser)
    return parser


def _exit_with_errors(options: argparse.Namespace, why: str, report: Report | None) -> int:
    if options.json:
        translated = in_language(report or Report(), options.lang)
        print_json({"ok": False, "code": "usage", "detail": why, "problems": translated.as_dict()["problems"]})
    print(spelled_out(f"agon: {why}"), file=sys.stderr)
    if report:
        print(report_text(report, language=options.lang), file=sys.stderr)
    return USAGE


def _parser(typed: str, add_commands: AddCommands | None) -> argparse.ArgumentParser:
    """Build the parser, importing only the modules of the typed command."""
    parser = Parser(prog="agon", description="Check and score runs for a shared task.")
    parser.add_argument("--version", action="version", version=_version() if typed == "--version" else "")
    commands = parser.add_actions(COMMAND)
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("-t", "--task", type=Path, required=True, metavar="DIR", help="task folder")
    shared.add_argument(
        "--items", type=Path, metavar="FILE", help="file with the ids that a run must contain, one per line"
    )
    shared.add_argument("--split", default="test", help="the phase's split, such as dev (default: test)")
    reporting = argparse.ArgumentParser(add_help=False)
    reporting.add_argument(
        "--all", action="store_true", help=f"list all places where a problem occurs, not only the first {LISTED}"
    )
    shared.add_argument("--json", action="store_true", help="print the output as a JSON object")
    shared.add_argument("--lang", choices=LANGUAGES, default="en", help="language of the report (default: en)")
    checker = _command(commands, "check", "check whether a run or an archive of runs is valid", [shared, reporting])
    checker.add_argument("--track", metavar="SLUG", help="check the run for this track, regardless of its file name")
    checker.add_argument("--team", metavar="NAME", help="team name that the file names must contain")
    checker.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="run file, or zip archive of runs")
    checker.set_defaults(command=_check, inputs=lambda options: options.runs)
    scorer = _command(commands, "score", "score a run against a gold standard", [shared, reporting])
    scorer.add_argument(
        "--track",
        metavar="SLUG",
        help="track to score the run for (default: the track in the file name, or in the names in the zip)",
    )
    scorer.add_argument("--gold", type=Path, metavar="FILE", help="gold file (default: the one in the task folder)")
    scorer.add_argument(
        "--lenient", action="store_true", help="also score runs that the official evaluator accepts despite errors"
    )
    scorer.add_argument(
        "--run-scorer",
        action="store_true",
        help="run the program in the folder scorer, which can do on this computer whatever you can do",
    )
    scorer.add_argument("run", type=Path, metavar="RUN", help="run file, or zip archive of runs")
    scorer.set_defaults(command=_score, inputs=lambda options: [options.run, options.gold])
    schema = _command(commands, "schema", "print the JSON Schema of task.yaml, for use in editors")
    schema.set_defaults(task=None, command=_print_schema)
    for name, purpose in OTHER_COMMANDS.items():
        other = _command(commands, name, purpose, [shared])
        if typed in (name, *ALIASES.get(name, ())):
            import_module(f"scoring.commands.{name}").add_options(other)
    receipt = _command(commands, "receipt", "verify a receipt that the portal issued for an upload")
    receipt.set_defaults(task=None, lang="en")  # receipts do not need a task's folder
    if typed == "receipt":
        from scoring.commands.receipt import add_options  # noqa: PLC0415 - as above

        add_options(receipt)
    if add_commands is not None:
        add_commands(commands, typed)
    helper = commands.add_parser("help")
    helper.add_argument("words", nargs="*", metavar=COMMAND)
    helper.set_defaults(task=None, command=lambda options: parser.parse_args([*options.words, "--help"]))
    return parser


def _command(commands: Any, name: str, purpose: str, parents: Sequence[argparse.ArgumentParser] = ()) -> Parser:
    """Add a command's parser. `purpose` is both its help in the list of commands and its own description."""
    parser: Parser = commands.add_parser(
        name,
        aliases=ALIASES.get(name, ()),
        parents=parents,
        help=purpose,
        description=f"{purpose[0].upper()}{purpose[1:]}.",
    )
    return parser


def _version() -> str:
    from importlib import metadata  # noqa: PLC0415 - takes a third of the startup time

    try:
        return f"agon {metadata.version('agon')}"
    except metadata.PackageNotFoundError:  # in a checkout
        return f"agon {__version__}"


def _print_schema(_options: argparse.Namespace) -> int:
    from scoring.task_folder.schema import as_text  # noqa: PLC0415 - so that other commands start faster

    print(as_text(), end="")
    return VALID


def _definition(folder: Path, explain_missing: ExplainMissing) -> Definition:
    if not folder.exists() and not folder.suffix:
        raise UsageError(explain_missing(folder))
    try:
        definition = load_definition(folder)
    except DefinitionError as error:
        raise UsageError(f"The definition in {folder} has errors.", error.report) from None
    for warning in definition.warnings:
        print(problem_line(warning), file=sys.stderr)
    return definition


def _check(options: argparse.Namespace, definition: Definition) -> int:
    names: dict[Path, set[str]] = {path.parent: set() for path in options.runs}
    for path in options.runs:
        names[path.parent].add(naming.name_of(definition, path))
    found = {path: _checked(path, options, definition, names[path.parent]) for path in options.runs}
    whole = Report([problem for report, _runs in found.values() for problem in report])
    if options.json:
        runs = [{"file": file, "track": track} for _report, runs in found.values() for file, track in runs]
        print_json(in_language(whole, options.lang).as_dict() | {"runs": runs})
    else:
        for path, (report, checked) in found.items():
            print(report_text(report, path.name, options.lang, [track for _file, track in checked]))
    return VALID if whole.ok else INVALID


def _checked(
    path: Path, options: argparse.Namespace, definition: Definition, names: set[str]
) -> tuple[Report, list[tuple[str, str]]]:
    """Return the report on a file, and the name and track of each run in it.

    `names` are the names of the files in the same folder. The name suggested for this file is added to them.
    """
    listed = None if options.all else LISTED
    if options.track:
        report = check(definition, options.track, path, options.items, options.split, listed)
        runs = [(path.name, options.track)]
    else:
        report, runs = _upload_report(path, options, definition, listed, ())
        suggested = _suggested(report, definition, path)
        if suggested in names and (wanted := naming.read(definition, suggested, options.team)):
            others = [naming.read(definition, name, options.team) for name in names]
            used_numbers = {(run.track, run.number) for run in others if run and run.track and run.team == wanted.team}
            report, runs = _upload_report(path, options, definition, listed, used_numbers)
            suggested = _suggested(report, definition, path)
        names.add(suggested)
    if any(problem.code in ITEMS_ERRORS for problem in report.errors):
        raise UsageError("Cannot read the item ids.", report)
    return report, runs


def _upload_report(
    path: Path, options: argparse.Namespace, definition: Definition, listed: int | None, used_numbers: UsedNumbers
) -> tuple[Report, list[tuple[str, str]]]:
    given = options.team, options.split, options.items, listed, used_numbers
    with as_uploaded(definition, path) as file:
        name = file.name if path.is_dir() else naming.name_of(definition, path)
        found = check_upload(definition, file, name, *given)
    named = [one for one in found.runs if not any(problem.code == "name-guessed" for problem in one.report)]
    return found.report, [(naming.printable(one.run.name), one.run.track) for one in named]


def _suggested(report: Report, definition: Definition, path: Path) -> str:
    """Return the suggested valid name for the file, or an empty string if there is none."""
    name = naming.name_of(definition, path)
    return next((one.suggestion for one in report if one.suggestion and one.file == name), "")


def _score(options: argparse.Namespace, definition: Definition) -> int:
    with as_uploaded(definition, options.run) as file:
        names, runs = _runs_to_score(options, definition, file)
    if options.gold and len({track for _name, track, _run in runs}) > 1:
        raise UsageError(f"{options.run.name} has runs for several tracks, but --gold is for one. Add --track.")
    try:
        found = [(name, track, _scored(options, definition, track, run)) for name, track, run in runs]
    except OSError as error:
        raise UsageError(f"{error.filename}: {error.strerror}.") from None
    whole = Report([*names, *(problem for _name, _track, result in found for problem in result.report)])
    if options.json:
        several = [
            {"file": name, "track": track, "scores": one.scores, "flags": one.flags} for name, track, one in found
        ]
        single = found[0][2] if len(found) == 1 else None
        scores: dict[str, Any] = {"scores": single.scores, "flags": single.flags} if single else {"runs": several}
        print_json(scores | in_language(whole, options.lang).as_dict())
    elif not found:
        print(report_text(whole, options.run.name, options.lang))
    else:
        print("\n\n".join(_scores_shown(options, definition, *one) for one in found))
    return VALID if whole.ok else INVALID


def _runs_to_score(
    options: argparse.Namespace, definition: Definition, file: Path
) -> tuple[Report, list[tuple[str, str, Path | bytes]]]:
    """Return the problems with names, and the name, track and content of each run.

    An archive can have several runs, as in `check`. With `--track`, or if its names do not matter because the task has
    a single track, it is a single run.
    """
    if options.track is None:
        name = file.name if options.run.is_dir() else naming.name_of(definition, options.run)
        upload = inspect_upload(definition, file, name, None, None if options.all else LISTED)
        has_several = upload.is_archive or len(upload.runs) > 1
        if has_several and (upload.report.ok or len(definition.named_tracks) > 1):
            runs = upload.runs if upload.report.ok else []
            return upload.report, [(run.name, run.track, read_run(file, run.entry)) for run in runs]
    track = options.track or track_of_run(definition, options.run)
    return Report(), [(options.run.name, track, options.run)]


def _scored(options: argparse.Namespace, definition: Definition, track: str, run: Path | bytes) -> Result:
    gold = options.gold or gold_in_folder(definition, track, options.split)
    result = score(
        definition,
        track,
        run,
        gold=gold,
        items=options.items,
        lenient=options.lenient,
        split=options.split,
        listed=None if options.all else LISTED,
    )
    if not result.scores or not definition.track(track, options.split).scorer_metrics:
        return result
    if not options.run_scorer:
        return replace(result, flags=[*result.flags, NOT_RUN])
    from scoring.own_scorers.local import ScorerError, own_scores  # noqa: PLC0415 - so that other commands start faster

    try:
        return replace(result, scores=result.scores | own_scores(definition, track, run, gold))
    except ScorerError as error:
        print(error.messages, file=sys.stderr, end="")
        raise UsageError(str(error)) from None


def _scores_shown(options: argparse.Namespace, definition: Definition, name: str, track: str, result: Result) -> str:
    text = report_text(result.report, name, options.lang)
    scores = scores_text(result.scores, definition.track(track).decimals) if result.scores else ""
    notes = "".join(f"\nnote: {flag}" for flag in result.flags)
    return f"{text}\n\n{scores}{notes}" if scores else text


if __name__ == "__main__":
    sys.exit(main())
