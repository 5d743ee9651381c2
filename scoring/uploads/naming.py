"""Naming rules: file and archive names ↔ team, track and run number, and what is wrong with a name that breaks them.

The values of all fields but the team are known beforehand (a track's slug gives those of `{task}` and `{context}`), so
a rule matches from both ends, and a team's name may hold the separator: `task1_hard_Lak_NLP_2`.
"""

import difflib
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain, combinations
from operator import itemgetter

from scoring.definition import Definition, Naming, Track
from scoring.limits import NAME_CHARACTERS
from scoring.reports.problems import Report
from scoring.uploads.patterns import Pattern

ANYTHING = ".+?"
ANY_WORD = "[A-Za-z0-9-]{1,30}?"  # bounded, so that no name makes the search for its errors long
SAMPLE_TEAMS = ("TEAM", "team", "Team1", "team-1")
COMPARED = 10  # right names with a wrong one, letter by letter; a quicker look chooses them
LIKELY = 0.7  # likeness from which a wrong name is taken to mean the right one
WAIVERS = ("case", "extension", "number", "team", "track")  # the likelier a slip, the earlier it is tried


@dataclass(frozen=True, slots=True)
class Named:
    """What a name says. Where a rule is broken the report holds errors and the fields say what could still be read."""

    name: str
    track: str | None = None
    team: str | None = None
    number: int | None = None
    report: Report = field(default_factory=Report)


Taken = Collection[tuple[str, int | None]]
"""Runs that there are already, each by track and number: no suggestion names them."""


def explain(definition: Definition, name: str, team: str | None, taken: Taken = ()) -> Named:
    """Read a run's file name; with `team` None any team will do."""
    return _explain(_RunRule(definition, team, taken), name)


def read(definition: Definition, name: str, team: str | None) -> Named | None:
    """Read a run's file name; None where it breaks any rule."""
    clean = _without_oddities(name)
    return _RunRule(definition, team).match(clean, frozenset()) if clean == composed(name) else None


def explain_archive(definition: Definition, name: str, team: str | None) -> Named:
    """Read an archive's file name; without a rule for archives any name will do, as long as it ends in .zip."""
    if definition.naming.archive:
        return _explain(_ArchiveRule(definition, team, definition.naming.archive), name)
    named = Named(name)
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


def suggested(definition: Definition, named: Named, team: str | None) -> list[Named]:
    """The runs that are suggested for a wrong name: for other names they are taken."""
    names = dict.fromkeys(problem.suggestion for problem in named.report if problem.suggestion)
    return [run for name in names if (run := read(definition, name, team)) and run.track]


def nearest(definition: Definition, name: str, team: str | None, taken: Taken = (), count: int = 3) -> list[str]:
    """The right names nearest to a wrong one, the likeliest first; what could be read of it is kept."""
    rule: _RunRule | _ArchiveRule = _RunRule(definition, team, taken)
    if definition.naming.archive and name.casefold().endswith(".zip"):
        rule = _ArchiveRule(definition, team, definition.naming.archive)
    named = _explain(rule, name)
    without_number = replace(named, number=None)
    wider = (named, without_number, replace(without_number, track=None))
    return list(dict.fromkeys(chain.from_iterable(_near(rule, wanted) for wanted in wider)))[:count]


def likely_track(definition: Definition, name: str, team: str | None) -> str | None:
    """The track that a name means which says none: its right name is near, and nearer than those of all others."""
    rule = _RunRule(definition, team)
    names = {right: track.slug for track in definition.tracks for right in rule.right_names(track, None, None)}
    ranked = _ranked(names, _without_oddities(name))
    best, slug = (ranked[0][0], names[ranked[0][1]]) if ranked else (0.0, "")
    is_equal = any(likeness == best and names[right] != slug for likeness, right in ranked)
    return slug if best >= LIKELY and not is_equal else None


def example(
    definition: Definition, track: str, team: str | None, number: int | None = None, taken: Taken = ()
) -> str | None:
    """A right name for a run; None when no team is given and none can be made up, or all numbers are taken."""
    rule = _RunRule(definition, team, taken)
    return next(rule.right_names(definition.track(track), number, team), None)


def example_archive(definition: Definition, team: str | None) -> str | None:
    """A right name for an archive; None when there is no rule, or no team to put into it."""
    if not definition.naming.archive:
        return None
    return next(_ArchiveRule(definition, team, definition.naming.archive).right_names(None, None, team), None)


