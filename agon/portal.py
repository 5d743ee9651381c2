"""A portal for scripts: everything a participant can do, with typed responses and complete lists."""

import hashlib
import io
import json
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import IO, Any, TypeVar
from uuid import uuid4

import msgspec

from agon import credentials
from agon.answers import (
    Agreement,
    Dataset,
    GoldUpload,
    Leaderboard,
    Me,
    Phase,
    Push,
    Run,
    Submission,
    Task,
    TaskSummary,
    Team,
    Validation,
)
from agon.board_row import BoardRow
from agon.connection import ONCE, Connection
from agon.downloads import Progress, fetch, sha256_of
from agon.errors import AgonError, FileExists, NotAllowed, NotFound, Unavailable, WaitTimedOut, WrongUsage
from agon.operations import Operation, find, operations

LONGEST_MESSAGE = 1000  # characters; the same limit as for a run's description in docs/actions.md
WAIT = 600.0  # seconds to wait for a result by default
_SHORTEST, _LONGEST = 0.5, 5.0  # seconds between requests while waiting for a result
_AT_LEAST = 5.0  # seconds that the portal has for its last response while waiting for a result
_SENT = "The portal has received the file, so don’t send it again."

Kind = TypeVar("Kind")
Unfinished = TypeVar("Unfinished", Submission, Validation, Push, GoldUpload)
Watch = Callable[[Unfinished], None]  # is called with what is being waited for, each time its state is known


