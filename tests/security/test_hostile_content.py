"""Hostile or broken runs: validation and submission reject them, say where the problem is, and do no damage.

"Validate only" reports what the confined child found. A submitted upload gets a receipt and is then rejected as a
whole.
"""

import codecs
import json
import logging
from pathlib import Path

import pytest

from tests.security.uploads import LABELS, SECONDS, SHARES, TABLE, Desk, dump, hostile_task

GOOD = dump(LABELS)
HEAD = b'[{"id": "a", "value": '
SOFT = '[{"id": "a", "value": {"YES": %s, "NO": 0}}]'

# case number → (track, content, code)
ATTACKS: dict[str, list[tuple[str, bytes, str]]] = {
    "A1 truncated": [
        ("labels", GOOD[:-1], "json-truncated"),
        ("labels", GOOD[: len(GOOD) // 2], "json-truncated"),
        ("labels", b"[", "json-truncated"),
    ],
    "A2 empty, or another type": [
        ("labels", b"", "empty-file"),
        ("table", b"", "empty-file"),
        ("labels", b"{}", "json-not-a-list"),
        ("labels", b'"YES"', "json-not-a-list"),
        ("labels", b"null", "json-not-a-list"),
        ("labels", b"[1]", "json-not-an-object"),
        ("labels", b"[]", "json-not-a-list"),
    ],
    "A3 numbers that are none": [
        ("shares", (SOFT % "NaN").encode(), "share-not-a-number"),
        ("shares", (SOFT % "Infinity").encode(), "share-not-a-number"),
        ("shares", (SOFT % "-Infinity").encode(), "share-not-a-number"),
        ("shares", (SOFT % "1e999").encode(), "share-not-a-number"),
        ("shares", dump([entry | {"value": {"YES": "1", "NO": 0}} for entry in SHARES]), "share-not-a-number"),
        ("table", TABLE.replace("d,1", "d,nan").encode(), "value-outside-domain"),
    ],
    "A4 keys twice": [
        ("labels", b'[{"id": "a", "value": "NO", "value": "YES"}]', "json-duplicate-key"),
        ("shares", b'[{"id": "a", "value": {"YES": 1, "YES": 0, "NO": 0}}]', "json-duplicate-key"),
    ],
    "A5 ids": [
        ("labels", dump([*LABELS, LABELS[0]]), "duplicate-ids"),
        ("labels", dump(LABELS[1:]), "missing-items"),
        ("labels", dump([*LABELS, *({"id": f"x{n}", "value": "YES"} for n in range(50))]), "unknown-ids"),
        ("table", (TABLE + "a,1\n").encode(), "duplicate-ids"),
    ],
    "A6 brackets": [
        ("labels", b"[" * 200_000, "json-too-deep"),
        ("labels", HEAD + b"[" * 200_000 + b"]" * 200_000 + b"}]", "json-too-deep"),
        ("labels", b'{"a":' * 200_000, "json-too-deep"),
    ],
    "A7 digits": [
        ("labels", HEAD + b"9" * 5_000 + b"}]", "value-not-a-label"),
        ("shares", (SOFT % ("9" * 5_000)).encode(), "share-not-a-number"),
        ("table", TABLE.replace("d,1", "d," + "9" * 5_000).encode(), "value-outside-domain"),
    ],
    "A8 surrogates and NUL": [
        ("labels", b'[{"id": "a\\ud800", "value": "YES"}]', "id-not-a-text"),
        ("labels", b'[{"id": "a\\u0000", "value": "YES"}]', "id-not-a-text"),
        ("labels", GOOD.replace(b'"a"', b'"a\0"'), "nul-character"),
        ("table", TABLE.replace("a,1", "a\0,1").encode(), "nul-character"),
    ],
    "A9 encodings": [
        ("labels", codecs.BOM_UTF16_LE + GOOD.decode().encode("utf-16-le"), "not-utf8-but"),
        ("labels", GOOD.decode().encode("utf-16-be"), "not-utf8-but"),
        ("labels", GOOD.replace(b'"a"', b'"\xff"'), "not-utf8"),
        ("table", TABLE.encode("utf-16"), "not-utf8-but"),
        ("table", TABLE.replace("a,1", "é,1").encode("latin-1"), "not-utf8"),
    ],
    "A12 quotes": [
        ("table", b'id,label\n"a,1\nb,0\nc,1\nd,1\n', "quote-open"),
        ("table", b'id,label\n"a"x,1\nb,0\nc,1\nd,1\n', "quote-misplaced"),
    ],
    "A13 long cells": [("table", TABLE.encode() + b"e" * (128 * 1024 + 1) + b",1\n", "cell-too-long")],
    "A14 shape": [
        ("table", TABLE.replace(",", ";").encode(), "wrong-separator"),
        ("table", TABLE.replace(",", "\t").encode(), "wrong-separator"),
        ("table", TABLE.replace("c,1", "c,1,1").encode(), "ragged-row"),
        ("table", TABLE.replace("c,1", "c").encode(), "ragged-row"),
        ("table", TABLE.replace("id,label", "id,id").encode(), "header-column-twice"),
        ("table", TABLE.replace("id,label", "id,lable").encode(), "header-column-missing"),
        ("table", b"id,label\n", "no-rows"),
    ],
}


@pytest.fixture
def desk(db: None, tmp_path: Path) -> Desk:
    return Desk(hostile_task(tmp_path / "hostile"))


@pytest.mark.parametrize("case", ATTACKS)
def test_content_is_rejected_by_validation_and_submission(
    desk: Desk, case: str, caplog: pytest.LogCaptureFixture
) -> None:
    for track, body, code in ATTACKS[case]:
        name = f"{track}_Bora_1"
        files = desk.files()
        checked = desk.check(name, body)
        assert (checked.status, code in checked.codes) == (422, True), (body[:60], checked.codes)
        assert desk.files() == files, "something of a check stayed"
        submission, judged = desk.accepted(name, body)
        assert code in judged.codes
        assert (submission.state, [run.state for run in submission.runs.all()]) == ("rejected", ["rejected"])
        assert desk.used == 0
        acknowledged = {one.sha256 for one in desk.team.submissions.all()}
        assert desk.new_files() <= acknowledged <= {path.name for path in desk.files()}
        assert max(checked.seconds, judged.seconds) < SECONDS
        for problem in judged.problems:
            assert problem["code"]
            assert problem["file"] == name
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]
    submission, judged = desk.accepted("labels_Bora_1", GOOD)  # the worker still works
    assert ([run.state for run in submission.runs.all()], judged.problems) == (["scored"], [])


def test_places_are_said_and_long_lists_are_cut(desk: Desk) -> None:
    unknown = [{"id": f"x{n}", "value": "YES"} for n in range(50)]
    (problem,) = desk.check("labels_Bora_1", dump([*LABELS, *unknown])).problems
    assert (problem["code"], problem["count"], len(problem["places"])) == ("unknown-ids", 50, 20)
    (problem,) = desk.check("labels_Bora_1", b'[\n\n{"id": nul').problems
    assert problem["line"] == 3


@pytest.mark.parametrize(
    "body",
    [
        TABLE.encode(),
        TABLE.replace("\n", "\r\n").encode(),
        TABLE.replace("\n", "\r").encode(),
        (TABLE + "\n").encode(),
        TABLE.rstrip("\n").encode(),
        codecs.BOM_UTF8 + TABLE.encode(),
    ],
)
def test_line_ends_and_byte_order_marks_change_no_score(desk: Desk, body: bytes) -> None:
    submission, judged = desk.accepted("table_Bora_1", body)
    assert judged.codes == set()
    assert submission.runs.get().evaluations.get().scores == {"accuracy": 1.0}
    submission, judged = desk.accepted("labels_Bora_1", codecs.BOM_UTF8 + GOOD)
    assert submission.runs.get().state == "scored"


def test_one_invalid_run_of_ten_rejects_the_whole_archive(desk: Desk) -> None:
    from tests.scoring.uploads.test_archives import zipped

    wrong = dump([{"id": "a", "value": "MAYBE"}, *LABELS[1:]])
    files = {f"{track}_Bora_{n}": dump(LABELS) for track in ("labels",) for n in (1, 2, 3)}
    files |= {f"shares_Bora_{n}": dump(SHARES) for n in (1, 2, 3)} | {f"table_Bora_{n}": TABLE.encode() for n in (1, 2)}
    files |= {"table_Bora_3": TABLE.replace("c,1", "c,7").encode(), "labels_Bora_3": wrong}
    body = zipped(dict(files))
    checked = desk.check("hostile_Bora.zip", body)
    submission, judged = desk.accepted("hostile_Bora.zip", body)
    for answer in (checked, judged):
        problems = {(problem["file"], problem["code"]) for problem in answer.problems}
        assert problems == {("labels_Bora_3", "label-outside-domain"), ("table_Bora_3", "value-outside-domain")}
    assert (submission.state, {run.state for run in submission.runs.all()}) == ("rejected", {"rejected"})
    assert (len(desk.runs), desk.used) == (9, 0)


FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", '=HYPERLINK("http://evil.example","x")']


def test_cells_that_a_spreadsheet_would_run_are_kept_and_defused_in_exports(desk: Desk) -> None:
    """Test the rule by reading the exported bytes back as CSV, so LibreOffice is not needed."""
    import csv
    import io

    from portal.export import defused

    noted = "id,label,note\n" + "".join(f'{item},1,"{cell}"\n' for item, cell in zip("abcd", FORMULAS, strict=False))
    submission, judged = desk.accepted("table_Bora_1", noted.encode())
    assert (submission.state, judged.codes) == ("accepted", set())
    run = submission.runs.get()
    file = b"".join(desk.client.get(f"/runs/{run.pk}/file/").streaming_content)  # type: ignore[attr-defined]
    assert file == noted.encode()
    for cell in FORMULAS:
        type(run).objects.filter(pk=run.pk).update(method=cell)
        text = desk.client.get("/tasks/hostile/leaderboard/table/?format=csv").content.decode()
        (row,) = [row for row in csv.DictReader(io.StringIO(text, newline="")) if row["team"] == "Bora"]
        assert row["method"] == f"'{cell}" == defused(cell)
    assert json.loads(desk.client.get("/tasks/hostile/leaderboard/table/?format=json").content)["rows"][0]["method"]