def faults_of_rules(naming: Naming, slugs: Iterable[str]) -> Iterator[tuple[str, str]]:
    """What is wrong with a definition's naming rules: a key, and a sentence about it."""
    run, archive, track = Pattern(naming.run), Pattern(naming.archive or ""), Pattern(naming.track)
    for key, pattern in (("run", run), ("archive", archive), ("track", track)):
        if not pattern.is_well_formed or set(pattern.source) & set("/\\"):
            yield key, f"{pattern.source} is no pattern of {{fields}} and [optional text]"
            return
    known = {"team", "number", "track"} | track.fields
    for name in sorted(run.fields - known):
        yield "run", f"{{{name}}} is none of {', '.join(sorted(known))}"
    if archive.fields - {"team"}:
        yield "archive", "the only field is {team}"
    if ("number" in run.fields) != bool(naming.numbers):
        yield "number", "give the run numbers if, and only if, names hold {number}"
    spelled: dict[tuple[str, ...], str] = {}
    for slug in slugs:
        fields = _fields_of(naming, slug)
        if fields is None:
            yield "track", f"{naming.track} does not spell the track {slug}"
            continue
        spelling = tuple(fields[name] for name in sorted(run.fields & fields.keys()))
        if spelling in spelled:
            yield "run", f"names do not tell the tracks {spelled[spelling]} and {slug} apart"
        spelled[spelling] = slug


def _fields_of(naming: Naming, slug: str) -> dict[str, str] | None:
    """The values of the track's fields, as task → task1 and context → hard; None if the slug is not spelled so."""
    pattern = Pattern(naming.track)
    match = re.fullmatch(pattern.regex(dict.fromkeys(pattern.fields, ANYTHING)), slug)
    return match.groupdict() | {"track": slug} if match else None


class _RunRule:
    """The rule for the names of runs."""

    def __init__(self, definition: Definition, team: str | None, taken: Taken = ()) -> None:
        self.definition = definition
        self.team = team
        self.taken = taken
        self.pattern = Pattern(definition.naming.run)
        self.extension = self.pattern.extension

    def match(self, name: str, waived: frozenset[str]) -> Named | None:
        """What the name says when the waived parts of the rule are not enforced; None if it still does not fit."""
        if "track" not in waived:
            matches = (self._match(name, track, waived) for track in self.definition.tracks)
            return next((named for named in matches if named), None)
        return self._match(name, None, waived)

    def _match(self, name: str, track: Track | None, waived: frozenset[str]) -> Named | None:
        naming = self.definition.naming
        fields = dict.fromkeys(Pattern(naming.track).fields | {"track"}, ANY_WORD)
        if track:
            fields = {key: re.escape(text) for key, text in (_fields_of(naming, track.slug) or {}).items()}
        fields["number"] = "[0-9]{1,9}" if "number" in waived else "|".join(map(str, naming.numbers))
        match = _fullmatch(self.pattern, name, fields | {"team": _team_regex(self, waived)}, waived)
        if match is None:
            return None
        found = match.groupdict()
        number = int(found["number"]) if "number" in found else None
        return Named(name, track.slug if track else None, found.get("team", self.team), number)

    def right_names(self, track: Track | None, number: int | None, team: str | None) -> Iterator[str]:
        """Right names that are not taken: for this track or any, with this number or any."""
        naming = self.definition.naming
        chosen = self.team or _valid_team(self.definition, team)
        if "team" in self.pattern.fields and chosen is None:
            return
        for candidate in (track,) if track else self.definition.tracks:
            for value in (number,) if number in naming.numbers else naming.numbers or (None,):
                if (candidate.slug, value) in self.taken:
                    continue
                fields = (_fields_of(naming, candidate.slug) or {}) | {"team": chosen or "", "number": str(value)}
                yield from self.pattern.names(fields)


class _ArchiveRule:
    """The rule for the names of archives."""

    def __init__(self, definition: Definition, team: str | None, archive: str) -> None:
        self.definition = definition
        self.team = team
        self.pattern = Pattern(f"{archive}.zip")
        self.extension = ".zip"

    def match(self, name: str, waived: frozenset[str]) -> Named | None:
        match = _fullmatch(self.pattern, name, {"team": _team_regex(self, waived)}, waived)
        return Named(name, team=match.groupdict().get("team", self.team)) if match else None

    def right_names(self, track: Track | None, number: int | None, team: str | None) -> Iterator[str]:
        chosen = self.team or _valid_team(self.definition, team)
        if chosen or "team" not in self.pattern.fields:
            yield from self.pattern.names({"team": chosen or ""})


def _team_regex(rule: _RunRule | _ArchiveRule, waived: frozenset[str]) -> str:
    if "team" in waived:
        return ".+"
    return re.escape(rule.team) if rule.team else f"(?:{rule.definition.team.name})"


def _valid_team(definition: Definition, found: str | None) -> str | None:
    """The team that a name gave, or a made-up one."""
    teams = (found, *SAMPLE_TEAMS) if found else SAMPLE_TEAMS
    return next((team for team in teams if re.fullmatch(definition.team.name, team)), None)


def _fullmatch(pattern: Pattern, name: str, fields: Mapping[str, str], waived: frozenset[str]) -> re.Match[str] | None:
    regex = pattern.stem.regex(fields) + r"(\.[^.]*)*" if "extension" in waived else pattern.regex(fields)
    return _compiled(regex, re.IGNORECASE if "case" in waived else 0).fullmatch(name)


