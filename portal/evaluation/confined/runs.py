"""The runs in one stored file. They are read without gold and then scored with gold from the worker."""

import pickle
from base64 import b64encode
from dataclasses import asdict
from pathlib import Path
from typing import Any

from portal.evaluation.confined.readable import require_readable
from scoring import Definition, Report, check_upload
from scoring.analysis.details import details
from scoring.answers import Answers
from scoring.check import read_answers
from scoring.limits import KEPT_BYTES
from scoring.score import score_answers, score_gold
from scoring.uploads.inspection import read_run
from scoring.uploads.name_rules import UsedNumbers

PIECE = 8 * 1024**2  # bytes in one answer


class Runs:
    """The runs of one file in a child. `check` and `read` parse a run once, before `score` receives the gold."""

    def __init__(self, definition: Definition, split: str, file: Path | None) -> None:
        self._definition, self._split, self._file = definition, split, file
        # Answers of runs that are not scored yet, keyed by entry, and whether they were read as a baseline.
        self._answers: dict[str, tuple[Answers, bool]] = {}

    def check(self, file_name: str, team: str, used_numbers: UsedNumbers) -> dict[str, Any]:
        """Return the upload's report as JSON values.

        `kept` lists the entries of runs that can be scored without reading them again.
        """
        assert self._file is not None
        checked = check_upload(
            self._definition, self._file, file_name, team, split=self._split, used_numbers=used_numbers, keep=KEPT_BYTES
        )
        require_readable(checked.report)
        if checked.ok:
            self._answers = {run.run.entry: (run.answers, False) for run in checked.runs if run.answers is not None}
        return {
            "ok": checked.ok,
            "problems": _plain(checked.upload.report),
            "runs": {
                found.run.entry: {"problems": _plain(found.report), "sha256": found.sha256, "items": found.items}
                for found in checked.runs
            },
            "recognised": [asdict(found.run) for found in checked.runs],
            "kept": list(self._answers),
        }

    def read(self, entry: str, track: str, is_baseline: bool) -> None:
        """Read a run that was accepted earlier.

        Baselines are read as the official evaluators read them, without a check.
        """
        assert self._file is not None
        content = read_run(self._file, entry)
        answers, report = read_answers(self._definition, track, content, self._split, lenient=is_baseline)
        require_readable(report)
        if answers is None:
            raise ValueError("accepted by the check, but can no longer be read")
        self._answers[entry] = answers, is_baseline

    def size(self, entry: str) -> int:
        """Return the number of bytes of a run, whose content `piece` then returns."""
        assert self._file is not None
        self._content = read_run(self._file, entry)
        return len(self._content)

    def piece(self, start: int) -> str:
        """Return a piece of the run that `size` has read, in Base64."""
        return b64encode(self._content[start : start + PIECE]).decode()

    def score(self, entry: str, track: str, gold: bytes) -> dict[str, Any]:
        """Return the scores of a run that has been read, as JSON values. If there is no file, score the gold itself.

        Args:
            gold: a pickled `LoadedGold`.
        """
        standard = pickle.loads(gold)  # noqa: S301 - from the worker
        if self._file is None:
            result = score_gold(self._definition, track, standard, self._split)
        else:
            answers, is_baseline = self._answers.pop(entry)
            result = score_answers(self._definition, track, standard, answers, is_baseline, self._split)
        if result.comparison is None:  # the gold does not match the public items
            raise ValueError("accepted by the check, but rejected by the scorer")
        metrics = self._definition.track(track, self._split).metrics
        return {"scores": result.scores, "flags": result.flags, "details": details(result.comparison, metrics)}


def _plain(report: Report) -> list[dict[str, Any]]:
    return [problem.as_dict() for problem in report]
