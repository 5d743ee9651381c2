"""Shared tasks and their data on the command line: downloads are resumed, verified, and protected by a password."""

import hashlib
import io
import sys
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.hashers import make_password

import agon as client
from agon.errors import AgonError
from portal.models import Download, SharedTask, Team
from tests.agon.conftest import SAMPLE, Typed, server
from tests.portal.script import token_of
from tests.portal.world import person

SHA256 = hashlib.sha256(SAMPLE.encode()).hexdigest()
PART = Path(f".tiny-sample.tsv.{SHA256[:12]}.part")


def test_the_tasks_in_columns_and_as_json(agon: Typed) -> None:
    assert [line.split() for line in agon("tasks").splitlines()] == [
        ["task", "year", "title", "state", "phase", "next", "date"],
        ["tiny", "2024", "Tiny", "open", "evaluation", "2024-05-16", "00:00", "UTC"],
    ]
    assert agon.json("tasks")[0]["slug"] == "tiny"
    assert agon("tasks", "--json=slug,year") == '[{"slug": "tiny", "year": 2024}]\n'
    agon("tasks", "--json=slag", expect=2)
    assert "Unknown field slag" in agon.err


def test_files_say_what_has_to_be_done_first(agon: Typed) -> None:
    found = {one["slug"]: one for one in agon.json("files", "tiny")}
    assert (found["sample"]["sha256"], found["sample"]["obstacles"]) == (SHA256, [])
    assert [one["code"] for one in found["test"]["obstacles"]] == ["password"]
    assert "password. Your captain received it by email." in agon("files")
    assert agon("files").splitlines()[0].endswith("  before downloading")


def test_rules_and_data_are_downloaded(agon: Typed) -> None:
    assert agon("download", "tiny", "-f", "sample").splitlines() == ["tiny-sample.tsv"]
    assert Path("tiny-sample.tsv").read_text() == SAMPLE
    assert not PART.exists()
    assert agon("download", "tiny", "-f", "rules", "-p", "there").splitlines() == ["there/tiny"]
    assert Path("there/tiny/task.yaml").is_file()
    assert not Path("there/tiny/gold").exists()


