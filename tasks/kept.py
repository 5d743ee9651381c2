"""Generated task folders that are kept, so that they are built only once."""

import hashlib
import shutil
import sys
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

from tasks import build

_HERE = Path(__file__).parent
_ENGINE = _HERE.parent / "scoring"  # writes the baselines


def kept_folder(slug: str, place: Path) -> Path:
    """Return the complete folder of the shared task `slug`, kept in `place`. Build it if it is missing or out of date.

    Other files that depend only on it can be kept next to it. They are deleted when it is out of date.
    """
    kept = place / slug / content_key(slug)
    if not kept.exists():
        shutil.rmtree(kept.parent, ignore_errors=True)
        kept.parent.mkdir(parents=True)
        with TemporaryDirectory(dir=kept.parent) as drafts:  # a folder that was not completed is not kept
            build(slug, Path(drafts) / "draft" / "task").parent.rename(kept)
    return kept / "task"


def content_key(slug: str) -> str:
    """Return a digest of everything that determines the folder: its sources, the generator, the engine and numpy."""
    digest = hashlib.sha256(f"{sys.version} {version('numpy')}".encode())
    for place, pattern in ((_HERE / slug, "**/*"), (_HERE, "*.py"), (_ENGINE, "**/*.py")):
        for path in sorted(path for path in place.glob(pattern) if path.is_file() and path.suffix != ".pyc"):
            digest.update(f"{path.relative_to(_HERE.parent)}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]
