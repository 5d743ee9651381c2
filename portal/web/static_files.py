"""The storage of `collectstatic`: files with hashed names, also compressed."""

from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from whitenoise.storage import CompressedManifestStaticFilesStorage


class StaticFiles(CompressedManifestStaticFilesStorage):
    """Compresses only the files that pages request, because compressing takes several seconds of CPU.

    Only the proxy's error pages request a file by its original name, and no page requests a file that also exists in a
    minified version.
    """

    def compress_files(self, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
        requested = {hashed for name, hashed in self.hashed_files.items() if not self._has_minified_version(name)}
        yield from super().compress_files(set(paths) & requested)

    def _has_minified_version(self, name: str) -> bool:
        path = PurePosixPath(name)
        return self.exists(str(path.with_name(f"{path.stem}.min{path.suffix}")))