_compiled = lru_cache(maxsize=2000)(re.compile)  # a name is tried with hundreds of them, more than `re` keeps


def _explain(rule: _RunRule | _ArchiveRule, name: str) -> Named:
    """Find the fewest parts of the rule that must be waived for the name to fit: these are what is wrong with it."""
    clean = _without_oddities(name)
    report = Report()
    is_odd = clean != composed(name)
    waived, named = _least_waived(rule, clean)
    if named and not (is_odd or waived):
        return replace(named, name=name)
    suggestion = _nearest(rule, named or Named(clean))
    if is_odd:
        report.error("name-characters", file=printable(name), found=printable(name), suggestion=suggestion)
    if named is None:
        report.error("name-pattern", file=clean, found=clean, expected=rule.pattern.source, suggestion=suggestion)
        return Named(name, report=report)
    for part in waived:
        _report(rule, part, named, suggestion, report)
    return Named(name, named.track, named.team, named.number, report)


def _least_waived(rule: _RunRule | _ArchiveRule, name: str) -> tuple[tuple[str, ...], Named | None]:
    """The fewest parts of the rule without which the name fits, and what it then says; None if it never fits."""
    if rule.match(name, frozenset(WAIVERS)):
        for waived in chain.from_iterable(combinations(WAIVERS, size) for size in range(len(WAIVERS) + 1)):
            if named := rule.match(name, frozenset(waived)):
                return waived, named
    return (), None


def _report(rule: _RunRule | _ArchiveRule, part: str, named: Named, suggestion: str | None, report: Report) -> None:
    found, expected = named.name, rule.pattern.source
    if part == "extension":
        suffix = named.name[named.name.find(".") :] if "." in named.name else "no extension"
        found, expected = suffix, rule.extension or "no extension"
    elif part == "number":
        numbers = rule.definition.naming.numbers
        found, expected = str(named.number), ", ".join(map(str, numbers))
    elif part == "team":
        found, expected = str(named.team), rule.team or f"a team's name ({rule.definition.team.name})"
    elif part == "track":
        expected = ", ".join(track.slug for track in rule.definition.tracks)
    report.error(f"name-{part}", file=named.name, found=found, expected=expected, suggestion=suggestion)


def _nearest(rule: _RunRule | _ArchiveRule, named: Named) -> str | None:
    """The nearest right name; with another number where the run that the name says is taken."""
    return next(
        (near[0] for number in (named.number, None) if (near := _near(rule, replace(named, number=number)))), None
    )


def _near(rule: _RunRule | _ArchiveRule, named: Named) -> list[str]:
    """The right names that are nearest to a wrong one, the likeliest first, keeping what could be read of it."""
    track = rule.definition.track(named.track) if named.track else None
    candidates = list(rule.right_names(track, named.number, named.team))
    if "." in named.name:
        candidates = [name for name in candidates if name.endswith(rule.extension)]
    return [name for _, name in _ranked(candidates, named.name)]


def _ranked(candidates: Iterable[str], name: str) -> list[tuple[float, str]]:
    """The names most like this one, with their likeness, the likeliest first; of equal ones the first.

    A quick upper bound of the likeness chooses those that are compared letter by letter, which takes a hundred times
    as long.
    """
    matcher = difflib.SequenceMatcher(b=name.casefold(), autojunk=False)

    def bound(other: str) -> float:
        matcher.set_seq1(other.casefold())
        return matcher.quick_ratio()

    likeness = likeness_to(name)
    likely = sorted(candidates, key=bound, reverse=True)[:COMPARED]
    return sorted(((likeness(other), other) for other in likely), key=itemgetter(0), reverse=True)


def likeness_to(name: str) -> Callable[[str], float]:
    """How near other names are to this one, 0 to 1, whatever their case."""
    matcher = difflib.SequenceMatcher(b=name.casefold(), autojunk=False)

    def likeness(other: str) -> float:
        matcher.set_seq1(other.casefold())
        return matcher.ratio()

    return likeness


def _without_oddities(name: str) -> str:
    """The name in composed form without slashes, control characters, direction marks and what is beyond the limit."""
    shown = "".join(char for char in composed(name) if char.isprintable() and char not in "/\\")
    return shown.strip()[:NAME_CHARACTERS]


def composed(name: str) -> str:
    """The name with accents composed; one that is far too long stays as it is, since that takes its square in time."""
    return unicodedata.normalize("NFC", name) if len(name) <= 4 * NAME_CHARACTERS else name


def printable(name: str) -> str:
    """The name as a report can show it: control characters and direction marks spelled out, cut to length."""
    cut = name if len(name) <= NAME_CHARACTERS else name[:NAME_CHARACTERS] + "…"
    return "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in cut)
