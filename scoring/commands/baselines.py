"""`baselines`: write a shared task's baselines as run files."""

import argparse
from collections.abc import Mapping
from pathlib import Path

from scoring.answers import Answers
from scoring.baselines.material import Material, UnavailableError, UnsuitedError
from scoring.baselines.registry import BASELINES
from scoring.check import find_items
from scoring.commands import INVALID, VALID, UsageError, print_json
from scoring.definition import Definition, Track
from scoring.definition.files import each_file
from scoring.formats import suffix, write_run
from scoring.items.texts import TextsError, id_columns, read_texts
from scoring.reports.problems import Report
from scoring.score import GoldError, load_gold

TRACK = "{track}"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("--track", metavar="SLUG", help="write baselines only for this track")
    parser.add_argument("--only", action="append", choices=BASELINES, metavar="NAME", help=", ".join(BASELINES))
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="folder for SPLIT/TRACK/NAME (default: the task's baselines/)"
    )
    parser.add_argument(
        "--train", metavar="FILE", help="training answers in the gold file's format; {track} is replaced by the slug"
    )
    parser.add_argument(
        "--texts",
        action="append",
        default=[],
        metavar="FILE",
        help="table with ids and `text`, for test items and training (default: the items’ own texts)",
    )
    parser.add_argument("--vectors", type=Path, metavar="FILE", help="word vectors as a .vec text file")
    parser.add_argument("--seed", type=int, default=0, help="seed for random choices (default: 0)")
    parser.set_defaults(command=run, inputs=_inputs)


def _inputs(options: argparse.Namespace) -> list[Path]:
    patterns = [*options.texts, *([options.train] if options.train else [])]
    fixed = [Path(pattern) for pattern in patterns if TRACK not in pattern]
    return [*fixed, *([options.vectors] if options.vectors else [])]


def run(options: argparse.Namespace, definition: Definition) -> int:
    """Write all possible baselines and list the others. Fail if a baseline named in `--only` is impossible."""
    tracks = [definition.track(options.track)] if options.track else definition.tracks
    out: Path = options.out or definition.folder / "baselines"
    written: list[Path] = []
    skipped: dict[str, dict[str, str]] = {}
    for track in tracks:
        material = _material(track, options, definition)
        for name in options.only or BASELINES:
            last = Path(name, track.files.field) if track.files else Path(name)
            path = out / options.split / track.slug / f"{last}{suffix(track)}"
            try:
                write_run(track, BASELINES[name](material), path)
                written += [own for _, own in each_file(track.files, path)]
            except UnavailableError as reason:
                if isinstance(reason, UnsuitedError) and not options.only:
                    continue
                skipped.setdefault(track.slug, {})[name] = str(reason)
    if options.json:
        print_json({"written": [str(path) for path in written], "skipped": skipped})
    else:
        _print(written, skipped)
    return INVALID if not written or (options.only and skipped) else VALID


def _print(written: list[Path], skipped: Mapping[str, Mapping[str, str]]) -> None:
    for path in written:
        print(path)
    for slug, reasons in skipped.items():
        for reason in dict.fromkeys(reasons.values()):
            names = ", ".join(name for name, why in reasons.items() if why == reason)
            print(f"{slug}: skipped {names}: {reason}")


def _material(track: Track, options: argparse.Namespace, definition: Definition) -> Material:
    report = Report()
    items = find_items(track, options.items, options.split, report)
    if items is None:
        raise UsageError(f"The ids to answer in {track.slug} cannot be read.", report)
    files = (gold.file for gold in definition.gold if gold.track == track.slug and gold.split == options.split)
    gold = next(files, None)
    train = Path(options.train.replace(TRACK, track.slug)) if options.train else None
    return Material(
        track=track,
        ids=items.ids,
        gold=_answers(gold, track, options, definition) if gold and _is_there(gold, track) else None,
        train=_answers(train, track, options, definition) if train else None,
        texts=_texts(track, options),
        vectors=options.vectors,
        seed=options.seed,
    )


def _is_there(path: Path, track: Track) -> bool:
    return all(own.is_file() for _, own in each_file(track.files, path))


def _answers(path: Path, track: Track, options: argparse.Namespace, definition: Definition) -> Answers:
    try:
        return load_gold(definition, track.slug, path, options.split).answers
    except GoldError as error:
        raise UsageError(f"The answers in {path} cannot be read.", error.report) from None
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}.") from None


def _texts(track: Track, options: argparse.Namespace) -> dict[str, str]:
    """Return the texts of the given tables or, without tables, of the track's own table."""
    texts: dict[str, str] = {}
    own = [path for split, path in track.texts.items() if split == options.split and _is_there(path, track)]
    for path in [Path(pattern.replace(TRACK, track.slug)) for pattern in options.texts] or own:
        try:
            texts |= read_texts(path, id_columns(track), files=track.files)
        except TextsError as error:
            raise UsageError(f"The texts cannot be read: {error}.") from None
        except OSError as error:
            raise UsageError(f"{path}: {error.strerror}.") from None
    return texts
