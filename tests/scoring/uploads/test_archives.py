"""Zip files from participants and attackers: which ones are read and which are rejected."""

import io
import itertools
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from scoring import limits, load_definition
from scoring.uploads import archives
from scoring.uploads.archives import inspect_archive, read_archived
from scoring.uploads.inspection import inspect_upload
from scoring.zips import BrokenZipError

RUN = b"i0\t0\n" * 50


class Unseekable(io.RawIOBase):
    """A pipe. What has been written cannot be changed, so sizes are written after the data."""

    def __init__(self) -> None:
        self.data = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        self.data += bytes(data)  # type: ignore[call-overload]
        return len(bytes(data))  # type: ignore[call-overload]


@pytest.fixture
def packed(tmp_path: Path) -> Callable[..., Path]:
    """A function that writes bytes, or the given entries as a zip, to a file."""

    def write(content: bytes | dict[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
        path = tmp_path / "runs.zip"
        path.write_bytes(content if isinstance(content, bytes) else zipped(content, method))
        return path

    return write


def zipped(entries: dict[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in entries.items():
            archive.writestr(name, data, compress_type=method)
    return file.getvalue()


def codes(path: Path) -> list[str]:
    return [problem.code for problem in inspect_archive(path).report]


def of_kind(name: str, mode: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.create_system = 3
    info.external_attr = mode << 16
    return info


def patched(data: bytes, signature: bytes, offset: int, value: bytes) -> bytes:
    at = data.index(signature) + offset
    return data[:at] + value + data[at + len(value) :]


def streamed(entries: dict[str, bytes], zip64: bool = False) -> bytes:
    pipe = Unseekable()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:  # type: ignore[call-overload]
        for name, data in entries.items():
            with archive.open(name, "w", force_zip64=zip64) as entry:
                entry.write(data)
    return bytes(pipe.data)


# Archives that are read


def commented() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.tsv", RUN)
        archive.comment = b"PK\x05\x06 a comment that looks like an end"
    return file.getvalue()


def with_comment_on_the_entry() -> bytes:
    info = zipfile.ZipInfo("a.tsv")
    info.comment = b"note"
    return zipped({info: RUN})


def with_long_sizes() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive, archive.open("a.tsv", "w", force_zip64=True) as entry:
        entry.write(RUN)
    return file.getvalue()


@pytest.mark.parametrize(
    "data",
    [
        zipped({"a.tsv": RUN}),
        zipped({"a.tsv": RUN}, zipfile.ZIP_STORED),
        streamed({"a.tsv": RUN}),
        streamed({"a.tsv": RUN}, zip64=True),
        commented(),
        with_comment_on_the_entry(),
        with_long_sizes(),
        zipped({of_kind("a.tsv", stat.S_IFREG | 0o644): RUN}),
    ],
)
def test_odd_but_valid_archives_are_read(packed: Callable[..., Path], data: bytes) -> None:
    path = packed(data)
    archive = inspect_archive(path)
    assert archive.report.problems == []
    assert [(file.name, file.size) for file in archive.files] == [("a.tsv", len(RUN))]
    assert read_archived(path, "a.tsv") == RUN


def test_a_zip64_directory_is_read(packed: Callable[..., Path]) -> None:
    data = zipped({"a.tsv": RUN})
    end = data.rindex(b"PK\x05\x06")
    _, _, _, _, entries, size, start, _ = struct.unpack("<4s4H2LH", data[end:])
    record = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, entries, entries, size, start)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, end, 1)
    short = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    assert codes(packed(data[:end] + record + locator + short)) == []
    assert codes(packed(data[:end] + record + struct.pack("<4sLQL", b"PK\x06\x07", 0, 0, 1) + short)) == [
        "archive-broken"
    ]


def test_what_is_passed_over(packed: Callable[..., Path]) -> None:
    archive = inspect_archive(
        packed(
            {
                "sub/": b"",
                "sub/a.tsv": RUN,
                "sub/.DS_Store": b"x",
                "__MACOSX/sub/._a.tsv": b"x",
                "sub/README.md": b"x",
                "sub/licence": b"x",
            }
        )
    )
    assert [(problem.severity, problem.code) for problem in archive.report] == [
        ("warning", "archive-clutter"),
        ("warning", "archive-accompanying"),
    ]
    assert archive.folder == "sub"
    assert [(file.entry, file.name) for file in archive.files] == [("sub/a.tsv", "a.tsv")]


@pytest.mark.parametrize(
    "clutter",
    [
        ".ipynb_checkpoints/a-checkpoint.tsv",
        "sub/.git/HEAD",
        ".idea/workspace.xml",
        ".vscode/settings.json",
        ".gitignore",
        "sub/__pycache__/a.cpython-311.pyc",
        ".~lock.a.tsv#",
        "~$a.xlsx",
        "a.tsv~",
        "Thumbs.db",
        "@eaDir/a.tsv",
        "sub\\.git\\HEAD",
    ],
)
def test_files_of_programs_are_passed_over(packed: Callable[..., Path], clutter: str) -> None:
    archive = inspect_archive(packed({"a.tsv": RUN, clutter: b"x"}))
    assert [(problem.severity, problem.code) for problem in archive.report] == [("warning", "archive-clutter")]
    assert [file.name for file in archive.files] == ["a.tsv"]


@pytest.mark.parametrize("name", ["../a.tsv", "./a.tsv", "a..tsv", "a.~1.tsv", "__a.tsv"])
def test_other_names_are_not_passed_over(packed: Callable[..., Path], name: str) -> None:
    assert "archive-clutter" not in codes(packed({"b.tsv": RUN, name: RUN}))


# Archives that are rejected


@pytest.mark.parametrize(
    "name",
    ["../a.tsv", "sub/../../a.tsv", "/etc/a.tsv", "C:/a.tsv", "c:a.tsv", "..\\a.tsv", "\\\\host\\a.tsv"],
)
def test_paths_out_of_the_archive(packed: Callable[..., Path], name: str) -> None:
    report = inspect_archive(packed({name: RUN})).report
    problem = next(problem for problem in report.errors if problem.code == "archive-path")
    assert problem.suggestion == "a.tsv"


@pytest.mark.parametrize("mode", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFIFO, stat.S_IFSOCK])
def test_links_and_devices(packed: Callable[..., Path], mode: int) -> None:
    assert "archive-special" in codes(packed({of_kind("a.tsv", mode | 0o777): b"/etc/passwd"}))


def test_a_folder_with_content(packed: Callable[..., Path]) -> None:
    assert "archive-special" in codes(packed({"a.tsv": RUN, "b.tsv/": RUN}))


@pytest.mark.parametrize("name", ["inner.zip", "inner.tar", "inner.tsv.gz", "sub/INNER.ZIP"])
def test_an_archive_in_the_archive(packed: Callable[..., Path], name: str) -> None:
    assert codes(packed({name: zipped({"a.tsv": RUN})})) == ["archive-nested"]


def test_archives_in_the_archive_are_one_problem(packed: Callable[..., Path]) -> None:
    inner = zipped({"a.tsv": RUN})
    report = inspect_archive(packed({"a.zip": inner, "b.zip": inner, "c.tsv": RUN})).report
    (problem,) = report
    assert (problem.count, problem.places) == (2, ("a.zip", "b.zip"))


def test_backslashes_separate_folders(packed: Callable[..., Path]) -> None:
    """Some Windows programs write folders in this way."""
    path = packed({"runs\\": b"", "runs\\a.tsv": RUN, "runs\\b.tsv": RUN})
    archive = inspect_archive(path)
    assert archive.report.problems == []
    assert (archive.folder, [file.name for file in archive.files]) == ("runs", ["a.tsv", "b.tsv"])
    assert read_archived(path, archive.files[0].entry) == RUN
    assert codes(packed({"a.tsv": RUN, "sub\\b.tsv": RUN})) == ["archive-subfolder"]
    assert codes(packed({"runs\\a.tsv": RUN, "runs/A.tsv": RUN})) == ["archive-name-twice"]


def test_one_name_is_not_suggested_for_two_files(packed: Callable[..., Path]) -> None:
    report = inspect_archive(packed({"c.tsv": RUN, "x/a.tsv": RUN, "y/a.tsv": RUN, "y/b.tsv": RUN})).report
    assert {problem.file: problem.suggestion for problem in report} == {
        "x/a.tsv": None,
        "y/a.tsv": None,
        "y/b.tsv": "b.tsv",
    }


def test_too_good_a_ratio(packed: Callable[..., Path]) -> None:
    assert codes(packed({"a.tsv": bytes(8 * limits.MEBIBYTE)})) == ["archive-ratio"]
    assert codes(packed({"a.tsv": bytes(limits.RATIO_FREE_BYTES)})) == []


def test_too_many_entries(packed: Callable[..., Path]) -> None:
    entries: dict[str | zipfile.ZipInfo, bytes] = {f"{number}.tsv": b"" for number in range(limits.ARCHIVE_ENTRIES + 1)}
    assert codes(packed(entries)) == ["archive-entries"]


@pytest.mark.slow
@pytest.mark.parametrize(("tracks", "files", "numbers", "most"), [(1, 3, 0, 200), (2, 50, 3, 900), (3, 50, 10, 2000)])
def test_an_archive_may_have_every_file_that_the_names_allow(
    root: Path, packed: Callable[..., Path], tracks: int, files: int, numbers: int, most: int
) -> None:
    definition = load_definition(root / "tasks/multilingual")
    (track,) = definition.tracks
    assert track.files is not None
    own = replace(track.files, of=tuple(f"l{place}" for place in range(files)))
    naming = replace(definition.naming, numbers=tuple(range(1, numbers + 1)))
    many = tuple(replace(track, slug=f"track-{place}", files=own) for place in range(tracks))
    definition = replace(definition, tracks=many, naming=naming)
    for entries in (most, most + 1):
        path = packed({f"{number}.tsv": b"" for number in range(entries)})
        found = {problem.code for problem in inspect_upload(definition, path, "runs.zip", None).report}
        assert ("archive-entries" in found) == (entries > most)


def test_the_entries_of_a_large_archive_are_read_once_until_it_changes(packed: Callable[..., Path]) -> None:
    path = packed({f"{number}.tsv": str(number).encode() for number in range(limits.ARCHIVE_ENTRIES_MOST)})
    archives._readable_entries.cache_clear()
    read = [read_archived(path, f"{number}.tsv") for number in range(limits.ARCHIVE_ENTRIES_MOST)]
    assert read == [str(number).encode() for number in range(limits.ARCHIVE_ENTRIES_MOST)]
    assert archives._readable_entries.cache_info().misses == 1
    path.write_bytes(zipped({"1.tsv": b"another"}))
    assert read_archived(path, "1.tsv") == b"another"
    with pytest.raises(BrokenZipError):
        read_archived(path, "2.tsv")


def test_too_large(packed: Callable[..., Path]) -> None:
    data = zipped({"a.tsv": RUN})
    size = struct.pack("<L", limits.RUN_BYTES + 1)
    data = patched(patched(data, b"PK\x01\x02", 24, size), b"PK\x03\x04", 22, size)
    assert codes(packed(data)) == ["archive-too-large"]


def test_the_same_name_twice(packed: Callable[..., Path]) -> None:
    twice = zipped({"a.tsv": RUN, "b.tsv": RUN}).replace(b"b.tsv", b"a.tsv")
    assert codes(packed(twice)) == ["archive-name-twice"]
    assert codes(packed({"a.tsv": RUN, "A.TSV": RUN})) == ["archive-name-twice"]


@pytest.mark.parametrize(("flag", "code"), [(0x1, "archive-encrypted"), (0x40, "archive-encrypted")])
def test_encrypted(packed: Callable[..., Path], flag: int, code: str) -> None:
    data = zipped({"a.tsv": RUN})
    value = struct.pack("<H", flag)
    assert codes(packed(patched(patched(data, b"PK\x01\x02", 8, value), b"PK\x03\x04", 6, value))) == [code]


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_methods(packed: Callable[..., Path], method: int) -> None:
    path = packed({"a.tsv": RUN}, method)
    assert codes(path) == ["archive-method"]
    with pytest.raises(BrokenZipError):
        read_archived(path, "a.tsv")


def test_runs_in_different_folders(packed: Callable[..., Path]) -> None:
    assert codes(packed({"one/a.tsv": RUN, "two/b.tsv": RUN})) == ["archive-subfolder", "archive-subfolder"]
    assert codes(packed({"one/two/a.tsv": RUN})) == ["archive-subfolder"]


@pytest.mark.parametrize("path", ["../a.tsv", "one/../a.tsv", "/tmp/a.tsv", "..\\a.tsv"])
def test_an_entry_that_points_out_of_the_archive_is_one_problem(packed: Callable[..., Path], path: str) -> None:
    assert codes(packed({path: RUN, "b.tsv": RUN})) == ["archive-path"]


def test_nothing_in_it(packed: Callable[..., Path]) -> None:
    assert codes(packed({})) == ["archive-empty"]
    assert codes(packed({"sub/": b""})) == ["archive-empty"]


# Broken archives, which some programs read differently or not at all

GOOD = zipped({"a.tsv": RUN, "b.tsv": RUN})
CENTRAL = GOOD.index(b"PK\x01\x02")
END = GOOD.rindex(b"PK\x05\x06")


def overlapping() -> bytes:
    """Return an archive with two directory entries that share one local header and its data."""
    one = zipped({"a.tsv": RUN})
    central, end = one.index(b"PK\x01\x02"), one.rindex(b"PK\x05\x06")
    header = one[central:end]
    return one[:central] + header * 2 + struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 2, 2, 2 * len(header), central, 0)


def with_gap() -> bytes:
    return _moved(GOOD[:CENTRAL] + b"hidden", GOOD[CENTRAL:END])


def _moved(before: bytes, central: bytes, entries: int = 2) -> bytes:
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, entries, entries, len(central), len(before), 0)
    return before + central + end


