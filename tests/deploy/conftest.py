"""The tiny shared task and one of its teams, for tests of monitoring."""

from tests.portal.conftest import meltemi, queue, s3, tiny, tiny_folder

__all__ = ["meltemi", "queue", "s3", "tiny", "tiny_folder"]
