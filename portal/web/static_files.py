"""The storage of `collectstatic`: files with hashed names, also compressed."""

from collections.abc import Iterable, Iterator

from whitenoise.storage import CompressedManifestStaticFilesStorage


class StaticFiles(CompressedManifestStaticFilesStorage):
    """Compresses only the files with hashed names.

    Only the proxy's error pages request a file by its original name, and compressing takes several seconds of CPU.
    """

    def compress_files(self, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
        yield from super().compress_files(set(paths) & set(self.hashed_files.values()))
