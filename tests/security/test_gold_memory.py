"""A child that checks an upload has no gold in its memory, even if its worker has decrypted gold before."""

import struct
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from portal.evaluation import check
from portal.evaluation.child import Child
from portal.evaluation.opened_gold import _kept
from portal.models import GoldStandard, Run, Submission
from portal.sealing import seal
from portal.storage import store_sealed_gold
from tests.security.searched import SearchedRuns, shift
from tests.security.uploads import LABELS, SHARES, Desk, dump, hostile_task

SHARE = 0.7351982640913517
WORD = struct.pack("=d", SHARE)  # the gold's share as it is stored in memory

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows a process its memory")
asked: list[tuple[str, bool, str]] = []


class SearchedChild(Child):
    """A child that records, for each answer, whether gold is in its memory, and the state of the upload."""

    def __init__(self, work: Any, readable: Any, *limits: Any, **further: Any) -> None:
        super().__init__(SearchedRuns(work, shift(WORD)), [*readable, Path("/proc")], *limits, **further)

    def ask(self, method: str, *arguments: Any) -> Any:
        with ThreadPoolExecutor(1) as others:
            state = others.submit(_state).result()
        answer = super().ask(method, *arguments)
        asked.append((method, answer.pop("has_word"), state))
        return answer


def _state() -> str:
    try:
        return str(Submission.objects.latest("received_at").state)
    finally:
        connection.close()


@pytest.fixture
def desk(transactional_db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    shared_task = hostile_task(tmp_path / "hostile")
    shares = [entry | {"value": {"YES": SHARE, "NO": 1 - SHARE}} for entry in SHARES]
    gold = GoldStandard.objects.filter(track__slug="shares")
    gold.update(sealed_sha256=store_sealed_gold(seal([dump(shares)])))
    desk = Desk(shared_task)
    monkeypatch.setattr(check, "Child", SearchedChild)
    asked.clear()
    return desk


def test_gold_comes_after_the_report_and_to_one_child_alone(desk: Desk) -> None:
    for name in ("shares_Bora_1", "shares_Bora_2"):
        submission, _answer = desk.accepted(name, dump(SHARES))
        assert submission.runs.get().state == Run.State.SCORED
    assert any(WORD in opened for opened in _kept.values())
    desk.accepted("labels_Bora_1", dump(LABELS[1:]))  # this upload is rejected
    once = [("check", False, "checking"), ("score", True, "accepted")]
    assert asked == [*once, *once, ("check", False, "checking")]
