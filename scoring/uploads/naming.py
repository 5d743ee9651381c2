"""Names of runs and archives: read them, find their errors, and suggest similar valid names."""

import difflib
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, combinations, islice
from operator import itemgetter
from pathlib import Path, PurePosixPath

from scoring.definition import Definition, Track
from scoring.formats import is_zipped
from scoring.limits import NAME_CHARACTERS, RUN_NAMES, UNREACHABLE_TRACKS
from scoring.reports.nearest import with_code_points
from scoring.reports.problems import Report
from scoring.uploads.name_rules import (
    SAMPLE_TEAMS,
    ArchiveRule,
    NameReading,
    Rule,
    RunRule,
    UsedNumbers,
    spelled_tracks,
)
from scoring.uploads.patterns import Pattern

SAMPLE_NAMES = 5  # names of each sample team with which a track is looked for
COMPARED = 10  # number of valid names compared letter by letter, after a quick preselection
LIKELY = 0.7  # minimum similarity at which an invalid name is assumed to mean a valid one
ALIKE = 0.6  # the same if names don't say a track
FAINT = 0.45  # the same if the name contains all words of the track
# Extensions of files that are no runs. Their names are close to a run's name only by chance.
OTHER_EXTENSIONS = re.compile(
    r"\.(py[cw]?|ipynb|r|rmd|jl|java|cpp|c|h|js|sh|bat|md|rst|tex|bib|log|ya?ml|toml|cfg|ini|lock|html?|xml|pdf|docx?|odt|"
    r"pptx?|png|jpe?g|gif|svg|pkl|pickle|pt|pth|bin|ckpt|safetensors|h5|onnx|exe|so|dll|mp[34]|wav|bak|tmp)",
    re.IGNORECASE,
)
# What browsers and operating systems add to the name of a copy: `run (1).csv`, `run - Copy.csv`, `run copy 2.csv`.
COPY = re.compile(
    r"[ _]*(?:\([0-9]{1,3}\)|[-_ ][ _]?(?:copy|copia|cópia|copie|kopie)(?:[ _]?\(?[0-9]{1,3}\)?)?)(?=(?:\.[^./]*)*$)",
    re.IGNORECASE,
)


def explain(definition: Definition, name: str, team: str | None, used_numbers: UsedNumbers = ()) -> NameReading:
    """Read a run's file name. If `team` is None, any team is valid.

    If the name means a track for which the phase accepts no runs, the reading has this track, and the report says so.
    """
    rule = RunRule(definition, team, used_numbers)
    return _of_other_track(rule, name) or _explain(rule, name)


def read(definition: Definition, name: str, team: str | None) -> NameReading | None:
    """Read a run's file name. Return None if it breaks any rule."""
    rule = RunRule(definition, team)
    clean = _without_oddities(name, rule.pattern.depth)
    return rule.match(clean, frozenset()) if clean == composed(name) else None


def name_of(definition: Definition, path: Path) -> str:
    """Return the file's name, including as many folders as the naming rule has.

    Folders that the path does not contain are added only if the file exists.
    """
    folders = Pattern(definition.naming.run).depth
    if path.name.casefold().endswith(".zip") or not folders:
        return path.name
    return "/".join((path.resolve() if path.exists() else path).parts[-1 - folders :])


def explain_archive(definition: Definition, name: str, team: str | None) -> NameReading:
    """Read an archive's file name. If there is no naming rule for archives, any name that ends in .zip is valid."""
    if definition.naming.archive:
        return _explain(ArchiveRule(definition, team, definition.naming.archive), name)
    named = NameReading(name)
    clean = _without_oddities(name)
    stem, dot, ending = clean.rpartition(".")
    right = clean if dot and ending.casefold() == "zip" else f"{stem or ending or 'runs'}.zip"
    if clean != composed(name):
        named.report.error(
            "name-characters", file=printable(name), found=shown_name(name), expected=right, suggestion=right
        )
    if right != clean:
        found = dot + ending if dot else "no extension"
        named.report.error("name-extension", file=clean, found=found, expected=".zip", suggestion=right)
    return named


