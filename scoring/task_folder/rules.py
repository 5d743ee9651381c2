"""Rules between the parts of a definition. They are checked only for parts that are valid on their own."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import timedelta
from itertools import islice

from scoring import limits
from scoring.definition import Definition, GoldFile, MetricSpec, Phase, Track, VotesFile
from scoring.definition.expressions import why_slow, why_unusable
from scoring.definition.files import errors_of_files
from scoring.definition.slices import errors_of_names
from scoring.definition.yaml_values import Value, path_to
from scoring.formats import FORMATS, answer_kind, in_tokens, is_zipped
from scoring.metrics import registry, validation
from scoring.metrics.metric import Part
from scoring.metrics.tree import errors_of_tree
from scoring.reports.nearest import nearest
from scoring.reports.problems import Problem, Report
from scoring.uploads.name_rules import errors_of_naming
from scoring.uploads.patterns import Pattern

Steps = tuple[str | int, ...]
Error = tuple[Steps, str, str | None]  # place, problem, and suggested value
Sound = Callable[..., bool]

# A team may not learn that a run could not be scored as long as its scores are hidden.
NEVER_ENDS = (
    "the phase never shows scores, so it must close at some time, when runs that could not be scored return their "
    "quota: set closes"
)


def check_rules(definition: Definition, root: Value, report: Report) -> None:
    """Report contradictions between parts of the definition, skipping parts that have problems of their own."""
    broken = {_broken_path(problem) for problem in report.errors if problem.code != "definition-key-unknown"}
    above = {part for path in broken for part in _with_parents(path)}

    def sound(*steps: str | int) -> bool:
        path = path_to("", *steps)
        return path not in above and broken.isdisjoint(_with_parents(path))

    too_many = list(_too_many(definition))
    errors = iter(too_many) if too_many else _errors(definition, sound)
    for steps, sentence, suggestion in list(islice(errors, limits.DEFINITION_PROBLEMS)):
        root.at(*steps).error("definition-rule", found=sentence, suggestion=suggestion)
    if next(errors, None) is not None:
        root.error("definition-rule", found="there are more errors; fix these first")


def _broken_path(problem: Problem) -> str:
    path = "" if problem.item == "/" else str(problem.item)
    return path_to(path, str(problem.expected)) if problem.code == "definition-key-missing" else path


def _with_parents(path: str) -> set[str]:
    """Return a path with all paths that it continues, such as `tracks[2].format` for `tracks[2].format.classes`."""
    return {"", path, *(path[: found.start()] for found in re.finditer(r"[.\[]", path))}


def _errors(definition: Definition, sound: Sound) -> Iterator[Error]:
    yield from _repeated("tracks", "slug", [track.slug for track in definition.tracks])
    yield from _repeated("phases", "slug", [phase.slug for phase in definition.phases])
    yield from _repeated("datasets", "slug", [dataset.slug for dataset in definition.datasets])
    yield from _repeated("baselines", "name", [baseline.name for baseline in definition.baselines])
    yield from _repeated("overall", "slug", [overall.slug for overall in definition.overall])
    yield from _repeated("run_fields", "key", [field.key for field in definition.run_fields])
    yield from _errors_of_tracks(definition, sound)
    yield from _errors_of_baselines(definition)
    yield from _errors_of_figure(definition, sound)
    slugs = [track.slug for track in definition.named_tracks]
    if sound("naming") and _are_sound("slug", definition, sound):
        several = {track.slug: track.files for track in definition.named_tracks if track.files}
        for key, sentence in errors_of_naming(definition.naming, slugs, several):
            yield ("naming", key), sentence, None
        yield from _errors_of_zipped_runs(definition, sound)
    for place, dataset in enumerate(definition.datasets):
        if dataset.encrypted and dataset.access != "password" and sound("datasets", place, "access"):
            yield ("datasets", place, "encrypted"), "only datasets with access: password can be encrypted", None
    if sound("team", "name"):
        rule = definition.team.name
        if (problem := why_slow(rule) or why_unusable(rule)) is not None:
            yield ("team", "name"), problem, None
    yield from _errors_of_team(definition, sound)
    yield from _errors_of_phases(definition, sound)
    yield from _errors_of_accepted_tracks(definition, sound)
    if _are_sound("slug", definition, sound):
        yield from _errors_of_overall(definition, sound)
        yield from _errors_of_gold(definition, sound)
        if sound("votes") and _are_sound("items", definition, sound) and _are_sound("format", definition, sound):
            yield from _errors_of_votes(definition)


def _errors_of_tracks(definition: Definition, sound: Sound) -> Iterator[Error]:
    for place, track in enumerate(definition.tracks):
        yield from _errors_of_track(track, place, sound)
        yield from _errors_of_texts(track, place, sound)
        yield from _errors_of_annotators(track, place, sound)
        if track.file_of is not None and all(_are_sound(key, definition, sound) for key in ("slug", "format", "items")):
            yield from _errors_of_shared_files(definition, track, place)
        if sound("gold") and all(sound("tracks", place, key) for key in ("format", "metrics")):
            yield from _errors_of_groups(definition, track, place)
        if sound("phases") and all(sound("tracks", place, key) for key in ("items", "metrics", "slices")):
            yield from _errors_of_sliced_metrics(track, place, definition.splits_of(track))
        if sound("tracks", place, "files"):
            yield from _errors_of_files(definition, track, place)
        for name, sentence in errors_of_names(track.slices):
            yield ("tracks", place, "slices", name), sentence, None


def _errors_of_zipped_runs(definition: Definition, sound: Sound) -> Iterator[Error]:
    zipped = [track for track in definition.tracks if track.format.kind in FORMATS and is_zipped(track)]
    if zipped and ".zip" not in definition.naming.run and _are_sound("format", definition, sound):
        sentence = f"names of runs must end with .zip, because a run in the format {zipped[0].format.kind} is a zip"
        yield ("naming", "run"), sentence, None


def _errors_of_figure(definition: Definition, sound: Sound) -> Iterator[Error]:
    key, metrics = definition.all_runs_figure, {spec.key for track in definition.tracks for spec in track.metrics}
    if key and key not in metrics and _are_sound("metrics", definition, sound):
        yield ("all_runs_figure",), *_nothing_named("metric", key, sorted(metrics))


def _errors_of_baselines(definition: Definition) -> Iterator[Error]:
    known = {"split", "track", *(track.files.name for track in definition.tracks if track.files)}
    slugs = [track.slug for track in definition.tracks]
    fields = [field.key for field in definition.run_fields]
    for place, baseline in enumerate(definition.baselines):
        for key in baseline.fields:
            if key not in fields:
                yield ("baselines", place, "fields", key), *_nothing_named("run field", key, fields)
        for name in sorted(Pattern(baseline.files or "").fields - known):
            yield ("baselines", place, "files"), f"{{{name}}} is not one of {', '.join(sorted(known))}", None
        for at, slug in enumerate(baseline.tracks):
            if slug not in slugs:
                yield ("baselines", place, "tracks", at), f"there is no track {slug}", nearest(slug, slugs)
        if baseline.recipe is not None and baseline.files is None:
            sentence = "a baseline with a recipe must also set files, the path to the run files that the recipe creates"
            yield ("baselines", place, "recipe"), sentence, None


def _repeated(part: str, key: str, names: Sequence[str]) -> Iterator[Error]:
    seen = set[str]()
    for place, name in enumerate(names):
        if name and name in seen:
            yield (part, place, key), f"{name} appears more than once", None
        seen.add(name)


def _errors_of_files(definition: Definition, track: Track, place: int) -> Iterator[Error]:
    files = track.files
    if files is None:
        return
    for key, sentence in errors_of_files(files, track.items):
        yield ("tracks", place, "files", key), sentence, None
    for split in definition.splits_of(track):
        left_out = {spec.key for spec in track.metrics} - {spec.key for spec in track.in_split(split).metrics}
        if track.rank_by in left_out:
            sentence = f"{track.rank_by} requires a file that the split {split} does not have"
            yield ("tracks", place, "rank_by"), sentence, None
    for key, paths in (("items", track.items), ("optional_items", track.optional_items)):
        for split, path in paths.items():
            if files.field not in str(path):
                sentence = (
                    f"the path for {split} must contain the placeholder {files.field}, because each of its values has "
                    "its own file"
                )
                yield ("tracks", place, key), sentence, None
    for at, gold in enumerate(definition.gold):
        if gold.track == track.slug and files.field not in str(gold.file):
            sentence = (
                f"the path must contain the placeholder {files.field}, because each of its values has its own file"
            )
            yield ("gold", at, "file"), sentence, None


def _errors_of_texts(track: Track, place: int, sound: Sound) -> Iterator[Error]:
    if not all(sound("tracks", place, key) for key in ("format", "items", "texts", "metrics")):
        return
    needing = [spec.key for spec in registry.plain(track.metrics) if registry.needs_texts(spec)]
    needing += ["same_text"] * (track.format.options.get("same_text") is not None)
    for split in track.items.keys() - track.texts.keys():
        if in_tokens(track):
            sentence = (
                f"{track.format.kind} runs are checked against the tokens of the split {split}: add a file under texts"
            )
            yield ("tracks", place, "texts"), sentence, None
        elif needing:
            sentence = f"{needing[0]} requires the item texts of the split {split}: add a file under texts"
            yield ("tracks", place, "texts"), sentence, None


def _errors_of_annotators(track: Track, place: int, sound: Sound) -> Iterator[Error]:
    if not track.annotators or not all(sound("tracks", place, key) for key in ("format", "items", "annotators")):
        return
    if track.format.kind != "table" or not track.format.options["list"]:
        yield ("tracks", place, "annotators"), "annotators require a format of kind table with the list option", None
    for split in track.items.keys() - track.annotators.keys():
        yield ("tracks", place, "annotators"), f"there is no annotator table for the split {split}: add one", None


def _errors_of_shared_files(definition: Definition, track: Track, place: int) -> Iterator[Error]:
    """Yield an error if a track can't be read from the files of another one."""
    where, slugs = ("tracks", place, "file_of"), [other.slug for other in definition.named_tracks]
    if track.file_of not in slugs:
        sentence = f"{track.file_of} is not a track with files of its own; these are {', '.join(slugs)}"
        yield where, sentence, nearest(str(track.file_of), slugs)
        return
    other = definition.track(str(track.file_of))
    if track.files != other.files or is_zipped(track) != is_zipped(other):
        yield where, f"{track.slug} and {other.slug} must have the same files, because they share them", None
    for phase in definition.phases:
        if phase.accepts(track) and not phase.accepts(other):
            sentence = f"the phase {phase.slug} accepts no runs for {other.slug}, so there are none for {track.slug}"
            yield where, sentence, None


