"""File names with folders, in upper or lower case, and with a track's alias: shown, uploaded and downloaded."""

from http import HTTPStatus
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.models import Run, SharedTask, Team
from tests.portal.world import EVALUATION, GOOD, PERFECT, POST, archive, captain, new_team, run_file, send, work_off

PAGE = "/tasks/tiny/submit/"
RULES = {
    'archive: "tiny_{team}"': "aliases: {one: E-C_one}\n  case: ignore",
    '"{track}_{team}_{number}.json"': '"{team}/{track}/run[_{number}].json"',
}


@pytest.fixture
def team(tiny: SharedTask, tiny_folder: Path) -> Team:
    path = tiny_folder / "task.yaml"
    text = path.read_text()
    for before, after in RULES.items():
        text = text.replace(before, after)
    path.write_text(text)
    import_shared_task(None, tiny_folder, EVALUATION)
    return new_team(SharedTask.objects.get(), "Meltemi")


@pytest.fixture
def signed_in(team: Team, client: Client) -> Client:
    client.force_login(captain(team))
    return client


def test_your_file_names_have_folders_and_the_alias(signed_in: Client) -> None:
    text = signed_in.get(PAGE).content.decode()
    assert "Meltemi/E-C_one/run_1.json" in text
    assert "Put your runs in a zip archive with any name" in text
    assert "tiny.zip" in text  # in the commands that the page shows


@pytest.mark.slow
def test_runs_in_folders_are_scored_and_downloaded(team: Team, signed_in: Client) -> None:
    body = archive({"meltemi/e-c_ONE/run_2.json": run_file(PERFECT), "Meltemi/two/run.json": run_file(GOOD)})
    send(team, "any.zip", body, POST, "post")
    work_off(POST)
    runs = {run.track.slug: run for run in Run.objects.filter(kind="team")}
    assert {slug: (run.state, run.name, run.number) for slug, run in runs.items()} == {
        "one": ("scored", "meltemi/e-c_ONE/run_2.json", 2),
        "two": ("scored", "Meltemi/two/run.json", 1),
    }
    answer = signed_in.get(f"/runs/{runs['one'].pk}/file/")
    assert b"".join(answer.streaming_content) == run_file(PERFECT)
    assert answer["Content-Disposition"] == 'attachment; filename="run_2.json"'


def test_a_run_without_its_folders_is_rejected_with_the_path(signed_in: Client) -> None:
    file = SimpleUploadedFile("run_2.json", run_file(PERFECT))
    answer = signed_in.post(PAGE, {"file": file, "phase": "post", "key": ""})
    assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    page = answer.content.decode().replace("<wbr>", "")
    assert "is not in the folders that the naming rule {team}/{track}/run[_{number}].json requires" in page
    assert "<ins" not in page  # nothing says whether the run is for track one or two