def suggested(definition: Definition, named: NameReading, team: str | None) -> list[NameReading]:
    """Return the runs whose names are suggested for an invalid name."""
    names = dict.fromkeys(problem.suggestion for problem in named.report if problem.suggestion)
    return [run for name in names if (run := read(definition, name, team)) and run.track]


def numbers_of(runs: Iterable[NameReading]) -> set[tuple[str, int | None]]:
    """Return the tracks and numbers of runs, leaving out those of files of a run."""
    return {(run.track, run.number) for run in runs if run.track and not run.value}


def nearest(
    definition: Definition,
    name: str,
    team: str | None,
    used_numbers: UsedNumbers = (),
    count: int = 3,
    is_archive: bool = False,
) -> list[str]:
    """Return the valid names near an invalid name of a run or an archive, most likely first.

    Parts that could be read are kept.
    """
    rule: Rule = RunRule(definition, team, used_numbers)
    if is_archive and definition.naming.archive:
        rule = ArchiveRule(definition, team, definition.naming.archive)
    named = _explain(rule, name)
    without_number = replace(named, number=None)
    wider = (named, without_number, replace(without_number, track=None))
    return list(dict.fromkeys(chain.from_iterable(_near(rule, wanted) for wanted in wider)))[:count]


def likely_track(definition: Definition, name: str, team: str | None) -> str | None:
    """Guess the track for a name that contains no valid track, or return None.

    A valid name for the track must be similar to the given name, and more similar than the names for all other tracks.
    """
    rule = RunRule(definition, team)
    valid = ((right, track.slug) for track in definition.named_tracks for right in rule.right_names(track, None, None))
    names = dict(islice(valid, RUN_NAMES))
    ranked = _ranked(names, _without_oddities(name, rule.pattern.depth))
    best, slug = (ranked[0][0], names[ranked[0][1]]) if ranked else (0.0, "")
    is_equal = any(likeness == best and names[right] != slug for likeness, right in ranked)
    return slug if best >= LIKELY and not is_equal else None


def example(
    definition: Definition, track: str, team: str | None, number: int | None = None, used_numbers: UsedNumbers = ()
) -> str | None:
    """Return a valid name for a run, or None if there is no team or all numbers are used."""
    rule = RunRule(definition, team, used_numbers)
    named = definition.track(track).file_of or track
    return next(rule.right_names(definition.track(named), number, team), None)


def unreachable_tracks(definition: Definition) -> dict[str, str]:
    """Map the first tracks that no file name leads to, to the name that the first of `SAMPLE_TEAMS` would use."""
    found: dict[str, str] = {}
    for track in definition.named_tracks:
        first = next(_sample_names(definition, track), None)
        is_reached = (_is_read_as(definition, track, name, team) for team, name in _sample_names(definition, track))
        if first is not None and not any(is_reached):
            found[track.slug] = first[1]
        if len(found) == UNREACHABLE_TRACKS:
            break
    return found


def _sample_names(definition: Definition, track: Track) -> Iterator[tuple[str, str]]:
    """Yield sample teams, each with its first valid names for the track."""
    for team in SAMPLE_TEAMS:
        names = RunRule(definition, team).right_names(track, None, team)
        yield from ((team, name) for name in islice(names, SAMPLE_NAMES))


def unreachable_archive(definition: Definition) -> str | None:
    """Return a name that follows the naming rule for archives if no such name is valid, else None."""
    names = [(team, name) for team in SAMPLE_TEAMS if (name := example_archive(definition, team))]
    is_valid = [explain_archive(definition, name, team).report.ok for team, name in names]
    return None if any(is_valid) or not names else names[0][1]


