"""What to do if the task folder that a command needs does not exist."""

from pathlib import Path

from agon import credentials
from agon.connection import Connection
from agon.errors import AgonError, NotFound
from scoring.__main__ import missing_folder

_SECONDS = 3  # for the portal's response; these commands also work offline


def explain(folder: Path) -> str:
    """Say whether the task exists on the portal, and how to download its rules or find its name."""
    where = "" if folder.parent == Path() else f" -p {folder.parent}"
    command = f"agon download {folder.name} -f rules{where}"
    local, meant = missing_folder(folder), "Did you mean"
    try:
        address = credentials.portal_address()
        Connection(address, credentials.token_for(address)).ask("GET", f"/tasks/{folder.name}", within=_SECONDS)
    except NotFound as error:
        return f"{local} The portal has no task {folder.name}." if meant in local else f"{local} {error}"
    except AgonError:  # offline, no portal, or not allowed
        return (
            f"{local} The task {folder.name} is not downloaded, or its name is misspelled. "
            f"“agon tasks” lists all tasks. To get this task’s rules, run: {command}"
        )
    return f"There is no task folder {folder}. To get the task’s rules, run: {command}"
