"""Rules for the names of runs and archives: what a name says, and which names are valid.

The values of all fields except the team are known in advance (a track's slug gives `{task}` and `{context}`), so a rule
matches from both ends, and a team's name may contain the separator: `task1_hard_Lak_NLP_2`.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from scoring.definition import Definition, Naming, Track
from scoring.reports.problems import Report
from scoring.uploads.patterns import Pattern

ANYTHING = ".+?"
ANY_WORD = "[A-Za-z0-9-]{1,30}?"  # bounded, so that no name makes the search for its errors slow
FIELDS = 8  # in a pattern of names
OPTIONAL_FIELDS = 3  # in optional parts: each doubles the ways to read a name
SAMPLE_TEAMS = ("TEAM", "team", "Team1", "team-1")


@dataclass(frozen=True, slots=True)
class NameReading:
    """What a name says. If it breaks a rule, the report has errors and the fields have what could be read."""

    name: str
    track: str | None = None
    team: str | None = None
    number: int | None = None
    report: Report = field(default_factory=Report)


UsedNumbers = Collection[tuple[str, int | None]]
"""Runs that there are already, each by track and number: no suggestion names them."""


class RunRule:
    """The rule for names of runs."""

    def __init__(self, definition: Definition, team: str | None, used_numbers: UsedNumbers = ()) -> None:
        self.definition = definition
        self.team = team
        self.used_numbers = used_numbers
        self.pattern = Pattern(definition.naming.run)
        self.extension = self.pattern.extension

    def match(self, name: str, waived: frozenset[str]) -> NameReading | None:
        """What the name says without the waived parts of the rule; None if it still does not match."""
        pattern = self.pattern.name if "folders" in waived else self.pattern
        if "track" in waived or not self._says_track(pattern):
            return self._match(pattern, name, None, waived)
        matches = (self._match(pattern, name, track, waived) for track in self.definition.tracks)
        return next((named for named in matches if named), None)

    def _says_track(self, pattern: Pattern) -> bool:
        """Whether the pattern has all fields by which the whole one tells tracks apart."""
        track = Pattern(self.definition.naming.track).fields | {"track"}
        return pattern.required & track == self.pattern.required & track

    def _match(self, pattern: Pattern, name: str, track: Track | None, waived: frozenset[str]) -> NameReading | None:
        naming = self.definition.naming
        fields = dict.fromkeys(Pattern(naming.track).fields | {"track"}, _any_word(naming))
        if track:
            fields = {key: re.escape(text) for key, text in (_fields_of(naming, track.slug) or {}).items()}
        fields["number"] = "[0-9]{1,9}" if "number" in waived else "|".join(map(str, naming.numbers))
        matched = name.rpartition("/")[2] if "folders" in waived else name
        match = _fullmatch(self, pattern, matched, fields | {"team": _team_regex(self, waived)}, waived)
        if match is None:
            return None
        found = match.groupdict()
        number = int(found["number"]) if found.get("number") else None
        return NameReading(name, track.slug if track else None, _team_of(self, found, waived), number)

    def right_names(self, track: Track | None, number: int | None, team: str | None) -> Iterator[str]:
        """Valid names that are free: for this track or any, with this number or any."""
        naming = self.definition.naming
        chosen = self.team or _valid_team(self.definition, team)
        if "team" in self.pattern.fields and chosen is None:
            return
        for candidate in (track,) if track else self.definition.tracks:
            for value in (number,) if number in naming.numbers else naming.numbers or (None,):
                if (candidate.slug, value) in self.used_numbers:
                    continue
                fields = (_fields_of(naming, candidate.slug) or {}) | {"team": chosen or "", "number": str(value)}
                yield from self.pattern.names(fields)


class ArchiveRule:
    """The rule for names of archives."""

    def __init__(self, definition: Definition, team: str | None, archive: str) -> None:
        self.definition = definition
        self.team = team
        self.pattern = Pattern(f"{archive}.zip")
        self.extension = ".zip"

    def match(self, name: str, waived: frozenset[str]) -> NameReading | None:
        match = _fullmatch(self, self.pattern, name, {"team": _team_regex(self, waived)}, waived)
        return NameReading(name, team=_team_of(self, match.groupdict(), waived)) if match else None

    def right_names(self, track: Track | None, number: int | None, team: str | None) -> Iterator[str]:
        chosen = self.team or _valid_team(self.definition, team)
        if chosen or "team" not in self.pattern.fields:
            yield from self.pattern.names({"team": chosen or ""})


Rule = RunRule | ArchiveRule


def _team_regex(rule: Rule, waived: frozenset[str]) -> str:
    if "team" in waived:
        return ".+"
    return re.escape(rule.team) if rule.team else f"(?:{rule.definition.team.name})"


def _valid_team(definition: Definition, found: str | None) -> str | None:
    """The team in a name, or a made-up one."""
    teams = (found, *SAMPLE_TEAMS) if found else SAMPLE_TEAMS
    return next((team for team in teams if re.fullmatch(definition.team.name, team)), None)


def _any_word(naming: Naming) -> str:
    """An expression for any spelling of a track."""
    further = "".join(sorted({*"".join(naming.aliases.values())}))
    return f"[A-Za-z0-9{re.escape(further)}-]{{1,30}}?" if further else ANY_WORD


def _team_of(rule: Rule, found: Mapping[str, str | None], waived: frozenset[str]) -> str | None:
    """The team as the rule spells it, or as the name does."""
    return found.get("team") or rule.team if "team" in waived else rule.team or found.get("team")


def _fullmatch(
    rule: Rule, pattern: Pattern, name: str, fields: Mapping[str, str], waived: frozenset[str]
) -> re.Match[str] | None:
    regex = pattern.stem.regex(fields) + r"(\.[^./]*)*" if "extension" in waived else pattern.regex(fields)
    ignores_case = "case" in waived or rule.definition.naming.case == "ignore"
    return _compiled(regex, re.IGNORECASE if ignores_case else 0).fullmatch(name)


_compiled = lru_cache(maxsize=2000)(re.compile)  # a name is tried with hundreds of them, more than `re` caches


def errors_of_naming(naming: Naming, slugs: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The errors of a definition's naming rules: a key, and a sentence."""
    run, archive, track = Pattern(naming.run), Pattern(naming.archive or ""), Pattern(naming.track)
    for key, pattern in (("run", run), ("archive", archive), ("track", track)):
        slashes = "\\" if key == "run" else "/\\"
        if not pattern.is_well_formed or set(pattern.source) & set(slashes):
            yield key, f"{pattern.source} is no pattern of {{fields}} and [optional parts]"
            return
    slugs = list(slugs)
    yield from _errors_of_run(naming, run, track)
    if archive.fields - {"team"}:
        yield "archive", "the only field is {team}"
    if ("number" in run.fields) != bool(naming.numbers):
        yield "number", "give the run numbers if, and only if, names hold {number}"
    for slug in naming.aliases.keys() - {*slugs}:
        yield "aliases", f"there is no track {slug}; there are {', '.join(slugs)}"
    spelled: dict[tuple[str, ...], str] = {}
    for slug in slugs:
        fields = _fields_of(naming, slug)
        if fields is None:
            yield "track", f"{naming.track} does not spell the track {slug}"
            continue
        values = (fields[name] for name in sorted(run.required & fields.keys()))
        spelling = tuple(value.casefold() if naming.case == "ignore" else value for value in values)
        if spelling in spelled:
            yield "run", f"names do not tell the tracks {spelled[spelling]} and {slug} apart"
        spelled[spelling] = slug