def _is_read_as(definition: Definition, track: Track, name: str, team: str) -> bool:
    """Return whether an upload with this name is a run for the track. A zip that is no run is an archive of runs."""
    if name.casefold().endswith(".zip") and not is_zipped(track):
        return False
    named = read(definition, name, team)
    return named is not None and named.track == track.slug


def common_name(definition: Definition, name: str) -> str:
    """Return the run's name. If the run has several files, replace the file's field value with the field's placeholder.

    So all files of a run have the same run name.
    """
    named = read(definition, name, None)
    return (named and named.common) or name


def example_archive(definition: Definition, team: str | None) -> str | None:
    """Return a valid name for an archive, or None if there is no naming rule for archives or no team."""
    if not definition.naming.archive:
        return None
    return next(ArchiveRule(definition, team, definition.naming.archive).right_names(None, None, team), None)


def _explain(rule: Rule, name: str) -> NameReading:
    """Read a name. If it is invalid, report the smallest set of the rule's parts that it breaks."""
    clean = _without_oddities(name, rule.pattern.depth)
    report = Report()
    is_odd = clean != composed(name)
    waived, named = _least_waived(rule, clean)
    if named and not (is_odd or waived):
        return replace(named, name=name)
    suggestion = _nearest(rule, named or _of_copy(rule, clean) or NameReading(clean))
    if is_odd:
        found, expected = shown_name(name), rule.pattern.source
        report.error("name-characters", file=printable(name), found=found, expected=expected, suggestion=suggestion)
    if named is None:
        found, expected = with_code_points(clean, suggestion or clean), rule.pattern.source
        report.error("name-pattern", file=clean, found=found, expected=expected, suggestion=suggestion)
        return NameReading(name, report=report)
    for part in waived:
        _report(rule, part, named, suggestion, report)
    return replace(named, name=name, report=report)


def _of_copy(rule: Rule, name: str) -> NameReading | None:
    """Return how to read the name of a copy without what was added to it, or None if it is not such a name."""
    bare = COPY.sub("", name)
    return _least_waived(rule, bare)[1] if bare != name else None


def _of_other_track(rule: RunRule, name: str) -> NameReading | None:
    """Return the reading of a name that fits a track outside the phase better than any track in it, or None."""
    definition = rule.definition
    if not definition.other_tracks:
        return None
    others = RunRule(replace(definition, tracks=definition.other_tracks, other_tracks=()), rule.team)
    clean = _without_oddities(name, rule.pattern.depth)
    own_waived, own = _least_waived(rule, clean)
    waived, named = _least_waived(others, clean)
    if named is None or named.track is None or (own is not None and len(own_waived) <= len(waived)):
        return None
    report = Report()
    expected = ", ".join(track.slug for track in definition.tracks)
    report.error("track-not-in-phase", file=printable(name), found=named.track, expected=expected)
    return replace(named, name=name, report=report)


def _least_waived(rule: Rule, name: str) -> tuple[tuple[str, ...], NameReading | None]:
    """Return the smallest set of the rule's parts that the name breaks, and how to read it without them (or None).

    Unless the track is waived, the name is compared with each track, so sets that cannot be enough are not tried.
    """
    if named := rule.match(name, frozenset()):
        return (), named
    everything = frozenset(rule.parts)
    if rule.match(name, everything):
        broken = {part for part in rule.parts if not rule.match(name, everything - {part})}
        for waived in chain.from_iterable(combinations(rule.parts, size) for size in range(1, len(rule.parts) + 1)):
            if broken.issubset(waived) and (named := rule.match(name, frozenset(waived))):
                return waived, named
    return (), None