def _errors_of_groups(definition: Definition, track: Track, place: int) -> Iterator[Error]:
    """Yield an error for each metric that compares groups of items if a gold file has no column with the groups."""
    files = [gold.format for gold in definition.gold if gold.track == track.slug] or [track.format]
    if all(spec.options.get("group") for spec in files):
        return
    for at, spec in enumerate(_listed(track)):
        parts = [metric for leaf in spec.leaves() if (metric := registry.find(leaf.name)) is not None]
        if any(metric.part is Part.GROUP for metric in parts):
            sentence = (
                f"{spec.key} compares groups of items: add group, the column with the groups, to the gold's format"
            )
            yield ("tracks", place, "metrics", at), sentence, None


def _too_many(definition: Definition) -> Iterator[Error]:
    """Yield an error for each total that is too large. Then no other rule is checked, because that could take long."""
    metrics = sum(1 + len(spec.of) for track in definition.tracks for spec in _listed(track))
    if metrics > limits.METRICS_IN_TOTAL:
        sentence = (
            f"the tracks have {metrics} metrics in total, with those in combined scores; at most "
            f"{limits.METRICS_IN_TOTAL} are allowed"
        )
        yield ("tracks",), sentence, None
    baselines, phases, tracks = len(definition.baselines), len(definition.phases), len(definition.tracks)
    if (boards := phases * tracks) > limits.BOARDS:
        sentence = (
            f"{phases} phases and {tracks} tracks add up to {boards} leaderboards; at most {limits.BOARDS} are allowed"
        )
        yield ("phases",), sentence, None
    if (rows := baselines * phases * tracks) > limits.BASELINE_ROWS:
        sentence = (
            f"{baselines} baselines in {phases} phases and {tracks} tracks add up to {rows} leaderboard rows; at most "
            f"{limits.BASELINE_ROWS} are allowed"
        )
        yield ("baselines",), sentence, None
    numbers = len(definition.naming.numbers)
    files = sum(len(track.files.of) if track.files else 1 for track in definition.tracks)
    if (names := numbers * files) > limits.RUN_NAMES:
        sentence = (
            f"{numbers} run numbers in {tracks} tracks and their files add up to {names} file names; at most "
            f"{limits.RUN_NAMES} are allowed"
        )
        yield ("naming", "number"), sentence, None


