"""Naming rules for runs and archives: what a name means, and which names are valid.

The possible values of all placeholders except the team are known in advance (a track's slug determines `{task}` and
`{context}`). Therefore, a rule can match a name from both ends, and a team name may contain the separator:
`task1_hard_Lak_NLP_2`.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain

from scoring.definition import Definition, Naming, Track
from scoring.definition.files import Files
from scoring.reports.problems import Report
from scoring.uploads.patterns import Pattern, spans_of

ANYTHING = ".+?"
NOTHING = "(?!)"
ANY_WORD = "[A-Za-z0-9-]{1,30}?"  # bounded, so that finding errors is fast for any name
PARTS = ("case", "extension", "number", "team")  # parts of every rule, ordered by how often they are violated
FIELDS = 8  # maximum number of fields in a naming pattern
OPTIONAL_FIELDS = 3  # maximum number of fields in optional parts; each one doubles the number of ways to read a name
SAMPLE_TEAMS = ("TEAM", "team", "Team1", "team-1")


@dataclass(frozen=True, slots=True)
class NameReading:
    """The meaning of a name.

    If the name breaks a rule, the report has errors, and the fields contain the parts that could be read.
    """

    name: str
    track: str | None = None
    team: str | None = None
    number: int | None = None
    value: str | None = None  # field value of this file, if the run has several files
    # The name with a placeholder instead of that value. It is the same for all files of a run.
    common: str = ""
    report: Report = field(default_factory=Report)


UsedNumbers = Collection[tuple[str, int | None]]
"""Tracks and numbers of existing runs. Their names are not suggested."""


@dataclass(frozen=True, slots=True)
class FieldSpelling:
    """The spellings of a field in a name, and what the field can be in all valid names."""

    own: tuple[str, ...]
    all: Collection[str]


class RunRule:
    def __init__(self, definition: Definition, team: str | None, used_numbers: UsedNumbers = ()) -> None:
        self.definition = definition
        self.team = team
        self.used_numbers = used_numbers
        self.pattern = Pattern(definition.naming.run)
        has_files = any(track.files for track in definition.named_tracks)
        self.parts = (*PARTS, *["file"] * has_files, "track", *["folders"] * bool(self.pattern.depth))

    def match(self, name: str, waived: frozenset[str]) -> NameReading | None:
        """Read the name without checking the waived parts of the rule. Return None if the other parts do not match."""
        pattern = self.pattern.name if "folders" in waived else self.pattern
        if "track" in waived or not self._says_track(pattern):
            return self._match(pattern, name, None, waived)
        matches = (self._match(pattern, name, track, waived) for track in self.definition.named_tracks)
        readings = (named for named in matches if named)
        if self.team is not None:
            return next(readings, None)
        # Any team is valid, so the name might also have a shorter track: B-soft-Lak as track B of the team soft-Lak.
        return min(readings, key=lambda named: len(named.team or ""), default=None)

    def _says_track(self, pattern: Pattern) -> bool:
        """Return whether the pattern contains all fields that identify the track in a complete name."""
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
        slug = track.slug if track else None if "file" in waived else self._slug_of(found.get("track") or "")
        team = _team_of(self, found, waived)
        named = NameReading(name, slug, team, number)
        tracks = (track,) if track else self.definition.named_tracks
        files = next(
            (candidate.files for candidate in tracks if candidate.files and found.get(candidate.files.name)), None
        )
        if files:
            return _of_file(named, files, match)
        return None if track and track.files and "file" not in waived else named

    def _slug_of(self, found: str) -> str | None:
        """Return the slug that a name contains where the naming rules require a different spelling, or None."""
        slugs = (track.slug for track in self.definition.named_tracks)
        return next((slug for slug in slugs if slug == found.casefold()), None)

    def _file_fields(self, track: Track | None, waived: frozenset[str]) -> dict[str, str]:
        """Map each field that distinguishes a run's files to an expression. Fields of other tracks match nothing."""
        values: dict[str, list[str]] = {}
        for candidate in self.definition.named_tracks:
            if candidate.files:
                own = candidate.files.spelled_values if track is None or candidate is track else ()
                values.setdefault(candidate.files.name, []).extend(own)
        if "file" in waived:
            return {name: _any_word(self.definition.naming) if own else NOTHING for name, own in values.items()}
        return {name: "|".join(map(re.escape, dict.fromkeys(own))) or NOTHING for name, own in values.items()}

    def said_by(self, named: NameReading) -> list[FieldSpelling]:
        """Return how a valid name says its track and file."""
        naming, tracks = self.definition.naming, self.definition.named_tracks
        track = self.definition.track(named.track) if named.track else None
        values = _values_of(naming, track.slug) if track else None
        if track is None or values is None:
            return []
        fields = [_fields_of(naming, other.slug) or {} for other in tracks]
        found = []
        for name in sorted(values.keys() & self.pattern.fields):
            spelled = naming.spellings(name).get(values[name], values[name])
            found.append(FieldSpelling((spelled, values[name]), {other[name] for other in fields if name in other}))
        if track.files and named.value:
            spellings = (track.files.spelled(named.value), named.value)
            found.append(FieldSpelling(spellings, set(track.files.spelled_values)))
        return found

    def right_names(
        self, track: Track | None, number: int | None, team: str | None, value: str | None = None
    ) -> Iterator[str]:
        """Yield valid, unused names for the given track, number, team and file.

        If the track is missing, or the number or file is missing or not allowed, yield names for all possible values.
        """
        naming = self.definition.naming
        chosen = self.team or _valid_team(self.definition, team)
        if "team" in self.pattern.fields and chosen is None:
            return
        for candidate in (track,) if track else self.definition.named_tracks:
            fields = (_fields_of(naming, candidate.slug) or {}) | {"team": chosen or ""}
            files = candidate.files
            for chosen_number in (number,) if number in naming.numbers else naming.numbers or (None,):
                if (candidate.slug, chosen_number) in self.used_numbers:
                    continue
                fields["number"] = str(chosen_number)
                for each_value in ([value] if value in files.of else files.of) if files else [""]:
                    names = self.pattern.names(fields | ({files.name: files.spelled(each_value)} if files else {}))
                    # The last name has no optional parts, but a name must identify its file.
                    yield from names if files is None or files.name in self.pattern.required else names[:-1]


