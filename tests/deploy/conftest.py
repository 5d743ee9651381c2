"""The tiny shared task and a team of it, for what watches them."""

from tests.portal.conftest import meltemi, queue, s3, tiny, tiny_folder

__all__ = ["meltemi", "queue", "s3", "tiny", "tiny_folder"]