def _errors_of_track(track: Track, place: int, sound: Sound) -> Iterator[Error]:
    def ours(*keys: str) -> bool:
        return all(sound("tracks", place, key) for key in keys)

    if ours("metrics", "format", "hierarchy", "slices"):
        for at, spec in enumerate(_listed(track)):
            sentence = validation.validate(spec, track)
            if sentence:
                yield ("tracks", place, "metrics", at), sentence, validation.suggest(spec, track)
    if track.items_outside_gold == "count" and ours("metrics", "format", "items_outside_gold"):
        yield from _errors_of_counting(track, place)
    if ours("metrics", "rank_by", "board_columns"):
        yield from _errors_of_chosen_metrics(track, place)
    if track.hierarchy is not None and ours("hierarchy") and sound("hierarchies"):
        for sentence in errors_of_tree(track.hierarchy):
            yield ("tracks", place, "hierarchy"), sentence, None
        if ours("format"):
            yield from _errors_of_classes(track, place)


def _listed(track: Track) -> list[MetricSpec]:
    """Return the metrics that task.yaml lists, in its order."""
    return [spec for spec in track.metrics if not spec.is_added]


def _errors_of_chosen_metrics(track: Track, place: int) -> Iterator[Error]:
    keys = [spec.key for spec in track.metrics]
    chosen = {("rank_by",): track.rank_by} | {("board_columns", at): key for at, key in enumerate(track.board_columns)}
    for steps, key in chosen.items():
        if key not in keys:
            sentence = f"{key} is not a metric of the track; its metrics are {', '.join(keys)}"
            yield ("tracks", place, *steps), sentence, nearest(key, keys)