def _report(rule: Rule, part: str, named: NameReading, suggestion: str | None, report: Report) -> None:
    found, expected = named.name, rule.pattern.source
    if part == "extension":
        suffix = named.name[named.name.find(".") :] if "." in named.name else "no extension"
        found, expected = suffix, ", ".join(rule.pattern.extensions).strip(", ") or "no extension"
    elif part == "number":
        numbers = rule.definition.naming.numbers
        written = re.search(rf"0+{named.number}(?![0-9])", named.name) if named.number in numbers else None
        found, expected = written[0] if written else str(named.number), ", ".join(map(str, numbers))
    elif part == "team":
        found, expected = str(named.team), rule.team or f"a team name ({rule.definition.team.name_in_words})"
    elif part == "file":
        files = next(
            track.files for track in rule.definition.named_tracks if track.files and named.track in (None, track.slug)
        )
        part = part if named.value else "without-file"
        found, expected = named.value or files.field, ", ".join(files.spelled_values)
    elif part == "track":
        expected = ", ".join(spelled_tracks(rule.definition))
    found = with_code_points(found, suggestion) if suggestion and found == named.name else found
    report.error(f"name-{part}", file=named.name, found=found, expected=expected, suggestion=suggestion)


def _nearest(rule: Rule, named: NameReading) -> str | None:
    """Return the nearest valid name, with a different run number if this one is already used, or None."""
    near = _near(rule, named)
    if not near and named.number is not None:
        near = _near(rule, replace(named, number=None))
    return near[0] if near else None


def _near(rule: Rule, named: NameReading) -> list[str]:
    """Return the valid names near an invalid name, most likely first. Parts that could be read are kept."""
    track = rule.definition.track(named.track) if named.track else None
    candidates = list(islice(rule.right_names(track, named.number, named.team, named.value), RUN_NAMES))
    if "." in named.name:
        candidates = [name for name in candidates if name.endswith(rule.pattern.extensions)]
    if named.team and rule.team:  # the name has a team, so it means one with the team rather than one without
        candidates = [name for name in candidates if rule.team in name] or candidates
    ranked = _ranked(candidates, named.name)
    if isinstance(rule, ArchiveRule):  # an archive has only one valid name
        return [name for _, name in ranked]
    if OTHER_EXTENSIONS.fullmatch(PurePosixPath(named.name).suffix):
        return []
    return [name for likeness, name in ranked if _is_near(rule, named, name, likeness)]


def _is_near(rule: RunRule, named: NameReading, candidate: str, likeness: float) -> bool:
    """Return whether an invalid name could mean the candidate, because it says the candidate's track and file.

    Their words may be misspelled, but not replaced: `pred_eng.csv` does not mean `pred_chn.csv`.
    """
    meant = rule.match(candidate, frozenset())
    said = rule.said_by(meant) if meant else []
    fields = [field for field in said if len(field.all) > 1]
    if any(_contradicts(named.name, candidate, field.own[0]) for field in said if len(field.all) == 1):
        return False
    if meant is None or not fields:
        return likeness >= ALIKE
    words = _words_of_track(rule, named.name, candidate, meant)
    is_said = all(any(_says(words, text, field.all) for text in field.own) for field in fields)
    return is_said and (named.track is not None or likeness >= FAINT)


def _contradicts(name: str, candidate: str, text: str) -> bool:
    """Return whether a name has another word in place of one word of a text in the candidate: track_b for track_a."""
    words, wanted, own = _words(name), _words(candidate), _words(text)
    for tag, start, end, wanted_start, wanted_end in difflib.SequenceMatcher(None, words, wanted).get_opcodes():
        pairs = zip(words[start:end], wanted[wanted_start:wanted_end], strict=False)
        replaced = [meant for word, meant in pairs if tag == "replace" and not _is_alike(word, meant) and meant in own]
        if replaced and any(word in words for word in own):
            return True
    return False


