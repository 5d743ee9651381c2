"""A portal for organizers: every verb for their tasks, with typed answers."""

import json
from datetime import datetime
from pathlib import Path

from agon.answers import Gold, GoldUpload, GoldVersion, OrganizedTeam
from agon.downloads import Progress, fetch
from agon.errors import FileExists, WrongUsage
from agon.portal import WAIT, Portal

EXPORTS = ("teams.csv", "runs.zip", "scores.csv", "downloads.csv", "audit.csv", "audit.json")


class OrganizersPortal(Portal):
    """As `Portal`, for a token with the scope `organize`."""

    def gold(self, task: str) -> list[Gold]:
        """Which gold standard each track and split has."""
        return self._connection.read(list[Gold], f"/tasks/{task}/organize/gold")

    def upload_gold(self, task: str, track: str, split: str, file: str | Path, *, wait: float = WAIT) -> GoldUpload:
        """Upload a gold standard.

        The first one is used at once; a correction is previewed and waits for `apply_gold`.
        """
        sent = self._send_file(f"/tasks/{task}/organize/gold/{track}/{split}", file)
        return self._until_finished(lambda: self.gold_upload(task, sent.id), wait)

    def gold_upload(self, task: str, upload: str) -> GoldUpload:
        """What became of it, and what it would change."""
        return self._connection.read(GoldUpload, f"/tasks/{task}/organize/gold-uploads/{upload}")

    def apply_gold(self, task: str, upload: str, note: str) -> GoldVersion:
        """Use a previewed gold standard; public leaderboards show `note` with their new scores."""
        where = f"/tasks/{task}/organize/gold-uploads/{upload}/apply"
        return self._connection.send(GoldVersion, where, {"note": note})

    def return_to_gold(self, task: str, gold: int, note: str) -> GoldVersion:
        """Use an earlier version again; `gold` is its id."""
        return self._connection.send(GoldVersion, f"/tasks/{task}/organize/gold/{gold}/return", {"note": note})

    def release(self, task: str, phase: str, when: datetime | None = None) -> None:
        """Make the scores of a phase public, now or at a time to come."""
        self._change(f"/tasks/{task}/phases/{phase}/release", {} if when is None else {"when": when.isoformat()})

    def take_back_release(self, task: str, phase: str) -> None:
        """Hide released scores again, or call off a release to come."""
        self._change(f"/tasks/{task}/phases/{phase}/release/take-back")

    def export(
        self, task: str, name: str, folder: str | Path, *, force: bool = False, progress: Progress | None
    ) -> Path:
        """Save one of EXPORTS as `TASK_NAME`; returns its path."""
        target = Path(folder) / f"{task}_{name}"
        if target.exists() and not force:
            raise FileExists(f"{target} is there already.")
        fetch(self._connection, f"/tasks/{task}/organize/{name}", target, progress=progress)
        return target

    def teams(self, task: str) -> list[OrganizedTeam]:
        """All teams: those that wait for approval first."""
        return self._connection.read(list[OrganizedTeam], f"/tasks/{task}/organize/teams")

    def teams_csv(self, task: str) -> bytes:
        """One row a member, with mail address and the team's answers."""
        return self._connection.ask("GET", f"/tasks/{task}/organize/teams.csv").data

    def approve_team(self, task: str, team: int) -> None:
        """Let a team take part."""
        self._change(f"/tasks/{task}/organize/teams/{team}/approve")

    def decline_team(self, task: str, team: int, reason: str) -> None:
        """Decline a team; its captain gets the reason by mail."""
        self._change(f"/tasks/{task}/organize/teams/{team}/decline", {"reason": reason})

    def _change(self, path: str, content: dict[str, object] | None = None) -> None:
        headers = {"Content-Type": "application/json"}
        body = None if content is None else json.dumps(content).encode()
        self._connection.ask("POST", path, body=body, headers=headers)

    def _send_file(self, address: str, path: str | Path) -> GoldUpload:
        try:
            with Path(path).open("rb") as file:
                size = str(Path(path).stat().st_size)
                headers = {"Content-Type": "application/octet-stream", "Content-Length": size}
                return self._connection.send(GoldUpload, address, file, **headers)
        except OSError as error:
            raise WrongUsage(f"{error.filename}: {error.strerror}.") from None
