"""`baselines`: write a shared task's baselines as run files."""

import argparse
from collections.abc import Mapping
from pathlib import Path

from scoring.baselines.material import UnavailableError, UnsuitedError
from scoring.baselines.reading import MaterialError, read_material, write_declared
from scoring.baselines.registry import BASELINES
from scoring.commands import INVALID, VALID, UsageError, print_json
from scoring.definition import Definition
from scoring.definition.files import each_file
from scoring.formats import suffix, write_run


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--track", metavar="SLUG", help="create baselines only for this track")
    parser.add_argument(
        "--declared", action="store_true", help="create only the baselines that have a `recipe` in task.yaml"
    )
    parser.add_argument(
        "--only",
        action="append",
        choices=BASELINES,
        metavar="NAME",
        help=f"create only this baseline; repeat the option for several: {', '.join(BASELINES)}",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="folder in which to create SPLIT/TRACK/NAME (default: baselines/ in the task folder)",
    )
    parser.add_argument(
        "--train",
        metavar="FILE",
        help="training answers in the gold file's format; {track} and {split} are replaced with the slugs",
    )
    parser.add_argument(
        "--texts",
        action="append",
        default=[],
        metavar="FILE",
        help="table with the ids and texts (`text` column) of the test and training items (default: the task's texts)",
    )
    parser.add_argument("--vectors", type=Path, metavar="FILE", help="text file with word vectors (.vec)")
    parser.add_argument("--seed", type=int, default=0, help="random seed (default: 0)")
    parser.set_defaults(command=run, inputs=_inputs)


def _inputs(options: argparse.Namespace) -> list[Path]:
    patterns = [*options.texts, *([options.train] if options.train else [])]
    fixed = [Path(pattern) for pattern in patterns if "{" not in pattern]
    return [*fixed, *([options.vectors] if options.vectors else [])]


def run(options: argparse.Namespace, definition: Definition) -> int:
    """Write all possible baselines and list the others. Fail if a baseline named in `--only` is impossible."""
    try:
        written, skipped = (write_declared(definition), {}) if options.declared else _write(options, definition)
    except MaterialError as error:
        raise UsageError(str(error), error.report) from None
    if options.json:
        print_json({"written": [str(path) for path in written], "skipped": skipped})
    else:
        _print(written, skipped)
    return INVALID if not written or (options.only and skipped) else VALID


def _write(options: argparse.Namespace, definition: Definition) -> tuple[list[Path], dict[str, dict[str, str]]]:
    """Return the written files, and the reasons why baselines were skipped, by track and name."""
    tracks = [definition.track(options.track)] if options.track else definition.tracks
    out: Path = options.out or definition.folder / "baselines"
    written: list[Path] = []
    skipped: dict[str, dict[str, str]] = {}
    for track in (whole.in_split(options.split) for whole in tracks):
        material = read_material(
            definition,
            track,
            options.split,
            items=options.items,
            train=options.train,
            texts=options.texts,
            vectors=options.vectors,
            seed=options.seed,
        )
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
    return written, skipped


def _print(written: list[Path], skipped: Mapping[str, Mapping[str, str]]) -> None:
    for path in written:
        print(path)
    for slug, reasons in skipped.items():
        for reason in dict.fromkeys(reasons.values()):
            names = ", ".join(name for name, why in reasons.items() if why == reason)
            print(f"{slug}: skipped {names}: {reason}")