def _errors_of_sliced_metrics(track: Track, place: int, splits: Sequence[str]) -> Iterator[Error]:
    """Yield an error for each table that is missing for a split, although a metric needs its slices for the scores."""
    for at, spec in enumerate(_listed(track)):
        tables = [(name, track.slices[name].items) for name in registry.slices_used([spec]) if name in track.slices]
        for name, split in ((name, split) for name, items in tables if items for split in splits if split not in items):
            sentence = f"the slices {name} have no table for the split {split}: add one"
            yield ("tracks", place, "metrics", at), sentence, None


def _errors_of_counting(track: Track, place: int) -> Iterator[Error]:
    """Yield an error if `items_outside_gold: count` is set but none of the track's metrics can count such items."""
    found = [registry.find(spec.name) for spec in registry.plain(track.metrics)]
    if any(metric is not None and metric.counts_outside for metric in found):
        return
    reasons: dict[str, str] = {
        "spans": "count has no effect in span tracks, because items that are missing from the gold file are scored as "
        "having no spans; set items_outside_gold: ignore, or omit the key",
        "rankings": "rankings for queries that are missing from the gold cannot be scored; set items_outside_gold: "
        "ignore, or omit the key",
    }
    counting = [name for name, metric in registry.METRICS.items() if metric.counts_outside]
    otherwise = (
        f"none of the track's metrics count items outside the gold; only {', '.join(counting)} do; set "
        "items_outside_gold: ignore, or omit the key"
    )
    yield ("tracks", place, "items_outside_gold"), reasons.get(answer_kind(track), otherwise), "ignore"


