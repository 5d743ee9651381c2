"""Pack a local folder of run files as it would be uploaded."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZIP_DEFLATED, ZipFile


@contextmanager
def zipped(folder: Path, folders: int | None = None) -> Iterator[Path]:
    """Zip the files in a folder, except hidden ones, and delete the zip when the context ends.

    The zip is named after the folder.

    Args:
        folders: the number of folders in a run's name. The names in the zip begin with the folder's own name, unless
            its files are already nested that deeply.
    """
    folder = folder.resolve()
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and not _is_hidden(path, folder)]
    deepest = max((len(path.relative_to(folder).parts) - 1 for path in paths), default=0)
    start = folder if folders is not None and deepest >= folders else folder.parent
    with TemporaryDirectory() as target:
        archive = Path(target, f"{folder.name}.zip")
        with ZipFile(archive, "w", ZIP_DEFLATED, strict_timestamps=False) as packed:
            for path in paths:
                packed.write(path, path.relative_to(start).as_posix())
        yield archive


def _is_hidden(path: Path, folder: Path) -> bool:
    return any(part.startswith((".", "__")) for part in path.relative_to(folder).parts)
