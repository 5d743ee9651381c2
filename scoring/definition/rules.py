"""Rules between the parts of a definition. They are checked only for parts that are valid on their own."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from scoring import limits
from scoring.definition import Definition, GoldFile, Track
from scoring.definition.expressions import why_slow
from scoring.definition.files import errors_of_files
from scoring.definition.slices import errors_of_names
from scoring.definition.yaml_values import Value, path_to
from scoring.formats import FORMATS, answer_kind
from scoring.metrics import registry
from scoring.metrics.tree import errors_of_tree
from scoring.reports.nearest import nearest
from scoring.reports.problems import Problem, Report
from scoring.uploads.name_rules import errors_of_naming
from scoring.uploads.patterns import Pattern

Steps = tuple[str | int, ...]
Error = tuple[Steps, str, str | None]  # place, problem, and suggested value
Sound = Callable[..., bool]


def check_rules(definition: Definition, root: Value, report: Report) -> None:
    """Report contradictions in the definition, except in parts that have problems of their own."""
    broken = [_broken_path(problem) for problem in report.errors if problem.code != "definition-key-unknown"]

    def sound(*steps: str | int) -> bool:
        path = path_to("", *steps)
        return not any(_is_within(path, own) or _is_within(own, path) for own in broken)

    for steps, sentence, suggestion in list(_errors(definition, sound)):
        root.at(*steps).error("definition-rule", found=sentence, suggestion=suggestion)


def _broken_path(problem: Problem) -> str:
    path = "" if problem.item == "/" else str(problem.item)
    return path_to(path, str(problem.expected)) if problem.code == "definition-key-missing" else path


def _is_within(path: str, other: str) -> bool:
    return path == other or path.startswith((f"{other}.", f"{other}["))


def _errors(definition: Definition, sound: Sound) -> Iterator[Error]:
    yield from _too_many(definition)
    yield from _repeated("tracks", "slug", [track.slug for track in definition.tracks])
    yield from _repeated("phases", "slug", [phase.slug for phase in definition.phases])
    yield from _repeated("datasets", "slug", [dataset.slug for dataset in definition.datasets])
    yield from _repeated("baselines", "name", [baseline.name for baseline in definition.baselines])
    yield from _repeated("overall", "slug", [overall.slug for overall in definition.overall])
    yield from _errors_of_tracks(definition, sound)
    yield from _errors_of_baselines(definition)
    slugs = [track.slug for track in definition.tracks]
    if sound("naming") and _are_sound("slug", definition, sound):
        several = {track.slug: track.files for track in definition.tracks if track.files}
        for key, sentence in errors_of_naming(definition.naming, slugs, several):
            yield ("naming", key), sentence, None
    for place, dataset in enumerate(definition.datasets):
        if dataset.encrypted and dataset.access != "password" and sound("datasets", place, "access"):
            yield ("datasets", place, "encrypted"), "only datasets with access: password can be encrypted", None
    if sound("team", "name") and (slow := why_slow(definition.team.name)):
        yield ("team", "name"), slow, None
    yield from _errors_of_team(definition, sound)
    yield from _errors_of_phases(definition, sound)
    if _are_sound("slug", definition, sound):
        yield from _errors_of_overall(definition)
        yield from _errors_of_gold(definition, sound)
        if sound("votes") and _are_sound("items", definition, sound) and _are_sound("format", definition, sound):
            yield from _errors_of_votes(definition)


def _errors_of_tracks(definition: Definition, sound: Sound) -> Iterator[Error]:
    for place, track in enumerate(definition.tracks):
        yield from _errors_of_track(track, place, sound)
        yield from _errors_of_texts(track, place, sound)
        if sound("tracks", place, "files"):
            yield from _errors_of_files(definition, track, place)
        for name, sentence in errors_of_names(track.slices):
            yield ("tracks", place, "slices", name), sentence, None


def _errors_of_baselines(definition: Definition) -> Iterator[Error]:
    known = {"split", "track", *(track.files.name for track in definition.tracks if track.files)}
    for place, baseline in enumerate(definition.baselines):
        for name in sorted(Pattern(baseline.files or "").fields - known):
            yield ("baselines", place, "files"), f"{{{name}}} is not one of {', '.join(sorted(known))}", None


def _repeated(part: str, key: str, names: Sequence[str]) -> Iterator[Error]:
    for place, name in enumerate(names):
        if name and name in names[:place]:
            yield (part, place, key), f"{name} appears more than once", None


def _errors_of_files(definition: Definition, track: Track, place: int) -> Iterator[Error]:
    files = track.files
    if files is None:
        return
    for key, sentence in errors_of_files(files):
        yield ("tracks", place, "files", key), sentence, None
    for key, paths in (("items", track.items), ("optional_items", track.optional_items)):
        for split, path in paths.items():
            if files.field not in str(path):
                yield ("tracks", place, key), f"the path for {split} needs {files.field}, one file for each", None
    for at, gold in enumerate(definition.gold):
        if gold.track == track.slug and files.field not in str(gold.file):
            yield ("gold", at, "file"), f"the path needs {files.field}, one file for each", None


def _errors_of_texts(track: Track, place: int, sound: Sound) -> Iterator[Error]:
    if not all(sound("tracks", place, key) for key in ("format", "items", "texts", "metrics")):
        return
    if track.format.kind == "conll":
        reason = "conll runs are checked against the tokens of the sentences"
    elif needing := [spec.key for spec in registry.plain(track.metrics) if registry.needs_texts(spec)]:
        reason = f"{needing[0]} needs the texts of the items"
    else:
        return
    for split in track.items.keys() - track.texts.keys():
        yield ("tracks", place, "texts"), f"{reason} of {split}: add their file under texts", None


def _too_many(definition: Definition) -> Iterator[Error]:
    for name in ("tracks", "phases", "datasets", "gold", "votes", "baselines", "overall"):
        if (count := len(getattr(definition, name))) > limits.PARTS:
            yield (name,), f"there are {count} entries; at most {limits.PARTS} are allowed", None
    baselines, phases, tracks = len(definition.baselines), len(definition.phases), len(definition.tracks)
    if baselines <= limits.PARTS and (rows := baselines * phases * tracks) > limits.BASELINE_ROWS:
        sentence = f"{baselines} baselines in {phases} phases and {tracks} tracks have {rows} rows on leaderboards"
        yield ("baselines",), f"{sentence}; at most {limits.BASELINE_ROWS} are allowed", None


def _errors_of_track(track: Track, place: int, sound: Sound) -> Iterator[Error]:
    def ours(*keys: str) -> bool:
        return all(sound("tracks", place, key) for key in keys)

    if ours("metrics", "format", "hierarchy", "slices"):
        for at, spec in enumerate(track.metrics):
            sentence = registry.validate(spec, track)
            if sentence:
                yield ("tracks", place, "metrics", at), sentence, registry.suggest(spec, track)
    if track.items_outside_gold == "count" and ours("metrics", "format", "items_outside_gold"):
        yield from _errors_of_counting(track, place)
    keys = [spec.key for spec in track.metrics]
    if ours("metrics", "rank_by") and track.rank_by not in keys:
        sentence = f"{track.rank_by} is not a metric of the track; its metrics are {', '.join(keys)}"
        yield ("tracks", place, "rank_by"), sentence, nearest(track.rank_by, keys)
    if track.hierarchy is not None and ours("hierarchy") and sound("hierarchies"):
        for sentence in errors_of_tree(track.hierarchy):
            yield ("tracks", place, "hierarchy"), sentence, None
        if ours("format"):
            yield from _errors_of_classes(track, place)


def _errors_of_counting(track: Track, place: int) -> Iterator[Error]:
    """Yield an error if `items_outside_gold: count` is set but nothing can count."""
    found = [registry.find(spec.name) for spec in registry.plain(track.metrics)]
    if any(metric is not None and metric.counts_outside for metric in found):
        return
    reasons: dict[str, str] = {
        "spans": "in span tracks, no item is outside the gold: items that the file leaves out have no spans",
        "rankings": "rankings of queries that the gold leaves out cannot be scored",
    }
    counting = [name for name, metric in registry.METRICS.items() if metric.counts_outside]
    otherwise = f"no metric of the track counts items outside the gold; {', '.join(counting)} do"
    yield (
        ("tracks", place, "items_outside_gold"),
        f"{reasons.get(answer_kind(track), otherwise)}. Use ignore, or remove the key",
        "ignore",
    )


def _errors_of_classes(track: Track, place: int) -> Iterator[Error]:
    tree = track.hierarchy or {}
    parents = {name for name, children in tree.items() if children}
    leaves = {leaf for children in tree.values() for leaf in children} | tree.keys()
    for at, name in enumerate(track.format.options.get("classes", ())):
        if name not in leaves - parents:
            where = ("tracks", place, "format", "classes", at)
            yield where, f"{name} is not a leaf of the hierarchy", nearest(name, sorted(leaves - parents))


def _errors_of_team(definition: Definition, sound: Sound) -> Iterator[Error]:
    keys = [question.key for question in definition.team.questions]
    yield from (
        (("team", *steps), sentence, suggestion) for steps, sentence, suggestion in _repeated("questions", "key", keys)
    )
    closes_with, slugs = definition.team.closes_with, [phase.slug for phase in definition.phases]
    if closes_with is not None and closes_with not in slugs and sound("phases") and sound("team", "closes_with"):
        yield ("team", "closes_with"), *_nothing_named("phase", closes_with, slugs)


def _errors_of_phases(definition: Definition, sound: Sound) -> Iterator[Error]:
    splits = list(dict.fromkeys(split for track in definition.tracks for split in track.items))
    known = _are_sound("items", definition, sound)
    for place, phase in enumerate(definition.phases):
        if phase.closes is not None and phase.closes <= phase.opens and sound("phases", place):
            yield ("phases", place, "closes"), "the phase closes before it opens", None
        if phase.split not in splits and known and sound("phases", place, "split"):
            yield (
                ("phases", place, "split"),
                f"no track has items for the split {phase.split}",
                nearest(phase.split, splits),
            )
        if phase.contrastive is not None and phase.official != "chosen" and sound("phases", place):
            yield (
                ("phases", place, "official"),
                "with slots, the primary run is the official run: use chosen",
                "chosen",
            )
        is_for_ladder = (phase.scores, phase.official) == ("at-once", "best")
        ours = sound("phases", place, "scores") and sound("phases", place, "official")
        if phase.ladder_step is not None and not is_for_ladder and ours:
            sentence = "a ladder shows best runs immediately: use scores: at-once and official: best"
            yield ("phases", place, "ladder_step"), sentence, None


def _errors_of_overall(definition: Definition) -> Iterator[Error]:
    slugs = [track.slug for track in definition.tracks]
    for place, overall in enumerate(definition.overall):
        for at, slug in enumerate(overall.tracks):
            if slug and slug not in slugs:
                yield ("overall", place, "tracks", at), *_nothing_named("track", slug, slugs)


def _errors_of_gold(definition: Definition, sound: Sound) -> Iterator[Error]:
    tracks = {track.slug: track for track in definition.tracks}
    for place, gold in enumerate(definition.gold):
        if gold.track and gold.track not in tracks:
            yield ("gold", place, "track"), *_nothing_named("track", gold.track, tracks)
        elif gold.track and gold.split not in tracks[gold.track].items and _are_sound("items", definition, sound):
            sentence = f"the track {gold.track} has no items for the split {gold.split}"
            yield ("gold", place, "split"), sentence, nearest(gold.split, tracks[gold.track].items)
        elif gold.published and sound("gold", place) and sound("phases"):
            for sentence in _reasons_against_publishing(gold, definition):
                yield ("gold", place, "published"), sentence, None


def _reasons_against_publishing(gold: GoldFile, definition: Definition) -> Iterator[str]:
    """Yield reasons why the gold answers to single items can never become public."""
    phases = [phase for phase in definition.phases if phase.split == gold.split]
    hidden = [phase.slug for phase in phases if phase.scores == "never"]
    endless = [phase.slug for phase in phases if phase.closes is None]
    if hidden:
        yield f"the scores of the phase {hidden[0]} are never released"
    if endless:
        yield (
            f"the phase {endless[0]} never closes, so runs on the split {gold.split} could be copied from the "
            f"published gold: set closes: for {endless[0]}, or published: false"
        )
    if gold.format.kind in FORMATS and FORMATS[gold.format.kind].answers in ("rankings", "judgements"):
        yield "rankings have no correct or incorrect answers"


def _errors_of_votes(definition: Definition) -> Iterator[Error]:
    tracks = {track.slug: track for track in definition.tracks}
    for place, votes in enumerate(definition.votes):
        if votes.track not in tracks:
            yield ("votes", place, "track"), *_nothing_named("track", votes.track, tracks)
        elif votes.split not in tracks[votes.track].items:
            sentence = f"the track {votes.track} has no items for the split {votes.split}"
            yield ("votes", place, "split"), sentence, nearest(votes.split, tracks[votes.track].items)
        elif not {"classes", "columns"} & tracks[votes.track].format.options.keys():
            yield ("votes", place, "track"), f"the track {votes.track} has no classes that annotators can vote on", None


def _are_sound(key: str, definition: Definition, sound: Sound) -> bool:
    """Whether the key has no problem in any track."""
    return bool(definition.tracks) and all(sound("tracks", place, key) for place in range(len(definition.tracks)))


def _nothing_named(kind: str, name: str, names: Iterable[str]) -> tuple[str, str | None]:
    known = list(names)
    return f"there is no {kind} {name}; existing: {', '.join(known) or 'none'}", nearest(name, known)
