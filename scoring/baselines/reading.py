"""Read the data for baselines from a task's files, and write the baselines that task.yaml declares."""

from collections.abc import Sequence
from pathlib import Path

from scoring.answers import Answers
from scoring.baselines.material import Material, UnavailableError
from scoring.baselines.registry import BASELINES
from scoring.check import find_items
from scoring.definition import Definition, Track
from scoring.definition.data import in_place
from scoring.definition.files import each_file
from scoring.formats import write_run
from scoring.items.texts import TextsError, id_columns, read_texts
from scoring.reports.problems import Report
from scoring.score import GoldError, load_gold


class MaterialError(Exception):
    """A file cannot be read. The report lists the problems in it."""

    def __init__(self, message: str, report: Report | None = None) -> None:
        super().__init__(message)
        self.report = report


def read_material(
    definition: Definition,
    track: Track,
    split: str,
    *,
    items: Path | None = None,
    train: str | None = None,
    texts: Sequence[str] = (),
    vectors: Path | None = None,
    seed: int = 0,
) -> Material:
    """Read the items to answer, their gold standard if it exists, training answers and texts.

    Args:
        items: path of a file with the ids to answer. By default, the track's own items are used.
        train: path of the training answers. `{track}` and `{split}` are replaced here and in `texts`.
        texts: paths of tables with texts. By default, the track's own table is used.

    Raises:
        MaterialError: a file cannot be read.
    """
    report = Report()
    found = find_items(track, items, split, report)
    if found is None:
        raise MaterialError(f"Cannot read the item ids of the track {track.slug}.", report)
    files = (gold.file for gold in definition.gold if gold.track == track.slug and gold.split == split)
    gold = next(files, None)
    own = [path for at, path in track.texts.items() if at == split and _is_there(path, track)]
    tables = [Path(in_place(path, split, track.slug)) for path in texts] or own
    return Material(
        track=track,
        ids=found.ids,
        gold=_answers(gold, track, split, definition) if gold and _is_there(gold, track) else None,
        train=_answers(Path(in_place(train, split, track.slug)), track, split, definition) if train else None,
        texts={item: text for path in tables for item, text in _texts(path, track).items()},
        vectors=vectors,
        seed=seed,
    )


def write_declared(definition: Definition) -> list[Path]:
    """Write the run files of all baselines that have a recipe, and return the paths.

    Each baseline is written for each of its tracks and each split that a phase uses.

    Raises:
        MaterialError: a file cannot be read, or a recipe is impossible for a track. The message says why.
    """
    written = []
    for whole in definition.tracks:
        for split in definition.splits_of(whole):
            track = whole.in_split(split)
            for baseline in definition.baselines:
                path = baseline.file(definition.folder, split, track.slug)
                if path is None or baseline.recipe is None or not baseline.is_for(track.slug):
                    continue
                recipe = baseline.recipe
                train = str(definition.folder / recipe.train) if recipe.train else None
                texts = [str(definition.folder / table) for table in recipe.texts]
                material = read_material(definition, track, split, train=train, texts=texts, seed=recipe.seed)
                try:
                    write_run(track, BASELINES[recipe.method](material), path)
                except UnavailableError as reason:
                    place = f"{baseline.name}, track {track.slug}, split {split}"
                    raise MaterialError(f"{place}: {reason}. Correct the recipe, or limit it to some tracks.") from None
                written += [own for _, own in each_file(track.files, path)]
    return written


def _is_there(path: Path, track: Track) -> bool:
    return all(own.is_file() for _, own in each_file(track.files, path))


def _answers(path: Path, track: Track, split: str, definition: Definition) -> Answers:
    try:
        return load_gold(definition, track.slug, path, split).answers
    except GoldError as error:
        raise MaterialError(f"Cannot read the answers in {path}.", error.report) from None
    except OSError as error:
        raise MaterialError(f"{path}: {error.strerror}.") from None


def _texts(path: Path, track: Track) -> dict[str, str]:
    try:
        return read_texts(path, id_columns(track), files=track.files)
    except TextsError as error:
        raise MaterialError(f"Cannot read the texts: {error}.") from None
