"""File and archive names: what they say, their errors, and the valid names near them."""

import difflib
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import chain, combinations
from operator import itemgetter
from pathlib import Path

from scoring.definition import Definition
from scoring.limits import NAME_CHARACTERS
from scoring.reports.problems import Report
from scoring.uploads.name_rules import ArchiveRule, NameReading, Rule, RunRule, UsedNumbers
from scoring.uploads.patterns import Pattern

COMPARED = 10  # valid names compared letter by letter, after a quick selection
LIKELY = 0.7  # likeness from which an invalid name is assumed to mean a valid one


def explain(definition: Definition, name: str, team: str | None, used_numbers: UsedNumbers = ()) -> NameReading:
    """Read a run's file name; with `team` None any team is valid."""
    return _explain(RunRule(definition, team, used_numbers), name)


def read(definition: Definition, name: str, team: str | None) -> NameReading | None:
    """Read a run's file name; None if it breaks any rule."""
    rule = RunRule(definition, team)
    clean = _without_oddities(name, rule.pattern.depth)
    return rule.match(clean, frozenset()) if clean == composed(name) else None


def name_of(definition: Definition, path: Path) -> str:
    """The file's name, with the folders that the rule names."""
    folders = Pattern(definition.naming.run).depth
    is_archive = path.name.casefold().endswith(".zip")
    return path.name if is_archive or not folders else "/".join(path.resolve().parts[-1 - folders :])


def explain_archive(definition: Definition, name: str, team: str | None) -> NameReading:
    """Read an archive's file name; without a rule for archives any name is valid that ends in .zip."""
    if definition.naming.archive:
        return _explain(ArchiveRule(definition, team, definition.naming.archive), name)
    named = NameReading(name)
    clean = _without_oddities(name)
    stem, dot, ending = clean.rpartition(".")
    right = clean if dot and ending.casefold() == "zip" else f"{stem or ending or 'runs'}.zip"
    if clean != composed(name):
        named.report.error("name-characters", file=printable(name), found=printable(name), suggestion=right)
    if right != clean:
        named.report.error(
            "name-extension",
            file=clean,
            found=dot + ending if dot else "no extension",
            expected=".zip",
            suggestion=right,
        )
    return named


def suggested(definition: Definition, named: NameReading, team: str | None) -> list[NameReading]:
    """The runs suggested for an invalid name; they count as used for other names."""
    names = dict.fromkeys(problem.suggestion for problem in named.report if problem.suggestion)
    return [run for name in names if (run := read(definition, name, team)) and run.track]


def nearest(
    definition: Definition, name: str, team: str | None, used_numbers: UsedNumbers = (), count: int = 3
) -> list[str]:
    """The valid names nearest to an invalid one, most likely first, keeping what could be read."""
    rule: Rule = RunRule(definition, team, used_numbers)
    if definition.naming.archive and name.casefold().endswith(".zip"):
        rule = ArchiveRule(definition, team, definition.naming.archive)
    named = _explain(rule, name)
    without_number = replace(named, number=None)
    wider = (named, without_number, replace(without_number, track=None))
    return list(dict.fromkeys(chain.from_iterable(_near(rule, wanted) for wanted in wider)))[:count]


def likely_track(definition: Definition, name: str, team: str | None) -> str | None:
    """The track meant by a name without one: its valid name is near, and nearer than those of all others."""
    rule = RunRule(definition, team)
    names = {right: track.slug for track in definition.tracks for right in rule.right_names(track, None, None)}
    ranked = _ranked(names, _without_oddities(name, rule.pattern.depth))
    best, slug = (ranked[0][0], names[ranked[0][1]]) if ranked else (0.0, "")
    is_equal = any(likeness == best and names[right] != slug for likeness, right in ranked)
    return slug if best >= LIKELY and not is_equal else None


def example(
    definition: Definition, track: str, team: str | None, number: int | None = None, used_numbers: UsedNumbers = ()
) -> str | None:
    """A valid name for a run; None without a team, or if all numbers are used."""
    rule = RunRule(definition, team, used_numbers)
    return next(rule.right_names(definition.track(track), number, team), None)


def common_name(definition: Definition, name: str) -> str:
    """A valid name, of a run of several files with their field instead of a value."""
    named = read(definition, name, None)
    return (named and named.common) or name


def example_archive(definition: Definition, team: str | None) -> str | None:
    """A valid name for an archive; None without a rule, or without a team for it."""
    if not definition.naming.archive:
        return None
    return next(ArchiveRule(definition, team, definition.naming.archive).right_names(None, None, team), None)