def unlisted_entry() -> bytes:
    second = GOOD.index(b"PK\x01\x02", CENTRAL + 4)
    return _moved(GOOD[:CENTRAL], GOOD[CENTRAL:second], 1)


def descriptor_with_other_checksum() -> bytes:
    return patched(streamed({"a.tsv": RUN}), b"PK\x07\x08", 4, b"\0\0\0\0")


def two_unicode_names() -> bytes:
    info = zipfile.ZipInfo("a.tsv")
    info.extra = struct.pack("<HHBL", 0x7075, 10, 1, zlib.crc32(b"a.tsv")) + b"b.tsv"
    info.extra *= 2
    return zipped({info: RUN})


def stray_extra_bytes() -> bytes:
    info = zipfile.ZipInfo("a.tsv")
    info.extra = b"abc"
    return zipped({info: RUN})


@pytest.mark.parametrize(
    "data",
    [
        b"PK\x03\x04",
        b"PK\x05\x06",
        GOOD[:-1],
        GOOD[: len(GOOD) // 2],
        GOOD + b"x",
        b"#!/bin/sh\n" + GOOD,
        GOOD + GOOD,
        overlapping(),
        with_gap(),
        unlisted_entry(),
        descriptor_with_other_checksum(),
        two_unicode_names(),
        stray_extra_bytes(),
        patched(GOOD, b"PK\x03\x04", 30, b"c.tsv"),  # different name in the local header
        patched(GOOD, b"PK\x03\x04", 14, b"\0\0\0\0"),  # different checksum
        patched(GOOD, b"PK\x03\x04", 22, struct.pack("<L", 10)),  # different size
        patched(GOOD, b"PK\x03\x04", 8, struct.pack("<H", 0)),  # different method
        patched(GOOD, b"PK\x05\x06", 8, struct.pack("<HH", 1, 1)),  # fewer entries than the archive has
        patched(GOOD, b"PK\x05\x06", 8, struct.pack("<HH", 3, 3)),
        patched(GOOD, b"PK\x05\x06", 8, struct.pack("<HH", 1, 2)),
        patched(GOOD, b"PK\x05\x06", 16, struct.pack("<L", CENTRAL + 1)),
        patched(GOOD, b"PK\x05\x06", 12, struct.pack("<L", END - CENTRAL - 1)),
        patched(GOOD, b"PK\x05\x06", 20, struct.pack("<H", 5)),  # the length of a comment that is not there
        patched(GOOD, b"PK\x01\x02", 42, struct.pack("<L", 7)),
        patched(GOOD, b"PK\x01\x02", 0, b"XX"),
    ],
)
def test_broken_archives(packed: Callable[..., Path], data: bytes) -> None:
    assert codes(packed(data)) == ["archive-broken"]


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_sizes_that_lie(packed: Callable[..., Path], method: int) -> None:
    data = zipped({"a.tsv": RUN}, method)
    for size in (len(RUN) - 1, len(RUN) + 1, 0):
        value = struct.pack("<L", size)
        path = packed(patched(patched(data, b"PK\x01\x02", 24, value), b"PK\x03\x04", 22, value))
        with pytest.raises(BrokenZipError):
            read_archived(path, "a.tsv")


def test_damaged_data(packed: Callable[..., Path]) -> None:
    data = bytearray(zipped({"a.tsv": RUN}))
    data[40] ^= 0xFF
    path = packed(bytes(data))
    with pytest.raises(BrokenZipError):
        read_archived(path, "a.tsv")
    with pytest.raises(BrokenZipError):
        read_archived(path, "other.tsv")


def test_many_entries_of_one_name_are_listed_in_part(packed: Callable[..., Path]) -> None:
    names = ["".join(letters) for letters in itertools.product("aA", repeat=5)]
    (problem,) = inspect_archive(packed({f"{name}.tsv": RUN for name in names})).report
    assert (problem.code, problem.count, len(problem.places)) == ("archive-name-twice", 32, limits.LISTED)
    assert "… and 12 more files" in problem.message