def _errors_of_classes(track: Track, place: int) -> Iterator[Error]:
    tree = track.hierarchy or {}
    parents = {name for name, children in tree.items() if children}
    leaves = {leaf for children in tree.values() for leaf in children} | tree.keys()
    known = sorted(leaves - parents)
    for at, name in enumerate(track.format.options.get("classes", ())):
        if name not in leaves or name in parents:
            where = ("tracks", place, "format", "classes", at)
            yield where, f"{name} is not a leaf of the hierarchy", nearest(name, known)


def _errors_of_team(definition: Definition, sound: Sound) -> Iterator[Error]:
    keys = [question.key for question in definition.team.questions]
    for steps, sentence, suggestion in _repeated("questions", "key", keys):
        yield ("team", *steps), sentence, suggestion
    closes_with, slugs = definition.team.closes_with, [phase.slug for phase in definition.phases]
    if closes_with is not None and closes_with not in slugs and sound("phases") and sound("team", "closes_with"):
        yield ("team", "closes_with"), *_nothing_named("phase", closes_with, slugs)


def _errors_of_phases(definition: Definition, sound: Sound) -> Iterator[Error]:
    for place, phase in enumerate(definition.phases):
        if phase.closes is not None and phase.closes <= phase.opens and sound("phases", place):
            yield ("phases", place, "closes"), "the phase closes before it opens", None
        if phase.closes is None and phase.scores == "never" and sound("phases", place):
            yield ("phases", place, "closes"), NEVER_ENDS, None
        if phase.contrastive is not None and phase.official != "chosen" and sound("phases", place):
            sentence = "with slots, the primary run is the official run: use chosen"
            yield ("phases", place, "official"), sentence, "chosen"
        is_for_ladder = (phase.scores, phase.official) == ("at-once", "best")
        ours = sound("phases", place, "scores") and sound("phases", place, "official")
        if phase.ladder_step is not None and not is_for_ladder and ours:
            sentence = "a ladder shows the best runs immediately; set scores: at-once and official: best"
            yield ("phases", place, "ladder_step"), sentence, None
        if phase.round_days is not None and sound("phases", place):
            for key, sentence, suggestion in _errors_of_rounds(phase, phase.round_days):
                yield ("phases", place, key), sentence, suggestion
        if phase.max_submissions is not None and sound("phases", place):
            for key, sentence, suggestion in _errors_of_one_submission(phase):
                yield ("phases", place, key), sentence, suggestion


def _errors_of_accepted_tracks(definition: Definition, sound: Sound) -> Iterator[Error]:
    if not _are_sound("items", definition, sound):
        return
    for place, phase in enumerate(definition.phases):
        yield from _errors_of_tracks_of_phase(definition, phase, place, sound)
    if sound("phases") and _are_sound("slug", definition, sound):
        yield from _errors_of_tracks_without_phase(definition)


def _errors_of_tracks_of_phase(definition: Definition, phase: Phase, place: int, sound: Sound) -> Iterator[Error]:
    tracks = {track.slug: track for track in definition.tracks}
    splits = list(dict.fromkeys(split for track in definition.tracks for split in track.items))
    if phase.split not in splits:
        if sound("phases", place, "split"):
            sentence = f"no track has items for the split {phase.split}"
            yield ("phases", place, "split"), sentence, nearest(phase.split, splits)
        return
    if not (sound("phases", place, "tracks") and _are_sound("slug", definition, sound)):
        return
    for at, slug in enumerate(phase.tracks):
        if slug not in tracks:
            yield ("phases", place, "tracks", at), *_nothing_named("track", slug, tracks)
        elif phase.split not in tracks[slug].items:
            yield ("phases", place, "tracks", at), f"the track {slug} has no items for the split {phase.split}", None


def _errors_of_tracks_without_phase(definition: Definition) -> Iterator[Error]:
    """Yield an error for each track that no phase accepts runs for, unless an error in a phase may explain it."""
    if not all(definition.tracks_of(phase) for phase in definition.phases):
        return
    used = {phase.split for phase in definition.phases}
    for place, track in enumerate(definition.tracks):
        splits = ", ".join(track.items)
        if any(phase.accepts(track) for phase in definition.phases):
            continue
        if used.isdisjoint(track.items):
            sentence = f"no phase uses the track's items; add a phase with one of their splits: {splits}"
        else:
            sentence = f"no phase accepts runs for the track; add it to the tracks of a phase with this split: {splits}"
        yield ("tracks", place, "items"), sentence, None