class Portal:
    """A portal as seen by one account.

    By default, it is the portal that `agon login` signed in to, or the portal in `AGON_URL` with the token in
    `AGON_TOKEN`. Methods that need no account work without a token. Any method can raise `AgonError`.
    """

    def __init__(self, address: str | None = None, token: str | None = None) -> None:
        self.address = credentials.portal_address(address)
        self._connection = Connection(self.address, token or credentials.token_for(self.address))

    def me(self) -> Me:
        """Return the token's owner."""
        return self._connection.read(Me, "/me")

    @cached_property
    def operations(self) -> dict[str, Operation]:
        """Return everything that the API can do with JSON, by name, including actions without a method here."""
        return operations(self._connection)

    def call(self, operation: str, /, **inputs: Any) -> Any:
        """Call one of `operations` and return its JSON, or None if the response is empty.

        Raises:
            WrongUsage: the portal has no such operation, or an input is missing or unknown.
        """
        return find(self.operations, operation).call(self._connection, inputs)

    def tasks(self) -> Iterator[TaskSummary]:
        """Return all shared tasks, newest year first."""
        return self._connection.items(TaskSummary, "/tasks")

    def task(self, task: str) -> Task:
        """Return a shared task with its tracks."""
        return self._connection.read(Task, f"/tasks/{task}")

    def phases(self, task: str) -> list[Phase]:
        """Return the phases in order, with the number of runs left."""
        return self._connection.read(list[Phase], f"/tasks/{task}/phases")

    def team(self, task: str) -> Team:
        """Return your team in the task.

        Raises:
            NotFound: you have no team in the task.
        """
        try:
            return self._connection.read(Team, f"/tasks/{task}/team")
        except NotFound as error:
            if self.task(task).your_team is not None:
                raise
            raise NotFound(
                f"You have no team in {task}. Create a team with “agon team create NAME -t {task}”, or join one with "
                f"“agon team join CODE -t {task}”.",
                error.code,
            ) from None

    def create_team(
        self, task: str, name: str, *, affiliation: str = "", answers: Mapping[str, str] | None = None
    ) -> Team:
        """Create a team with you as its captain. `answers` maps the organizers' question keys to your answers."""
        given = {"name": name, "affiliation": affiliation, "answers": dict(answers or {})}
        return self._connection.send(Team, f"/tasks/{task}/team", given)

    def join_team(self, task: str, code: str) -> Team:
        """Join the team with this invitation code."""
        return self._connection.send(Team, f"/tasks/{task}/team/join", {"code": code})

    def invite(self, task: str, address: str) -> None:
        """Send an invitation to join your team to an email address."""
        self._change(f"/tasks/{task}/team/invite", {"address": address}, within=ONCE)

    def leave_team(self, task: str) -> None:
        """Leave your team. A team without members is withdrawn permanently."""
        self._change(f"/tasks/{task}/team/leave")

    def agreement(self, task: str) -> Agreement:
        """Return the task's data agreement, and whether you have signed its current version.

        Raises:
            NotFound: the task has no data agreement.
        """
        try:
            return self._connection.read(Agreement, f"/tasks/{task}/agreement")
        except NotFound as error:
            if self.task(task).has_agreement:
                raise
            raise NotFound(f"{task} has no data agreement, so there is nothing to sign.", error.code) from None

    def sign_agreement(self, task: str, agreement: Agreement, name: str) -> None:
        """Sign the given text of the agreement with your full name."""
        self._change(f"/tasks/{task}/agreement", {"typed_name": name, "sha256": agreement.sha256})

    def datasets(self, task: str) -> list[Dataset]:
        """Return the task's data files, and what keeps you from downloading each of them."""
        return self._connection.read(list[Dataset], f"/tasks/{task}/datasets")

    def dataset(self, task: str, dataset: str) -> Dataset:
        """Return one data file of the task.

        Raises:
            NotFound: the task has no such file. The message lists the files that it has.
        """
        try:
            return self._connection.read(Dataset, f"/tasks/{task}/datasets/{dataset}")
        except NotFound as error:
            known = ", ".join(one.slug for one in self.datasets(task)) or "none"
            raise NotFound(f"{task} has no file {dataset}. Available files: {known}.", error.code) from None

    def download(
        self,
        task: str,
        dataset: str | Dataset,
        folder: str | Path = ".",
        *,
        password: str = "",
        force: bool = False,
        progress: Progress | None = None,
    ) -> Path:
        """Save a data file of the task under its own name and return its path.

        A file that already exists is kept if it is identical, and overwritten with `force`. `password` is your team's
        data password, if the file needs it.

        Raises:
            FileExists: the file exists and is different, or cannot be compared, and `force` is not set.
        """
        wanted = self.dataset(task, dataset) if isinstance(dataset, str) else dataset
        target = Path(folder) / Path(wanted.file_name).name
        sha256 = "" if wanted.is_encrypted else wanted.sha256
        if target.exists() and not force:
            if sha256 and sha256_of(target) == sha256:
                return target
            differs = "differs from the portal’s file" if sha256 else "can’t be compared with the portal’s file"
            raise FileExists(f"{target} already exists and {differs}.")
        fetch(
            self._connection,
            f"/tasks/{task}/datasets/{wanted.slug}/file",
            target,
            size=wanted.size,
            sha256=sha256,
            headers={"X-Data-Password": password.encode().decode("latin-1")} if password else {},
            progress=progress,
        )
        return target

    def download_rules(self, task: str, folder: str | Path = ".", *, force: bool = False) -> Path:
        """Unpack the rules and item ids that `agon check` needs into `folder`. Return the path to the task's folder."""
        content = self._connection.ask("GET", f"/tasks/{task}/folder.zip").data
        unpack(content, Path(folder), f"The rules of {task}", force=force)
        return Path(folder) / task

    def submit(
        self,
        path: str | Path,
        task: str,
        *,
        phase: str = "",
        slot: str = "",
        message: str = "",
        fields: Mapping[str, str] | None = None,
        wait: bool | float = False,
        progress: Progress | None = None,
    ) -> Submission:
        """Submit a run, or a zip of several runs.

        Args:
            phase: by default, the open phase that closes first.
            slot: `primary` or `contrastive`, in phases with slots.
            fields: texts of the task's run fields, by key, for all runs in the file.
            message: describes the runs. If it could not be saved, the result's `not_described` gives the reason.
            wait: maximum time to wait until the runs are scored or, while scores are hidden, until they are checked: a
                number of seconds, or True for `WAIT` seconds.

        Raises:
            WrongUsage: the message is too long. Nothing is submitted.
            RunInvalid: the name or structure of the file is invalid.
            NotAllowed: the phase is closed, or a limit is reached.
            WaitTimedOut: the file was submitted, but its result is not ready yet.
        """
        if len(message) > LONGEST_MESSAGE:
            raise WrongUsage(
                f"The description has {len(message):,} characters; at most {LONGEST_MESSAGE:,} are allowed. "
                "Nothing was submitted."
            )
        phase = phase or self.open_phase(task)
        sent = self._upload(Submission, f"/tasks/{task}/phases/{phase}/submissions", path, slot, progress, fields)
        problem = self._describe_all(task, sent, message)
        if wait is not False:
            sent = self.wait(task, sent.id, WAIT if wait is True else wait)
        return msgspec.structs.replace(sent, not_described=problem)

    def _describe_all(self, task: str, sent: Submission, message: str) -> str:
        """Save the message as the description of each run, and return an empty string.

        If that fails, return the reason instead of raising an error, because the upload has already been accepted.
        """
        try:
            for run in sent.runs if message else []:
                self.describe(task, run.id, description=message)
        except AgonError as error:
            return str(error)
        return ""

    def validate(
        self, path: str | Path, task: str, *, phase: str = "", slot: str = "", wait: float = WAIT
    ) -> Validation:
        """Validate a file as if it were submitted, without submitting it or using quota."""
        phase = phase or self.open_phase(task)
        sent = self._upload(Validation, f"/tasks/{task}/phases/{phase}/validations", path, slot, None)
        return self._until_finished(Validation, f"/tasks/{task}/validations/{sent.id}", wait)

    def open_phase(self, task: str) -> str:
        """Return the open phase that closes first.

        Raises:
            NotAllowed: no phase is open.
        """
        found = self.task(task).current_phase
        if found is None:
            raise NotAllowed(f"No phase of {task} is open now.", "phase_closed")
        return found

    def _change(self, path: str, content: dict[str, object] | None = None, within: float | None = None) -> None:
        headers = {"Content-Type": "application/json"}
        body = None if content is None else json.dumps(content).encode()
        self._connection.ask("POST", path, body=body, headers=headers, within=within)

    def _upload(
        self,
        kind: type[Kind],
        address: str,
        path: str | Path,
        slot: str,
        progress: Progress | None,
        fields: Mapping[str, str] | None = None,
    ) -> Kind:
        described = [f"{key}={text}" for key, text in (fields or {}).items()]
        query = {"file_name": Path(path).name, "slot": slot, "field": described}
        return self._send_file(kind, address, path, query, progress, **{"Idempotency-Key": uuid4().hex})

    def _send_file(
        self,
        kind: type[Kind],
        address: str,
        path: str | Path,
        query: Mapping[str, object] | None = None,
        progress: Progress | None = None,
        **headers: str,
    ) -> Kind:
        try:
            with Path(path).open("rb") as file:
                size = Path(path).stat().st_size
                body: IO[bytes] = _Watched(file, size, progress) if progress else file  # type: ignore[assignment]
                headers |= {"Content-Type": "application/octet-stream", "Content-Length": str(size)}
                return self._connection.send(kind, address, body, query or {}, **headers)
        except OSError as error:
            raise WrongUsage(f"{error.filename}: {error.strerror}.") from None

    def submission(self, task: str, submission: str) -> Submission:
        """Return one of your team's uploads."""
        return self._connection.read(Submission, f"/tasks/{task}/submissions/{submission}")

    def wait(
        self, task: str, submission: str, seconds: float = WAIT, *, watch: Watch[Submission] | None = None
    ) -> Submission:
        """Wait until the upload has been processed, and return it. `watch` is called with each state until then.

        Raises:
            WaitTimedOut: processing takes longer than `seconds`.
        """
        path = f"/tasks/{task}/submissions/{submission}"
        return self._until_finished(Submission, path, seconds, "not-finished", watch=watch)

    def _until_finished(
        self,
        kind: type[Unfinished],
        path: str,
        seconds: float,
        code: str = "",
        *,
        again: str = _SENT,
        watch: Watch[Unfinished] | None = None,
    ) -> Unfinished:
        """Read the path until the portal reports a result, even if the portal does not respond for a while.

        `again` says why the user need not repeat the request after a timeout.

        Raises:
            WaitTimedOut: there is no result after `seconds`. The error has this code.
        """
        end, pause, found = time.monotonic() + seconds, _SHORTEST, None
        while True:
            left, problem = end - time.monotonic(), "It is still being processed."
            try:
                found = self._connection.read(kind, path, within=max(left, _AT_LEAST))
            except Unavailable as error:
                problem = str(error)
            if found is not None and found.is_finished:
                return found
            if found is not None and watch is not None:
                watch(found)
            left = end - time.monotonic()
            if left <= 0:
                why = f"No result for {path.rpartition('/')[2]} after {seconds:g} seconds. {problem} {again}"
                raise WaitTimedOut(why, code, found)
            time.sleep(min(pause, left))
            pause = min(2 * pause, _LONGEST)

    def report(self, task: str, submission: str) -> bytes:
        """Return the upload's problems as JSON, exactly as on its page."""
        return self._connection.ask("GET", f"/tasks/{task}/submissions/{submission}/report").data

    def receipt(self, task: str, submission: str) -> bytes:
        """Return the upload's signed receipt, which `agon receipt verify` verifies."""
        return self._connection.ask("GET", f"/tasks/{task}/submissions/{submission}/receipt").data

    def receipt_key(self) -> bytes:
        """Return the public key for verifying receipts, in PEM format."""
        return self._connection.ask("GET", "/.well-known/agon-receipt-key").data

    def runs(self, task: str, *, phase: str = "", track: str = "") -> Iterator[Run]:
        """Return your team's runs, newest first."""
        return self._connection.items(Run, f"/tasks/{task}/runs", phase=phase, track=track)

    def run(self, task: str, run: str) -> Run:
        """Return one of your runs."""
        return self._connection.read(Run, f"/tasks/{task}/runs/{run}")

    def download_run(self, task: str, run: str, folder: str | Path = ".", *, force: bool = False) -> Path:
        """Save a run as it was uploaded, extracted from its archive if necessary."""
        wanted = self.run(task, run)
        target = Path(folder) / Path(wanted.name).name
        if target.exists() and not force:
            raise FileExists(f"{target} already exists.")
        content = self._connection.ask("GET", f"/tasks/{task}/runs/{wanted.id}/file").data
        # empty until the run has been checked
        if wanted.sha256 and hashlib.sha256(content).hexdigest() != wanted.sha256:
            raise AgonError(f"{target.name} does not have the SHA-256 that the portal reports. Download it again.")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        return target

    def select(self, task: str, run: str) -> Run:
        """Make a run your team's official run in its track, if the phase lets teams choose."""
        return self._connection.send(Run, f"/tasks/{task}/runs/{run}/choose")

    def withdraw(self, task: str, run: str, reason: str) -> Run:
        """Remove a run from the leaderboard permanently. It still uses quota."""
        return self._connection.send(Run, f"/tasks/{task}/runs/{run}/withdraw", {"reason": reason})

    def describe(self, task: str, run: str, *, fields: Mapping[str, str] | None = None, **description: str) -> Run:
        """Describe the system behind a run: `method`, `description`, `link`, `system_type`.

        `fields` changes only the run fields that it contains.
        """
        given = description | ({"fields": dict(fields)} if fields else {})
        return self._connection.send(Run, f"/tasks/{task}/runs/{run}/describe", given)

    def leaderboard(
        self, task: str, track: str, *, phase: str = "", all_runs: bool = False, as_of: date | None = None
    ) -> Leaderboard:
        """Return a track's leaderboard as you may see it, with each team's official run or with all runs.

        By default, it is the leaderboard of the phase that its page shows first. With `as_of`, it has only the runs
        received by the end of this day (AoE).
        """
        query = _board_query(phase, all_runs, as_of) | {"limit": 1000}
        pages = list(self._connection.pages(f"/tasks/{task}/leaderboards/{track}", **query))
        board = self._connection.converted(Leaderboard, {"rows": []} | pages[0])
        rows = [self._connection.converted(list[BoardRow], page.get("rows", [])) for page in pages]
        return msgspec.structs.replace(board, rows=[row for some in rows for row in some])

    def leaderboard_csv(
        self, task: str, track: str, *, phase: str = "", all_runs: bool = False, as_of: date | None = None
    ) -> bytes:
        """Return the leaderboard as CSV, as its page exports it, by default of the phase that its page shows first."""
        query = _board_query(phase, all_runs, as_of)
        return self._connection.ask("GET", f"/tasks/{task}/leaderboards/{track}.csv", query=query).data


