"""A portal for organizers: everything they can do with their tasks, with typed responses."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from agon.answers import (
    Gold,
    GoldUpload,
    GoldVersion,
    OrganizedTeam,
    OrganizedUpload,
    Organizer,
    Push,
    UploadProblems,
)
from agon.downloads import Progress, fetch
from agon.errors import FileExists, NotAllowed
from agon.portal import WAIT, Portal, Watch, unpack

EXPORTS = ("teams.csv", "runs.zip", "scores.csv", "downloads.csv", "audit.csv", "task.zip", "audit.json")


class OrganizersPortal(Portal):
    """A `Portal` for a token with the `organize` scope."""

    def push(
        self,
        archive: str | Path,
        task: str | None,
        *,
        wait: float = WAIT,
        progress: Progress | None = None,
        watch: Watch[Push] | None = None,
    ) -> Push:
        """Upload the zip of a task's folder. `task` is the task to change, or None for a new task.

        When this method returns, the draft of a new task exists. Changes to an existing task take effect only with
        `apply_push`. While waiting for the check, `watch` is called with each state.
        """
        where = f"/tasks/{task}/organize/pushes" if task else "/pushes"
        sent = self._send_file(Push, where, archive, progress=progress)
        return self._until_finished(Push, f"/pushes/{sent.id}", wait, watch=watch)

    def apply_push(self, push: str, *, is_sure: bool = False) -> Push:
        """Change the task to match the pushed folder."""
        return self._connection.send(Push, f"/pushes/{push}/apply", {"is_sure": is_sure})

    def open_task(self, task: str) -> None:
        """Publish a draft."""
        self._change(f"/tasks/{task}/organize/open")

    def hide_task(self, task: str) -> None:
        """Hide an open task from everyone except its organizers."""
        self._change(f"/tasks/{task}/organize/hide")

    def show_task(self, task: str) -> None:
        """Show a hidden task again."""
        self._change(f"/tasks/{task}/organize/show")

    def delete_task(self, task: str) -> None:
        """Delete a draft."""
        self._connection.ask("DELETE", f"/tasks/{task}")

    def gold(self, task: str) -> list[Gold]:
        """Return the gold standard of each track and split."""
        return self._connection.read(list[Gold], f"/tasks/{task}/organize/gold")

    def upload_gold(
        self,
        task: str,
        track: str,
        split: str,
        file: str | Path,
        *,
        wait: float = WAIT,
        progress: Progress | None = None,
        watch: Watch[GoldUpload] | None = None,
    ) -> GoldUpload:
        """Upload a gold standard.

        The first gold standard is used immediately. A correction is only previewed. Call `apply_gold` to put it
        into effect. While waiting for the check and the preview, `watch` is called with each state.
        """
        sent = self._send_file(GoldUpload, f"/tasks/{task}/organize/gold/{track}/{split}", file, progress=progress)
        return self._until_finished(GoldUpload, f"/tasks/{task}/organize/gold-uploads/{sent.id}", wait, watch=watch)

    def gold_upload(self, task: str, upload: str) -> GoldUpload:
        """Return an uploaded gold file with its state and the changes it makes."""
        return self._connection.read(GoldUpload, f"/tasks/{task}/organize/gold-uploads/{upload}")

    def apply_gold(self, task: str, upload: str, note: str) -> GoldVersion:
        """Put a previewed gold standard into use. Public leaderboards show `note` with the new scores."""
        where = f"/tasks/{task}/organize/gold-uploads/{upload}/apply"
        return self._connection.send(GoldVersion, where, {"note": note})

    def preview_former_gold(self, task: str, gold: int, *, wait: float = WAIT) -> GoldUpload:
        """Request a preview of an earlier version (id `gold`).

        To go back to it, pass the returned upload's id to `apply_gold`.
        """
        sent = self._connection.send(GoldUpload, f"/tasks/{task}/organize/gold/{gold}/preview")
        where = f"/tasks/{task}/organize/gold-uploads/{sent.id}"
        again = "The portal continues to compute the preview."
        return self._until_finished(GoldUpload, where, wait, again=again)

    def release(self, task: str, phase: str, when: datetime | None = None) -> None:
        """Make the scores of a phase public, now or later."""
        self._change(f"/tasks/{task}/phases/{phase}/release", {} if when is None else {"when": when.isoformat()})

    def take_back_release(self, task: str, phase: str, seen: datetime | None = None) -> None:
        """Hide released scores again, or cancel a scheduled release.

        Raises:
            AgonError: `seen` is given but is not the release time anymore; its code is `release_changed`.
        """
        given: dict[str, object] = {} if seen is None else {"seen": seen.isoformat()}
        self._change(f"/tasks/{task}/phases/{phase}/release/take-back", given)

    def export(
        self, task: str, name: str, folder: str | Path, *, force: bool = False, progress: Progress | None
    ) -> Path:
        """Save one of EXPORTS as `TASK_NAME` and return its path."""
        target = Path(folder) / f"{task}_{name}"
        if target.exists() and not force:
            raise FileExists(f"{target} already exists.")
        fetch(self._connection, f"/tasks/{task}/organize/{name}", target, progress=progress)
        return target

    def pull(self, task: str, folder: str | Path = ".", *, force: bool = False) -> Path:
        """Unpack the task's folder as it was last applied, without gold, votes and datasets, into `folder`.

        Return the path of the task's own folder. It can be edited and pushed again.
        """
        content = self._connection.ask("GET", f"/tasks/{task}/organize/task.zip").data
        unpack(content, Path(folder), f"The folder of {task}", force=force)
        return Path(folder) / task

    def teams(self, task: str, **filters: str) -> list[OrganizedTeam]:
        """Return all teams, starting with those that are waiting for approval.

        `filters` are `search`, `state`, `answer`, `signed`, `downloaded`, `uploaded`, `valid`, `phase` and `seen`.
        """
        wanted: dict[str, Any] = {name: value for name, value in filters.items() if value}
        return self._connection.read(list[OrganizedTeam], f"/tasks/{task}/organize/teams", **wanted)

    def teams_csv(self, task: str) -> bytes:
        """Return a CSV with a row per member, including the email address and the team's answers."""
        return self._connection.ask("GET", f"/tasks/{task}/organize/teams.csv").data

    def approve_team(self, task: str, team: int) -> None:
        """Approve a team."""
        self._change(f"/tasks/{task}/organize/teams/{team}/approve")

    def decline_team(self, task: str, team: int, reason: str) -> None:
        """Decline a team. Its captain gets the reason by email."""
        self._change(f"/tasks/{task}/organize/teams/{team}/decline", {"reason": reason})

    def uploads(self, task: str, **filters: str) -> Iterator[OrganizedUpload]:
        """Yield all uploads, newest first, including rejected ones.

        `filters` are `search`, `state`, `code`, `track`, `phase` and `team`.
        """
        wanted = {name: value for name, value in filters.items() if value}
        return self._connection.items(OrganizedUpload, f"/tasks/{task}/organize/uploads", **wanted)

    def upload_problems(self, task: str, upload: str) -> UploadProblems:
        """Return the problems in an upload and all its runs."""
        return self._connection.read(UploadProblems, f"/tasks/{task}/organize/uploads/{upload}")

    def download_upload(self, task: str, upload: OrganizedUpload, folder: str | Path, *, force: bool = False) -> Path:
        """Save the upload's file as `ID_NAME`, with the beginning of its id, and return its path."""
        name = upload.file_name.replace("\\", "/").rpartition("/")[2]
        target = Path(folder) / f"{upload.id[:12]}_{name}"
        if target.exists() and not force:
            raise FileExists(f"{target} already exists.")
        target.parent.mkdir(parents=True, exist_ok=True)
        fetch(self._connection, f"/tasks/{task}/organize/uploads/{upload.id}/file", target, size=upload.size)
        return target

    def organizers(self, task: str) -> list[Organizer]:
        """Return the task's organizers."""
        return self._connection.read(list[Organizer], f"/tasks/{task}/organize/organizers")

    def add_organizer(self, task: str, address: str, *, is_sure: bool = False) -> None:
        """Add the account with this email address to the task's organizers.

        `is_sure` confirms that the person's team in this task, if there is one, has no rank from now on.
        """
        self._change(f"/tasks/{task}/organize/organizers", {"address": address, "is_sure": is_sure})

    def remove_organizer(self, task: str, address: str) -> None:
        """Remove the account with this email address from the task's organizers."""
        self._change(f"/tasks/{task}/organize/organizers/remove", {"address": address})

    def is_organizer(self, task: str) -> bool:
        """Return whether the task exists and you organize it.

        Raises:
            NotAllowed: someone else organizes the task.
        """
        if task in self.me().organizes:
            return True
        if task in {one.slug for one in self.tasks()}:
            raise NotAllowed(f"A task {task} already exists, and you don’t organize it. Use another slug.")
        return False