def _errors_of_rounds(phase: Phase, days: int) -> Iterator[tuple[str, str, str | None]]:
    """Yield the key, an error and a valid value for each option that does not work with rounds."""
    if days < 1:
        yield "round_days", "a round must last at least one day", "1"
    if phase.closes is None:
        yield "round_days", "a phase with rounds needs the deadline of its first round: set closes", None
    elif days and phase.closes - phase.opens > timedelta(days=days):
        sentence = f"the first round is longer than {days} days; set an earlier deadline or a later opening time"
        yield "closes", sentence, None
    if phase.scores != "at-once":
        yield "scores", "a phase with rounds must show scores immediately: use at-once", "at-once"
    if phase.official == "chosen":
        yield "official", "in a phase with rounds, teams cannot choose the official run: use best, last or all", "best"
    if phase.run_numbers != "free":
        yield "run_numbers", "in a phase with rounds, run numbers are reused: use free", "free"
    if phase.ladder_step is not None:
        yield "ladder_step", "a phase with rounds cannot be a ladder: remove ladder_step", None


def _errors_of_one_submission(phase: Phase) -> Iterator[tuple[str, str, str | None]]:
    """Yield the key, an error and a valid value for each option that does not work with `submissions: 1`."""
    if phase.scores == "at-once":
        sentence = (
            "with submissions: 1, replaced runs do not count toward runs_per_track, so scores must be hidden; use "
            "on-release or never"
        )
        yield "scores", sentence, "on-release"
    if phase.run_numbers != "free":
        yield "run_numbers", "with submissions: 1, each upload uses the same run numbers; use free", "free"
    if phase.contrastive is not None:
        yield "slots", "slots do not work with submissions: 1; use runs_per_track", None
    if phase.runs_per_day is not None:
        sentence = (
            "with submissions: 1, runs_per_day is not allowed, because replaced runs do not count; use runs_per_track"
        )
        yield "runs_per_day", sentence, None


def _errors_of_overall(definition: Definition, sound: Sound) -> Iterator[Error]:
    slugs = [track.slug for track in definition.tracks]
    for place, overall in enumerate(definition.overall):
        for at, slug in enumerate(overall.tracks):
            if slug and slug not in slugs:
                yield ("overall", place, "tracks", at), *_nothing_named("track", slug, slugs)
        weights, tracks = len(overall.weights), len(overall.tracks)
        if weights and weights != tracks:
            sentence = f"there are {weights} weights for {tracks} tracks: set one for each track"
            yield ("overall", place, "weights"), sentence, None
        if overall.missing != "unranked" and overall.by != "mean-score":
            sentence = f"missing: {overall.missing} is only allowed with by: mean-score"
            yield ("overall", place, "missing"), sentence, None
        if overall.missing == "zero" and sound("tracks"):
            costs = [track.slug for track in definition.tracks if track.slug in overall.tracks and _is_cost(track)]
            if costs:
                sentence = (
                    f"in the track {costs[0]}, lower values of the ranking metric are better, so missing: zero would "
                    "reward teams for leaving the track out; use skip or unranked"
                )
                yield ("overall", place, "missing"), sentence, "skip"


def _is_cost(track: Track) -> bool:
    """Return whether lower values of the ranking metric are better."""
    chosen = (spec for spec in track.metrics if spec.key == track.rank_by and not validation.validate(spec, track))
    return any(not registry.describe(spec).higher_is_better for spec in chosen)


