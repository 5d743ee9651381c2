"""The tiny shared task and one of its teams, for monitoring tests."""

from tests.portal.conftest import meltemi, queue, s3, tiny, tiny_folder

__all__ = ["meltemi", "queue", "s3", "tiny", "tiny_folder"]
