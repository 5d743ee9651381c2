"""Receive gold and task folders without storing them unencrypted: each piece is sealed as it is received."""

from tempfile import TemporaryFile
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler, SkipFile

from portal.sealing import Sealer


class SealingHandler(FileUploadHandler):
    """An upload handler that returns the sealed file.

    A file of more than `limit` bytes is dropped, and `is_too_large` is set.
    """

    def __init__(self, request: Any, limit: int) -> None:
        super().__init__(request)
        self._limit = limit
        self.is_too_large = False

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        self._left = self._limit
        self._sealer = Sealer()
        self._sealed = TemporaryFile()  # noqa: SIM115 - closed with the request's files
        self._sealed.write(self._sealer.head)

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        self._left -= len(raw_data)
        if self._left < 0:
            self.is_too_large = True
            self._sealed.close()
            raise SkipFile
        self._sealed.write(self._sealer.add(raw_data))

    def file_complete(self, file_size: int) -> UploadedFile:
        self._sealed.write(self._sealer.end())
        size = self._sealed.tell()
        self._sealed.seek(0)
        return UploadedFile(self._sealed, self.file_name, self.content_type, size)