def _explain(rule: Rule, name: str) -> NameReading:
    """Find the fewest parts of the rule to waive for the name to match: these are its errors."""
    clean = _without_oddities(name, rule.pattern.depth)
    report = Report()
    is_odd = clean != composed(name)
    waived, named = _least_waived(rule, clean)
    if named and not (is_odd or waived):
        return replace(named, name=name)
    suggestion = _nearest(rule, named or NameReading(clean))
    if is_odd:
        report.error("name-characters", file=printable(name), found=printable(name), suggestion=suggestion)
    if named is None:
        report.error("name-pattern", file=clean, found=clean, expected=rule.pattern.source, suggestion=suggestion)
        return NameReading(name, report=report)
    for part in waived:
        _report(rule, part, named, suggestion, report)
    return replace(named, name=name, report=report)


def _least_waived(rule: Rule, name: str) -> tuple[tuple[str, ...], NameReading | None]:
    """The fewest parts to waive for the name to match, and what it then says; None if it never matches."""
    if rule.match(name, frozenset(rule.parts)):
        for waived in chain.from_iterable(combinations(rule.parts, size) for size in range(len(rule.parts) + 1)):
            if named := rule.match(name, frozenset(waived)):
                return waived, named
    return (), None


def _report(rule: Rule, part: str, named: NameReading, suggestion: str | None, report: Report) -> None:
    found, expected = named.name, rule.pattern.source
    if part == "extension":
        suffix = named.name[named.name.find(".") :] if "." in named.name else "no extension"
        found, expected = suffix, rule.extension or "no extension"
    elif part == "number":
        numbers = rule.definition.naming.numbers
        found, expected = str(named.number), ", ".join(map(str, numbers))
    elif part == "team":
        found, expected = str(named.team), rule.team or f"a team's name ({rule.definition.team.name})"
    elif part == "file":
        files = next(one.files for one in rule.definition.tracks if one.files and named.track in (None, one.slug))
        found, expected = named.value or named.name, ", ".join(files.of)
    elif part == "track":
        expected = ", ".join(track.slug for track in rule.definition.tracks)
    report.error(f"name-{part}", file=named.name, found=found, expected=expected, suggestion=suggestion)


def _nearest(rule: Rule, named: NameReading) -> str | None:
    """The nearest valid name, with another number if the run's is used."""
    return next(
        (near[0] for number in (named.number, None) if (near := _near(rule, replace(named, number=number)))), None
    )


def _near(rule: Rule, named: NameReading) -> list[str]:
    """The valid names nearest to an invalid one, most likely first, keeping what could be read."""
    track = rule.definition.track(named.track) if named.track else None
    candidates = list(rule.right_names(track, named.number, named.team, named.value))
    if "." in named.name:
        candidates = [name for name in candidates if name.endswith(rule.extension)]
    return [name for _, name in _ranked(candidates, named.name)]


def _ranked(candidates: Iterable[str], name: str) -> list[tuple[float, str]]:
    """The names most similar to this one, with their likeness, most likely first; the first of equal ones.

    A quick upper bound of the likeness selects those that are compared letter by letter, which takes a hundred times as
    long.
    """
    matcher = difflib.SequenceMatcher(b=name.casefold(), autojunk=False)

    def bound(other: str) -> float:
        matcher.set_seq1(other.casefold())
        return matcher.quick_ratio()

    likeness = likeness_to(name)
    likely = sorted(candidates, key=bound, reverse=True)[:COMPARED]
    return sorted(((likeness(other), other) for other in likely), key=itemgetter(0), reverse=True)


def likeness_to(name: str) -> Callable[[str], float]:
    """The likeness of other names to this one, 0 to 1, ignoring case."""
    matcher = difflib.SequenceMatcher(b=name.casefold(), autojunk=False)

    def likeness(other: str) -> float:
        matcher.set_seq1(other.casefold())
        return matcher.ratio()

    return likeness


def _without_oddities(name: str, folders: int = 0) -> str:
    """The composed name without control characters, direction marks and what is beyond the limit.

    Slashes stay if names have folders.
    """
    odd = "\\" if folders else "/\\"
    shown = "".join(char for char in composed(name) if char.isprintable() and char not in odd)
    return shown.strip()[:NAME_CHARACTERS]


def composed(name: str) -> str:
    """The name with composed accents. One that is far too long is unchanged, since composing takes quadratic time."""
    return unicodedata.normalize("NFC", name) if len(name) <= 4 * NAME_CHARACTERS else name


def printable(name: str) -> str:
    """The name for a report: control characters and direction marks spelled out, shortened."""
    cut = name if len(name) <= NAME_CHARACTERS else name[:NAME_CHARACTERS] + "…"
    return "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in cut)