def _errors_of_run(naming: Naming, run: Pattern, track: Pattern) -> Iterator[tuple[str, str]]:
    known = {"team", "number", "track"} | track.fields
    for name in sorted(run.fields - known):
        yield "run", f"{{{name}}} is none of {', '.join(sorted(known))}"
    if any(part in ("", ".", "..") for part in run.source.split("/")) or re.search(r"\[[^\]]*/", run.source):
        yield "run", f"{run.source} has a folder without a name, or one that is optional"
    twice = sorted({name for name in run.optional_fields if run.source.count(f"{{{name}}}") > 1})
    for name in twice:
        yield "run", f"{{{name}}} is in an optional part and there again: write it once"
    if run.source.count("{") > FIELDS:
        yield "run", f"{run.source} has more than {FIELDS} fields"
    if len(run.optional_fields) > OPTIONAL_FIELDS:
        yield "run", f"{run.source} has more than {OPTIONAL_FIELDS} fields in optional parts"


def _fields_of(naming: Naming, slug: str) -> dict[str, str] | None:
    """The values of the track's fields, e.g. task → task1 and context → hard; None if the slug does not match."""
    pattern = Pattern(naming.track)
    match = re.fullmatch(pattern.regex(dict.fromkeys(pattern.fields, ANYTHING)), slug)
    return match.groupdict() | {"track": naming.aliases.get(slug, slug)} if match else None
