"""Receive gold and task folders without storing them unencrypted: each piece is sealed as it is received."""

from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler

from portal.sealing import SealedFile


class SealingHandler(FileUploadHandler):
    """An upload handler whose files are `SealedFile`s."""

    def __init__(self, request: Any, limit: int) -> None:
        super().__init__(request)
        self._limit = limit

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        self._sealed = SealedFile(self._limit)

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        self._sealed.add(raw_data)

    def file_complete(self, file_size: int) -> UploadedFile:
        self._sealed.end()
        sealed: Any = self._sealed  # closed with the request's files
        return UploadedFile(sealed, self.file_name, self.content_type, self._sealed.size)