def _of_file(named: NameReading, files: Files, match: re.Match[str]) -> NameReading:
    """Add the file that the name identifies to its reading."""
    found, common = match[files.name], named.name
    before = len(named.name) - len(match.string)
    for start, end in reversed(spans_of(files.name, match)):
        common = f"{common[: before + start]}{files.field}{common[before + end :]}"
    value = next(
        (candidate for candidate in files.of if files.spelled(candidate).casefold() == found.casefold()), found
    )
    return replace(named, value=value, common=common)


class ArchiveRule:
    def __init__(self, definition: Definition, team: str | None, archive: str) -> None:
        self.definition = definition
        self.team = team
        self.pattern = Pattern(f"{archive}.zip")
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
    if rule.team:
        return re.escape(rule.team)
    # Waiving `case` ignores case in the rest of the name. Which team names are valid is a separate part of the rule.
    return f"({'?-i' if rule.definition.naming.case == 'exact' else '?'}:{rule.definition.team.name})"


def _valid_team(definition: Definition, found: str | None) -> str | None:
    """Return the team found in a name if it is valid. Otherwise, return a valid sample team, or None."""
    teams = (found, *SAMPLE_TEAMS) if found else SAMPLE_TEAMS
    return next((team for team in teams if re.fullmatch(definition.team.name, team)), None)


def _any_word(naming: Naming) -> str:
    """Return an expression that matches any word, including the characters in aliases."""
    texts = chain.from_iterable([own] if isinstance(own, str) else own.values() for own in naming.aliases.values())
    further = "".join(sorted({*unicodedata.normalize("NFC", "".join(texts))}))
    return f"[A-Za-z0-9{re.escape(further)}-]{{1,30}}?" if further else ANY_WORD


def _team_of(rule: Rule, found: Mapping[str, str | None], waived: frozenset[str]) -> str | None:
    """Return the team as the rule spells it or, if the team is waived, as the name spells it."""
    return found.get("team") or rule.team if "team" in waived else rule.team or found.get("team")


def _fullmatch(
    rule: Rule, pattern: Pattern, name: str, fields: Mapping[str, str], waived: frozenset[str]
) -> re.Match[str] | None:
    regex = pattern.stem.regex(fields) + r"(\.[^./]*)*" if "extension" in waived else pattern.regex(fields)
    regex = unicodedata.normalize("NFC", regex)  # as the name is
    ignores_case = "case" in waived or rule.definition.naming.case == "ignore"
    return _compiled(regex, re.IGNORECASE if ignores_case else 0).fullmatch(name)


# A name is matched against hundreds of patterns, which is more than `re` caches.
_compiled = lru_cache(maxsize=2000)(re.compile)


def errors_of_naming(
    naming: Naming, slugs: Iterable[str], files: Mapping[str, Files] | None = None
) -> Iterator[tuple[str, str]]:
    """Yield each error in a definition's naming rules as a key and a sentence.

    Args:
        files: the files of runs, by track, for tracks whose runs have several files.
    """
    files = files or {}
    run, archive, track = Pattern(naming.run), Pattern(naming.archive or ""), Pattern(naming.track)
    for key, pattern in (("run", run), ("archive", archive), ("track", track)):
        forbidden = "\\|" if key == "run" else "/\\|"
        if not pattern.is_well_formed or set(pattern.source) & set(forbidden):
            yield (
                key,
                f"{pattern.source} is not a valid pattern; patterns consist of text, {{fields}} and [optional parts]",
            )
            return
    slugs = list(slugs)
    yield from _errors_of_run(run, {"team", "number", "track"} | track.fields | {part.name for part in files.values()})
    for slug, own in files.items():
        if own.name not in run.fields:
            yield "run", f"names must contain {own.field}, because runs for {slug} have several files"
    if archive.fields - {"team"}:
        yield "archive", "the only allowed field is {team}"
    if ("number" in run.fields) != bool(naming.numbers):
        yield "number", "either use {number} in names and list the run numbers, or leave out both"
    yield from _errors_of_aliases(naming, slugs, files.values())
    yield from _errors_of_spelling(naming, slugs)


