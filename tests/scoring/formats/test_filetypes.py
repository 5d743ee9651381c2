"""Files of other types, recognized by their content under any name, each with its one fix."""

import bz2
import gzip
import io
import lzma
import pickle
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from scoring import Definition, check, check_upload
from scoring.formats.filetypes import ZIP_ARCHIVES, fix_of, foreign_kind
from scoring.reports.messages import LANGUAGES, phrase
from scoring.reports.problems import translate

RUN = b"id,label\n1,YES\n"


def zipped(*names: str, first: bytes = b"") -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in names:
            archive.writestr(name, first or b"<xml/>")
    return file.getvalue()


def tar(mode: str, form: int = tarfile.PAX_FORMAT) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode=f"w{mode}", format=form) as archive:
        entry = tarfile.TarInfo("run.csv")
        entry.size = len(RUN)
        archive.addfile(entry, io.BytesIO(RUN))
    return file.getvalue()


def numpy_file(save: Callable[..., None]) -> bytes:
    file = io.BytesIO()
    save(file, np.arange(3))
    return file.getvalue()


OPEN = b"application/vnd.oasis.opendocument."
KINDS = {
    "an Excel workbook": zipped("[Content_Types].xml", "_rels/.rels", "xl/workbook.xml"),
    "a Word document": zipped("docProps/app.xml", "word/document.xml", "[Content_Types].xml"),
    "an OpenDocument spreadsheet": zipped("mimetype", "content.xml", first=OPEN + b"spreadsheet"),
    "an OpenDocument text": zipped("mimetype", "content.xml", first=OPEN + b"text"),
    "a NumPy archive": numpy_file(np.savez),
    "a NumPy file": numpy_file(np.save),
    "a PyTorch file": zipped("archive/data.pkl", "archive/data/0", "archive/version"),
    "a tar archive": tar(""),
    "a gzip archive": tar(":gz"),
    "a bzip2 archive": bz2.compress(RUN),
    "an xz archive": lzma.compress(RUN),
    "an lzma archive": lzma.compress(RUN, lzma.FORMAT_ALONE),
    "a 7z archive": b"7z\xbc\xaf\x27\x1c\x00\x04",
    "a rar archive": b"Rar!\x1a\x07\x01\x00",
    "a pickled Python object": pickle.dumps({"1": "YES"}),
    "a PDF document": b"%PDF-1.7\n",
    "an image": b"\x89PNG\r\n\x1a\n",
    "a web page or XML document": b"\n<!DOCTYPE html><html>",
    "a Parquet table": b"PAR1\x15\x04",
    "a Git LFS pointer": b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
    "a Jupyter notebook": b'{"cells": [], "metadata": {}, "nbformat": 4}',
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_type_is_recognized_by_its_content_and_is_one_error_with_its_fix(
    tiny: Definition, tmp_path: Path, kind: str
) -> None:
    path = tmp_path / "stored"
    path.write_bytes(KINDS[kind])
    for name in ("task1_hard_Lak_NLP_1.json", "tiny_Lak_NLP.zip", "results.xlsx", "a.tar.gz"):
        (problem,) = check_upload(tiny, path, name, "Lak_NLP").report
        assert (problem.code, problem.found, problem.file) == ("not-a-text", kind, name)
        assert (problem.expected, problem.suggestion) == (fix_of(kind), None)
    (problem,) = check(tiny, "task4-plain", KINDS[kind])
    assert (problem.code, problem.found) == ("not-a-text", kind)
    assert len({translate(problem, language).message for language in LANGUAGES}) == len(LANGUAGES)
    assert len({phrase(kind, language) for language in LANGUAGES}) == len(LANGUAGES)
    assert len({phrase(fix_of(kind), language) for language in LANGUAGES}) == len(LANGUAGES)


@pytest.mark.parametrize(
    ("kind", "fix"),
    [
        ("a gzip archive", "zip archive"),
        ("a tar archive", "zip archive"),
        ("an Excel workbook", "CSV"),
        ("a pickled Python object", "to_csv"),
        ("a web page or XML document", "raw"),
        ("an image", "plain text"),
    ],
)
def test_the_fix_fits_the_type(kind: str, fix: str) -> None:
    assert fix in fix_of(kind)


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_tar_archives_of_all_formats(form: int) -> None:
    assert foreign_kind(tar("", form)) == "a tar archive"


@pytest.mark.parametrize(
    "text", [b"ID3,label\n", b"BZh,1\n", b"PAR1,YES\n", b"BM,1,2,3,4\n", b"(lp\n", b'{"cells": 1}', RUN]
)
def test_text_that_begins_like_another_type_is_still_text(text: bytes) -> None:
    assert foreign_kind(text * 100) is None


@pytest.mark.parametrize(
    "names", [("run.csv",), ("xl/run.csv", "word/run.csv"), ("data.pkl", "run.csv"), ("a.npy", "run.csv")]
)
def test_other_zips_are_archives(names: tuple[str, ...]) -> None:
    data = zipped(*names)
    assert foreign_kind(data, data) == ZIP_ARCHIVES[0]


def test_a_tar_that_a_zip_contains_is_named_as_such(tiny: Definition, tmp_path: Path) -> None:
    path = tmp_path / "tiny_Lak_NLP.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("task1_hard_Lak_NLP_1.json", gzip.compress(RUN))
    (problem,) = check_upload(tiny, path, path.name, "Lak_NLP").report
    assert (problem.code, problem.found, problem.file) == ("not-a-text", "a gzip archive", "task1_hard_Lak_NLP_1.json")
