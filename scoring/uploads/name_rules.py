"""Naming rules for runs and archives: what a name means, and which names are valid.

The values of all placeholders except the team are known in advance (a track's slug determines `{task}` and
`{context}`). For this reason, a rule matches from both ends, and a team name may contain the separator:
`task1_hard_Lak_NLP_2`.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from scoring.definition import Definition, Naming, Track
from scoring.definition.files import Files
from scoring.reports.problems import Report
from scoring.uploads.patterns import Pattern

ANYTHING = ".+?"
NOTHING = "(?!)"
ANY_WORD = "[A-Za-z0-9-]{1,30}?"  # bounded, so that the search for errors is fast for any name
PARTS = ("case", "extension", "number", "team", "track")  # parts of a rule, ordered by how often they are violated
FIELDS = 8  # maximum number of fields in a name pattern
OPTIONAL_FIELDS = 3  # maximum in optional parts: each one doubles the ways to read a name
SAMPLE_TEAMS = ("TEAM", "team", "Team1", "team-1")


@dataclass(frozen=True, slots=True)
class NameReading:
    """The meaning of a name.

    If the name breaks a rule, the report has errors, and the fields hold what could be read.
    """

    name: str
    track: str | None = None
    team: str | None = None
    number: int | None = None
    value: str | None = None  # of a run of several files, the one with this name
    common: str = ""  # the name with the file's field instead of its value, the same for all files of a run
    report: Report = field(default_factory=Report)


UsedNumbers = Collection[tuple[str, int | None]]
"""Existing runs by track and number. Their names are not suggested."""


class RunRule:
    """The naming rule for runs."""

    def __init__(self, definition: Definition, team: str | None, used_numbers: UsedNumbers = ()) -> None:
        self.definition = definition
        self.team = team
        self.used_numbers = used_numbers
        self.pattern = Pattern(definition.naming.run)
        self.extension = self.pattern.extension
        has_files = any(track.files for track in definition.tracks)
        self.parts = (*PARTS, *["file"] * has_files, *["folders"] * bool(self.pattern.depth))

    def match(self, name: str, waived: frozenset[str]) -> NameReading | None:
        """Read the name without the waived parts of the rule. Return None if it still does not match."""
        pattern = self.pattern.name if "folders" in waived else self.pattern
        if "track" in waived or not self._says_track(pattern):
            return self._match(pattern, name, None, waived)
        matches = (self._match(pattern, name, track, waived) for track in self.definition.tracks)
        return next((named for named in matches if named), None)

    def _says_track(self, pattern: Pattern) -> bool:
        """Whether the pattern has all fields that identify the track in the whole pattern."""
        track = Pattern(self.definition.naming.track).fields | {"track"}
        return pattern.required & track == self.pattern.required & track

    def _match(self, pattern: Pattern, name: str, track: Track | None, waived: frozenset[str]) -> NameReading | None:
        naming = self.definition.naming
        fields = dict.fromkeys(Pattern(naming.track).fields | {"track"}, _any_word(naming))
        if track:
            fields = {key: re.escape(text) for key, text in (_fields_of(naming, track.slug) or {}).items()}
        fields |= self._file_fields(track, waived)
        fields["number"] = "[0-9]{1,9}" if "number" in waived else "|".join(map(str, naming.numbers))
        matched = name.rpartition("/")[2] if "folders" in waived else name
        match = _fullmatch(self, pattern, matched, fields | {"team": _team_regex(self, waived)}, waived)
        if match is None:
            return None
        found = match.groupdict()
        number = int(found["number"]) if found.get("number") else None
        slug, team = track.slug if track else None, _team_of(self, found, waived)
        named = NameReading(name, slug, team, number)
        return named if track is None or track.files is None else _of_file(named, track.files, match)

    def _file_fields(self, track: Track | None, waived: frozenset[str]) -> dict[str, str]:
        """Return the fields that distinguish the files of a run. Fields of other tracks match nothing."""
        files = {one.files.name: one.files for one in self.definition.tracks if one.files}
        if "file" in waived:
            return dict.fromkeys(files, ANY_WORD)
        own = track.files if track else None
        return {
            name: "|".join(map(re.escape, one.of)) if track is None or one == own else NOTHING
            for name, one in files.items()
        }

    def right_names(
        self, track: Track | None, number: int | None, team: str | None, value: str | None = None
    ) -> Iterator[str]:
        """Yield valid, unused names for the given track, number and file.

        A missing track, and a number or file that the rules do not allow, stand for all of them.
        """
        naming = self.definition.naming
        chosen = self.team or _valid_team(self.definition, team)
        if "team" in self.pattern.fields and chosen is None:
            return
        for candidate in (track,) if track else self.definition.tracks:
            for chosen_number in (number,) if number in naming.numbers else naming.numbers or (None,):
                if (candidate.slug, chosen_number) in self.used_numbers:
                    continue
                fields = (_fields_of(naming, candidate.slug) or {}) | {
                    "team": chosen or "",
                    "number": str(chosen_number),
                }
                files = candidate.files
                for one in ([value] if value in files.of else files.of) if files else [""]:
                    yield from self.pattern.names(fields | ({files.name: one} if files else {}))


def _of_file(named: NameReading, files: Files, match: re.Match[str]) -> NameReading | None:
    """Return the reading of a name for a run with several files, or None if the name does not identify the file."""
    found = match.groupdict().get(files.name)
    if not found:
        return None
    before = len(named.name) - len(match.string)
    start, end = (before + place for place in match.span(files.name))
    value = next((one for one in files.of if one.casefold() == found.casefold()), found)
    return replace(named, value=value, common=f"{named.name[:start]}{files.field}{named.name[end:]}")


class ArchiveRule:
    """The naming rule for archives."""

    def __init__(self, definition: Definition, team: str | None, archive: str) -> None:
        self.definition = definition
        self.team = team
        self.pattern = Pattern(f"{archive}.zip")
        self.extension = ".zip"
        self.parts = PARTS

    def match(self, name: str, waived: frozenset[str]) -> NameReading | None:
        match = _fullmatch(self, self.pattern, name, {"team": _team_regex(self, waived)}, waived)
        return NameReading(name, team=_team_of(self, match.groupdict(), waived)) if match else None

    def right_names(
        self, track: Track | None, number: int | None, team: str | None, value: str | None = None
    ) -> Iterator[str]:
        chosen = self.team or _valid_team(self.definition, team)
        if chosen or "team" not in self.pattern.fields:
            yield from self.pattern.names({"team": chosen or ""})


Rule = RunRule | ArchiveRule


def _team_regex(rule: Rule, waived: frozenset[str]) -> str:
    if "team" in waived:
        return ".+"
    return re.escape(rule.team) if rule.team else f"(?:{rule.definition.team.name})"


def _valid_team(definition: Definition, found: str | None) -> str | None:
    """Return the team in a name, or a made-up team if the name contains no valid team."""
    teams = (found, *SAMPLE_TEAMS) if found else SAMPLE_TEAMS
    return next((team for team in teams if re.fullmatch(definition.team.name, team)), None)


def _any_word(naming: Naming) -> str:
    """Return an expression that matches any spelling of a track."""
    further = "".join(sorted({*"".join(naming.aliases.values())}))
    return f"[A-Za-z0-9{re.escape(further)}-]{{1,30}}?" if further else ANY_WORD


def _team_of(rule: Rule, found: Mapping[str, str | None], waived: frozenset[str]) -> str | None:
    """Return the team as the rule spells it or, if the team is waived, as the name spells it."""
    return found.get("team") or rule.team if "team" in waived else rule.team or found.get("team")


def _fullmatch(
    rule: Rule, pattern: Pattern, name: str, fields: Mapping[str, str], waived: frozenset[str]
) -> re.Match[str] | None:
    regex = pattern.stem.regex(fields) + r"(\.[^./]*)*" if "extension" in waived else pattern.regex(fields)
    ignores_case = "case" in waived or rule.definition.naming.case == "ignore"
    return _compiled(regex, re.IGNORECASE if ignores_case else 0).fullmatch(name)


# a name is matched against hundreds of patterns, which is more than `re` caches
_compiled = lru_cache(maxsize=2000)(re.compile)


def errors_of_naming(
    naming: Naming, slugs: Iterable[str], files: Mapping[str, Files] | None = None
) -> Iterator[tuple[str, str]]:
    """Yield the errors of a definition's naming rules, each as a key and a sentence.

    Args:
        files: the files of runs with several files, by track.
    """
    files = files or {}
    run, archive, track = Pattern(naming.run), Pattern(naming.archive or ""), Pattern(naming.track)
    for key, pattern in (("run", run), ("archive", archive), ("track", track)):
        slashes = "\\" if key == "run" else "/\\"
        if not pattern.is_well_formed or set(pattern.source) & set(slashes):
            yield key, f"{pattern.source} is not a valid pattern of {{fields}} and [optional parts]"
            return
    slugs = list(slugs)
    yield from _errors_of_run(run, {"team", "number", "track"} | track.fields | {one.name for one in files.values()})
    for slug, own in files.items():
        if own.name not in run.fields:
            yield "run", f"names need {own.field}, since runs of {slug} have several files"
    if archive.fields - {"team"}:
        yield "archive", "the only allowed field is {team}"
    if ("number" in run.fields) != bool(naming.numbers):
        yield "number", "list run numbers if and only if names contain {number}"
    for slug in naming.aliases.keys() - {*slugs}:
        yield "aliases", f"there is no track {slug}; the tracks are {', '.join(slugs)}"
    yield from _errors_of_spelling(naming, slugs)


def _errors_of_spelling(naming: Naming, slugs: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield errors for tracks that names cannot contain or do not distinguish."""
    run, spelled = Pattern(naming.run), dict[tuple[str, ...], str]()
    for slug in slugs:
        fields = _fields_of(naming, slug)
        if fields is None:
            yield "track", f"{naming.track} does not match the track {slug}"
            continue
        values = (fields[name] for name in sorted(run.required & fields.keys()))
        spelling = tuple(value.casefold() if naming.case == "ignore" else value for value in values)
        if spelling in spelled:
            yield "run", f"names do not distinguish the tracks {spelled[spelling]} and {slug}"
        spelled[spelling] = slug