def _words_of_track(rule: RunRule, name: str, candidate: str, meant: NameReading) -> list[str]:
    """Return the words of a name, without those that stand where the candidate has its team and its run number."""
    words, wanted = _words(name), _words(candidate)
    team, number = _words(meant.team or ""), str(meant.number)
    starts = [at for at in range(len(wanted)) if team and wanted[at : at + len(team)] == team]
    others = {*range(starts[0], starts[0] + len(team))} if starts else set()
    source = rule.pattern.source
    is_last = source.find("{number}") > max(source.find(f"{{{field}}}") for field in rule.pattern.fields - {"number"})
    places = [at for at in range(len(wanted)) if wanted[at] == number]
    others |= {places[-1] if is_last else places[0]} if places else set()
    taken = set()
    for tag, start, end, wanted_start, wanted_end in difflib.SequenceMatcher(None, words, wanted).get_opcodes():
        if tag in ("equal", "replace"):
            pairs = zip(range(start, end), range(wanted_start, wanted_end), strict=False)
            taken |= {at for at, at_wanted in pairs if at_wanted in others}
    return [word for at, word in enumerate(words) if at not in taken]


def _says(words: Sequence[str], text: str, others: Collection[str]) -> bool:
    """Return whether each word that distinguishes a text from the others is among `words`."""
    left = list(words)
    whole = "".join(_words(text))
    if len(whole) > 2 and whole in "".join(left):
        return True
    common = set.intersection(*(set(_words(other)) for other in others))
    for wanted in _words(text):
        alike = next((word for word in left if _is_alike(word, wanted)), None)
        if alike is not None:
            left.remove(alike)
        elif wanted not in common:
            return False
    return True


def _words(name: str) -> list[str]:
    """Return the words and numbers in a name, in lower case."""
    return re.findall(r"[^\W\d_]+|[0-9]+", name.casefold())


def _is_alike(word: str, wanted: str) -> bool:
    """Return whether a word is a misspelling or a longer form of another. Other numbers and short words are not."""
    if word == wanted or min(len(word), len(wanted)) < 2 or word.isdigit() or wanted.isdigit():
        return word == wanted
    if word.startswith(wanted):
        return True
    return len(wanted) > 2 and likeness_to(word)(wanted) >= LIKELY


def _ranked(candidates: Iterable[str], name: str) -> list[tuple[float, str]]:
    """Return the candidates most similar to `name` with their similarity, best first. Ties keep their order.

    A quick upper bound on the similarity selects which candidates are compared letter by letter, because that
    comparison takes a hundred times longer.
    """
    matcher = difflib.SequenceMatcher(b=name.casefold(), autojunk=False)

    def bound(other: str) -> float:
        matcher.set_seq1(other.casefold())
        return matcher.quick_ratio()

    likeness = likeness_to(name)
    likely = sorted(candidates, key=bound, reverse=True)[:COMPARED]
    return sorted(((likeness(other), other) for other in likely), key=itemgetter(0), reverse=True)


def likeness_to(name: str) -> Callable[[str], float]:
    """Return a function that computes how similar other names are to `name`, from 0 to 1, ignoring case."""
    matcher = difflib.SequenceMatcher(b=name.casefold(), autojunk=False)

    def likeness(other: str) -> float:
        matcher.set_seq1(other.casefold())
        return matcher.ratio()

    return likeness


def _without_oddities(name: str, folders: int = 0) -> str:
    """Compose accents, remove slashes, control characters and direction marks, and shorten the name.

    If names have folders, slashes are kept, and the backslashes of Windows become slashes.
    """
    name = composed(name).replace("\\", "/") if folders else composed(name)
    odd = "" if folders else "/\\"
    shown = "".join(char for char in name if char.isprintable() and char not in odd)
    return shown.strip()[:NAME_CHARACTERS]


def composed(name: str) -> str:
    """Compose accents in the name.

    Return a name that is far too long unchanged, because composing takes quadratic time.
    """
    return unicodedata.normalize("NFC", name) if len(name) <= 4 * NAME_CHARACTERS else name


def shown_name(name: str) -> str:
    """Format the name for a message, in quotes if it has blanks at its ends."""
    return printable(name) if name == name.strip() else f'"{printable(name)}"'


def printable(name: str) -> str:
    """Format the name for a report: shortened, with control characters and direction marks escaped."""
    cut = name if len(name) <= NAME_CHARACTERS else name[:NAME_CHARACTERS] + "…"
    return "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in cut)
