"""Objects in an S3 bucket. Folders are stored as zips, and each machine unpacks them once."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property
from http import HTTPStatus
from pathlib import Path
from typing import Any, BinaryIO, cast
from uuid import uuid4

import boto3
from boto3.exceptions import Boto3Error
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from django.utils.http import content_disposition_header

from portal.objects.folder import DRAFTS, remove_folder, settle_folder, write_probe

LINK_SECONDS = 60  # seconds within which a download must start; it may take longer to finish
CONNECT_SECONDS, READ_SECONDS = 2, 20
_TRANSFER = TransferConfig(use_threads=False)


class Bucket:
    """An S3 bucket. `scratch` is a local folder for drafts and unpacked folders."""

    def __init__(
        self, *, name: str, scratch: Path, endpoint: str = "", region: str = "", key: str = "", secret: str = ""
    ) -> None:
        self._name = name
        self._scratch = scratch
        self._endpoint = endpoint or None
        self._account = {
            "region_name": region or None,
            "aws_access_key_id": key or None,
            "aws_secret_access_key": secret or None,
        }

    @cached_property
    def _client(self) -> Any:
        """The client, which all threads share.

        It is created on first use, so that a process that forks before then has no connection.
        """
        config = Config(
            signature_version="s3v4",
            s3={"addressing_style": "path" if self._endpoint else "auto"},
            connect_timeout=CONNECT_SECONDS,
            read_timeout=READ_SECONDS,
            retries={"total_max_attempts": 3, "mode": "standard"},
        )
        return boto3.Session(**self._account).client("s3", endpoint_url=self._endpoint, config=config)

    def probe(self) -> None:
        write_probe(self.drafts())
        with _as_os_errors():
            self._client.list_objects_v2(Bucket=self._name, MaxKeys=1)

    def drafts(self) -> Path:
        folder = self._scratch / DRAFTS
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def put(self, draft: Path, name: str) -> None:
        """Upload the file with a SHA-256 for each part, which S3 verifies. Then check the size that S3 reports."""
        size = draft.stat().st_size
        with _as_os_errors():
            sent = {"ChecksumAlgorithm": "SHA256", "ContentType": "application/octet-stream"}
            self._client.upload_file(str(draft), self._name, name, ExtraArgs=sent, Config=_TRANSFER)
            stored = self._client.head_object(Bucket=self._name, Key=name)["ContentLength"]
        if stored != size:
            raise OSError(f"{name}: the bucket contains only {stored} of {size} bytes")
        draft.unlink()

    def put_folder(self, draft: Path, name: str) -> None:
        packed = Path(shutil.make_archive(str(draft), "zip", draft))
        self.put(packed, f"{name}.zip")
        settle_folder(draft, self._scratch / name)

    def has(self, name: str) -> bool:
        return self.stored_at(name) is not None

    def has_folder(self, name: str) -> bool:
        return self.has(f"{name}.zip")

    def stored_at(self, name: str) -> datetime | None:
        try:
            with _as_os_errors():
                found: datetime = self._client.head_object(Bucket=self._name, Key=name)["LastModified"]
        except FileNotFoundError:
            return None
        return found

    def folder_stored_at(self, name: str) -> datetime | None:
        return self.stored_at(f"{name}.zip")

    def open(self, name: str) -> BinaryIO:
        with _as_os_errors():
            return cast(BinaryIO, self._client.get_object(Bucket=self._name, Key=name)["Body"])

    @contextmanager
    def local(self, name: str) -> Iterator[Path]:
        descriptor, copy = tempfile.mkstemp(dir=self.drafts())
        try:
            with os.fdopen(descriptor, "wb") as file, _as_os_errors():
                self._client.download_fileobj(self._name, name, file, Config=_TRANSFER)
            yield Path(copy)
        finally:
            Path(copy).unlink(missing_ok=True)

    def folder(self, name: str) -> Path:
        address = self._scratch / name
        if not address.exists():
            draft = address.with_name(f"{address.name}.{uuid4().hex}")
            with self.local(f"{name}.zip") as packed:
                shutil.unpack_archive(packed, draft, "zip")
            settle_folder(draft, address)
        return address

    def link(self, name: str, file_name: str, method: str) -> str:
        wanted = {
            "Bucket": self._name,
            "Key": name,
            "ResponseCacheControl": "private, no-store",
            "ResponseContentDisposition": content_disposition_header(as_attachment=True, filename=file_name),
        }
        return str(
            self._client.generate_presigned_url("get_object", Params=wanted, ExpiresIn=LINK_SECONDS, HttpMethod=method)
        )

    def delete(self, name: str) -> None:
        with _as_os_errors():
            self._client.delete_object(Bucket=self._name, Key=name)

    def delete_folder(self, name: str) -> None:
        self.delete(f"{name}.zip")
        remove_folder(self._scratch / name, self.drafts())

    def names(self) -> Iterator[str]:
        with _as_os_errors():
            for page in self._client.get_paginator("list_objects_v2").paginate(Bucket=self._name):
                for entry in page.get("Contents", ()):
                    yield entry["Key"]


@contextmanager
def _as_os_errors() -> Iterator[None]:
    """Convert S3's errors to OSError, so that callers can handle them like disk errors."""
    try:
        yield
    except ClientError as error:
        if error.response["ResponseMetadata"]["HTTPStatusCode"] == HTTPStatus.NOT_FOUND:
            raise FileNotFoundError(str(error)) from None
        raise OSError(str(error)) from error
    except (Boto3Error, BotoCoreError) as error:
        raise OSError(str(error)) from error