def _errors_of_run(run: Pattern, known: set[str]) -> Iterator[tuple[str, str]]:
    for name in sorted(run.fields - known):
        yield "run", f"{{{name}}} is not one of {', '.join(sorted(known))}"
    if any(part in ("", ".", "..") for part in run.source.split("/")) or re.search(r"\[[^\]]*/", run.source):
        yield "run", f"{run.source} has a folder without a name or an optional folder"
    twice = sorted({name for name in run.optional_fields if run.source.count(f"{{{name}}}") > 1})
    for name in twice:
        yield "run", f"{{{name}}} occurs both in an optional part and elsewhere: use it once"
    if run.source.count("{") > FIELDS:
        yield "run", f"{run.source} has more than {FIELDS} fields"
    if len(run.optional_fields) > OPTIONAL_FIELDS:
        yield "run", f"{run.source} has more than {OPTIONAL_FIELDS} fields in optional parts"


def _fields_of(naming: Naming, slug: str) -> dict[str, str] | None:
    """Return the values of the track's fields, or None if the slug does not match.

    For example, the fields are task → task1 and context → hard.
    """
    pattern = Pattern(naming.track)
    match = re.fullmatch(pattern.regex(dict.fromkeys(pattern.fields, ANYTHING)), slug)
    return match.groupdict() | {"track": naming.aliases.get(slug, slug)} if match else None