def _errors_of_aliases(naming: Naming, slugs: Sequence[str], files: Iterable[Files]) -> Iterator[tuple[str, str]]:
    """Yield errors for aliases of fields and values that do not exist, and for files that names cannot tell apart."""
    known: dict[str, list[str]] = {"track": list(slugs)}
    for own in files:
        known.setdefault(own.name, []).extend(own.of)
    for name in [name for name in known if name != "track"]:
        yield from _errors_of_equal_spellings(naming.spellings(name), known[name])
    for name, value in chain.from_iterable((_values_of(naming, slug) or {}).items() for slug in slugs):
        known.setdefault(name, []).append(value)
    for name, given in naming.aliases.items():
        if isinstance(given, str):
            if name not in slugs:
                yield "aliases", f"there is no track {name}; the tracks are {', '.join(slugs)}"
        elif name not in known:
            yield "aliases", f"there are no aliases for {{{name}}}; use one of {', '.join(sorted(known))}"
        elif unknown := [value for value in given if value not in known[name]]:
            listed = ", ".join(dict.fromkeys(known[name]))
            yield "aliases", f"{unknown[0]} is not a value of {{{name}}}; its values are {listed}"


def _errors_of_equal_spellings(spellings: Mapping[str, str], values: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield an error for each alias of a file that is also the name or alias of another file."""
    found: dict[str, str] = {}
    for value in dict.fromkeys(values):
        for text in {value.casefold(), spellings.get(value, value).casefold()}:
            if found.setdefault(text, value) != value:
                yield "aliases", f"{found[text]} and {value} have the same spelling in file names"


def _errors_of_spelling(naming: Naming, slugs: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield errors for tracks that names cannot express or cannot tell apart."""
    run, spelled = Pattern(naming.run), dict[tuple[str, ...], str]()
    for slug in slugs:
        fields = _fields_of(naming, slug)
        if fields is None:
            yield "track", f"{naming.track} does not match the track {slug}"
            continue
        values = (fields[name] for name in sorted(run.required & fields.keys()))
        spelling = tuple(value.casefold() if naming.case == "ignore" else value for value in values)
        if spelling in spelled:
            yield "run", f"the tracks {spelled[spelling]} and {slug} have the same file names"
        spelled[spelling] = slug


def _errors_of_run(run: Pattern, known: set[str]) -> Iterator[tuple[str, str]]:
    for name in sorted(run.fields - known):
        yield "run", f"{{{name}}} is not one of {', '.join(sorted(known))}"
    if any(part in ("", ".", "..") for part in run.source.split("/")) or re.search(r"\[[^\]]*/", run.source):
        yield "run", f"{run.source} has an unnamed or optional folder"
    twice = sorted({name for name in run.optional_fields if run.source.count(f"{{{name}}}") > 1})
    for name in twice:
        yield "run", f"{{{name}}} appears both in an optional part and elsewhere; use it only once"
    if run.source.count("{") > FIELDS:
        yield "run", f"{run.source} has more than {FIELDS} fields"
    if len(run.optional_fields) > OPTIONAL_FIELDS:
        yield "run", f"{run.source} has more than {OPTIONAL_FIELDS} fields in optional parts"


def _fields_of(naming: Naming, slug: str) -> dict[str, str] | None:
    """Return the values of a track's fields as file names spell them, such as `{"task": "task1", "context": "hard"}`.

    Return None if the slug does not match the pattern.
    """
    values = _values_of(naming, slug)
    return values and {name: naming.spellings(name).get(value, value) for name, value in values.items()}


def spelled_tracks(definition: Definition) -> list[str]:
    """Return each track as file names spell it.

    Fields that file names join are joined in the same way: `task1_hard` for `{task}_{context}_{team}`. If they are
    apart, as in `{task}_{team}_{context}`, the pattern of the track's slug joins them.
    """
    naming = definition.naming
    run, slug = Pattern(naming.run), Pattern(naming.track)
    own = slug.fields | {"track"}
    field = f"\\{{(?:{'|'.join(own)})\\}}"
    joined = re.search(rf"{field}(?:[^\[\]{{}}/]*{field})*", naming.run)
    shown = Pattern(joined[0]) if joined else slug
    if not shown.fields >= run.required & own:
        shown = slug
    spelled = (shown.names(_fields_of(naming, track.slug) or {}) or [track.slug] for track in definition.named_tracks)
    return list(dict.fromkeys(names[0] for names in spelled))


def _values_of(naming: Naming, slug: str) -> dict[str, str] | None:
    """Return the values that a track's fields have in its slug, or None if the slug does not match the pattern."""
    pattern = Pattern(naming.track)
    match = re.fullmatch(pattern.regex(dict.fromkeys(pattern.fields, ANYTHING)), slug)
    return match.groupdict() | {"track": slug} if match else None