def test_progress_is_printed_at_a_terminal_unless_quiet(agon: Typed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert agon("download", "tiny", "-f", "sample") == "tiny-sample.tsv\n"
    assert "\rtiny-sample.tsv: " in agon.err
    assert "100 %" in agon.err
    Path("tiny-sample.tsv").unlink()
    agon("download", "tiny", "-f", "sample", "-q")
    assert "%" not in agon.err


def test_a_file_that_is_there_is_not_downloaded_again(agon: Typed) -> None:
    for _ in range(2):
        agon("download", "-f", "sample")
    assert Download.objects.count() == 1
    Path("tiny-sample.tsv").write_text("mine")
    agon("download", "-f", "sample", expect=1)
    assert Path("tiny-sample.tsv").read_text() == "mine"
    agon("download", "-f", "tiny-sample.tsv", "-o")
    assert Path("tiny-sample.tsv").read_text() == SAMPLE


def test_a_download_goes_on_where_an_earlier_one_broke_off(agon: Typed) -> None:
    PART.write_text(SAMPLE[:100_000])
    agon("download", "-f", "sample")
    assert Path("tiny-sample.tsv").read_text() == SAMPLE
    assert Download.objects.get().first_byte == 100_000


def test_a_broken_connection_is_retried(agon: Typed, bad_line: Callable[[dict[int, int]], Any]) -> None:
    with bad_line(dict.fromkeys(range(1, 8), 40_000)) as line:
        agon("download", "-f", "sample")
    assert line.connections == 8
    assert Path("tiny-sample.tsv").read_text() == SAMPLE


def test_what_a_broken_line_has_brought_is_kept(
    agon: Typed, bad_line: Callable[[dict[int, int]], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agon.connection.ATTEMPTS", 1)
    with bad_line({1: 30_000, **dict.fromkeys(range(2, 9), 0)}):
        agon("download", "-f", "sample", expect=1)
    here = PART.stat().st_size
    assert 0 < here < 30_000
    agon("download", "-f", "sample")
    assert Download.objects.latest("pk").first_byte == here
    assert Path("tiny-sample.tsv").read_text() == SAMPLE


def test_a_server_that_sends_nothing_more_is_given_up(agon: Typed) -> None:
    wanted = client.Portal().dataset("tiny", "sample")
    PART.write_text(SAMPLE[:100])
    asked = []

    def say_nothing(request: BaseHTTPRequestHandler) -> None:
        asked.append(request.headers["Range"])
        request.send_response(206)
        request.send_header("Content-Range", "bytes 100-")
        request.end_headers()

    with server(say_nothing) as address, pytest.raises(AgonError, match="was interrupted"):
        client.Portal(address, "agon_token").download("tiny", wanted)
    assert asked == ["bytes=100-"] * 5


def test_another_host_gets_the_request_for_the_file_and_no_secret(agon: Typed) -> None:
    """If the data files are in S3, the portal redirects to a different host."""
    wanted = client.Portal().dataset("tiny", "sample")
    seen = []

    def give(request: BaseHTTPRequestHandler) -> None:
        seen.append(dict(request.headers))
        request.send_response(200)
        request.end_headers()
        request.wfile.write(SAMPLE.encode())

    with server(give) as elsewhere:

        def lead_there(request: BaseHTTPRequestHandler) -> None:
            seen.append(dict(request.headers))
            request.send_response(302)
            request.send_header("Location", f"{elsewhere}/file")
            request.end_headers()

        with server(lead_there) as address:
            client.Portal(address, "agon_token").download("tiny", wanted, password="k7h2-mm9q")
    assert Path("tiny-sample.tsv").read_text() == SAMPLE
    secrets = [{"Authorization", "X-Data-Password"} & set(headers) for headers in seen]
    assert secrets == [{"Authorization", "X-Data-Password"}, set()]


def test_another_content_is_noticed(agon: Typed) -> None:
    PART.write_text("x" * 100_000)
    agon("download", "-f", "sample", expect=1)
    assert "SHA-256" in agon.err
    assert not list(Path().iterdir())
    agon("download", "-f", "sample")


def test_the_password_is_asked_where_it_is_needed(agon: Typed, team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    Team.objects.update(data_password=make_password("k7h2-mm9q"))
    for typed, expected in (("wrong\n", 5), ("falsch…ß\n", 5), ("k7h2-mm9q\n", 0)):
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        agon("download", "-f", "test", expect=expected)
    assert Path("tiny-test.tsv").read_text() == SAMPLE
    assert "k7h2" not in agon.out + agon.err


def test_one_piped_password_is_for_all_files(agon: Typed, team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    Team.objects.update(data_password=make_password("k7h2-mm9q"))
    monkeypatch.setattr(sys, "stdin", io.StringIO("k7h2-mm9q\n"))
    agon("download")
    assert {path.name for path in Path().iterdir()} == {
        "tiny",
        *(f"tiny-{name}.tsv" for name in ("sample", "test", "dev")),
    }


def test_a_password_in_the_environment_needs_no_terminal(
    agon: Typed, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    Team.objects.update(data_password=make_password("k7h2-mm9q"))
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    agon("download", "-f", "test", expect=5)
    assert "set AGON_DATA_PASSWORD, or pass the password through standard input" in agon.err
    monkeypatch.setenv("AGON_DATA_PASSWORD", "k7h2-mm9q")
    agon("download", "-f", "test")
    assert Path("tiny-test.tsv").read_text() == SAMPLE
    assert "k7h2" not in agon.out + agon.err


def test_files_that_need_a_team_or_a_signature_are_not_a_success(
    agon: Typed, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGON_TOKEN", token_of(person("Eve")))
    saved = [str(Path("tiny")), "tiny-sample.tsv"]
    assert [one["path"] for one in agon.json("download", "tiny", expect=5)] == saved
    assert "tiny-test.tsv, tiny-dev.tsv: Create or join a team. Run: agon team create NAME -t tiny\n" in agon.err
    assert agon.err.count("Create or join a team") == 1
    assert "Not downloaded: tiny-test.tsv, tiny-dev.tsv. All other files were downloaded." in agon.err
    assert "tiny-later.tsv: Wait until the file is released." in agon.err
    agon("download", "tiny", "-f", "test", expect=5)
    assert "agon: Create or join a team. Run: agon team create NAME -t tiny" in agon.err
    monkeypatch.delenv("AGON_TOKEN")
    agon("download", "tiny", expect=4)
    assert "Only members of a team can download this file. Run: agon login" in agon.err
    agon("download", "tiny", "-f", "test", expect=4)


def test_files_left_out_for_several_reasons_are_a_failure(
    agon: Typed, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGON_TOKEN", token_of(person("Eve")))
    Path("tiny-sample.tsv").write_text("mine")
    agon("download", "tiny", expect=1)
    assert "Not downloaded: tiny-sample.tsv, tiny-test.tsv, tiny-dev.tsv." in agon.err


def test_rules_overwrite_no_other_file_unasked(agon: Typed) -> None:
    for _ in range(2):
        agon("download", "-f", "rules")
    rules = Path("tiny/task.yaml").read_text()
    Path("tiny/task.yaml").write_text("mine")
    agon("download", "-f", "rules", expect=1)
    assert "tiny/task.yaml already exists" in agon.err
    assert Path("tiny/task.yaml").read_text() == "mine"
    agon("download", "-f", "rules", "-o")
    assert Path("tiny/task.yaml").read_text() == rules


def test_texts_of_a_portal_command_no_terminal(agon: Typed) -> None:
    SharedTask.objects.update(title="\x1b]0;mine\x07Tiny\n\x9b2J\u202e")
    for words in (["tasks"], ["submit", "no.json"]):
        Path("no.json").write_text("[]")
        agon(*words, expect=0 if words == ["tasks"] else 2)
        assert "\\u001b]0;mine\\u0007Tiny" in agon.out + agon.err
        assert not set("\x1b\x07\x9b\u202e") & set(agon.out + agon.err)
    assert len(agon("tasks").splitlines()) == 2
    assert agon.json("tasks")[0]["title"] == "\x1b]0;mine\x07Tiny\n\x9b2J\u202e"
    assert not set("\x1b\x9b\u202e") & set(agon.out)


def test_who_may_not_have_a_file_reads_why(agon: Typed, monkeypatch: pytest.MonkeyPatch) -> None:
    agon("download", "-f", "later", expect=5)
    assert "released" in agon.err
    monkeypatch.setenv("AGON_TOKEN", token_of(person("Eve")))
    agon("download", "-f", "test", expect=5)
    assert "team" in agon.err
    agon("download", expect=5)  # saves every file that Eve may download
    assert {path.name for path in Path().iterdir()} == {"tiny", "tiny-sample.tsv"}
    agon("download", "-f", "nothing", expect=2)
    assert "Available files: rules, sample" in agon.err


def test_a_second_download_keeps_what_is_there_and_says_what_is_missing(
    agon: Typed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    Team.objects.update(data_password=make_password("k7h2-mm9q"))
    Path("tiny-sample.tsv").write_text(SAMPLE)
    agon("download", expect=5)
    assert "Not downloaded: tiny-test.tsv, tiny-dev.tsv." in agon.err
    assert "agon download tiny -f test" in agon.err
    assert agon.out.splitlines() == ["tiny", "tiny-sample.tsv"]
    monkeypatch.setattr(sys, "stdin", io.StringIO("k7h2-mm9q\n"))
    Path("tiny-sample.tsv").write_text("mine")
    agon("download", expect=1)
    assert Path("tiny-test.tsv").read_text() == SAMPLE
    assert Path("tiny-sample.tsv").read_text() == "mine"
    assert "differs from the portal’s file. Overwrite it with -o." in agon.err
    Path("tiny-sample.tsv").unlink()
    agon("download")
    assert (Path("tiny-sample.tsv").read_text(), Download.objects.count()) == (SAMPLE, 3)


def test_who_is_signed_out_is_sent_to_login(agon: Typed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AGON_TOKEN")
    agon("runs", "list", expect=4)
    assert "agon login" in agon.err