def _errors_of_gold(definition: Definition, sound: Sound) -> Iterator[Error]:
    tracks = {track.slug: track for track in definition.tracks}
    for place, gold in enumerate(definition.gold):
        if gold.track and gold.track not in tracks:
            yield ("gold", place, "track"), *_nothing_named("track", gold.track, tracks)
        elif gold.track and gold.split not in tracks[gold.track].items and _are_sound("items", definition, sound):
            sentence = f"the track {gold.track} has no items for the split {gold.split}"
            yield ("gold", place, "split"), sentence, nearest(gold.split, tracks[gold.track].items)
        elif (
            gold.track and (single := _requires_one_label(gold, tracks[gold.track])) and sound("gold", place, "format")
        ):
            sentence = (
                f"{single} requires one label per item, but this gold file can have several; use accuracy_admissible"
            )
            yield ("gold", place, "format"), sentence, None
        elif gold.published and sound("gold", place) and sound("phases"):
            for sentence in _reasons_against_publishing(gold, definition):
                yield ("gold", place, "published"), sentence, None


def _requires_one_label(gold: GoldFile, track: Track) -> str | None:
    """Return a metric of the track that cannot be computed if the gold has several labels for an item, or None."""
    if not gold.format.options.get("multi") or track.format.options.get("multi"):
        return None
    found = [(spec.key, registry.find(spec.name)) for spec in registry.plain(track.metrics)]
    return next((key for key, metric in found if metric is not None and metric.single_label), None)


def _reasons_against_publishing(gold: GoldFile, definition: Definition) -> Iterator[str]:
    """Yield reasons why the gold answers to individual items cannot be published."""
    phases = [phase for phase in definition.phases if phase.split == gold.split]
    hidden = [phase.slug for phase in phases if phase.scores == "never"]
    endless = [phase for phase in phases if phase.closes is None or phase.round_days is not None]
    if hidden:
        yield f"the scores of the phase {hidden[0]} are never released"
    if endless:
        slug = endless[0].slug
        fix = f"add a closes: date to {slug}" if endless[0].round_days is None else f"remove round_days: from {slug}"
        yield (
            f"the phase {slug} never closes, so runs on the split {gold.split} could be copied from the "
            f"published gold; {fix}, or set published: false"
        )
    if gold.format.kind in FORMATS and FORMATS[gold.format.kind].answers in ("rankings", "judgements"):
        yield "answers in rankings cannot be counted as correct or incorrect"


def _errors_of_votes(definition: Definition) -> Iterator[Error]:
    tracks = {track.slug: track for track in definition.tracks}
    for place, votes in enumerate(definition.votes):
        if votes.track not in tracks:
            yield ("votes", place, "track"), *_nothing_named("track", votes.track, tracks)
        elif votes.split not in tracks[votes.track].items:
            sentence = f"the track {votes.track} has no items for the split {votes.split}"
            yield ("votes", place, "split"), sentence, nearest(votes.split, tracks[votes.track].items)
        elif answer_kind(tracks[votes.track]) == "spans":
            if votes.split not in tracks[votes.track].texts:
                sentence = f"agreement on spans requires the texts of the split {votes.split}: add texts to the track"
                yield ("votes", place, "track"), sentence, None
        elif answer_kind(tracks[votes.track]) not in ("labels", "soft", "table"):
            yield ("votes", place, "track"), f"the track {votes.track} has no classes that annotators can vote on", None
        if votes.experts and votes.track in tracks and (why := _without_experts(votes, tracks[votes.track])):
            yield ("votes", place, "experts"), why, None


def _without_experts(votes: VotesFile, track: Track) -> str | None:
    """Return why the votes cannot be counted in two steps, or None if they can."""
    kind = answer_kind(track)
    if kind != "table" and (kind != "labels" or track.format.options.get("multi")):
        return "experts require a table of zeros and ones, or labels with one class per item"
    if votes.file.suffix == ".json":
        return "experts require a table of votes that names the annotators; use a .csv or .tsv file"
    return None


def _are_sound(key: str, definition: Definition, sound: Sound) -> bool:
    """Return whether the key has no problems in any track."""
    return bool(definition.tracks) and all(sound("tracks", place, key) for place in range(len(definition.tracks)))


def _nothing_named(kind: str, name: str, names: Iterable[str]) -> tuple[str, str | None]:
    known = list(names)
    return f"there is no {kind} {name}; existing {kind}s: {', '.join(known) or 'none'}", nearest(name, known)
