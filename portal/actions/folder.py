"""Storage of a task's public files, under the digest of their content, and of its datasets."""

import shutil
import tempfile
from pathlib import Path

from portal.models.task import StoredDataset, definition_name
from portal.objects.folder import require_space
from portal.objects.interface import data_objects
from portal.storage import file_sha256, folder_sha256, store_file
from scoring import Definition


def keep_folder(definition: Definition) -> str:
    """Store the folder without gold and return the digest that names it.

    The digest covers only the datasets that tracks use. All datasets are stored separately because they can be large.
    """
    files = {path.relative_to(definition.folder).as_posix(): path for path in _public_files(definition)}
    sha256 = folder_sha256({name: file_sha256(path) for name, path in files.items()})
    if data_objects().has_folder(definition_name(sha256)):
        return sha256
    require_space(data_objects().drafts())
    draft = Path(tempfile.mkdtemp(dir=data_objects().drafts()))
    apart = {dataset.file for dataset in definition.datasets} - definition.files_of_rules
    for name, path in files.items():
        if path.resolve() not in apart:
            (draft / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, draft / name)
    data_objects().put_folder(draft, definition_name(sha256))
    return sha256


def keep_datasets(definition: Definition) -> dict[str, StoredDataset]:
    """Store the datasets and return them by slug. Missing files are left out."""
    return {
        dataset.slug: StoredDataset(store_file(dataset.file), dataset.file.stat().st_size)
        for dataset in definition.datasets
        if dataset.file.is_file()
    }


def _public_files(definition: Definition) -> list[Path]:
    """List all files except gold, votes, hidden files and Python's caches."""
    gold = {path for one in definition.gold for path in definition.paths_of_gold(one)}
    gold |= {votes.file for votes in definition.votes}

    def is_public(path: Path) -> bool:
        parts = path.relative_to(definition.folder).parts
        is_hidden = parts[0] == "gold" or any(part.startswith((".", "__")) for part in parts)
        return path.is_file() and path.resolve() not in gold and not is_hidden

    return [path for path in definition.folder.rglob("*") if is_public(path)]
