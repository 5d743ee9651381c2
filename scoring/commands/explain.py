"""`explain`: print what file names mean and, for invalid names, the nearest valid names."""

import argparse
from collections import defaultdict
from itertools import islice
from pathlib import Path
from typing import Any

from scoring.commands import INVALID, VALID, print_json
from scoring.definition import Definition
from scoring.reports.printing import report_text
from scoring.reports.problems import in_language
from scoring.uploads import naming
from scoring.uploads.inspection import is_one_run
from scoring.uploads.name_rules import NameReading

EXAMPLES = 3

Held = defaultdict[str | None, set[tuple[str, int | None]]]  # team → the runs meant by the given names


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--team", metavar="NAME", help="team name that the file names must contain")
    parser.add_argument("names", nargs="+", metavar="NAME", help="file names of runs or archives (.zip)")
    parser.set_defaults(command=run, inputs=lambda options: [], track=None)


def run(options: argparse.Namespace, definition: Definition) -> int:
    """Print the meaning of each name. The files do not have to exist."""
    names = [naming.name_of(definition, Path(name)) for name in options.names]
    held: Held = defaultdict(set)
    for named in (naming.read(definition, name, options.team) for name in names):
        if named and named.track and not named.value:
            held[named.team].add((named.track, named.number))
    explained = [_explained(name, options, definition, held) for name in names]
    if options.json:
        print_json({"ok": all(entry["ok"] for entry in explained), "names": explained})
    return VALID if all(entry["ok"] for entry in explained) else INVALID


def _explained(name: str, options: argparse.Namespace, definition: Definition, held: Held) -> dict[str, Any]:
    """Print and return the meaning of a name.

    Names that were given on the command line or already suggested for another name are not suggested.
    """
    is_archive = name.casefold().endswith(".zip") and not is_one_run(definition, name, options.team)
    named = (naming.explain_archive if is_archive else naming.explain)(definition, name, options.team)
    suggested = naming.suggested(definition, named, options.team)
    used_numbers = held[suggested[0].team] if suggested else set()
    if suggested:
        named = naming.explain(definition, name, options.team, used_numbers)
    nearest = (
        [] if named.report.ok else naming.nearest(definition, name, options.team, used_numbers, is_archive=is_archive)
    )
    used_numbers |= naming.numbers_of(naming.suggested(definition, named, options.team))
    report = in_language(named.report, options.lang)
    if not options.json:
        print(
            f"{name}: {_words(named, is_archive, definition)}"
            if report.ok
            else _wrong(named, nearest, definition, options)
        )
    fields = {"track": named.track, "team": named.team, "number": named.number}
    return {"name": name, **fields, "nearest": nearest, **report.as_dict()}


def _words(named: NameReading, is_archive: bool, definition: Definition) -> str:
    words = ["an archive of runs"] if is_archive else []
    if named.track:
        words.append(f"{definition.track(named.track).title}: track {named.track}")
    words += [f"team {named.team}"] if named.team else []
    words += [f"run {named.number}"] if named.number is not None else []
    return ", ".join(words)


def _wrong(named: NameReading, nearest: list[str], definition: Definition, options: argparse.Namespace) -> str:
    text = report_text(named.report, naming.printable(named.name), options.lang)
    names, title = nearest, "closest valid names:"
    if not names:
        examples = (naming.example(definition, track.slug, options.team) for track in definition.named_tracks)
        names, title = (
            list(islice(filter(None, examples), EXAMPLES)),
            "no valid name is close; examples of valid names:",
        )
    return "\n".join([text, "", title, *(f"  {name}" for name in names)] if names else [text])