def _board_query(phase: str, all_runs: bool, as_of: date | None) -> dict[str, str | int]:
    """Return the parameters that select a leaderboard. Empty ones are not sent."""
    return {"phase": phase, "runs": "all" if all_runs else "", "as_of": as_of.isoformat() if as_of else ""}


def unpack(content: bytes, folder: Path, name: str, *, force: bool) -> None:
    """Unpack a downloaded zip into `folder`. `name` names it in messages.

    Raises:
        AgonError: the zip is damaged.
        FileExists: a file with different content exists, and `force` is not set.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            if not force:
                _keep_others(packed, folder)
            packed.extractall(folder)
    except zipfile.BadZipFile:
        raise AgonError(f"{name}: the downloaded zip is damaged. Download it again.") from None


def _keep_others(packed: zipfile.ZipFile, folder: Path) -> None:
    """Check that unpacking an archive would not overwrite any different file.

    Raises:
        FileExists: a file with different content exists.
    """
    for name in packed.namelist():
        target = folder / name
        if target.is_file() and target.read_bytes() != packed.read(name):
            raise FileExists(f"{target} already exists and differs from the portal’s file.")


class _Watched:
    """A file that reports how much of it has been read. urllib3 uses only these three methods."""

    def __init__(self, file: IO[bytes], size: int, progress: Progress) -> None:
        self._file, self._size, self._progress = file, size, progress

    def read(self, size: int = -1) -> bytes:
        piece = self._file.read(size)
        self._progress(self._file.tell(), self._size)
        return piece

    def tell(self) -> int:
        return self._file.tell()

    def seek(self, place: int) -> int:
        return self._file.seek(place)
